//! Looking at runs and their attempts. It must not change anything.

use hera_engine::catalog::Catalog;
use hera_store::{AttemptView, Page, RunFilter, RunPage};
use jiff::civil::Date;

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
    pub(crate) reasons: Vec<String>,
    /// The local day of the version.
    pub(crate) day: String,
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
        let day = filter::date("day", &wanted.day)?;
        let mut after = list.open(page)?;
        let filter = self.run_filter(wanted, &catalog, day).await?;
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let mut rows = Vec::new();
        loop {
            let limit = page.limit.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
            let RunPage { runs, next } =
                self.store().list_runs(&filter, &Page { limit, after }).await?;
            // A day has other ends in other zones: the store gives all that could be meant.
            let of_day = runs.into_iter().filter(|view| {
                day.is_none_or(|day| filter::on_day(view.run.version, &view.zone, day))
            });
            rows.extend(of_day.map(|view| shower.run_view(view)));
            after = next;
            let full = u32::try_from(rows.len()).is_ok_and(|count| count >= page.limit);
            if after.is_none() || full {
                break;
            }
        }
        let next = after.map(|mark| list.seal(&mark)).unwrap_or_default();
        Ok(Piece { rows, next })
    }

    async fn run_filter(
        &self,
        wanted: &RunWanted,
        catalog: &Catalog,
        day: Option<Date>,
    ) -> Result<RunFilter, Fault> {
        let RunWanted { jobs, action, states, reasons, day: _, triggers } = wanted;
        let (from, to) = day.map(filter::day_anywhere).unzip();
        let action = match action.as_str() {
            "" => None,
            name => Some(self.find_action(catalog, "action", name).await?.action.id),
        };
        Ok(RunFilter {
            jobs: jobs.ids(catalog),
            action,
            states: filter::run_states("states", states)?,
            reasons: filter::run_reasons("reasons", reasons)?,
            triggers: filter::triggers("triggers", triggers)?,
            from,
            to,
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
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let run = shower.run_view(view);
        let mut shown = Vec::with_capacity(attempts.len());
        for AttemptView { attempt, worker, log_bytes } in attempts {
            // One look for each attempt: a run has 50 at most, and most have one.
            let output = if outputs { self.store().output(attempt.fence).await? } else { None };
            shown.push(ShownAttempt { attempt, worker, log_bytes, output });
        }
        Ok((run, shown))
    }
}
