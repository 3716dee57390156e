//! The handler of one job: its actions that have not ended, its live runs, and what events make of them. A pure state machine:
//! it writes into a stage, and leaves notes for the dispatcher. Knows no other job's handler.

mod admit;
mod decide;
mod difference;
mod replan;
mod runs;
mod verbs;

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::{Action, ActionEnd, ActionState, Binding};
use hera_common::attempt::Attempt;
use hera_common::id::{ActionId, Epoch, JobId, RunId};
use hera_common::job::Cursor;
use hera_common::run::{Run, RunState};
use hera_common::time::{Now, Version};
use hera_common::unit::Marks;

use crate::catalog::Job;
use crate::edge::EdgeState;
use crate::engine::Chance;
use crate::input::{Change, VersionKey};
use crate::stage::Stage;

pub use decide::Span;
pub use replan::{Replan, Want};
pub use runs::RunReport;

/// One job's part of the memory.
#[derive(Debug)]
pub struct Handler {
    pub job: JobId,
    pub cursor: Cursor,
    actions: BTreeMap<Version, Entry>,
    runs: BTreeMap<RunId, Live>,
    /// The planned ones among the actions.
    planned: BTreeSet<Version>,
    /// Of a closed job, which has no rows ahead: the version that comes due next, as far as was looked.
    armed: Option<Version>,
    /// Waiting, and held back by nothing but a full queue or a live run that does not count.
    ready: BTreeSet<Version>,
}

/// An action in memory.
#[derive(Debug)]
pub struct Entry {
    pub action: Action,
    pub edges: Vec<(Binding, EdgeState)>,
}

/// A live run in memory.
#[derive(Debug)]
pub struct Live {
    pub run: Run,
    /// The attempt that is on it.
    pub attempt: Option<Attempt>,
    /// Its lease has run out, and nobody has renewed it since.
    pub expired: bool,
    /// The worker said that it could not kill it.
    pub kill_failed: bool,
}

/// What a handler works with during one event.
pub struct Ctx<'a> {
    pub now: Now,
    pub epoch: Epoch,
    pub job: &'a Job,
    pub stage: &'a mut Stage,
    pub marks: &'a mut Marks,
    pub notes: &'a mut Vec<Note>,
    pub chance: &'a mut dyn Chance,
    /// The unit that led to the event.
    pub cause: Option<usize>,
}

/// What the dispatcher must pass on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The action's counting end: JobSuccess or JobFailed for those that wait for it.
    Ended { key: VersionKey, end: ActionEnd, unit: usize },
    /// A new counting run has started, or the action waits again: its outcome no longer holds.
    Reset { key: VersionKey, unit: usize },
    /// Slots that became no action, all in `[from, to]` but `rows`: to those that wait for them they are skipped(late).
    Gap { job: JobId, from: Version, to: Version, rows: BTreeSet<Version>, unit: usize },
    /// The run is new, changed or over.
    Run { job: JobId, run: RunId },
    /// The action waits for these.
    Watch { waiter: VersionKey, keys: Vec<VersionKey> },
    /// The action waits for these no longer.
    Unwatch { waiter: VersionKey, keys: Vec<VersionKey> },
}

impl Handler {
    /// A handler of a job that has nothing yet.
    pub fn new(cursor: Cursor) -> Self {
        Self {
            job: cursor.job,
            cursor,
            actions: BTreeMap::new(),
            runs: BTreeMap::new(),
            planned: BTreeSet::new(),
            armed: None,
            ready: BTreeSet::new(),
        }
    }

    /// Takes in an action that the store holds.
    pub fn take_action(&mut self, entry: Entry) {
        if entry.action.state.planned() {
            self.planned.insert(entry.action.version);
        }
        if entry.action.state == ActionState::Waiting && entry.standing() == EdgeState::Met {
            self.ready.insert(entry.action.version);
        }
        self.actions.insert(entry.action.version, entry);
    }

    /// Takes in a live run that the store holds.
    pub fn take_run(&mut self, run: Run, attempt: Option<Attempt>) {
        self.runs.insert(run.id, Live { run, attempt, expired: false, kill_failed: false });
    }

    /// The action of a version, if it is in memory.
    pub fn entry(&self, version: Version) -> Option<&Entry> {
        self.actions.get(&version)
    }

    /// True where the action waits, though its edges say what is to be done with it.
    pub fn unsettled(&self, version: Version) -> bool {
        self.actions.get(&version).is_some_and(|entry| {
            entry.action.state == ActionState::Waiting
                && match entry.standing() {
                    EdgeState::Met | EdgeState::SkipDependent | EdgeState::NotNeeded => true,
                    EdgeState::Open | EdgeState::Blocked | EdgeState::Unknown => false,
                }
        })
    }

    /// Corrects what an edge is believed to say; the action is settled later.
    pub fn set_edge(&mut self, version: Version, key: VersionKey, state: EdgeState) {
        let Some(entry) = self.actions.get_mut(&version) else { return };
        for (binding, believed) in &mut entry.edges {
            if (binding.upstream, binding.version) == key {
                *believed = state;
            }
        }
        let waits = entry.action.state == ActionState::Waiting;
        if waits && entry.standing() == EdgeState::Met {
            self.ready.insert(version);
        } else {
            self.ready.remove(&version);
        }
    }

    /// All actions in memory.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.actions.values()
    }

    /// A live run.
    pub fn live(&self, run: RunId) -> Option<&Live> {
        self.runs.get(&run)
    }

    /// All live runs.
    pub fn lives(&self) -> impl Iterator<Item = &Live> {
        self.runs.values()
    }

    /// True where the job has neither actions nor runs in memory.
    pub fn is_idle(&self) -> bool {
        self.runs.is_empty() && self.actions.is_empty()
    }

    /// Planned versions up to `now`, in order.
    pub fn planned_until(&self, now: Version) -> impl Iterator<Item = Version> {
        self.planned.range(..=now).copied()
    }

    /// When the next version is due.
    pub fn next_due(&self) -> Option<Version> {
        self.planned.first().copied().into_iter().chain(self.armed).min()
    }

    /// Says when the next version of a closed job comes due: it gets its row then.
    pub const fn arm(&mut self, next: Option<Version>) {
        self.armed = next;
    }

    /// True where a version without a row comes due.
    pub const fn is_armed(&self) -> bool {
        self.armed.is_some()
    }

    /// How many actions are planned, and how many wait.
    pub fn counts(&self) -> (usize, usize) {
        let waiting =
            self.actions.values().filter(|e| e.action.state == ActionState::Waiting).count();
        (self.planned.len(), waiting)
    }

    /// Takes note that a lease has run out, or was renewed after all.
    pub fn mark_expired(&mut self, run: RunId, expired: bool) {
        if let Some(live) = self.runs.get_mut(&run) {
            live.expired = expired;
        }
    }

    /// Takes note that the worker could not kill it.
    pub fn mark_kill_failed(&mut self, run: RunId) {
        if let Some(live) = self.runs.get_mut(&run) {
            live.kill_failed = true;
        }
    }

    /// How many of its runs are queued.
    fn queued(&self) -> usize {
        self.runs.values().filter(|l| matches!(l.run.state, RunState::Queued { .. })).count()
    }

    /// Ends an action without a run, or with the end of its counting run; forgets it when nothing of it is live.
    fn end_action(&mut self, ctx: &mut Ctx<'_>, unit: usize, version: Version, end: ActionEnd) {
        let Some(entry) = self.actions.get_mut(&version) else { return };
        let action = &mut entry.action;
        action.state = ActionState::Ended(end);
        action.outcome = Some(end);
        action.decided_at = action.decided_at.or(Some(ctx.now.wall));
        action.ended_at = Some(ctx.now.wall);
        ctx.stage.update_action(unit, action);
        ctx.stage.changed(unit, Change::Action(Box::new(action.clone())));
        ctx.notes.push(Note::Ended { key: (self.job, version), end, unit });
        self.planned.remove(&version);
        self.ready.remove(&version);
        self.forget_if_over(ctx, version);
    }

    /// Drops an ended action from memory once no run of it is live.
    fn forget_if_over(&mut self, ctx: &mut Ctx<'_>, version: Version) {
        let over = |e: &Entry| e.action.state.ended() && e.action.live_run.is_none();
        if self.actions.get(&version).is_some_and(over) {
            self.forget(ctx, version);
        }
    }

    fn forget(&mut self, ctx: &mut Ctx<'_>, version: Version) {
        self.planned.remove(&version);
        self.ready.remove(&version);
        if let Some(entry) = self.actions.remove(&version) {
            let keys = entry.keys();
            if !keys.is_empty() {
                ctx.notes.push(Note::Unwatch { waiter: (self.job, version), keys });
            }
        }
    }
}

impl Entry {
    /// The upstream versions that it is bound to.
    pub fn keys(&self) -> Vec<VersionKey> {
        self.edges.iter().map(|(binding, _state)| (binding.upstream, binding.version)).collect()
    }

    /// Those of which nobody has asked the store yet.
    pub fn unknown(&self) -> impl Iterator<Item = VersionKey> {
        let unknown = self.edges.iter().filter(|(_binding, state)| *state == EdgeState::Unknown);
        unknown.map(|(binding, _state)| (binding.upstream, binding.version))
    }

    /// Takes in what the same edges say after an edit; false where that is what they said. The catch-up of an upstream
    /// decides whether a late version of it blocks or skips; all else is known already where memory no longer knows.
    fn hear(&mut self, edges: &[(Binding, EdgeState)]) -> bool {
        let mut heard = false;
        for ((_, believed), (_, told)) in self.edges.iter_mut().zip(edges) {
            let late = matches!(believed, EdgeState::Blocked | EdgeState::SkipDependent);
            if believed != told && (*told != EdgeState::Unknown || late) {
                *believed = *told;
                heard = true;
            }
        }
        heard
    }

    /// The worst of its edges; Met where it has none.
    pub fn standing(&self) -> EdgeState {
        let states = self.edges.iter().map(|&(_binding, state)| state);
        // What ends the action wins over what only makes it wait; but an unknown edge may say anything.
        let rank = |state: &EdgeState| match state {
            EdgeState::Met => 0,
            EdgeState::Open => 1,
            EdgeState::Blocked => 2,
            EdgeState::Unknown => 3,
            EdgeState::NotNeeded => 4,
            EdgeState::SkipDependent => 5,
        };
        states.max_by_key(rank).unwrap_or(EdgeState::Met)
    }
}

/// The number of an action that is about to be made.
fn next_action(marks: &mut Marks) -> ActionId {
    marks.action = marks.action.next();
    marks.action
}
