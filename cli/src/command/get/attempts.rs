//! `hera get attempts`: of one run, or of all runs that match.

use clap::Args;
use futures::{StreamExt as _, TryStreamExt as _, stream};

use super::runs::OfRuns;
use super::{Limit, pages};
use crate::client::Client;
use crate::command::describe::{Outputs, whole_run};
use crate::exit::{Exit, Failure};
use crate::output::keys::Attempt;
use crate::session::Session;

/// How many runs are asked for their attempts at once.
const AT_ONCE: usize = 8;

/// List attempts: each try of a run on a worker
#[derive(Debug, Args)]
pub(crate) struct Attempts {
    #[command(flatten)]
    which: OfRuns,
    #[command(flatten)]
    limit: Limit,
}

impl Attempts {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        if let Some(run) = self.which.only_action().filter(|name| is_run(name)) {
            let rows = attempts(&client, run.to_owned()).await?;
            session.out.all(&rows)?;
            return Ok(Exit::Done);
        }
        let (client, which) = (&client, &self.which);
        pages(session.out, self.limit, async move |page| {
            let (runs, next) = which.page(client, page).await?;
            let of_runs: Vec<Vec<Attempt>> = stream::iter(runs)
                .map(|run| attempts(client, run.id.to_string()))
                .buffered(AT_ONCE)
                .try_collect()
                .await?;
            Ok((of_runs.into_iter().flatten().collect(), next))
        })
        .await
    }
}

/// Whether a text names a run (`r42`), not an action.
fn is_run(text: &str) -> bool {
    text.strip_prefix('r')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

async fn attempts(client: &Client, run: String) -> Result<Vec<Attempt>, Failure> {
    Ok(whole_run(client, run, Outputs::LeftOut).await?.attempts)
}

#[cfg(test)]
mod tests {
    use super::is_run;

    #[test]
    fn a_run_is_an_r_and_a_number() {
        assert!(is_run("r42"));
        for other in ["r", "42", "run/job", "r4x", "r42@latest"] {
            assert!(!is_run(other), "{other}");
        }
    }
}
