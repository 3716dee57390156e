//! Reads jobs again when nobody knows what became of their writes, and looks up what the engine asks for. It must not
//! judge what it reads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hera_common::id::JobId;
use hera_common::snapshot::Snapshot;
use hera_common::time::{Boot, Version};
use hera_engine::input::Input;
use hera_store::{Scope, StoreError};
use tokio::sync::oneshot;
use tracing::{info, warn};

use super::{CommitLoop, Decide, LoopEnd};
use crate::desk::{Told, Unanswered};
use hera_common::chain::Chain;

/// First and longest wait between two tries to read.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// When jobs are read again after a commit whose answer is lost: the database may still be at work on it when they are
/// read for the first time.
const DOUBTS_AFTER: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

/// How long to wait after so many failures in a row.
pub(super) fn backoff(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        more => RETRY_MIN.saturating_mul(2_u32.saturating_pow(more.min(10) - 1)).min(RETRY_MAX),
    }
}

/// Jobs that are to be read again, and when.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    at: BTreeMap<Boot, Vec<JobId>>,
}

impl Doubts {
    pub(super) fn add(&mut self, now: Boot, jobs: &[JobId]) {
        if jobs.is_empty() {
            return;
        }
        for after in DOUBTS_AFTER {
            self.at.entry(now.plus(after)).or_default().extend_from_slice(jobs);
        }
    }

    pub(super) fn due(&self, now: Boot) -> bool {
        self.at.first_key_value().is_some_and(|(at, _jobs)| *at <= now)
    }

    /// How long until the next ones are to be read.
    pub(super) fn due_in(&self, now: Boot) -> Option<Duration> {
        self.at.first_key_value().map(|(at, _jobs)| at.since(now))
    }

    fn take(&mut self, now: Boot) -> Vec<JobId> {
        let mut jobs = Vec::new();
        while self.due(now)
            && let Some((_at, some)) = self.at.pop_first()
        {
            jobs.extend(some);
        }
        super::jobs(jobs.iter())
    }
}

impl<E: Decide> CommitLoop<E> {
    pub(super) async fn settle_doubts(&mut self) -> Result<(), LoopEnd> {
        let jobs = self.doubts.take(self.around.clock.boot());
        self.read_again(&jobs).await
    }

    /// Reads these jobs, and with them groups and workers, until the store answers: also where there are no jobs, since a
    /// registration that was not written must not stay in memory. Whoever asks in the meantime hears that nobody knows.
    pub(super) async fn read_again(&mut self, jobs: &[JobId]) -> Result<(), LoopEnd> {
        let (scope, mut wait) = (Scope::Jobs(jobs.to_vec()), RETRY_MIN);
        loop {
            match self.load(&scope).await? {
                Ok(snapshot) => {
                    // After the answer: a hold that changed meanwhile gets its full window from here.
                    self.engine.reload(jobs, snapshot, self.around.clock.now());
                    self.publish();
                    info!(job_count = jobs.len(), "read jobs again");
                    return Ok(());
                }
                Err(error) => {
                    warn!(error = %Chain(&error), "could not read jobs again, will try again");
                }
            }
            self.pause(wait).await?;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    async fn load(&mut self, scope: &Scope) -> Result<Result<Snapshot, StoreError>, LoopEnd> {
        let store = Arc::clone(&self.around.store);
        let mut loading = std::pin::pin!(store.load(scope));
        loop {
            tokio::select! {
                biased;
                () = self.term.lost.cancelled() => return Err(LoopEnd::NotLeader),
                () = self.term.stop.cancelled() => return Err(LoopEnd::Stopped),
                loaded = &mut loading => return Ok(loaded),
                Some(ask) = self.inbox.recv() => refuse(ask.reply),
            }
        }
    }

    pub(super) async fn pause(&mut self, wait: Duration) -> Result<(), LoopEnd> {
        let mut pause = std::pin::pin!(tokio::time::sleep(wait));
        loop {
            tokio::select! {
                biased;
                () = self.term.lost.cancelled() => return Err(LoopEnd::NotLeader),
                () = self.term.stop.cancelled() => return Err(LoopEnd::Stopped),
                () = &mut pause => return Ok(()),
                Some(ask) = self.inbox.recv() => refuse(ask.reply),
            }
        }
    }

    /// Looks up the last ends of these versions beside the loop, and hands them to the engine.
    pub(super) fn resolve(&self, versions: Vec<(JobId, Version)>) {
        let (store, desk, lost) =
            (Arc::clone(&self.around.store), self.desk.clone(), self.term.lost.clone());
        let look = async move {
            let mut wait = RETRY_MIN;
            loop {
                match store.outcomes(&versions).await {
                    Ok(ends) => {
                        return desk.tell(Input::Resolved { asked: versions, ends }).await;
                    }
                    Err(error) => {
                        warn!(error = %Chain(&error), "could not read outcomes, will try again");
                    }
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(RETRY_MAX);
            }
        };
        self.around.tasks.spawn("resolve outcomes", |shutdown| async move {
            tokio::select! {
                () = look => {}
                () = lost.cancelled() => {}
                () = shutdown.cancelled() => {}
            }
        });
    }
}

fn refuse(reply: Option<oneshot::Sender<Told>>) {
    let told = reply.map(|reply| reply.send(Err(Unanswered::Unknown)));
    if told.is_some_and(|told| told.is_err()) {
        tracing::debug!("a caller left before its answer");
    }
}
