//! `hera why`: what holds an action up, down to the root.

use clap::Args;
use hera_proto::v1;

use super::describe::tell_which;
use super::wire;
use crate::client::Repeat;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// Tell why an action is where it is, and what holds it up
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// JOB, JOB@VERSION, or its number
    action: String,
}

impl Why {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let request = v1::WhyActionRequest { action: self.action.clone() };
        let answer = client
            .ask(Repeat::Safe, request, async |channel, request| {
                wire::actions(channel).why_action(request).await
            })
            .await?;
        let why = wire::why(answer)?;
        tell_which(session, &self.action, &why.action);
        session.out.one(&why)?;
        Ok(Exit::Done)
    }
}
