//! `hera audit`: who changed what, and why.

use clap::Args;
use hera_proto::v1;

use super::get::{Limit, pages};
use super::wire;
use crate::client::Repeat;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// List the changes that people asked for, the newest first; JSON and YAML tell what was before and after
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// What was done to this job and to its actions
    #[arg(long, value_name = "JOB", default_value = "", hide_default_value = true)]
    job: String,
    /// What this one has asked for
    #[arg(long, value_name = "ACTOR", default_value = "", hide_default_value = true)]
    by: String,
    #[command(flatten)]
    limit: Limit,
}

impl Audit {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let (client, job, actor) = (&client, &self.job, &self.by);
        pages(session.out, self.limit, async move |page| {
            let request =
                v1::ListAuditRequest { job: job.clone(), actor: actor.clone(), page: Some(page) };
            let answer = client
                .ask(Repeat::Safe, request, async |channel, request| {
                    wire::cluster(channel).list_audit(request).await
                })
                .await?;
            let v1::ListAuditResponse { entries, next } = answer;
            let entries = entries.into_iter().map(wire::audit_entry).collect::<Result<_, _>>()?;
            Ok((entries, next))
        })
        .await
    }
}
