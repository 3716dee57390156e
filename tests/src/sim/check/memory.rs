//! What a leader holds in memory, against what a new leader would read; and what is stuck once all is calm.

use hera_common::action::{Action, ActionState, Binding};
use hera_common::id::{ActionId, JobId};
use hera_common::time::Version;
use hera_engine::Engine;
use hera_engine::edge::{EdgeState, judge};
use hera_store::{Scope, Store as _};

use super::Check;
use crate::sim::master::settings;
use crate::sim::world::{World, ready};

impl World {
    /// What each edge of an action says, by the rows alone.
    pub(in crate::sim) fn edges(&self, action: ActionId) -> Vec<(JobId, Version, EdgeState)> {
        let Some(Ok(Some(bound))) = ready(self.store.another_link().action(action)) else {
            return Vec::new();
        };
        let keys: Vec<(JobId, Version)> =
            bound.bindings.iter().map(|b| (b.upstream, b.version)).collect();
        let ends = ready(self.store.another_link().outcomes(&keys));
        let Some(Ok(ends)) = ends else { return Vec::new() };
        let catalog = self.leader().and_then(|master| {
            self.masters.get(master)?.lead.as_ref().map(|lead| lead.engine.catalog())
        });
        let state = |b: &Binding| {
            let job = catalog.as_ref().and_then(|catalog| catalog.jobs.get(&b.upstream));
            let catch_up = job.map(|job| job.catch_up()).unwrap_or_default();
            let end = ends.get(&(b.upstream, b.version));
            end.map_or(EdgeState::Open, |end| judge(b.on, *end, catch_up))
        };
        bound.bindings.iter().map(|b| (b.upstream, b.version, state(b))).collect()
    }

    /// Memory is what a new leader would read now; looked at now and then, since it costs much.
    pub(in crate::sim) fn compare(&mut self, master: usize) {
        if self.dice.permille(80) {
            self.compare_now(master);
        }
    }

    pub(in crate::sim) fn compare_now(&mut self, master: usize) {
        let Some(lead) = self.masters.get(master).and_then(|own| own.lead.as_ref()) else { return };
        let link = self.store.another_link();
        let Some(Ok(row)) = ready(link.leadership()) else { return };
        if row.epoch != lead.epoch || !lead.settled {
            return;
        }
        let Some(Ok(snapshot)) = ready(link.load(&Scope::All)) else { return };
        let mut fresh = Engine::new(settings(), lead.epoch);
        fresh.load(snapshot, lead.stepped);
        let difference = lead.engine.difference(fresh, lead.stepped);
        self.ledger.comparisons += 1;
        self.wrong_if(Check::Memory, difference);
    }

    /// Actions that ought not to be as they are, once all is calm.
    pub(in crate::sim) fn stuck(&self) -> Vec<String> {
        let now = Version::at(self.wall());
        let parked = |job: JobId| {
            self.store.rows(|rows| {
                rows.jobs
                    .get(&job)
                    .is_none_or(|row| row.parked.is_some() || row.deleted_at.is_some())
            })
        };
        let actions: Vec<Action> = self.store.rows(|rows| rows.actions.values().cloned().collect());
        let mut stuck = Vec::new();
        for action in actions {
            let name = format!("action {} of job {} @{}", action.id, action.job, action.version);
            if action.state.planned() && action.version <= now && !parked(action.job) {
                stuck.push(format!("{name} is due and undecided"));
            }
            if action.state == ActionState::Waiting && action.live_run.is_none() {
                let edges = self.edges(action.id);
                let open = |state| matches!(state, EdgeState::Open | EdgeState::Blocked);
                if !edges.iter().any(|(_, _, state)| open(*state)) {
                    stuck.push(format!("{name} waits for nothing: {edges:?}"));
                }
            }
            if action.state == ActionState::Active || action.live_run.is_some() {
                stuck.push(format!("{name} has a live run"));
            }
        }
        stuck
    }
}
