//! Looking at actions: lists and one with all that belongs to it. It must not change anything.

use std::collections::BTreeMap;

use hera_common::action::Binding;
use hera_common::id::{ActionId, JobId};
use hera_common::snapshot::BoundAction;
use hera_common::time::Version;
use hera_engine::catalog::Catalog;
use hera_store::{ActionFilter, Page, RunFilter};
use jiff::civil::Date;

use super::Service;
use super::fault::Fault;
use super::filter::{self, ActionWanted};
use super::page::{List, Piece, Wanted};
use super::shown::{NO_ROW, Shower, ShownAction, ShownBinding, ShownRun, Words};

/// Runs that are shown with an action.
const RUNS_SHOWN: u32 = 100;

/// An action with what it waits for, its runs, and what waits for it.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) action: ShownAction,
    /// Newest first, at most [`RUNS_SHOWN`].
    pub(crate) runs: Vec<ShownRun>,
    pub(crate) downstream: Vec<ShownBinding>,
}

impl Service {
    /// Actions by filter, newest version first.
    pub(crate) async fn list_actions(
        &self,
        wanted: &ActionWanted,
        page: &Wanted,
        with_bindings: bool,
    ) -> Result<Piece<ShownAction>, Fault> {
        let lead = self.lead()?;
        let catalog = lead.catalog();
        let day = filter::date("filter.day", &wanted.day)?;
        let filter = rows_of(wanted, &catalog, day)?;
        let list = List::new("actions", wanted);
        let mut after = list.open(page)?;
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let mut rows = Vec::new();
        loop {
            let room = page.limit.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
            let read = self.store().list_actions(&filter, &Page { limit: room, after }).await?;
            for (action, live) in read.actions {
                // A day has other ends in other zones: the store gives all that could be meant.
                if day.is_none_or(|day| filter::on_day(action.version, &action.zone, day)) {
                    rows.push(shower.action(action, live));
                }
            }
            after = read.next;
            let full = u32::try_from(rows.len()).is_ok_and(|count| count >= page.limit);
            if after.is_none() || full {
                break;
            }
        }
        if with_bindings {
            for row in &mut rows {
                row.bindings = self.bindings_of(row.action.id, &shower).await?;
            }
        }
        let next = after.map(|mark| list.seal(&mark)).unwrap_or_default();
        Ok(Piece { rows, next })
    }

    /// One action, whole.
    pub(crate) async fn get_action(&self, name: &str) -> Result<Whole, Fault> {
        let lead = self.lead()?;
        let catalog = lead.catalog();
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let bound = self.find_action(&catalog, "action", name).await?;
        let BoundAction { action, bindings } = bound;
        let filter = RunFilter { action: Some(action.id), ..RunFilter::default() };
        let page = Page { limit: RUNS_SHOWN, after: None };
        let runs = self.store().list_runs(&filter, &page).await?;
        let live = runs.iter().map(|view| &view.run).find(|run| Some(run.id) == action.live_run);
        let downstream = self.downstream(action.job, action.version, &shower).await?;
        let live = live.cloned();
        let runs = runs.into_iter().map(|view| shower.run_of(view.run, &action)).collect();
        let mut shown = shower.action(action, live);
        shown.bindings = self.bindings(&bindings, &shower).await?;
        Ok(Whole { action: shown, runs, downstream })
    }

    /// The action as it is now, for an answer to a verb.
    pub(crate) async fn shown_action(
        &self,
        bound: BoundAction,
        shower: &Shower<'_>,
    ) -> Result<ShownAction, Fault> {
        let live = match bound.action.live_run {
            Some(id) => self.store().run(id).await?.map(|view| view.run),
            None => None,
        };
        let mut shown = shower.action(bound.action, live);
        shown.bindings = self.bindings(&bound.bindings, shower).await?;
        Ok(shown)
    }

    async fn bindings_of(
        &self,
        id: ActionId,
        shower: &Shower<'_>,
    ) -> Result<Vec<ShownBinding>, Fault> {
        match self.store().action(id).await? {
            Some(bound) => self.bindings(&bound.bindings, shower).await,
            None => Ok(Vec::new()),
        }
    }

    /// What the bindings point to, each with its present state.
    pub(crate) async fn bindings(
        &self,
        bindings: &[Binding],
        shower: &Shower<'_>,
    ) -> Result<Vec<ShownBinding>, Fault> {
        let states = self.states(bindings, shower).await?;
        let shown = |binding: &Binding| ShownBinding {
            job: shower.job(binding.upstream),
            version: binding.version,
            state: states.get(&(binding.upstream, binding.version)).copied().unwrap_or(NO_ROW),
            on: binding.on,
        };
        Ok(bindings.iter().map(shown).collect())
    }

    /// The states of upstream versions: one read for each upstream job.
    async fn states(
        &self,
        bindings: &[Binding],
        shower: &Shower<'_>,
    ) -> Result<BTreeMap<(JobId, Version), Words>, Fault> {
        let mut spans: BTreeMap<JobId, (Version, Version, u32)> = BTreeMap::new();
        for binding in bindings {
            let here = (binding.version, binding.version, 0);
            let span = spans.entry(binding.upstream).or_insert(here);
            *span = (span.0.min(binding.version), span.1.max(binding.version), span.2 + 1);
        }
        let mut states = BTreeMap::new();
        for (job, (from, to, _count)) in spans {
            let filter = ActionFilter {
                jobs: Some(vec![job]),
                from: Some(from),
                to: Some(Version::from_ms(to.ms().saturating_add(1))),
                ..ActionFilter::default()
            };
            let mut after = None;
            loop {
                let page = Page { limit: hera_common::limits::PAGE_MAX, after };
                let read = self.store().list_actions(&filter, &page).await?;
                for (action, live) in read.actions {
                    let words = shower.words(&action, live.as_ref());
                    states.insert((job, action.version), words);
                }
                after = read.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(states)
    }

    async fn downstream(
        &self,
        job: JobId,
        version: Version,
        shower: &Shower<'_>,
    ) -> Result<Vec<ShownBinding>, Fault> {
        let mut shown = Vec::new();
        for action in self.store().dependents(job, version).await? {
            let bound = self.store().action(action.id).await?;
            let bindings = bound.map(|bound| bound.bindings).unwrap_or_default();
            let ours = |binding: &&Binding| binding.upstream == job && binding.version == version;
            let Some(binding) = bindings.iter().find(ours) else { continue };
            let live = match action.live_run {
                Some(id) => self.store().run(id).await?.map(|view| view.run),
                None => None,
            };
            shown.push(ShownBinding {
                job: shower.job(action.job),
                version: action.version,
                state: shower.words(&action, live.as_ref()),
                on: binding.on,
            });
        }
        Ok(shown)
    }
}

fn rows_of(
    wanted: &ActionWanted,
    catalog: &Catalog,
    day: Option<Date>,
) -> Result<ActionFilter, Fault> {
    let ActionWanted { jobs, states, reasons, day: _, data, triggers } = wanted;
    let (from, to) = day.map(filter::day_anywhere).unzip();
    let data = filter::date("filter.data", data)?;
    Ok(ActionFilter {
        jobs: jobs.ids(catalog),
        states: filter::action_states("filter.states", states)?,
        reasons: filter::reasons("filter.reasons", reasons)?,
        from,
        to,
        data_date: data.map(|data| data.to_string()),
        triggers: filter::triggers("filter.triggers", triggers)?,
    })
}
