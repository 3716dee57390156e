//! Building a step's batch: units with their guards, who builds on whom, and whose handlers they changed.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::{Action, Binding};
use hera_common::attempt::Attempt;
use hera_common::id::{ActionId, Fence, JobId, RunId, WorkerId};
use hera_common::job::{Cursor, JobRow};
use hera_common::run::Run;
use hera_common::unit::{Batch, Guard, Marks, Put, Unit, Write};
use hera_common::worker::WorkerRow;

use crate::input::{Answer, Change, Effect, Reply, Step, Tag};

/// A row that a step may write more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RowKey {
    Action(ActionId),
    Run(RunId),
    Attempt(Fence),
    Cursor(JobId),
    Job(JobId),
    Worker(WorkerId),
}

/// The last unit that wrote a row, and at which place among its writes.
#[derive(Debug, Clone, Copy)]
struct Writer {
    unit: usize,
    place: usize,
}

/// The step that is being built.
#[derive(Debug, Default)]
pub struct Stage {
    units: Vec<Unit>,
    touched: Vec<BTreeSet<JobId>>,
    writers: BTreeMap<RowKey, Writer>,
    /// Which unit last took an exclusive run of a job from its holder: the next one's grant builds on it.
    freed: BTreeMap<JobId, usize>,
    answers: Vec<Answer>,
    effects: Vec<Effect>,
}

impl Stage {
    /// Begins a unit that makes sense only if `cause` is committed, too.
    pub fn unit(&mut self, cause: Option<usize>) -> usize {
        self.units.push(Unit { after: cause.into_iter().collect(), ..Unit::default() });
        self.touched.push(BTreeSet::new());
        self.units.len() - 1
    }

    /// Says that the unit changed the job's handler.
    pub fn touch(&mut self, unit: usize, job: JobId) {
        if let Some(touched) = self.touched.get_mut(unit) {
            touched.insert(job);
        }
    }

    /// An action that was not there.
    pub fn insert_action(&mut self, unit: usize, action: &Action) {
        self.touch(unit, action.job);
        let write = Write::Action(Put::Insert, Box::new(action.clone()));
        self.write_row(unit, RowKey::Action(action.id), None, write);
    }

    /// An action as it is now; its `seq` moves on, once in a unit.
    pub fn update_action(&mut self, unit: usize, action: &mut Action) {
        self.touch(unit, action.job);
        let key = RowKey::Action(action.id);
        let guard = Guard::Action { id: action.id, seq: action.seq };
        if self.first_write(unit, key) {
            action.seq = action.seq.next();
        }
        self.write_row(
            unit,
            key,
            Some(guard),
            Write::Action(Put::Update, Box::new(action.clone())),
        );
    }

    /// Takes a planned action away.
    pub fn drop_planned(&mut self, unit: usize, action: &Action) {
        self.touch(unit, action.job);
        let guard = Guard::Action { id: action.id, seq: action.seq };
        self.write_row(unit, RowKey::Action(action.id), Some(guard), Write::DropPlanned(action.id));
    }

    /// What an action waits for, all of it.
    pub fn bind(&mut self, unit: usize, action: ActionId, bindings: Vec<Binding>) {
        self.write(unit, Write::Bindings(action, bindings));
    }

    /// A run that was not there.
    pub fn insert_run(&mut self, unit: usize, run: &Run) {
        self.touch(unit, run.job);
        let write = Write::Run(Put::Insert, Box::new(run.clone()));
        self.write_row(unit, RowKey::Run(run.id), None, write);
    }

    /// A run as it is now, which was `before` until now.
    pub fn update_run(&mut self, unit: usize, before: &Run, run: &Run) {
        self.touch(unit, run.job);
        let guard = Self::run_guard(before);
        let write = Write::Run(Put::Update, Box::new(run.clone()));
        self.write_row(unit, RowKey::Run(run.id), Some(guard), write);
        match (before.state.hold(), run.state.hold()) {
            (Some(_), None) if run.exclusive => {
                self.freed.insert(run.job, unit);
            }
            (None, Some(_)) if run.exclusive => {
                let freed = self.freed.get(&run.job).copied();
                self.build_on(unit, freed.filter(|freed| *freed != unit));
            }
            _ => {}
        }
    }

    /// A unit that makes sense only if another one is committed, too.
    fn build_on(&mut self, unit: usize, on: Option<usize>) {
        let into = self.units.get_mut(unit);
        if let (Some(into), Some(on)) = (into, on)
            && !into.after.contains(&on)
        {
            into.after.push(on);
        }
    }

    /// A unit without writes: proves that this master leads, and that the run is as it is believed to be.
    pub fn believe(&mut self, run: &Run) -> usize {
        let unit = self.unit(self.writers.get(&RowKey::Run(run.id)).map(|w| w.unit));
        self.touch(unit, run.job);
        if let Some(unit) = self.units.get_mut(unit) {
            unit.guards.push(Self::run_guard(run));
        }
        unit
    }

    fn run_guard(run: &Run) -> Guard {
        Guard::Run { id: run.id, hb_seq: run.hb_seq, token: run.state.hold().map(|h| h.token) }
    }

    /// An attempt as it is now. Its run's guard protects it.
    pub fn put_attempt(&mut self, unit: usize, put: Put, attempt: &Attempt) {
        let write = Write::Attempt(put, Box::new(attempt.clone()));
        self.write_row(unit, RowKey::Attempt(attempt.fence), None, write);
    }

    /// How far a job is decided and planned; its `seq` moves on.
    pub fn update_cursor(&mut self, unit: usize, cursor: &mut Cursor) {
        self.touch(unit, cursor.job);
        let key = RowKey::Cursor(cursor.job);
        let guard = Guard::Cursor { job: cursor.job, seq: cursor.seq };
        if self.first_write(unit, key) {
            cursor.seq = cursor.seq.next();
        }
        self.write_row(unit, key, Some(guard), Write::Cursor(Put::Update, *cursor));
    }

    /// The cursor of a new job.
    pub fn insert_cursor(&mut self, unit: usize, cursor: Cursor) {
        self.touch(unit, cursor.job);
        self.write_row(unit, RowKey::Cursor(cursor.job), None, Write::Cursor(Put::Insert, cursor));
    }

    /// A job's row as it is now; its `seq` moves on.
    pub fn update_job(&mut self, unit: usize, row: &mut JobRow) {
        self.touch(unit, row.id);
        let key = RowKey::Job(row.id);
        let guard = Guard::Job { id: row.id, seq: row.seq };
        if self.first_write(unit, key) {
            row.seq = row.seq.next();
        }
        self.write_row(unit, key, Some(guard), Write::Job(Put::Update, Box::new(row.clone())));
    }

    /// A worker's row as it is now; its `seq` moves on.
    pub fn update_worker(&mut self, unit: usize, row: &mut WorkerRow) {
        let key = RowKey::Worker(row.id);
        let guard = Guard::Worker { id: row.id, seq: row.seq };
        if self.first_write(unit, key) {
            row.seq = row.seq.next();
        }
        self.write_row(unit, key, Some(guard), Write::Worker(Put::Update, Box::new(row.clone())));
    }

    /// A write that nobody else in the step makes.
    pub fn write(&mut self, unit: usize, write: Write) {
        if let Some(unit) = self.units.get_mut(unit) {
            unit.writes.push(write);
        }
    }

    fn first_write(&self, unit: usize, key: RowKey) -> bool {
        self.writers.get(&key).is_none_or(|writer| writer.unit != unit)
    }

    /// Writes a row; builds on the unit that wrote it before; takes the place of what this unit wrote of it.
    fn write_row(&mut self, unit: usize, key: RowKey, guard: Option<Guard>, write: Write) {
        let before = self.writers.get(&key).copied();
        let Some(into) = self.units.get_mut(unit) else { return };
        if let Some(writer) = before {
            if writer.unit == unit {
                replace(into, writer.place, write);
                return;
            }
            if !into.after.contains(&writer.unit) {
                into.after.push(writer.unit);
            }
        }
        into.guards.extend(guard);
        into.writes.push(write);
        self.writers.insert(key, Writer { unit, place: into.writes.len() - 1 });
    }

    /// An answer that holds if `after` is committed.
    pub fn answer(&mut self, tag: Tag, after: impl IntoIterator<Item = usize>, reply: Reply) {
        self.answers.push(Answer { tag, after: after.into_iter().collect(), reply });
    }

    /// Something to do after the commit.
    pub fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Something that watchers see, if the unit is committed.
    pub fn changed(&mut self, unit: usize, change: Change) {
        self.effects.push(Effect::Changed { unit, change });
    }

    /// The step.
    pub fn finish(self, marks: Marks) -> Step {
        Step {
            batch: Batch { units: self.units, marks },
            touched: self.touched.into_iter().map(|jobs| jobs.into_iter().collect()).collect(),
            answers: self.answers,
            effects: self.effects,
        }
    }
}

/// An insert stays an insert, with the newer content.
fn replace(unit: &mut Unit, place: usize, write: Write) {
    let Some(old) = unit.writes.get_mut(place) else { return };
    *old = match (&*old, write) {
        (Write::Action(Put::Insert, _), Write::Action(_, row)) => Write::Action(Put::Insert, row),
        (Write::Run(Put::Insert, _), Write::Run(_, row)) => Write::Run(Put::Insert, row),
        (Write::Attempt(Put::Insert, _), Write::Attempt(_, row)) => {
            Write::Attempt(Put::Insert, row)
        }
        (Write::Cursor(Put::Insert, _), Write::Cursor(_, row)) => Write::Cursor(Put::Insert, row),
        (Write::Job(Put::Insert, _), Write::Job(_, row)) => Write::Job(Put::Insert, row),
        (Write::Worker(Put::Insert, _), Write::Worker(_, row)) => Write::Worker(Put::Insert, row),
        (_, write) => write,
    };
}
