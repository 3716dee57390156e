//! What is active, as a master reads it to build its memory.

use std::collections::BTreeMap;

use crate::action::{Action, ActionEnd, Binding};
use crate::attempt::Attempt;
use crate::calendar::CalendarRow;
use crate::id::JobId;
use crate::job::{Cursor, GroupRow, JobRow, RevisionRow};
use crate::run::Run;
use crate::time::{Version, Wall};
use crate::unit::Marks;
use crate::worker::WorkerRow;

/// What is active, as one transaction saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub store_now: Wall,
    pub marks: Marks,
    pub groups: Vec<GroupRow>,
    /// All revisions of all calendars, deleted ones too.
    pub calendars: Vec<CalendarRow>,
    /// Jobs that are not deleted; deleted ones only where they have actions that have not ended.
    pub jobs: Vec<JobRow>,
    pub cursors: Vec<Cursor>,
    /// All revisions of the jobs, oldest first within a job.
    pub revisions: Vec<RevisionRow>,
    /// Actions that have not ended, and ended ones with a live run.
    pub actions: Vec<BoundAction>,
    /// Runs that have not ended.
    pub runs: Vec<Run>,
    /// The present attempts of the runs that are held.
    pub attempts: Vec<Attempt>,
    /// The last counting ends of the upstream versions that the actions wait for.
    pub outcomes: BTreeMap<(JobId, Version), ActionEnd>,
    /// Of jobs without schedule and edges the newest versions that have an action, at most
    /// [`BY_HAND_MAX`](crate::limits::BY_HAND_MAX) of each, oldest first.
    pub by_hand: BTreeMap<JobId, Vec<Version>>,
    pub workers: Vec<WorkerRow>,
    /// Rows that could not be read; what else their jobs have is left out, and the jobs are parked.
    pub bad: Vec<BadRow>,
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// 0 for the row of a group or a worker.
    pub job: JobId,
    /// Which row, and why.
    pub what: String,
}

/// An action with what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundAction {
    pub action: Action,
    pub bindings: Vec<Binding>,
}
