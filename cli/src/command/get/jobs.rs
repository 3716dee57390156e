//! `hera get jobs`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use hera_proto::v1;

use super::{Limit, OfJobs, pages};
use crate::client::Repeat;
use crate::command::wire;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// List jobs
#[derive(Debug, Args)]
pub(crate) struct Jobs {
    #[command(flatten)]
    of: OfJobs,
    /// Jobs of this owner
    #[arg(long, value_name = "TEAM", default_value = "", hide_default_value = true)]
    owner: String,
    /// Jobs in this state
    #[arg(long, value_parser = PossibleValuesParser::new(["open", "closed", "parked"]))]
    state: Option<String>,
    #[command(flatten)]
    limit: Limit,
}

impl Jobs {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let Self { of: OfJobs { job, group }, owner, state, limit } = self;
        let state = state.unwrap_or_default();
        let (job, group, owner, state) = (&job, &group, &owner, &state);
        let client = &client;
        pages(session.out, limit, async move |page| {
            let request = v1::ListJobsRequest {
                job: job.clone(),
                group: group.clone(),
                owner: owner.clone(),
                state: state.clone(),
                page: Some(page),
            };
            let answer = client
                .ask(Repeat::Safe, request, async |channel, request| {
                    wire::jobs(channel).list_jobs(request).await
                })
                .await?;
            let v1::ListJobsResponse { jobs, next } = answer;
            Ok((jobs.into_iter().map(|job| wire::job(job).0).collect(), next))
        })
        .await
    }
}
