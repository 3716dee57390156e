//! `hera recover`: a run that counts, with the newest revision; it releases what depends on it.

use clap::Args;
use hera_proto::v1;

use super::follow::follow;
use super::wire;
use crate::args::Because;
use crate::client::{Client, Repeat};
use crate::exit::{Exit, Failure};
use crate::output::keys::{self, action_name};
use crate::session::Session;

/// Run actions again so that it counts; what waits for them is released
#[derive(Debug, Args)]
pub(crate) struct Recover {
    /// JOB, JOB@VERSION, or its number
    #[arg(required = true, value_name = "ACTION")]
    actions: Vec<String>,
    /// Print the logs one after the other, and wait for the ends: exit code 1 if one fails
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    because: Because,
}

impl Recover {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { actions, follow: follows, because } = self;
        let client = session.client()?;
        let asked = v1::Asked { actor: session.actor(), why: because.why };
        let mut runs = Vec::new();
        let mut first_failure = None;
        for action in actions {
            match recover(&client, session, &asked, action).await {
                Ok(run) => runs.push(run),
                // The others are recovered all the same: each is a wish of its own.
                Err(failure) => {
                    session.out.failure(&failure);
                    first_failure.get_or_insert(failure.exit);
                }
            }
        }
        let exit = match (follows, runs.is_empty()) {
            (true, _) => follow_all(&client, session, runs).await?,
            (false, true) => Exit::Done,
            (false, false) => session.out.all(&runs).map(|()| Exit::Done)?,
        };
        Ok(first_failure.unwrap_or(exit))
    }
}

/// One log after the other; a failure of one is a failure of all.
async fn follow_all(
    client: &Client,
    session: &mut Session<'_>,
    runs: Vec<keys::Run>,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for run in runs {
        let name = run.id.to_string();
        session.out.note(&format!("{name} of {}", action_name(&run.job, run.version)));
        if follow(client, session.out, &name, 0).await? != Exit::Done {
            exit = Exit::RunFailed;
        }
    }
    Ok(exit)
}

async fn recover(
    client: &Client,
    session: &mut Session<'_>,
    asked: &v1::Asked,
    action: String,
) -> Result<keys::Run, Failure> {
    let request = v1::RecoverActionRequest { asked: Some(asked.clone()), action };
    let answer = client
        .ask(Repeat::Unsafe, request, async |channel, request| {
            wire::actions(channel).recover_action(request).await
        })
        .await?;
    let v1::RecoverActionResponse { action: _, run, notes } = answer;
    for note in &notes {
        session.out.note(&format!("note: {note}"));
    }
    Ok(wire::run(wire::need(run, "run")?))
}
