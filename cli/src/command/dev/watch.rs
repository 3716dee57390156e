//! The stream of changes as `hera dev` tells them, with what else it must ask to tell them well.

use std::collections::BTreeMap;

use hera_common::time::Wall;
use hera_proto::v1;
use tonic::Streaming;
use v1::watch_response::Change as Wire;

use crate::client::{Client, Repeat};
use crate::command::describe::job_of;
use crate::command::wire;
use crate::dev::lines::Change;
use crate::exit::Failure;
use crate::output::keys::Why;

/// Somebody who watches all jobs.
pub(super) struct Watch<'c> {
    client: &'c Client,
    stream: Streaming<v1::WatchResponse>,
    /// How many attempts the retries of a job allow, by path and revision.
    tries_max: BTreeMap<(String, i64), Option<u32>>,
}

impl<'c> Watch<'c> {
    pub(super) async fn open(client: &'c Client) -> Result<Self, Failure> {
        let stream = stream(client).await?;
        Ok(Self { client, stream, tries_max: BTreeMap::new() })
    }

    /// The next change, and when it was committed. May be dropped while it waits.
    pub(super) async fn next(&mut self) -> Result<(Wall, v1::WatchResponse), Failure> {
        loop {
            match self.stream.message().await {
                Ok(Some(message)) => return Ok((Wall::from_ms(message.at_ms), message)),
                // The leader has changed or fallen behind itself: what happens from now on is told.
                Ok(None) | Err(_) => self.stream = stream(self.client).await?,
            }
        }
    }

    /// What is to be told of it.
    pub(super) async fn change(&mut self, message: v1::WatchResponse) -> Option<Change> {
        match message.change? {
            Wire::Action(action) => {
                let action = wire::action(action);
                let why = if action.state == "waiting" { self.why(action.id).await } else { None };
                Some(Change::Action { action: Box::new(action), why })
            }
            Wire::Run(v1::RunChange { run, attempt }) => {
                let run = wire::run(run?);
                let attempt = attempt.map(|attempt| Box::new(wire::attempt(attempt, &run)));
                let failed = attempt.as_ref().is_some_and(|attempt| attempt.ended_at.is_some())
                    && run.state != "succeeded";
                let tries_max =
                    if failed { self.tries_max(&run.job, run.revision).await } else { None };
                Some(Change::Run { run: Box::new(run), attempt, tries_max })
            }
            Wire::Worker(v1::WorkerChange { name, state }) => Some(Change::Worker { name, state }),
            Wire::Missed(n) => Some(Change::Missed(n)),
        }
    }

    /// The master's answer. None: the action has moved on, and the next change tells of it.
    async fn why(&self, action: i64) -> Option<Why> {
        let request = v1::WhyActionRequest { action: action.to_string() };
        let answer = self
            .client
            .ask(Repeat::Safe, request, async |channel, request| {
                wire::actions(channel).why_action(request).await
            })
            .await;
        wire::why(answer.ok()?).ok()
    }

    async fn tries_max(&mut self, job: &str, revision: i64) -> Option<u32> {
        let key = (job.to_owned(), revision);
        if let Some(known) = self.tries_max.get(&key) {
            return *known;
        }
        // The newest revision may be another than the run's; then it says nothing about this run.
        let found = job_of(self.client, job.to_owned()).await.ok();
        let found = found.filter(|job| job.revision == revision);
        let tries_max = found.and_then(|job| {
            let spec: serde_json::Value = serde_json::from_str(&job.spec_json).ok()?;
            let times = spec.get("retries")?.get("times")?.as_u64()?;
            u32::try_from(times).ok()?.checked_add(1)
        });
        self.tries_max.insert(key, tries_max);
        tries_max
    }
}

async fn stream(client: &Client) -> Result<Streaming<v1::WatchResponse>, Failure> {
    client
        .ask(Repeat::Safe, v1::WatchRequest::default(), async |channel, request| {
            wire::watch(channel).watch(request).await
        })
        .await
}
