//! `hera slots`: when a job, or any cron, is due next.

use clap::Args;
use hera_proto::v1;
use v1::list_slots_request::Of;

use super::describe::job_of;
use super::when::{self, When};
use super::wire;
use crate::client::Repeat;
use crate::exit::{Exit, Failure};
use crate::output::Format;
use crate::session::Session;

/// List the next slots of a job or of a cron expression
#[derive(Debug, Args)]
pub(crate) struct Slots {
    /// The job's path
    #[arg(required_unless_present = "cron", conflicts_with = "cron")]
    job: Option<String>,
    /// An expression of 5, 6 or 7 fields
    #[arg(long, value_name = "EXPR")]
    cron: Option<String>,
    /// The zone in which the expression is read [default: UTC]
    #[arg(long, value_name = "ZONE", conflicts_with = "job")]
    zone: Option<String>,
    /// Slots strictly after this: an instant, a local time or a day of the zone [default: now]
    #[arg(long, value_name = "A")]
    from: Option<When>,
    /// How many; fewer are listed where the schedule ends
    #[arg(short, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    n: u32,
}

impl Slots {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { job, cron, zone, from, n } = self;
        let client = session.client()?;
        if let Some(zone) = &zone {
            when::zone(zone)?;
        }
        let zone = match (&job, zone) {
            (Some(job), _) if from.is_some_and(When::is_local) => {
                job_of(&client, job.clone()).await?.zone
            }
            (_, Some(zone)) => zone,
            (_, None) => "UTC".to_owned(),
        };
        let request = v1::ListSlotsRequest {
            after_ms: from.map(|from| from.ms(&zone)).transpose()?,
            zone: if job.is_some() { String::new() } else { zone },
            of: job.map(Of::Job).or(cron.map(Of::Cron)),
            n,
        };
        let answer = client
            .ask(Repeat::Safe, request, async |channel, request| {
                wire::jobs(channel).list_slots(request).await
            })
            .await?;
        let v1::ListSlotsResponse { slots, zone: _ } = answer;
        let slots: Vec<_> = slots.into_iter().map(wire::slot).collect();
        if slots.is_empty() && session.out.format() == Format::Table {
            session.out.note("it is not due again");
        } else {
            session.out.all(&slots)?;
        }
        Ok(Exit::Done)
    }
}
