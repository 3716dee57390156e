//! Looking at runs and their attempts. It must not change anything.

use hera_engine::catalog::Catalog;
use hera_store::{AttemptView, Page, RunFilter, RunPage, RunView};

use super::Service;
use super::fault::Fault;
use super::filter::{self, JobsWanted};
use super::page::{List, Piece, Wanted};
use super::shown::{Shower, ShownAttempt, ShownRun};

/// Which runs; empty is no limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunWanted {
    pub(crate) jobs: JobsWanted,
    /// An action's name.
    pub(crate) action: String,
    pub(crate) states: Vec<String>,
    pub(crate) triggers: Vec<String>,
}

impl Service {
    /// Runs by filter, newest first.
    pub(crate) async fn list_runs(
        &self,
        wanted: &RunWanted,
        page: &Wanted,
    ) -> Result<Piece<ShownRun>, Fault> {
        let lead = self.lead()?;
        let catalog = lead.catalog();
        let list = List::new("runs", wanted);
        let read = Page { limit: page.limit, after: list.open(page)? };
        let filter = self.run_filter(wanted, &catalog).await?;
        let RunPage { runs, next } = self.store().list_runs(&filter, &read).await?;
        let next = next.map(|mark| list.seal(&mark)).unwrap_or_default();
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let rows = runs.into_iter().map(|view| shown(&shower, view)).collect();
        Ok(Piece { rows, next })
    }

    async fn run_filter(&self, wanted: &RunWanted, catalog: &Catalog) -> Result<RunFilter, Fault> {
        let RunWanted { jobs, action, states, triggers } = wanted;
        let action = match action.as_str() {
            "" => None,
            name => Some(self.find_action(catalog, "action", name).await?.action.id),
        };
        Ok(RunFilter {
            jobs: jobs.ids(catalog),
            action,
            states: filter::run_states("states", states)?,
            triggers: filter::triggers("triggers", triggers)?,
        })
    }

    /// One run with its attempts, and with `outputs` what each left.
    pub(crate) async fn get_run(
        &self,
        name: &str,
        outputs: bool,
    ) -> Result<(ShownRun, Vec<ShownAttempt>), Fault> {
        let lead = self.lead()?;
        let catalog = lead.catalog();
        let view = self.find_run(&catalog, "run", name).await?;
        let attempts = self.store().attempts(view.run.id).await?;
        let action = self.store().action(view.run.action).await?;
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let run = match action {
            Some(bound) => shower.run_of(view.run, &bound.action),
            None => shower.run(view.run),
        };
        let mut shown = Vec::with_capacity(attempts.len());
        for AttemptView { attempt, worker, log_bytes } in attempts {
            // One look for each attempt: a run has 50 at most, and most have one.
            let output = if outputs { self.store().output(attempt.fence).await? } else { None };
            shown.push(ShownAttempt { attempt, worker, log_bytes, output });
        }
        Ok((run, shown))
    }
}

fn shown(shower: &Shower<'_>, view: RunView) -> ShownRun {
    let mut run = shower.run(view.run);
    run.worker = view.worker.or(run.worker);
    run
}
