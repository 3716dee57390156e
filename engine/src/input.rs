//! What goes into the engine and what comes out: inputs, answers, effects.

use std::collections::BTreeMap;
use std::time::Duration;

use hera_common::action::{Action, ActionEnd};
use hera_common::attempt::{Attempt, AttemptEnd, Exit};
use hera_common::audit::Asked;
use hera_common::id::{Fence, Incarnation, JobId, Revision, RunId, Token, WorkerId};
use hera_common::run::Run;
use hera_common::snapshot::BoundAction;
use hera_common::spec::{FileSpec, Kind};
use hera_common::time::Version;
use hera_common::unit::Batch;
use hera_common::worker::WorkerRow;

use crate::apply::ApplySet;

/// A number by which the shell finds the caller again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u64);

/// One input, and who waits for its answer.
#[derive(Debug)]
pub struct Tagged {
    pub tag: Tag,
    pub input: Input,
}

/// What the shell tells or asks the engine.
#[derive(Debug)]
pub enum Input {
    /// Something may be due: timers, leases, open polls. Answered by [`Reply::Done`].
    Tick,
    /// Definitions to apply. Answered by [`Reply::Applied`].
    Apply(Box<ApplySet>),
    /// Answered by [`Reply::Deleted`]; refused while something uses it.
    DeleteCalendar {
        asked: Asked,
        name: String,
    },
    /// Answered by [`Reply::Deleted`].
    DeleteJob {
        asked: Asked,
        job: JobId,
    },
    /// A manual run of an action. Answered by [`Reply::RunMade`].
    Run {
        asked: Asked,
        action: Box<BoundAction>,
        set: BTreeMap<String, String>,
    },
    /// A new action, now, of a job that has neither schedule nor edges; its run counts. Answered by [`Reply::RunMade`].
    RunNow {
        asked: Asked,
        job: JobId,
        set: BTreeMap<String, String>,
    },
    /// A counting run with the newest revision. Answered by [`Reply::RunMade`].
    Recover {
        asked: Asked,
        action: Box<BoundAction>,
    },
    /// Ends the live run, or the action that waits. Answered by [`Reply::Cancelled`].
    Cancel {
        asked: Asked,
        action: Box<BoundAction>,
    },
    /// Answered by [`Reply::Registered`].
    Register(Registration),
    /// Open for [`crate::engine::Settings::poll`] at most. Answered by [`Reply::Granted`] or [`Reply::Look`].
    Poll {
        worker: WorkerId,
        incarnation: Incarnation,
        /// None: it only listens.
        tokens: Vec<Token>,
        /// Why it takes nothing, though it has free places; empty: it takes what it has tokens for.
        takes_nothing: String,
    },
    /// The caller of an open poll is gone; no answer.
    PollGone {
        poll: Tag,
    },
    /// Answered by [`Reply::Verdicts`], as are the next three.
    Start {
        items: Vec<(RunId, Token)>,
    },
    Heartbeat {
        items: Vec<(RunId, Token)>,
        kill_failed: Vec<(RunId, Token)>,
    },
    Finish {
        items: Vec<Finish>,
    },
    Release {
        items: Vec<Release>,
    },
    /// Answered by [`Reply::Done`].
    Deregister {
        worker: WorkerId,
        incarnation: Incarnation,
        gone: bool,
    },
    /// The shell's answer to [`Effect::Resolve`]: the last counting ends; a version without one is left out.
    Resolved {
        asked: Vec<(JobId, Version)>,
        ends: BTreeMap<(JobId, Version), ActionEnd>,
    },
    /// Queued runs in the order in which they would be granted. Answered by [`Reply::Queue`].
    Queue,
    /// What is in memory, in numbers. Answered by [`Reply::Standing`].
    Standing,
}

/// A worker's registration.
#[derive(Debug, Clone)]
pub struct Registration {
    pub name: String,
    pub state_id: String,
    /// Made at each start of the process: which start of its folder it is, `-`, and chance.
    pub instance_id: String,
    /// Tokens of ends that it still has to report.
    pub keep: Vec<Token>,
    pub groups: Vec<String>,
    pub labels: Vec<String>,
    pub capacity: u32,
    pub program: String,
}

/// An end as a worker reports it.
#[derive(Debug, Clone)]
pub struct Finish {
    pub run: RunId,
    pub token: Token,
    pub end: AttemptEnd,
    pub exit: Exit,
    pub output: Vec<u8>,
}

/// An attempt that a worker gives back.
#[derive(Debug, Clone)]
pub struct Release {
    pub run: RunId,
    pub token: Token,
    pub cause: ReleaseCause,
    pub detail: String,
}

/// Why an attempt comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseCause {
    /// Granted, not started.
    Declined,
    /// Stopped by a drain; costs nothing.
    Drain,
    /// Stopped at the worker's own deadline; costs a restart.
    Lease,
    /// Not started, since Start said so.
    Cancel,
}

/// What the shell shall do with one batch of inputs.
#[derive(Debug, Default)]
pub struct Step {
    /// To be committed first.
    pub batch: Batch,
    /// For each unit the jobs whose handlers it changed: read again if the unit is left out.
    pub touched: Vec<Vec<JobId>>,
    /// To be given after the commit; what its units became decides.
    pub answers: Vec<Answer>,
    /// To be done after the commit.
    pub effects: Vec<Effect>,
}

/// An answer that holds if its units are committed; otherwise the caller hears that it was not done, or that nobody knows.
#[derive(Debug)]
pub struct Answer {
    pub tag: Tag,
    /// Places in the batch.
    pub after: Vec<usize>,
    pub reply: Reply,
}

/// Answers, one kind for each kind of question.
#[derive(Debug)]
pub enum Reply {
    Done,
    Applied(Result<Applied, Vec<Refusal>>),
    Deleted(Result<(), Refusal>),
    RunMade(Result<Box<RunMade>, Refusal>),
    Cancelled(Result<Box<Cancelled>, Refusal>),
    Registered(Result<Registered, Refusal>),
    Granted(Vec<Grant>),
    /// To a poll: what the worker is to beat for at once.
    Look(Vec<Token>),
    Verdicts(Vec<Verdict>),
    Queue(Vec<QueuedRun>),
    Standing(Standing),
}

/// Why something is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub kind: RefusalKind,
    /// The field or the job that it is about; empty: the whole.
    pub field: String,
    /// `file:line:column`, where a file is at fault; empty otherwise.
    pub place: String,
    pub problem: String,
}

impl Refusal {
    /// Something must be changed first.
    pub fn conflict(field: &str, problem: impl Into<String>) -> Self {
        Self::of(RefusalKind::Conflict, field, problem)
    }

    /// What was read has changed in the same moment.
    pub fn changed() -> Self {
        Self::of(RefusalKind::Stale, "", "it changed in the same moment: read it and ask again")
    }

    /// A refusal that no file is at fault for.
    pub fn of(kind: RefusalKind, field: &str, problem: impl Into<String>) -> Self {
        Self { kind, field: field.to_owned(), place: String::new(), problem: problem.into() }
    }
}

/// What the caller can do about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// Ask for something else.
    Invalid,
    NotFound,
    /// Change something first, then ask again.
    Conflict,
    AlreadyExists,
    /// Read again, then ask again.
    Stale,
}

/// What an apply did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    pub changes: Vec<JobChange>,
    pub groups: Vec<GroupChange>,
    pub calendars: Vec<CalendarChange>,
    pub unchanged: u32,
    pub warnings: Vec<String>,
}

/// One calendar that an apply makes or changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarChange {
    pub calendar: String,
    pub created: bool,
    pub details: Vec<String>,
}

/// One group whose own document an apply makes or changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupChange {
    pub group: String,
    pub created: bool,
    pub details: Vec<String>,
}

/// One job that an apply changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobChange {
    pub kind: JobChangeKind,
    pub job: String,
    /// With `Renamed`: the path before.
    pub was: String,
    pub revision: Revision,
    pub details: Vec<String>,
}

/// What becomes of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobChangeKind {
    Created,
    Revised,
    Renamed,
    Deleted,
    Opened,
    Closed,
}

/// A run that a person asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMade {
    pub action: Action,
    pub run: Run,
    pub notes: Vec<String>,
}

/// A cancellation that is on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    pub action: Action,
    /// A worker still has to kill it.
    pub pending: bool,
}

/// A worker's name is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registered {
    pub worker: WorkerId,
    pub incarnation: Incarnation,
}

/// One attempt for a worker. It holds if its unit is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// None: granted before, told again.
    pub unit: Option<usize>,
    pub run: RunId,
    pub token: Token,
    pub fence: Fence,
    pub number: u32,
    pub job: String,
    pub version: Version,
    pub lease: Duration,
    pub timeout: Option<Duration>,
    pub kind: Kind,
    /// Rendered.
    pub script: String,
    pub environment: BTreeMap<String, String>,
    pub files: Vec<FileSpec>,
}

/// The answer to one item of a worker's list. It holds if its unit is committed, else nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub run: RunId,
    pub token: Token,
    pub unit: Option<usize>,
    pub kind: VerdictKind,
}

/// What a worker learns about one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictKind {
    /// Renewed, or stored.
    Ok {
        lease: Duration,
    },
    Lost,
    Cancel,
    Done,
    Fenced,
    /// The store must be asked (an attempt that is not in memory); the shell does so: DONE if the run's
    /// final token is this one, else LOST or FENCED.
    Look,
}

/// A queued run, and why it is not granted at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedRun {
    pub run: Run,
    pub code: QueueCode,
    /// More about it, in words; empty: the code says all.
    pub detail: String,
}

/// Why a queued run is not granted at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueCode {
    /// It is next when a worker polls.
    Next,
    /// Waits for the delay of its retry.
    RetryWait,
    /// Another run of the job is held, or waits for a retry.
    JobBusy,
    /// No worker of its host group is registered.
    NoWorker,
    /// Every worker that could run it takes nothing; the detail says why.
    WorkersRefuse,
    /// Its lease has run out; the next poll may take it over.
    Expired,
}

/// What is in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub planned: u32,
    pub waiting: u32,
    pub queued: u32,
    pub held: u32,
    pub workers: Vec<WorkerStanding>,
    /// No live run, and nothing due that is undecided.
    pub idle: bool,
    /// Parked jobs with the reason.
    pub parked: Vec<(String, String)>,
}

/// A worker as the leader knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerStanding {
    pub row: WorkerRow,
    pub held: u32,
    /// It listens, or was heard not long ago.
    pub here: bool,
    /// None: not heard since this master leads.
    pub heard_ago: Option<Duration>,
    /// Why it takes nothing; empty: it takes work.
    pub takes_nothing: String,
}

impl WorkerStanding {
    /// As shown.
    pub const fn state(&self) -> &'static str {
        match (self.here, self.row.draining) {
            (false, _) => "gone",
            (true, true) => "draining",
            (true, false) => "online",
        }
    }
}

/// What the shell does after the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Look these up ([`Input::Resolved`] answers): upstream versions that are not in memory.
    Resolve(Vec<(JobId, Version)>),
    /// Tell watchers, if the unit was committed.
    Changed { unit: usize, change: Change },
}

/// A change of state for people who watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Action(Box<Action>),
    Run {
        run: Box<Run>,
        attempt: Option<Box<Attempt>>,
    },
    Worker {
        name: String,
        state: &'static str,
    },
    /// Slots of a job that became no action.
    Gap {
        job: JobId,
        from: Version,
        to: Version,
        count: u64,
        reason: &'static str,
    },
}

/// By what an upstream version is known: its row may come later.
pub type VersionKey = (JobId, Version);
