//! What is loaded and listed from memory, by the filters that the databases have in SQL.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::{Action, ActivePart};
use hera_common::id::JobId;
use hera_common::job::JobRow;
use hera_common::limits::BY_HAND_MAX;
use hera_common::run::Run;
use hera_common::time::Version;
use serde_json::Value;

use super::state::State;
use crate::StoreError;
use crate::load::{Scope, Snapshot};
use crate::mark;
use crate::read::{ActionFilter, ActionPage, ActionStates, Page, RunFilter, RunPage, RunView};

impl State {
    pub(super) fn load(&self, scope: &Scope) -> Snapshot {
        let within = |job: JobId| match scope {
            Scope::All => true,
            Scope::Jobs(jobs) => jobs.contains(&job),
        };
        let open = |action: &&Action| {
            within(action.job) && (!action.state.ended() || action.live_run.is_some())
        };
        let open: Vec<&Action> = self.actions.values().filter(open).collect();
        let busy: BTreeSet<JobId> = open.iter().map(|action| action.job).collect();
        let jobs = self.jobs.values().filter(|job| {
            within(job.id)
                && (job.deleted_at.is_none() || busy.contains(&job.id) || *scope != Scope::All)
        });
        let jobs: Vec<_> = jobs.cloned().collect();
        let known: BTreeSet<JobId> = jobs.iter().map(|job| job.id).collect();
        let actions: Vec<_> = open.into_iter().map(|action| self.bound(action)).collect();
        let live = self.runs.values().filter(|run| within(run.job) && !run.state.ended());
        let runs: Vec<Run> = live.cloned().collect();
        let held = runs.iter().filter_map(|run| self.attempts.get(&run.state.hold()?.fence));
        let mut attempts: Vec<_> = held.cloned().collect();
        attempts.sort_by_key(|attempt| attempt.fence);
        let ends =
            actions.iter().flat_map(|bound| &bound.bindings).map(|b| (b.upstream, b.version));
        Snapshot {
            store_now: self.now,
            marks: self.marks,
            groups: self.groups.values().cloned().collect(),
            calendars: self.calendars.values().cloned().collect(),
            cursors: self.cursors.values().filter(|c| known.contains(&c.job)).copied().collect(),
            revisions: self
                .revisions
                .values()
                .filter(|r| known.contains(&r.job))
                .cloned()
                .collect(),
            attempts,
            outcomes: ends.filter_map(|at| Some((at, self.outcome(at)?))).collect(),
            by_hand: self.by_hand(&jobs),
            workers: self.workers.values().cloned().collect(),
            jobs,
            actions,
            runs,
            bad: Vec::new(),
        }
    }

    pub(super) fn list_actions(
        &self,
        filter: &ActionFilter,
        page: &Page,
    ) -> Result<ActionPage, StoreError> {
        let after = page.after.as_deref().map(mark::read_action).transpose()?;
        let mut found: Vec<&Action> = self
            .actions
            .values()
            .filter(|a| after.is_none_or(|after| (a.version, a.id) < after))
            .filter(|a| self.action_fits(a, filter))
            .collect();
        found.sort_by_key(|a| std::cmp::Reverse((a.version, a.id)));
        let most = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let more = found.len() > most;
        found.truncate(most);
        let next = found.last().filter(|_| more).map(|a| mark::action(a.version, a.id));
        let actions = found.into_iter().map(|a| (a.clone(), self.live_run(a).cloned())).collect();
        Ok(ActionPage { actions, next })
    }

    pub(super) fn live_run(&self, action: &Action) -> Option<&Run> {
        self.runs.get(&action.live_run?)
    }

    fn action_fits(&self, action: &Action, filter: &ActionFilter) -> bool {
        let ActionFilter { jobs, states, now, reasons, from, to, data_date, triggers } = filter;
        let reason = action.state.reason();
        let part = self.live_run(action).map(|run| ActivePart::of(run.state, *now));
        let in_state = |wanted: &ActionStates| wanted.take(action.state, part);
        let has_trigger =
            || self.runs.values().any(|r| r.action == action.id && triggers.contains(&r.trigger));
        jobs.as_ref().is_none_or(|jobs| jobs.contains(&action.job))
            && (states.is_empty() || states.iter().any(in_state))
            && (reasons.is_empty() || reason.is_some_and(|r| reasons.iter().any(|x| x == r)))
            && from.is_none_or(|from| action.version >= from)
            && to.is_none_or(|to| action.version < to)
            && data_date.as_ref().is_none_or(|date| action.data.date == *date)
            && (triggers.is_empty() || has_trigger())
    }

    /// The newest versions of jobs without schedule and edges, as the databases read it off the definitions' keys.
    fn by_hand(&self, jobs: &[JobRow]) -> BTreeMap<JobId, Vec<Version>> {
        let hand = jobs.iter().filter(|job| {
            let revision = self.revisions.get(&(job.id, job.revision));
            job.deleted_at.is_none() && revision.is_some_and(|row| runs_by_hand(&row.spec))
        });
        let mut found = BTreeMap::new();
        for job in hand {
            let planned = |action: &&Action| action.state.planned();
            let of =
                self.actions.values().filter(|action| action.job == job.id && !planned(action));
            let mut versions: Vec<Version> = of.map(|action| action.version).collect();
            versions.sort_unstable();
            let old = versions.len().saturating_sub(BY_HAND_MAX);
            versions.drain(..old);
            if !versions.is_empty() {
                found.insert(job.id, versions);
            }
        }
        found
    }

    pub(super) fn list_runs(&self, filter: &RunFilter, page: &Page) -> Result<RunPage, StoreError> {
        let after = page.after.as_deref().map(mark::read_run).transpose()?;
        let most = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let rest = self.runs.values().rev().filter(|run| after.is_none_or(|after| run.id < after));
        let mut fits = rest.filter(|run| run_fits(run, filter));
        let runs: Vec<RunView> = fits.by_ref().take(most).map(|run| self.run_view(run)).collect();
        let more = fits.next().is_some();
        let next = runs.last().filter(|_| more).map(|view| mark::run(view.run.id));
        Ok(RunPage { runs, next })
    }
}

fn runs_by_hand(spec: &str) -> bool {
    let Ok(spec) = serde_json::from_str::<Value>(spec) else { return false };
    let nothing = |value: Option<&Value>| value.is_none_or(Value::is_null);
    nothing(spec.get("schedule")) && nothing(spec.get("depends_on").and_then(|list| list.get(0)))
}

fn run_fits(run: &Run, filter: &RunFilter) -> bool {
    let RunFilter { jobs, action, states, reasons, triggers, from, to } = filter;
    let of = |reason: &String| run.state.reason() == Some(reason.as_str());
    jobs.as_ref().is_none_or(|jobs| jobs.contains(&run.job))
        && action.is_none_or(|action| run.action == action)
        && (states.is_empty() || states.iter().any(|wanted| wanted.take(run.state)))
        && (reasons.is_empty() || reasons.iter().any(of))
        && (triggers.is_empty() || triggers.contains(&run.trigger))
        && from.is_none_or(|from| run.version >= from)
        && to.is_none_or(|to| run.version < to)
}
