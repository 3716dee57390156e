//! The keys of JSON and YAML: a contract with scripts, each in this one place. What is marked `skip`
//! serves tables only. Absent values are null, and no key is left out.

use std::collections::BTreeMap;
use std::fmt;

use hera_common::time::Wall;
use serde::{Serialize, Serializer};

/// An instant: RFC 3339 in UTC, to the second, or with `.SSS` where it is no whole second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(pub Wall);

impl Instant {
    /// From UTC milliseconds.
    pub(crate) const fn from_ms(ms: i64) -> Self {
        Self(Wall::from_ms(ms))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The number of a run, written `r42`: a bare number would be an action's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunNumber(pub i64);

impl fmt::Display for RunNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl Serialize for RunNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Slot {
    pub utc: Instant,
    /// `yyyy-MM-ddTHH:mm:ss+HH:MM`.
    pub local: String,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Binding {
    pub job: String,
    pub version: Instant,
    /// `none` where the action does not exist (yet).
    pub state: String,
    #[serde(skip)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Action {
    pub id: i64,
    pub job: String,
    pub version: Instant,
    pub local: String,
    pub data_date: String,
    pub state: String,
    pub reason: Option<String>,
    pub held_by: Option<String>,
    pub revision: i64,
    /// How many it has had.
    pub runs: u32,
    pub bindings: Vec<Binding>,
    #[serde(skip)]
    pub beside: BesideAction,
}

/// What tables show of an action beside its keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BesideAction {
    pub zone: String,
    /// Of the live run.
    pub since: Option<Instant>,
    pub not_before: Option<Instant>,
    pub worker: Option<String>,
    /// The last end that counts, as shown.
    pub outcome: Option<String>,
    pub data: Option<(Instant, Instant)>,
    pub ended_at: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Run {
    pub id: RunNumber,
    pub job: String,
    pub version: Instant,
    pub trigger: String,
    pub state: String,
    pub reason: Option<String>,
    pub revision: i64,
    /// Grants so far.
    pub attempts: u32,
    pub actor: String,
    pub started_at: Option<Instant>,
    pub ended_at: Option<Instant>,
    #[serde(skip)]
    pub beside: BesideRun,
}

/// What tables show of a run beside its keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BesideRun {
    pub local: String,
    pub zone: String,
    pub why: Option<String>,
    pub worker: Option<String>,
    pub queued_at: Option<Instant>,
    pub not_before: Option<Instant>,
    pub counts: bool,
    pub cancel_asked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Attempt {
    pub run: RunNumber,
    pub job: String,
    pub version: Instant,
    /// From 1 within the run.
    pub number: u32,
    pub worker: String,
    /// `leased`, `started`, or how it ended.
    pub state: String,
    pub reason: Option<String>,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub detail: Option<String>,
    pub fence: i64,
    pub leased_at: Instant,
    pub started_at: Option<Instant>,
    pub ended_at: Option<Instant>,
    pub log_bytes: u64,
    pub late_report: Option<String>,
    /// What it left in `$HERA_OUTPUT`, where that was asked for.
    #[serde(skip)]
    pub output: Option<String>,
    #[serde(skip)]
    pub zone: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Why {
    /// `job@version`.
    pub action: String,
    pub code: String,
    pub text: String,
    /// `job@version` at the end of the chain; the action itself where no other holds it up.
    pub root: String,
    /// From the action to the root.
    pub path: Vec<String>,
    pub expected_start: Option<Instant>,
    #[serde(skip)]
    pub state: String,
    #[serde(skip)]
    pub zone: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Job {
    pub id: i64,
    pub job: String,
    /// `open`, `closed` or `parked`.
    pub state: String,
    /// Why it is parked.
    pub reason: Option<String>,
    pub owner: Option<String>,
    pub revision: i64,
    pub r#type: String,
    pub schedule: Option<String>,
    pub zone: String,
    pub description: Option<String>,
    pub upstream: Vec<String>,
    pub downstream: Vec<String>,
    pub next_slots: Vec<Instant>,
    /// What a person should know before it hurts.
    pub warnings: Vec<String>,
}

/// A job with its whole definition, after all that it inherits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct WholeJob {
    #[serde(flatten)]
    pub job: Job,
    pub spec: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Group {
    pub id: i64,
    pub group: String,
    pub owner: Option<String>,
    /// Its own, not what it inherits.
    pub config: BTreeMap<String, String>,
    pub jobs: u32,
}

/// A group with its own document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct WholeGroup {
    #[serde(flatten)]
    pub group: Group,
    pub spec: serde_json::Value,
}

/// One edit of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Revision {
    pub job: String,
    pub revision: i64,
    pub created_at: Instant,
    /// Its schedule holds from here on.
    pub since: Instant,
    pub actor: String,
    pub why: Option<String>,
    /// What is different from the one before.
    pub details: Vec<String>,
}

/// One change that somebody asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AuditEntry {
    pub at: Instant,
    pub actor: String,
    pub verb: String,
    pub subject: String,
    pub why: Option<String>,
    pub old: serde_json::Value,
    pub new: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Calendar {
    pub calendar: String,
    pub revision: i64,
    pub description: Option<String>,
    /// The last day that it knows; None: for ever.
    pub valid_until: Option<String>,
    pub of: Vec<String>,
    pub jobs: Vec<String>,
}

/// A calendar with its next days, its definition and its edits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct WholeCalendar {
    #[serde(flatten)]
    pub calendar: Calendar,
    pub days: Vec<String>,
    pub spec: serde_json::Value,
    pub revisions: Vec<CalendarRevision>,
}

/// One edit of a calendar; without a definition it was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CalendarRevision {
    pub revision: i64,
    pub since: Instant,
    pub actor: Option<String>,
    pub why: Option<String>,
    pub spec: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Worker {
    pub id: i64,
    pub name: String,
    /// `online`, `draining` or `gone`.
    pub state: String,
    pub host_groups: Vec<String>,
    pub labels: Vec<String>,
    pub capacity: u32,
    /// Attempts that it has now.
    pub held: u32,
    pub program: String,
    pub heard_ms_ago: Option<u64>,
    /// Why it takes nothing, though it has room.
    pub takes_nothing: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Queued {
    #[serde(flatten)]
    pub run: Run,
    /// Why it is not granted now.
    pub code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Cluster {
    pub leader: String,
    pub epoch: i64,
    pub store: String,
    pub store_id: String,
    pub program: String,
    pub now: Instant,
    pub jobs: u32,
    pub workers: u32,
    pub queued: u32,
    pub held: u32,
    pub planned: u32,
    pub waiting: u32,
    pub idle: bool,
    pub warnings: Vec<String>,
}

/// What an apply changes or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    /// `created`, `revised`, `renamed`, `deleted`, `opened` or `closed`.
    pub kind: &'static str,
    /// None: it is about a group or a calendar.
    pub job: Option<String>,
    pub group: Option<String>,
    pub calendar: Option<String>,
    /// The path before, of a renamed job.
    pub was: Option<String>,
    /// Of a job.
    pub revision: Option<i64>,
    pub details: Vec<String>,
}

impl Change {
    /// A job that is no more.
    pub(crate) fn deleted(job: String) -> Self {
        Self { job: Some(job), ..Self::of_nothing() }
    }

    /// A calendar that is no more.
    pub(crate) fn of_calendar(calendar: String) -> Self {
        Self { calendar: Some(calendar), ..Self::of_nothing() }
    }

    fn of_nothing() -> Self {
        let (job, group, calendar, was, revision) = (None, None, None, None, None);
        Self { kind: "deleted", job, group, calendar, was, revision, details: Vec::new() }
    }
}

impl Why {
    /// Whether it will not go on before a person has repaired something.
    pub(crate) fn blocked(&self) -> bool {
        const CODES: [&str; 4] =
            ["upstream_failed", "upstream_cancelled", "upstream_missing", "job_parked"];
        CODES.contains(&self.code.as_str())
    }
}

/// A script as attempts get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Rendered {
    pub text: String,
}

/// `job@version`, as every command takes it.
pub(crate) fn action_name(job: &str, version: Instant) -> String {
    format!("{job}@{version}")
}

/// `failed(exit)`, or the bare word.
pub(crate) fn shown(word: &str, reason: Option<&str>) -> String {
    reason.map_or_else(|| word.to_owned(), |reason| format!("{word}({reason})"))
}
