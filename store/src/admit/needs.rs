//! Which rows a batch is about, and which of them have to be read before it is judged. Judges nothing.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::id::{ActionId, JobId, RunId, Seq, WorkerId};
use hera_common::unit::{Batch, Guard, Marks, Put, Write};

use super::table::RunMark;

/// The rows that a batch believes something about, or changes: each once, lowest id first, which is the order
/// in which they are locked.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) jobs: BTreeSet<JobId>,
    pub(crate) cursors: BTreeSet<JobId>,
    pub(crate) actions: BTreeSet<ActionId>,
    pub(crate) runs: BTreeSet<RunId>,
    pub(crate) workers: BTreeSet<WorkerId>,
}

impl Needs {
    /// Of the whole batch, also of units that will be left out.
    pub(crate) fn of(batch: &Batch) -> Self {
        let mut needs = Self::default();
        for unit in &batch.units {
            for guard in &unit.guards {
                needs.guard(guard);
            }
            for write in &unit.writes {
                needs.write(write);
            }
        }
        needs
    }

    /// What has to be read if every guard is taken to hold, and the rows as the guards have them. A guard on a
    /// row that its batch changes needs no look: the change itself is conditional, and told how many rows it
    /// must find. [`super::Plan::proves`] says whether it was so.
    ///
    /// Jobs are always read, for their paths.
    pub(crate) fn believing(batch: &Batch) -> (Self, Found) {
        let mut needs = Self::of(batch);
        let mut seen = Found::default();
        let mut changed = Self::default();
        let mut made = Self::default();
        for unit in &batch.units {
            unit.guards.iter().for_each(|guard| seen.believe(guard));
            for write in &unit.writes {
                changed.change(write);
                made.make(write);
            }
        }
        believe(&mut needs.cursors, &mut seen.cursors, &changed.cursors, &made.cursors);
        believe(&mut needs.actions, &mut seen.actions, &changed.actions, &made.actions);
        believe(&mut needs.runs, &mut seen.runs, &changed.runs, &made.runs);
        believe(&mut needs.workers, &mut seen.workers, &changed.workers, &made.workers);
        seen.jobs.clear();
        (needs, seen)
    }

    fn guard(&mut self, guard: &Guard) {
        match *guard {
            Guard::Run { id, .. } => {
                self.runs.insert(id);
            }
            Guard::Action { id, .. } => {
                self.actions.insert(id);
            }
            Guard::Job { id, .. } => {
                self.jobs.insert(id);
            }
            Guard::Cursor { job, .. } => {
                self.cursors.insert(job);
            }
            Guard::Worker { id, .. } => {
                self.workers.insert(id);
            }
        }
    }

    /// A row that is there, and changes or goes.
    fn write(&mut self, write: &Write) {
        self.change(write);
        if let Write::DropPlanned(id) = write {
            self.actions.insert(*id);
        }
    }

    fn change(&mut self, write: &Write) {
        self.put(write, Put::Update);
    }

    fn make(&mut self, write: &Write) {
        self.put(write, Put::Insert);
    }

    fn put(&mut self, write: &Write, wanted: Put) {
        match write {
            Write::Run(put, row) if *put == wanted => {
                self.runs.insert(row.id);
            }
            Write::Action(put, row) if *put == wanted => {
                self.actions.insert(row.id);
            }
            Write::Job(put, row) if *put == wanted => {
                self.jobs.insert(row.id);
            }
            Write::Cursor(put, row) if *put == wanted => {
                self.cursors.insert(row.job);
            }
            Write::Worker(put, row) if *put == wanted => {
                self.workers.insert(row.id);
            }
            Write::Run(..)
            | Write::Action(..)
            | Write::Job(..)
            | Write::Cursor(..)
            | Write::Worker(..)
            | Write::DropPlanned(_)
            | Write::Bindings(..)
            | Write::Attempt(..)
            | Write::LateReport(..)
            | Write::Output(..)
            | Write::Gap(_)
            | Write::Revision(_)
            | Write::Calendar(_)
            | Write::Group(..)
            | Write::Audit(_) => {}
        }
    }
}

/// Of one table: keeps what a guard says of a row that is changed, and leaves only the other rows to be read. A
/// row that the batch makes is not there yet, or its key says so.
fn believe<K: Ord + Copy, M>(
    needs: &mut BTreeSet<K>,
    seen: &mut BTreeMap<K, M>,
    changed: &BTreeSet<K>,
    made: &BTreeSet<K>,
) {
    seen.retain(|id, _| changed.contains(id) && !made.contains(id));
    needs.retain(|id| !seen.contains_key(id) && !made.contains(id));
}

/// What the rows of [`Needs`] hold, as the transaction has locked them; a row that is not there is missing.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The highest ids in use: a new row with one of them would take another row's place.
    pub(crate) marks: Marks,
    pub(crate) jobs: BTreeMap<JobId, Seq>,
    pub(crate) cursors: BTreeMap<JobId, Seq>,
    pub(crate) actions: BTreeMap<ActionId, Seq>,
    pub(crate) runs: BTreeMap<RunId, RunMark>,
    pub(crate) workers: BTreeMap<WorkerId, Seq>,
}

impl Found {
    /// What the first guard says of its row; a later one speaks of what this batch makes of it.
    fn believe(&mut self, guard: &Guard) {
        match *guard {
            Guard::Run { id, hb_seq, token } => {
                self.runs.entry(id).or_insert(RunMark { hb_seq, token });
            }
            Guard::Action { id, seq } => {
                self.actions.entry(id).or_insert(seq);
            }
            Guard::Job { id, seq } => {
                self.jobs.entry(id).or_insert(seq);
            }
            Guard::Cursor { job, seq } => {
                self.cursors.entry(job).or_insert(seq);
            }
            Guard::Worker { id, seq } => {
                self.workers.entry(id).or_insert(seq);
            }
        }
    }
}

/// The rows that were believed and not read.
#[derive(Debug, Default)]
pub(crate) struct Believed {
    pub(super) cursors: BTreeSet<JobId>,
    pub(super) actions: BTreeSet<ActionId>,
    pub(super) runs: BTreeSet<RunId>,
    pub(super) workers: BTreeSet<WorkerId>,
}

impl Believed {
    /// All rows of `found`, before others are read.
    pub(crate) fn of(found: &Found) -> Self {
        Self {
            cursors: found.cursors.keys().copied().collect(),
            actions: found.actions.keys().copied().collect(),
            runs: found.runs.keys().copied().collect(),
            workers: found.workers.keys().copied().collect(),
        }
    }
}
