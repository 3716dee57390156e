//! `hera logs`: the bytes of a log as they are.

use clap::Args;
use hera_proto::v1;

use super::describe::{Outputs, tell_which, whole_run};
use super::follow::follow;
use super::wire;
use crate::client::{Client, Repeat};
use crate::exit::{Exit, Failure};
use crate::output::Out;
use crate::output::keys::action_name;
use crate::session::Session;

/// Bytes in one answer.
const PIECE_BYTES: u32 = 1 << 20;

/// Print the log of a run, or of an action's newest run
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// r42, or an action for its newest run
    #[arg(value_name = "ACTION|RUN")]
    of: String,
    /// Go on until the run has ended: exit code 1 if it fails
    #[arg(short, long)]
    follow: bool,
    /// Of this attempt, from 1 [default: the newest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    attempt: Option<u32>,
}

impl Logs {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        // The run is found once, so that a newer one does not change what is read.
        let run = whole_run(&client, self.of.clone(), Outputs::LeftOut).await?.run;
        let name = run.id.to_string();
        let meant = format!("{}, {name}", action_name(&run.job, run.version));
        tell_which(session, &self.of, &meant);
        let attempt = self.attempt.unwrap_or(0);
        if self.follow {
            return follow(&client, session.out, &name, attempt).await;
        }
        read(&client, session.out, &name, attempt).await?;
        Ok(Exit::Done)
    }
}

/// Prints what the log has by now.
async fn read(client: &Client, out: &mut Out, run: &str, attempt: u32) -> Result<(), Failure> {
    let mut at = v1::ReadLogRequest { run: run.to_owned(), attempt, offset: 0, max: PIECE_BYTES };
    loop {
        let answer = client
            .ask(Repeat::Safe, at.clone(), async |channel, request| {
                wire::runs(channel).read_log(request).await
            })
            .await?;
        let v1::ReadLogResponse { bytes, offset, size, attempt, ended: _ } = answer;
        if bytes.is_empty() {
            return Ok(());
        }
        out.raw(&bytes)?;
        at.offset = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        at.attempt = attempt;
        if at.offset >= size {
            return Ok(());
        }
    }
}
