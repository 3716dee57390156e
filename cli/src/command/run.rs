//! `hera run`: a manual run, which does not count unless it makes its action.

use clap::Args;
use hera_proto::v1;

use super::follow::follow;
use super::wire;
use crate::args::{Because, key_value};
use crate::client::Repeat;
use crate::exit::{Exit, Failure};
use crate::output::keys::action_name;
use crate::session::Session;

/// Run an action by hand; what depends on it is not released
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// JOB, JOB@VERSION, or its number; of a job without schedule and dependencies JOB makes a new one
    action: String,
    /// Config for this run only
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// Print its log, and wait for its end: exit code 1 if it fails
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    because: Because,
}

impl Run {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { action, set, follow: follows, because } = self;
        let client = session.client()?;
        let request = v1::RunActionRequest {
            asked: Some(v1::Asked { actor: session.actor(), why: because.why }),
            action,
            set: set.into_iter().collect(),
        };
        let answer = client
            .ask(Repeat::Unsafe, request, async |channel, request| {
                wire::actions(channel).run_action(request).await
            })
            .await?;
        let v1::RunActionResponse { action: _, run, notes } = answer;
        let run = wire::run(wire::need(run, "run")?);
        for note in &notes {
            session.out.note(&format!("note: {note}"));
        }
        if follows {
            let name = run.id.to_string();
            session.out.note(&format!("{name} of {}", action_name(&run.job, run.version)));
            return follow(&client, session.out, &name, 0).await;
        }
        session.out.one(&run)?;
        Ok(Exit::Done)
    }
}
