//! `hera history`: the edits of a job.

use clap::Args;
use hera_proto::v1;

use super::get::{Limit, pages};
use super::wire;
use crate::client::Repeat;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// List the revisions of a job, the newest first: who made them, when and why
#[derive(Debug, Args)]
pub(crate) struct History {
    /// Its path
    job: String,
    #[command(flatten)]
    limit: Limit,
}

impl History {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let (client, job) = (&client, &self.job);
        pages(session.out, self.limit, async move |page| {
            let request = v1::ListRevisionsRequest { path: job.clone(), page: Some(page) };
            let answer = client
                .ask(Repeat::Safe, request, async |channel, request| {
                    wire::jobs(channel).list_revisions(request).await
                })
                .await?;
            let v1::ListRevisionsResponse { revisions, next } = answer;
            Ok((revisions.into_iter().map(|one| wire::revision(one, job)).collect(), next))
        })
        .await
    }
}
