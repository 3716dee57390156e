//! A job's definition, checked and with all that it inherits: what the engine decides from.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::path::Path;
use crate::schedule::{CalendarUse, ScheduleSpec};
use crate::shift::Shift;

/// The definition of a job in one revision, after its groups' defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSpec {
    pub path: Path,
    /// The team that answers for the job; empty where nobody said.
    pub owner: String,
    pub description: String,
    pub kind: Kind,
    /// IANA name of the zone in which days, bindings and dates in scripts are read.
    pub zone: String,
    /// None: the job runs by its edges, by hand or by event.
    pub schedule: Option<ScheduleSpec>,
    /// Which days are business days; with a schedule the same as there.
    pub calendar: Option<CalendarUse>,
    pub edges: Vec<EdgeSpec>,
    /// The upstream whose versions are this job's, for a job without a schedule.
    pub baseline: Option<Path>,
    pub data: DataSpec,
    /// What `${key}` reads in the script: the groups' `key: value`, then the job's own; the nearest wins.
    pub config: BTreeMap<String, String>,
    /// Text of the script, before rendering.
    pub script: String,
    pub files: Vec<FileSpec>,
    /// The host group that runs it; None: any worker.
    pub host_group: Option<String>,
    pub policy: Policy,
}

/// What an attempt of the job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A script for bash, or for the interpreter that its first line names.
    Shell,
    /// A lease and no process.
    Noop,
}

impl Kind {
    /// As written in job files and rows.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Noop => "noop",
        }
    }
}

/// An edge to an upstream job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeSpec {
    pub upstream: Path,
    pub bind: Bind,
    /// Moves the version (by `data`: the interval) before it binds.
    pub offset: Shift,
    pub on: On,
    pub empty: Empty,
}

/// Which upstream versions an action waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bind {
    /// On the same calendar day, the nearest in real time; ties: the earlier.
    Nearest,
    /// The newest at or before mine, across midnight.
    AtOrBefore,
    /// The equal instant.
    Same,
    /// The n-th newest strictly before mine, n from 1.
    Previous { n: u32 },
    /// All whose data interval lies in mine; if theirs is longer, those of the one that holds mine.
    Data,
    /// The oldest in the period that holds mine.
    First { of: Period },
    /// The newest in the period that holds mine.
    Last { of: Period },
    /// Every one in the period that holds mine.
    All { of: Period },
    /// All from `version + from` on and before `version + to`; neither is in slots.
    Window { from: Shift, to: Shift },
}

/// Which end of the upstream meets the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum On {
    Success,
    Finished,
    Failed,
}

impl On {
    /// As written in job files and rows.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Finished => "finished",
            Self::Failed => "failed",
        }
    }

    /// Reads what [`On::label`] wrote.
    pub fn from_label(text: &str) -> Option<Self> {
        [Self::Success, Self::Finished, Self::Failed].into_iter().find(|on| on.label() == text)
    }
}

/// What if an edge binds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// No version of this job there.
    Skip,
    /// The edge is met.
    Ignore,
}

/// Which data a version is about: the period that holds it, moved by `offset` periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSpec {
    pub period: Period,
    pub offset: i32,
}

/// The length of a data interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    Hour,
    Day,
    /// From a business day of the job's calendar to the next one.
    BusinessDay,
    Week,
    Month,
}

/// A file that lies in the attempt's directory before it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSpec {
    /// Relative, within the directory.
    pub name: String,
    /// SHA-256 of the content, 64 hexadecimal digits; the content is stored once.
    pub digest: String,
    pub executable: bool,
}

/// The rules of a job's life; each can come from a group's `defaults`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub retries: Retries,
    /// How many attempts may be lost, unspawned or ended by a worker's own deadline.
    pub restarts: u32,
    /// A lost attempt is never repeated.
    pub at_most_once: bool,
    /// How long a worker may go unheard, milliseconds, at least 1,000.
    pub lease: Duration,
    /// An attempt is killed after this; None: never.
    pub timeout: Option<Duration>,
    /// Judged when the slot is reached; None: late work is wanted.
    pub max_lateness: Option<Duration>,
    /// From queued to the first start; None: no limit.
    pub start_within: Option<Duration>,
    pub catch_up: CatchUp,
    pub overlap: Overlap,
    /// 1 to 5; 5 the most urgent.
    pub urgency: u8,
}

/// When and how often a failed attempt is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retries {
    /// 0: never.
    pub times: u32,
    pub delay: Duration,
    pub backoff: Backoff,
    /// Exit codes that are not worth a retry.
    pub not_on: Vec<i32>,
}

/// How the delay grows from one retry to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    Constant,
    /// Doubles, with jitter of a quarter, at most `max`.
    Exponential {
        max: Duration,
    },
}

/// What becomes of versions that were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CatchUp {
    #[default]
    All,
    Last,
    Skip,
}

/// What becomes of a version while another one of the job is live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// They run one after another, lowest due version first.
    Queue,
    /// They run side by side.
    Allow,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            retries: Retries {
                times: 0,
                delay: Duration::from_secs(300),
                backoff: Backoff::Constant,
                not_on: Vec::new(),
            },
            restarts: 2,
            at_most_once: false,
            // A database fail-over of two minutes kills nothing.
            lease: Duration::from_secs(300),
            timeout: None,
            max_lateness: None,
            start_within: None,
            catch_up: CatchUp::All,
            overlap: Overlap::Queue,
            urgency: 3,
        }
    }
}

impl Default for DataSpec {
    fn default() -> Self {
        Self { period: Period::Day, offset: 0 }
    }
}
