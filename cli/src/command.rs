//! The commands, one file each: what it takes, what it asks, what it prints.

mod apply;
mod audit;
mod cancel;
mod cluster;
mod completions;
mod delete;
mod describe;
mod dev;
mod follow;
mod get;
mod history;
mod logs;
mod recover;
mod render;
mod run;
mod slots;
#[cfg(test)]
mod stand_in;
mod when;
mod why;
mod wire;

use clap::Subcommand;

use crate::exit::{Exit, Failure};
use crate::session::Session;

/// What `hera` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dev(dev::Dev),
    Apply(apply::Apply),
    #[command(subcommand)]
    Get(get::Get),
    #[command(subcommand)]
    Describe(describe::Describe),
    Run(run::Run),
    Recover(recover::Recover),
    Cancel(cancel::Cancel),
    Delete(delete::Delete),
    Logs(logs::Logs),
    Why(why::Why),
    History(history::History),
    Audit(audit::Audit),
    Slots(slots::Slots),
    Render(render::Render),
    Cluster(cluster::Cluster),
    Completions(completions::Completions),
}

impl Command {
    /// Whether it serves, and so wants more than one thread.
    pub(crate) const fn serves(&self) -> bool {
        matches!(self, Self::Dev(_))
    }

    /// Does it.
    ///
    /// # Errors
    /// What went wrong, with the exit code for it.
    pub(crate) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        match self {
            // The one large future: all others would carry its size.
            Self::Dev(command) => Box::pin(command.execute(session)).await,
            Self::Apply(command) => command.execute(session).await,
            Self::Get(command) => command.execute(session).await,
            Self::Describe(command) => command.execute(session).await,
            Self::Run(command) => command.execute(session).await,
            Self::Recover(command) => command.execute(session).await,
            Self::Cancel(command) => command.execute(session).await,
            Self::Delete(command) => command.execute(session).await,
            Self::Logs(command) => command.execute(session).await,
            Self::Why(command) => command.execute(session).await,
            Self::History(command) => command.execute(session).await,
            Self::Audit(command) => command.execute(session).await,
            Self::Slots(command) => command.execute(session).await,
            Self::Render(command) => command.execute(session).await,
            Self::Cluster(command) => command.execute(session).await,
            Self::Completions(command) => command.execute(session),
        }
    }
}
