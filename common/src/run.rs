//! A run: one decision to execute an action, and the lease of its present attempt.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::id::{ActionId, Fence, Incarnation, JobId, Revision, RunId, Seq, Token, WorkerId};
use crate::time::{Version, Wall};

/// A run's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub action: ActionId,
    pub job: JobId,
    pub version: Version,
    /// From 1 within the action.
    pub number: u32,
    pub trigger: Trigger,
    pub actor: String,
    pub why: String,
    /// The job's revision that all its attempts use.
    pub revision: Revision,
    /// Config that wins over the job's, for this run only.
    pub set: BTreeMap<String, String>,
    /// 1 to 5; 5 the most urgent.
    pub urgency: u8,
    /// At most one exclusive run of a job is held (leased or running) at a time.
    pub exclusive: bool,
    pub limits: RunLimits,
    pub state: RunState,
    /// Counts the changes of this row: grant, start, heartbeat, release, end.
    pub hb_seq: Seq,
    pub counts: RunCounts,
    /// Set by whoever wants it to end; the holder hears of it at its next heartbeat.
    pub cancel: Option<CancelReason>,
    /// The token whose holder reported the end; None if nobody did.
    pub final_token: Option<Token>,
    pub queued_at: Wall,
    pub started_at: Option<Wall>,
    pub ended_at: Option<Wall>,
}

/// What a run was given when it was made; a later edit of the job does not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    pub lease: Duration,
    /// How many attempts may fail and be tried again.
    pub retries: u32,
    /// How many attempts may be lost.
    pub restarts: u32,
    /// Never started a second time.
    pub at_most_once: bool,
    /// The first start must come before this.
    pub start_by: Option<Wall>,
}

/// What a run has used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunCounts {
    /// Grants so far; the number of the present attempt.
    pub attempts: u32,
    /// Attempts that started.
    pub starts: u32,
    /// Attempts that the script failed.
    pub failures: u32,
    /// Attempts that the machine lost, could not spawn, or ended by its own deadline.
    pub losses: u32,
}

/// Why a run exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    Schedule,
    Event,
    Recover,
    SuperRecover,
    Rerun,
    Manual,
    Debug,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Schedule,
        Self::Event,
        Self::Recover,
        Self::SuperRecover,
        Self::Rerun,
        Self::Manual,
        Self::Debug,
    ];

    /// As stored and shown.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Event => "event",
            Self::Recover => "recover",
            Self::SuperRecover => "super_recover",
            Self::Rerun => "rerun",
            Self::Manual => "manual",
            Self::Debug => "debug",
        }
    }

    /// Reads what [`Trigger::label`] wrote.
    pub fn from_label(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.label() == text)
    }

    /// True where the run sets its action's state and releases downstream.
    pub const fn counts(self) -> bool {
        match self {
            Self::Schedule | Self::Event | Self::Recover | Self::SuperRecover | Self::Rerun => true,
            Self::Manual | Self::Debug => false,
        }
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Wants a worker; not before the instant (a retry's delay).
    Queued {
        not_before: Wall,
        why: QueuedWhy,
    },
    /// Granted; the worker has not said that it starts.
    Leased(Hold),
    /// A worker may be executing it.
    Running(Hold),
    Ended(RunEnd),
}

/// How a run came (back) into the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueuedWhy {
    New,
    Retry,
    Released,
    Unaccepted,
    WorkerRestart,
}

impl QueuedWhy {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::New, Self::Retry, Self::Released, Self::Unaccepted, Self::WorkerRestart];

    /// As stored.
    pub const fn label(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Retry => "retry",
            Self::Released => "released",
            Self::Unaccepted => "unaccepted",
            Self::WorkerRestart => "worker_restart",
        }
    }

    /// Reads what [`QueuedWhy::label`] wrote.
    pub fn from_label(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|w| w.label() == text)
    }
}

/// Whose a leased or running run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    pub token: Token,
    pub fence: Fence,
    pub worker: WorkerId,
    pub incarnation: Incarnation,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunEnd {
    Succeeded,
    Failed(FailReason),
    Cancelled(CancelReason),
}

/// Why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailReason {
    Exit,
    Signal,
    Oom,
    Timeout,
    Lost,
    Spawn,
    Interrupted,
    Render,
    Forced,
}

impl FailReason {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 9] = [
        Self::Exit,
        Self::Signal,
        Self::Oom,
        Self::Timeout,
        Self::Lost,
        Self::Spawn,
        Self::Interrupted,
        Self::Render,
        Self::Forced,
    ];

    /// As stored and shown.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Signal => "signal",
            Self::Oom => "oom",
            Self::Timeout => "timeout",
            Self::Lost => "lost",
            Self::Spawn => "spawn",
            Self::Interrupted => "interrupted",
            Self::Render => "render",
            Self::Forced => "forced",
        }
    }

    /// Reads what [`FailReason::label`] wrote.
    pub fn from_label(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.label() == text)
    }
}

/// Why a run was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CancelReason {
    /// By a person.
    By,
    /// A newer run took its place.
    Replaced,
    /// Not started in time.
    Late,
}

impl CancelReason {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::By, Self::Replaced, Self::Late];

    /// As stored and shown.
    pub const fn label(self) -> &'static str {
        match self {
            Self::By => "by",
            Self::Replaced => "replaced",
            Self::Late => "late",
        }
    }

    /// Reads what [`CancelReason::label`] wrote.
    pub fn from_label(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.label() == text)
    }
}

impl RunState {
    /// The bare word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued { .. } => "queued",
            Self::Leased(_) => "leased",
            Self::Running(_) => "running",
            Self::Ended(RunEnd::Succeeded) => "succeeded",
            Self::Ended(RunEnd::Failed(_)) => "failed",
            Self::Ended(RunEnd::Cancelled(_)) => "cancelled",
        }
    }

    /// The bracketed word, where there is one.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Queued { why, .. } => Some(why.label()),
            Self::Leased(_) | Self::Running(_) | Self::Ended(RunEnd::Succeeded) => None,
            Self::Ended(RunEnd::Failed(reason)) => Some(reason.label()),
            Self::Ended(RunEnd::Cancelled(reason)) => Some(reason.label()),
        }
    }

    /// The hold, while a worker's token is on the row.
    pub const fn hold(self) -> Option<Hold> {
        match self {
            Self::Leased(hold) | Self::Running(hold) => Some(hold),
            Self::Queued { .. } | Self::Ended(_) => None,
        }
    }

    /// True for a state that nothing leaves.
    pub const fn ended(self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

impl RunEnd {
    /// Reads the words of a row that has ended.
    pub fn from_words(word: &str, reason: Option<&str>) -> Option<Self> {
        match (word, reason) {
            ("succeeded", None) => Some(Self::Succeeded),
            ("failed", Some(reason)) => FailReason::from_label(reason).map(Self::Failed),
            ("cancelled", Some(reason)) => CancelReason::from_label(reason).map(Self::Cancelled),
            _ => None,
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            Some(reason) => write!(f, "{}({reason})", self.word()),
            None => self.word().fmt(f),
        }
    }
}
