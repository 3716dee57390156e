//! What a master reads to build its memory, whole or for some jobs.

use std::collections::BTreeMap;

use hera_common::action::{Action, ActionEnd, Binding};
use hera_common::attempt::Attempt;
use hera_common::id::JobId;
use hera_common::job::{Cursor, GroupRow, JobRow, RevisionRow};
use hera_common::run::Run;
use hera_common::time::{Version, Wall};
use hera_common::unit::Marks;
use hera_common::worker::WorkerRow;

/// Which part of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    All,
    /// These jobs (deleted ones too); groups, workers and marks come as with `All`.
    Jobs(Vec<JobId>),
}

/// What is active, as one transaction saw it.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub store_now: Wall,
    pub marks: Marks,
    pub groups: Vec<GroupRow>,
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
    pub workers: Vec<WorkerRow>,
}

/// An action with what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundAction {
    pub action: Action,
    pub bindings: Vec<Binding>,
}

/// One upstream version and its last counting end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpstreamEnd {
    pub job: JobId,
    pub version: Version,
    pub end: Option<ActionEnd>,
}
