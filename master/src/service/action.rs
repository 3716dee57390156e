//! Looking at actions: lists and one with all that belongs to it. It must not change anything.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::{Action, Binding};
use hera_common::id::{ActionId, JobId};
use hera_common::limits::PAGE_MAX;
use hera_common::run::Run;
use hera_common::snapshot::BoundAction;
use hera_common::time::Version;
use hera_engine::catalog::Catalog;
use hera_store::{ActionFilter, Dependent, Page, RunFilter};
use jiff::civil::Date;

use super::Service;
use super::fault::Fault;
use super::filter::{self, ActionWanted};
use super::page::{List, Piece, Wanted};
use super::shown::{NO_ROW, Shower, ShownAction, ShownBinding, ShownRun, Words};

/// Runs that are shown with an action.
const RUNS_SHOWN: u32 = 100;
/// Actions downstream that are shown with an action: a hub has thousands, which nobody reads.
const DOWNSTREAM_SHOWN: u32 = PAGE_MAX;
/// Upstream versions that are looked up at once.
const VERSIONS_AT_ONCE: usize = 5_000;

/// An action with what it waits for, its runs, and what waits for it.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) action: ShownAction,
    /// Newest first, at most [`RUNS_SHOWN`].
    pub(crate) runs: Vec<ShownRun>,
    /// At most [`DOWNSTREAM_SHOWN`].
    pub(crate) downstream: Vec<ShownBinding>,
    /// There are more.
    pub(crate) more_downstream: bool,
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
        let now = self.now().wall;
        let filter = ActionFilter { now, ..rows_of(wanted, &catalog, day)? };
        let list = List::new("actions", wanted);
        let mut after = list.open(page)?;
        let shower = Shower::new(&lead, &catalog, now);
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
            self.bind(&mut rows, &shower).await?;
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
        let runs = self.store().list_runs(&filter, &page).await?.runs;
        let live = runs.iter().map(|view| &view.run).find(|run| Some(run.id) == action.live_run);
        let (downstream, more_downstream) =
            self.downstream(action.job, action.version, &shower).await?;
        let live = live.cloned();
        let runs = runs.into_iter().map(|view| shower.run_of(view.run, &action)).collect();
        let mut shown = shower.action(action, live);
        shown.bindings = self.bindings(&bindings, &shower).await?;
        Ok(Whole { action: shown, runs, downstream, more_downstream })
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

    /// Adds to each action what it waits for: two reads, however many actions there are.
    async fn bind(&self, rows: &mut [ShownAction], shower: &Shower<'_>) -> Result<(), Fault> {
        let ids: Vec<ActionId> = rows.iter().map(|row| row.action.id).collect();
        let lists = self.store().bindings_of(&ids).await?;
        let states = self.states(lists.values().flatten(), shower).await?;
        for row in rows {
            let own = lists.get(&row.action.id).into_iter().flatten();
            row.bindings = own.map(|binding| bound(binding, &states, shower)).collect();
        }
        Ok(())
    }

    /// What the bindings point to, each with its present state.
    pub(crate) async fn bindings(
        &self,
        bindings: &[Binding],
        shower: &Shower<'_>,
    ) -> Result<Vec<ShownBinding>, Fault> {
        let states = self.states(bindings.iter(), shower).await?;
        Ok(bindings.iter().map(|binding| bound(binding, &states, shower)).collect())
    }

    /// The states of upstream versions, exactly these.
    async fn states(
        &self,
        bindings: impl Iterator<Item = &Binding>,
        shower: &Shower<'_>,
    ) -> Result<States, Fault> {
        let versions: BTreeSet<(JobId, Version)> =
            bindings.map(|binding| (binding.upstream, binding.version)).collect();
        let rows = self.at_versions(&Vec::from_iter(versions)).await?;
        let words = |(action, live): &(Action, Option<Run>)| shower.words(action, live.as_ref());
        Ok(rows.iter().map(|(at, row)| (*at, words(row))).collect())
    }

    /// The actions of these versions, each with its live run; each version must be named once.
    pub(crate) async fn at_versions(
        &self,
        versions: &[(JobId, Version)],
    ) -> Result<BTreeMap<(JobId, Version), (Action, Option<Run>)>, Fault> {
        let mut found = BTreeMap::new();
        for some in versions.chunks(VERSIONS_AT_ONCE) {
            let rows = self.store().actions_at(some).await?;
            found.extend(rows.into_iter().map(|row| ((row.0.job, row.0.version), row)));
        }
        Ok(found)
    }

    /// Who waits for a version, and whether there are more than are told.
    async fn downstream(
        &self,
        job: JobId,
        version: Version,
        shower: &Shower<'_>,
    ) -> Result<(Vec<ShownBinding>, bool), Fault> {
        let most = usize::try_from(DOWNSTREAM_SHOWN).unwrap_or(usize::MAX);
        let mut found = self.store().dependents(job, version, DOWNSTREAM_SHOWN + 1).await?;
        let more = found.len() > most;
        found.truncate(most);
        let shown = |dependent: &Dependent| ShownBinding {
            job: shower.job(dependent.action.job),
            version: dependent.action.version,
            state: shower.words(&dependent.action, dependent.live.as_ref()),
            on: dependent.on,
        };
        Ok((found.iter().map(shown).collect(), more))
    }
}

/// The words of upstream versions; one without a row is not there.
type States = BTreeMap<(JobId, Version), Words>;

fn bound(binding: &Binding, states: &States, shower: &Shower<'_>) -> ShownBinding {
    let Binding { upstream, version, on } = *binding;
    let state = states.get(&(upstream, version)).copied().unwrap_or(NO_ROW);
    ShownBinding { job: shower.job(upstream), version, state, on }
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
        ..ActionFilter::default()
    })
}
