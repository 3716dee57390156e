//! What people look at: filters, pages, and views of runs, attempts and logs.

use hera_common::action::Action;
use hera_common::attempt::Attempt;
use hera_common::id::{ActionId, JobId, RunId};
use hera_common::run::{Run, Trigger};
use hera_common::time::Version;

/// Which actions; an empty list is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionFilter {
    /// None: all jobs. Some and empty: none.
    pub jobs: Option<Vec<JobId>>,
    pub states: Vec<StateFilter>,
    /// Bracketed words of ended states.
    pub reasons: Vec<String>,
    /// Versions in `[from, to)`.
    pub from: Option<Version>,
    pub to: Option<Version>,
    /// The local date of the data interval's first day, `yyyy-MM-dd`.
    pub data_date: Option<String>,
    /// Actions that have a run with one of these triggers.
    pub triggers: Vec<Trigger>,
}

/// A state with or without its bracketed word: `failed`, `failed(exit)`, `active(queued)`, `active(running)`,
/// `active(retry)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFilter {
    pub word: String,
    pub reason: Option<String>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// At most this many rows.
    pub limit: u32,
    /// The mark that the page before ended with.
    pub after: Option<String>,
}

/// Actions, each with its live run's state where it has one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionPage {
    pub actions: Vec<(Action, Option<Run>)>,
    /// None: the list ends here.
    pub next: Option<String>,
}

/// Which runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    pub jobs: Option<Vec<JobId>>,
    pub action: Option<ActionId>,
    pub states: Vec<StateFilter>,
    pub triggers: Vec<Trigger>,
    /// Only runs with a lower id (the next page).
    pub before: Option<RunId>,
}

/// A run with the name of the worker that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunView {
    pub run: Run,
    pub worker: Option<String>,
}

/// An attempt with the name of its worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptView {
    pub attempt: Attempt,
    pub worker: String,
    /// Bytes of its log so far.
    pub log_bytes: u64,
}

/// A piece of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogRead {
    pub bytes: Vec<u8>,
    /// How many bytes the log has by now.
    pub size: u64,
}
