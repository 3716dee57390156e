//! An action: a job's instance for one slot, its states, and what it is bound to.

use std::fmt;

use crate::id::{ActionId, JobId, Revision, RunId, Seq};
use crate::run::{FailReason, QueuedWhy, RunState};
use crate::spec::On;
use crate::time::{Version, Wall};

/// An action's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub id: ActionId,
    pub job: JobId,
    pub version: Version,
    /// IANA name, frozen: the zone in which the version is shown.
    pub zone: String,
    pub data: DataInterval,
    pub state: ActionState,
    /// The last end that counts; kept until a new counting run starts. Edges read only this.
    pub outcome: Option<ActionEnd>,
    /// The run that counts.
    pub counted_run: Option<RunId>,
    /// The run that has not ended; at most one.
    pub live_run: Option<RunId>,
    /// How many runs it has had.
    pub runs: u32,
    /// The job's revision that its last run took, or that planned it.
    pub revision: Revision,
    /// Counts the changes of this row.
    pub seq: Seq,
    /// Who skipped, cancelled or forced it; empty where the system did.
    pub actor: String,
    pub created_at: Wall,
    pub decided_at: Option<Wall>,
    pub ended_at: Option<Wall>,
}

/// Which data a version is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataInterval {
    /// The first instant.
    pub from: Version,
    /// The first instant after it.
    pub to: Version,
    /// The local date of its first day, `yyyy-MM-dd`.
    pub date: String,
}

/// Where an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActionState {
    /// A projection: its time has not come, it promises nothing. Dropped: an edit no longer wants it, and the row stays
    /// for the runs that people made of it; at its instant it is skipped, unless a later edit wants it again.
    Planned {
        dropped: bool,
    },
    /// Decided; an upstream is missing, or somebody holds it.
    Waiting,
    /// Has a live run that counts.
    Active,
    Ended(ActionEnd),
}

/// How an active action stands, by its live run: its bracketed word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActivePart {
    /// Until a worker has said that it starts.
    Queued,
    /// Until the next try is due.
    Retry,
    Running,
}

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActionEnd {
    Succeeded { forced: bool },
    Failed(FailReason),
    Cancelled,
    Skipped(SkipReason),
}

/// Why an action did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    Late,
    Overlap,
    Superseded,
    Calendar,
    Upstream,
    NotNeeded,
    Closed,
    Area,
    GaveUp,
    User,
}

impl SkipReason {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::Late,
        Self::Overlap,
        Self::Superseded,
        Self::Calendar,
        Self::Upstream,
        Self::NotNeeded,
        Self::Closed,
        Self::Area,
        Self::GaveUp,
        Self::User,
    ];

    /// Reads what [`SkipReason::label`] wrote.
    pub fn from_label(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.label() == text)
    }

    /// As stored and shown.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Overlap => "overlap",
            Self::Superseded => "superseded",
            Self::Calendar => "calendar",
            Self::Upstream => "upstream",
            Self::NotNeeded => "not_needed",
            Self::Closed => "closed",
            Self::Area => "area",
            Self::GaveUp => "gave_up",
            Self::User => "user",
        }
    }
}

impl ActivePart {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Queued, Self::Running, Self::Retry];

    /// As shown and asked for.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Retry => "retry",
            Self::Running => "running",
        }
    }

    /// Reads what [`ActivePart::label`] wrote.
    pub fn from_label(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.label() == text)
    }

    /// Of an action whose live run is in this state.
    pub fn of(run: RunState, now: Wall) -> Self {
        match run {
            RunState::Queued { not_before, why: QueuedWhy::Retry } if not_before > now => {
                Self::Retry
            }
            RunState::Queued { .. } | RunState::Leased(_) => Self::Queued,
            // An ended run: its action is about to follow.
            RunState::Running(_) | RunState::Ended(_) => Self::Running,
        }
    }
}

impl ActionEnd {
    /// The bare word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Succeeded { .. } => "succeeded",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped(_) => "skipped",
        }
    }

    /// The bracketed word, where there is one.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Succeeded { forced: true } => Some("forced"),
            Self::Succeeded { forced: false } | Self::Cancelled => None,
            Self::Failed(reason) => Some(reason.label()),
            Self::Skipped(reason) => Some(reason.label()),
        }
    }

    /// Reads what [`ActionEnd::word`] and [`ActionEnd::reason`] wrote.
    pub fn from_words(word: &str, reason: Option<&str>) -> Option<Self> {
        match (word, reason) {
            ("succeeded", None) => Some(Self::Succeeded { forced: false }),
            ("succeeded", Some("forced")) => Some(Self::Succeeded { forced: true }),
            ("cancelled", None) => Some(Self::Cancelled),
            ("failed", Some(reason)) => FailReason::from_label(reason).map(Self::Failed),
            ("skipped", Some(reason)) => SkipReason::from_label(reason).map(Self::Skipped),
            _ => None,
        }
    }
}

impl ActionState {
    /// As rows are made ahead.
    pub const PLANNED: Self = Self::Planned { dropped: false };

    /// The bare word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Planned { .. } => "planned",
            Self::Waiting => "waiting",
            Self::Active => "active",
            Self::Ended(end) => end.word(),
        }
    }

    /// The bracketed word, where there is one (of an active action its live run has it).
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Planned { dropped: true } => Some("dropped"),
            Self::Planned { dropped: false } | Self::Waiting | Self::Active => None,
            Self::Ended(end) => end.reason(),
        }
    }

    /// Reads what [`ActionState::word`] and [`ActionState::reason`] wrote.
    pub fn from_words(word: &str, reason: Option<&str>) -> Option<Self> {
        match (word, reason) {
            ("planned", None) => Some(Self::PLANNED),
            ("planned", Some("dropped")) => Some(Self::Planned { dropped: true }),
            ("waiting", None) => Some(Self::Waiting),
            ("active", None) => Some(Self::Active),
            _ => ActionEnd::from_words(word, reason).map(Self::Ended),
        }
    }

    /// True before its version is decided.
    pub const fn planned(self) -> bool {
        matches!(self, Self::Planned { .. })
    }

    /// True for a state that only a verb can leave.
    pub const fn ended(self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

impl fmt::Display for ActionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            Some(reason) => write!(f, "{}({reason})", self.word()),
            None => self.word().fmt(f),
        }
    }
}

impl fmt::Display for ActionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            Some(reason) => write!(f, "{}({reason})", self.word()),
            None => self.word().fmt(f),
        }
    }
}

/// One upstream version that an action waits for. It names a job and a version, not a row, which may come later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binding {
    pub upstream: JobId,
    pub version: Version,
    pub on: On,
}

#[cfg(test)]
mod tests {
    use super::{ActionEnd, ActionState, FailReason, SkipReason};

    #[test]
    fn every_state_is_read_back_as_it_was_written() {
        let mut states = vec![
            ActionState::PLANNED,
            ActionState::Planned { dropped: true },
            ActionState::Waiting,
            ActionState::Active,
            ActionState::Ended(ActionEnd::Succeeded { forced: false }),
            ActionState::Ended(ActionEnd::Succeeded { forced: true }),
            ActionState::Ended(ActionEnd::Cancelled),
        ];
        states.extend(SkipReason::ALL.map(|r| ActionState::Ended(ActionEnd::Skipped(r))));
        states.extend(FailReason::ALL.map(|r| ActionState::Ended(ActionEnd::Failed(r))));
        for state in states {
            assert_eq!(
                ActionState::from_words(state.word(), state.reason()),
                Some(state),
                "{state}"
            );
        }
        assert_eq!(ActionState::from_words("planned", Some("exit")), None);
    }
}
