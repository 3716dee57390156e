//! An attempt: one try of a run on one worker. History: the lease itself is on the run.

use crate::id::{Epoch, Fence, Incarnation, RunId, Token, WorkerId};
use crate::run::FailReason;
use crate::time::Wall;

/// An attempt's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its number in the whole store: the fence that scripts are given.
    pub fence: Fence,
    pub run: RunId,
    /// From 1 within the run.
    pub number: u32,
    pub token: Token,
    pub worker: WorkerId,
    pub incarnation: Incarnation,
    /// The leader's term that granted it.
    pub epoch: Epoch,
    pub state: AttemptState,
    pub leased_at: Wall,
    pub started_at: Option<Wall>,
    /// What a holder said after it had lost its lease; set at most once, after the end.
    pub late_report: Option<String>,
}

/// Where an attempt stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptState {
    Leased,
    Started,
    Ended { end: AttemptEnd, exit: Exit, ended_at: Wall },
}

/// What is known of the process's end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Words for people: why it could not be spawned, what was not killed.
    pub detail: Option<String>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttemptEnd {
    Succeeded,
    /// One of exit, signal, oom, spawn, render.
    Failed(FailReason),
    TimedOut,
    /// A drain, or the worker's own deadline.
    Interrupted,
    Cancelled,
    /// The worker went unheard for the length of the lease, or came back without it.
    Lost,
    /// Granted, and never started.
    Unaccepted,
    /// Exit code 75: try again, costs nothing.
    NotYet,
}

impl AttemptEnd {
    /// As stored and shown: the bare word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed(_) => "failed",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
            Self::Unaccepted => "unaccepted",
            Self::NotYet => "not_yet",
        }
    }

    /// The bracketed word, where there is one.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Failed(reason) => Some(reason.label()),
            Self::Succeeded
            | Self::TimedOut
            | Self::Interrupted
            | Self::Cancelled
            | Self::Lost
            | Self::Unaccepted
            | Self::NotYet => None,
        }
    }

    /// Reads what [`AttemptEnd::word`] and [`AttemptEnd::reason`] wrote.
    pub fn from_words(word: &str, reason: Option<&str>) -> Option<Self> {
        match (word, reason) {
            ("succeeded", None) => Some(Self::Succeeded),
            ("failed", Some(reason)) => FailReason::from_label(reason).map(Self::Failed),
            ("timed_out", None) => Some(Self::TimedOut),
            ("interrupted", None) => Some(Self::Interrupted),
            ("cancelled", None) => Some(Self::Cancelled),
            ("lost", None) => Some(Self::Lost),
            ("unaccepted", None) => Some(Self::Unaccepted),
            ("not_yet", None) => Some(Self::NotYet),
            _ => None,
        }
    }
}

impl AttemptState {
    /// The bare word: `leased`, `started`, `ended`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Leased => "leased",
            Self::Started => "started",
            Self::Ended { .. } => "ended",
        }
    }
}
