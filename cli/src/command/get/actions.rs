//! `hera get actions`.

use clap::Args;
use hera_common::run::Trigger;
use hera_proto::v1;

use super::{Limit, OfJobs, pages};
use crate::args;
use crate::client::Repeat;
use crate::command::wire;
use crate::exit::{Exit, Failure};
use crate::output::Format;
use crate::session::Session;

/// List actions: the dated instances of jobs
#[derive(Debug, Args)]
pub(crate) struct Actions {
    #[command(flatten)]
    of: OfJobs,
    /// States, with or without the word in brackets: failed, 'failed(exit)', 'active(queued)'
    #[arg(long, value_name = "STATE,…", value_delimiter = ',')]
    state: Vec<String>,
    /// Words in brackets of ended actions: exit, timeout, late, upstream
    #[arg(long, value_name = "CODE,…", value_delimiter = ',')]
    reason: Vec<String>,
    /// The local day of the version, yyyy-MM-dd
    #[arg(long, value_name = "DAY", value_parser = args::day)]
    day: Option<String>,
    /// The data date, yyyy-MM-dd
    #[arg(long, value_name = "DAY", value_parser = args::day)]
    data: Option<String>,
    /// Actions of jobs of this owner
    #[arg(long, value_name = "TEAM", default_value = "", hide_default_value = true)]
    owner: String,
    /// Actions that have a run with this trigger
    #[arg(long, value_name = "TRIGGER,…", value_delimiter = ',', value_parser = trigger)]
    trigger: Vec<String>,
    #[command(flatten)]
    limit: Limit,
}

/// The label of a trigger that exists.
pub(super) fn trigger(text: &str) -> Result<String, String> {
    Trigger::from_label(text).map(|trigger| trigger.label().to_owned()).ok_or_else(|| {
        let all: Vec<_> = Trigger::ALL.iter().map(|trigger| trigger.label()).collect();
        format!("one of {}", all.join(", "))
    })
}

impl Actions {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let Self { of: OfJobs { job, group }, state, reason, day, data, owner, trigger, limit } =
            self;
        let filter = v1::ActionFilter {
            job,
            group,
            states: state,
            reasons: reason,
            day: day.unwrap_or_default(),
            data: data.unwrap_or_default(),
            owner,
            triggers: trigger,
        };
        let with_bindings = matches!(session.out.format(), Format::Json | Format::Yaml);
        let (client, filter) = (&client, &filter);
        pages(session.out, limit, async move |page| {
            let request = v1::ListActionsRequest {
                filter: Some(filter.clone()),
                page: Some(page),
                with_bindings,
            };
            let answer = client
                .ask(Repeat::Safe, request, async |channel, request| {
                    wire::actions(channel).list_actions(request).await
                })
                .await?;
            let v1::ListActionsResponse { actions, next } = answer;
            Ok((actions.into_iter().map(wire::action).collect(), next))
        })
        .await
    }
}
