//! `hera cancel`: ends the live run of an action, or an action that waits.

use clap::Args;
use hera_proto::v1;

use super::wire;
use crate::args::Because;
use crate::client::{Client, Repeat};
use crate::exit::{Exit, Failure};
use crate::output::Listed as _;
use crate::output::keys;
use crate::session::Session;

/// Cancel actions: what runs is stopped, what waits is taken out
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// JOB, JOB@VERSION, or its number
    #[arg(required = true, value_name = "ACTION")]
    actions: Vec<String>,
    #[command(flatten)]
    because: Because,
}

impl Cancel {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { actions, because } = self;
        let client = session.client()?;
        let asked = v1::Asked { actor: session.actor(), why: because.why };
        let mut cancelled = Vec::new();
        let mut first_failure = None;
        for action in actions {
            match cancel(&client, session, &asked, action).await {
                Ok(action) => cancelled.push(action),
                Err(failure) => {
                    session.out.failure(&failure);
                    first_failure.get_or_insert(failure.exit);
                }
            }
        }
        if !cancelled.is_empty() {
            session.out.all(&cancelled)?;
        }
        Ok(first_failure.unwrap_or(Exit::Done))
    }
}

async fn cancel(
    client: &Client,
    session: &mut Session<'_>,
    asked: &v1::Asked,
    action: String,
) -> Result<keys::Action, Failure> {
    let request = v1::CancelActionRequest { asked: Some(asked.clone()), action };
    // Asked twice it is cancelled once.
    let answer = client
        .ask(Repeat::Safe, request, async |channel, request| {
            wire::actions(channel).cancel_action(request).await
        })
        .await?;
    let v1::CancelActionResponse { action, pending } = answer;
    let action = wire::action(wire::need(action, "action")?);
    if pending {
        session.out.note(&format!("{}: its worker has been told to stop it", action.name()));
    }
    Ok(action)
}
