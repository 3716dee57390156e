//! Which units of a batch are written, and as which rows: pure, and the same for every store. A store reads the
//! rows of [`Needs`], asks [`admit`], and writes the [`Plan`]; it judges nothing itself.

mod needs;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::{Action, Binding};
use hera_common::attempt::{Attempt, AttemptState};
use hera_common::audit::AuditRow;
use hera_common::calendar::CalendarRow;
use hera_common::id::{ActionId, Fence, JobId, Revision};
use hera_common::job::{Cursor, Gap, GroupRow, JobRow, RevisionRow};
use hera_common::run::Run;
use hera_common::time::Version;
use hera_common::unit::{Batch, Guard, Marks, Outcome, Put, Unit, Write};
use hera_common::worker::WorkerRow;

pub(crate) use needs::{Believed, Found, Needs};
use table::Table;
pub(crate) use table::{Change, Marked, RunMark};

use crate::rules::{self, Broken, holds};

/// The rows to write: each once, as the last admitted unit left it, lowest id first.
#[derive(Debug, Default)]
pub(crate) struct Plan<'a> {
    /// One for each unit, in order.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) groups: Vec<Change<'a, GroupRow>>,
    pub(crate) calendars: Vec<&'a CalendarRow>,
    pub(crate) jobs: Vec<Change<'a, JobRow>>,
    pub(crate) revisions: Vec<&'a RevisionRow>,
    pub(crate) cursors: Vec<Change<'a, Cursor>>,
    pub(crate) gaps: Vec<&'a Gap>,
    /// Planned actions that go, with their bindings.
    pub(crate) dropped: Vec<ActionId>,
    pub(crate) actions: Vec<Change<'a, Action>>,
    /// Actions whose bindings were in the store before, and are replaced.
    pub(crate) rebound: Vec<ActionId>,
    pub(crate) bindings: Vec<(ActionId, &'a [Binding])>,
    pub(crate) runs: Vec<Change<'a, Run>>,
    /// Of attempts that the store has, before `attempts` are written.
    pub(crate) late_reports: Vec<(Fence, &'a str)>,
    pub(crate) attempts: Vec<Change<'a, Attempt>>,
    pub(crate) outputs: Vec<(Fence, &'a [u8])>,
    pub(crate) workers: Vec<Change<'a, WorkerRow>>,
    pub(crate) audit: Vec<&'a AuditRow>,
}

impl Plan<'_> {
    /// True if each row that was believed is changed, so that the change proves what was believed.
    pub(crate) fn proves(&self, believed: &Believed) -> bool {
        changes_all(&self.cursors, &believed.cursors)
            && changes_all(&self.actions, &believed.actions)
            && changes_all(&self.runs, &believed.runs)
            && changes_all(&self.workers, &believed.workers)
    }
}

fn changes_all<R: Marked>(changes: &[Change<'_, R>], rows: &BTreeSet<R::Id>) -> bool {
    let changed = changes.iter().filter(|change| change.believed.is_some());
    changed.filter(|change| rows.contains(&change.row.id())).count() == rows.len()
}

/// Judges the units in order and collapses what they write.
///
/// # Errors
/// An order that no store can carry out; then nothing of the batch may be written.
pub(crate) fn admit(batch: &Batch, found: Found) -> Result<Plan<'_>, Broken> {
    let mut walk = Walk::new(found);
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(batch.units.len());
    for unit in &batch.units {
        let outcome = walk.judge(unit, &outcomes)?;
        if outcome == Outcome::Done {
            for write in &unit.writes {
                walk.write(write)?;
            }
        }
        outcomes.push(outcome);
    }
    walk.plan(outcomes)
}

/// The rows as the units so far leave them.
struct Walk<'a> {
    marks: Marks,
    groups: Table<'a, GroupRow>,
    calendars: BTreeMap<(&'a str, Revision), &'a CalendarRow>,
    jobs: Table<'a, JobRow>,
    revisions: BTreeMap<(JobId, Revision), &'a RevisionRow>,
    cursors: Table<'a, Cursor>,
    gaps: BTreeMap<(JobId, Version), &'a Gap>,
    actions: Table<'a, Action>,
    bindings: BTreeMap<ActionId, &'a [Binding]>,
    runs: Table<'a, Run>,
    late_reports: BTreeMap<Fence, &'a str>,
    attempts: Table<'a, Attempt>,
    outputs: BTreeMap<Fence, &'a [u8]>,
    workers: Table<'a, WorkerRow>,
    audit: Vec<&'a AuditRow>,
}

impl<'a> Walk<'a> {
    fn new(found: Found) -> Self {
        Self {
            marks: found.marks,
            groups: Table::unread(),
            calendars: BTreeMap::new(),
            jobs: Table::read(found.jobs),
            revisions: BTreeMap::new(),
            cursors: Table::read(found.cursors),
            gaps: BTreeMap::new(),
            actions: Table::read(found.actions),
            bindings: BTreeMap::new(),
            runs: Table::read(found.runs),
            late_reports: BTreeMap::new(),
            attempts: Table::unread(),
            outputs: BTreeMap::new(),
            workers: Table::read(found.workers),
            audit: Vec::new(),
        }
    }

    fn judge(&self, unit: &Unit, before: &[Outcome]) -> Result<Outcome, Broken> {
        for &place in &unit.after {
            let built_on = before.get(place).ok_or_else(|| {
                Broken(format!("unit {} builds on the later unit {place}", before.len()))
            })?;
            if *built_on == Outcome::LeftOut {
                return Ok(Outcome::LeftOut);
            }
        }
        // An id that is in use by now was used by a commit whose answer never came: what this unit believes is old.
        let all = unit.guards.iter().all(|guard| self.holds(guard))
            && unit.writes.iter().all(|write| self.is_free(write));
        Ok(if all { Outcome::Done } else { Outcome::LeftOut })
    }

    /// False for a new row whose id is in use.
    fn is_free(&self, write: &Write) -> bool {
        let used = &self.marks;
        match write {
            Write::Action(Put::Insert, row) => row.id > used.action,
            Write::Run(Put::Insert, row) => row.id > used.run,
            Write::Attempt(Put::Insert, row) => row.fence > used.fence,
            Write::Job(Put::Insert, row) => row.id > used.job,
            Write::Group(Put::Insert, row) => row.id > used.group,
            Write::Worker(Put::Insert, row) => row.id > used.worker,
            Write::Action(Put::Update, _)
            | Write::Run(Put::Update, _)
            | Write::Attempt(Put::Update, _)
            | Write::Job(Put::Update, _)
            | Write::Group(Put::Update, _)
            | Write::Worker(Put::Update, _)
            | Write::Cursor(..)
            | Write::DropPlanned(_)
            | Write::Bindings(..)
            | Write::LateReport(..)
            | Write::Output(..)
            | Write::Gap(_)
            | Write::Revision(_)
            | Write::Calendar(_)
            | Write::Audit(_) => true,
        }
    }

    fn holds(&self, guard: &Guard) -> bool {
        match *guard {
            Guard::Run { id, hb_seq, token } => {
                self.runs.mark(id) == Some(RunMark { hb_seq, token })
            }
            Guard::Action { id, seq } => self.actions.mark(id) == Some(seq),
            Guard::Job { id, seq } => self.jobs.mark(id) == Some(seq),
            Guard::Cursor { job, seq } => self.cursors.mark(job) == Some(seq),
            Guard::Worker { id, seq } => self.workers.mark(id) == Some(seq),
        }
    }

    fn write(&mut self, write: &'a Write) -> Result<(), Broken> {
        match write {
            Write::Action(put, row) => {
                rules::action_row(row)?;
                self.actions.put(*put, row, rules::action_change)
            }
            Write::DropPlanned(id) => self.drop_planned(*id),
            Write::Bindings(action, list) => {
                rules::bindings(list)?;
                self.bindings.insert(*action, list);
                Ok(())
            }
            Write::Run(put, row) => {
                rules::run_row(row)?;
                self.runs.put(*put, row, rules::run_change)
            }
            Write::Attempt(put, row) => self.attempts.put(*put, row, rules::attempt_change),
            Write::LateReport(fence, report) => {
                self.late_report(*fence, report);
                Ok(())
            }
            Write::Output(fence, bytes) => {
                self.outputs.insert(*fence, bytes);
                Ok(())
            }
            Write::Gap(gap) => {
                self.gaps.insert((gap.job, gap.from), gap);
                Ok(())
            }
            Write::Job(put, row) => self.jobs.put(*put, row, rules::job_change),
            Write::Cursor(put, row) => self.cursors.put(*put, row, rules::cursor_change),
            Write::Revision(row) => {
                let twice = self.revisions.insert((row.job, row.revision), row).is_some();
                holds(!twice, || {
                    format!("revision {} of job {} is made twice", row.revision, row.job)
                })
            }
            Write::Calendar(row) => {
                let key = (row.name.as_str(), row.revision);
                let twice = self.calendars.insert(key, row).is_some();
                holds(!twice, || {
                    format!("revision {} of calendar {} is made twice", row.revision, row.name)
                })
            }
            Write::Group(put, row) => self.groups.put(*put, row, any_change),
            Write::Worker(put, row) => self.workers.put(*put, row, rules::worker_change),
            Write::Audit(row) => {
                self.audit.push(row);
                Ok(())
            }
        }
    }

    fn drop_planned(&mut self, id: ActionId) -> Result<(), Broken> {
        let decided = self.actions.last(id).is_some_and(|a| !a.state.planned());
        holds(!decided, || format!("action {id} was decided and is never deleted by an edit"))?;
        self.bindings.remove(&id);
        self.actions.remove(id)
    }

    fn late_report(&mut self, fence: Fence, report: &'a str) {
        match self.attempts.last_mut(fence) {
            Some(attempt) => {
                let ended = matches!(attempt.state, AttemptState::Ended { .. });
                if ended && attempt.late_report.is_none() {
                    attempt.to_mut().late_report = Some(report.to_owned());
                }
            }
            // The store sets it where its attempt has ended without one.
            None => {
                self.late_reports.entry(fence).or_insert(report);
            }
        }
    }

    fn plan(self, outcomes: Vec<Outcome>) -> Result<Plan<'a>, Broken> {
        let (actions, dropped) = self.actions.changes();
        // An action that the batch makes has no bindings yet: there is nothing to take away.
        let fresh: BTreeSet<ActionId> =
            actions.iter().filter(|c| c.believed.is_none()).map(|c| c.row.id).collect();
        let rebound = self.bindings.keys().copied().filter(|id| !fresh.contains(id)).collect();
        Ok(Plan {
            outcomes,
            groups: self.groups.changes().0,
            calendars: self.calendars.into_values().collect(),
            jobs: self.jobs.changes().0,
            revisions: self.revisions.into_values().collect(),
            cursors: self.cursors.changes().0,
            gaps: self.gaps.into_values().collect(),
            dropped,
            actions,
            rebound,
            bindings: self.bindings.into_iter().collect(),
            runs: self.runs.changes().0,
            late_reports: self.late_reports.into_iter().collect(),
            attempts: self.attempts.changes().0,
            outputs: self.outputs.into_iter().collect(),
            workers: self.workers.changes().0,
            audit: self.audit,
        })
    }
}

/// Of rows that nothing protects but their number.
fn any_change<R>(_old: &R, _new: &R) -> Result<(), Broken> {
    Ok(())
}
