//! The rows of jobs, their revisions and groups.

use crate::hand::Hands;
use crate::id::{GroupId, JobId, Revision, Seq};
use crate::path::Path;
use crate::time::{Version, Wall};

/// A job's row. Its definition is in its revisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    pub id: JobId,
    pub path: Path,
    /// The newest revision.
    pub revision: Revision,
    /// Counts the changes of this row.
    pub seq: Seq,
    /// False: closed, versions are not decided to run.
    pub open: bool,
    /// Why the job stands still: a row that cannot be read, a schedule that cannot be computed.
    pub parked: Option<String>,
    pub hands: Hands,
    pub created_at: Wall,
    /// Set once; the row stays for its history.
    pub deleted_at: Option<Wall>,
}

/// How far a job's versions have been made and decided: a row of its own, since it changes often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub job: JobId,
    /// Every version at or before it is decided, or lies in a gap.
    pub decided_to: Version,
    /// Every version before it has a row, planned or decided.
    pub planned_to: Version,
    pub seq: Seq,
}

/// One edit of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionRow {
    pub job: JobId,
    pub revision: Revision,
    /// Its schedule holds from here on, until the next revision's.
    pub since: Version,
    /// The definition with all that it inherits, as a job document in JSON ([`crate::spec`] is read from it).
    pub spec: String,
    pub actor: String,
    pub why: String,
    /// Where the files came from; of a revision that a group's change made, as of the one before.
    pub source: String,
    pub created_at: Wall,
}

/// A group's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRow {
    pub id: GroupId,
    pub path: Path,
    /// The group's own owner, config and defaults, as a document in JSON.
    pub spec: String,
    pub seq: Seq,
    pub hands: Hands,
    pub created_at: Wall,
}

/// Slots of a job that became no action: one row for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    pub job: JobId,
    /// The first slot in it.
    pub from: Version,
    /// The last slot in it.
    pub to: Version,
    /// How many; [`crate::limits::GAP_COUNT_MAX`] stands for so many or more.
    pub count: u64,
    pub reason: GapReason,
    pub created_at: Wall,
}

/// Why slots lie in a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapReason {
    /// Missed, and older than catch-up takes.
    Late,
    /// Before the job was loaded for the first time.
    BeforeStart,
    /// The job was closed.
    Closed,
}

impl GapReason {
    /// As stored.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::BeforeStart => "before_start",
            Self::Closed => "closed",
        }
    }

    /// Reads what [`GapReason::label`] wrote.
    pub fn from_label(text: &str) -> Option<Self> {
        [Self::Late, Self::BeforeStart, Self::Closed].into_iter().find(|r| r.label() == text)
    }
}
