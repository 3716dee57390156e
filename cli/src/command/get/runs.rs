//! `hera get runs`.

use clap::Args;
use hera_proto::v1;

use super::actions::trigger;
use super::{Limit, OfJobs, pages};
use crate::args;
use crate::client::{Client, Repeat};
use crate::command::wire;
use crate::exit::{Exit, Failure};
use crate::output::keys;
use crate::session::Session;

/// Which runs.
#[derive(Debug, Args)]
pub(super) struct OfRuns {
    /// Runs of this action
    #[arg(value_name = "ACTION", default_value = "", hide_default_value = true)]
    action: String,
    #[command(flatten)]
    of: OfJobs,
    /// States, with or without the word in brackets: running, 'failed(exit)'
    #[arg(long, value_name = "STATE,…", value_delimiter = ',')]
    state: Vec<String>,
    /// Words in brackets: exit, timeout, retry
    #[arg(long, value_name = "CODE,…", value_delimiter = ',')]
    reason: Vec<String>,
    /// The local day of the version, yyyy-MM-dd
    #[arg(long, value_name = "DAY", value_parser = args::day)]
    day: Option<String>,
    /// Runs of jobs of this owner
    #[arg(long, value_name = "TEAM", default_value = "", hide_default_value = true)]
    owner: String,
    /// Why the run exists: schedule, event, recover, manual
    #[arg(long, value_name = "TRIGGER,…", value_delimiter = ',', value_parser = trigger)]
    trigger: Vec<String>,
}

/// List runs, the newest first
#[derive(Debug, Args)]
pub(crate) struct Runs {
    #[command(flatten)]
    which: OfRuns,
    #[command(flatten)]
    limit: Limit,
}

impl OfRuns {
    /// Whether one action was named, and nothing else.
    pub(super) fn only_action(&self) -> Option<&str> {
        (!self.action.is_empty()).then_some(self.action.as_str())
    }

    pub(super) async fn page(
        &self,
        client: &Client,
        page: v1::PageRequest,
    ) -> Result<(Vec<keys::Run>, String), Failure> {
        let request = v1::ListRunsRequest {
            job: self.of.job.clone(),
            group: self.of.group.clone(),
            action: self.action.clone(),
            states: self.state.clone(),
            triggers: self.trigger.clone(),
            page: Some(page),
            owner: self.owner.clone(),
            day: self.day.clone().unwrap_or_default(),
            reasons: self.reason.clone(),
        };
        let answer = client
            .ask(Repeat::Safe, request, async |channel, request| {
                wire::runs(channel).list_runs(request).await
            })
            .await?;
        let v1::ListRunsResponse { runs, next } = answer;
        Ok((runs.into_iter().map(wire::run).collect(), next))
    }
}

impl Runs {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let (client, which) = (&client, &self.which);
        pages(session.out, self.limit, async move |page| which.page(client, page).await).await
    }
}
