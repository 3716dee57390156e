//! `hera delete`: takes jobs away, one by one; files do so with `apply --prune`.

use clap::Args;
use hera_proto::v1;

use super::wire;
use crate::args::Because;
use crate::client::Repeat;
use crate::exit::{Exit, Failure};
use crate::output::keys::Change;
use crate::session::Session;

/// Delete jobs; what was run of them stays. Refused while other jobs depend on them
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Its path
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<String>,
    #[command(flatten)]
    because: Because,
}

impl Delete {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { jobs, because } = self;
        let client = session.client()?;
        let asked = v1::Asked { actor: session.actor(), why: because.why };
        let mut deleted = Vec::new();
        let mut first_failure = None;
        for job in jobs {
            let request = v1::DeleteJobRequest { asked: Some(asked.clone()), path: job.clone() };
            let answer = client
                .ask(Repeat::Unsafe, request, async |channel, request| {
                    wire::jobs(channel).delete_job(request).await
                })
                .await;
            match answer {
                Ok(v1::DeleteJobResponse {}) => deleted.push(Change::deleted(job)),
                Err(failure) => {
                    session.out.failure(&failure);
                    first_failure.get_or_insert(failure.exit);
                }
            }
        }
        if !deleted.is_empty() {
            session.out.all(&deleted)?;
        }
        Ok(first_failure.unwrap_or(Exit::Done))
    }
}
