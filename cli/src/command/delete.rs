//! `hera delete`: takes jobs away, one by one; files do so with `apply --prune`. Calendars, too.

use clap::Args;
use hera_proto::v1;

use super::wire;
use crate::args::Because;
use crate::client::Repeat;
use crate::exit::{Exit, Failure};
use crate::output::keys::Change;
use crate::session::Session;

/// Delete jobs; what was run of them stays. Refused while other jobs depend on them; calendars while they are used
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Its path
    #[arg(required_unless_present = "calendars", value_name = "JOB")]
    jobs: Vec<String>,
    /// A calendar, instead of jobs; as often as wanted
    #[arg(long = "calendar", value_name = "NAME", conflicts_with = "jobs")]
    calendars: Vec<String>,
    #[command(flatten)]
    because: Because,
}

impl Delete {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { jobs, calendars, because } = self;
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
        for name in calendars {
            let asked = Some(asked.clone());
            let request = v1::DeleteCalendarRequest { asked, name: name.clone() };
            let answer = client
                .ask(Repeat::Unsafe, request, async |channel, request| {
                    wire::calendars(channel).delete_calendar(request).await
                })
                .await;
            match answer {
                Ok(v1::DeleteCalendarResponse {}) => deleted.push(Change::of_calendar(name)),
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
