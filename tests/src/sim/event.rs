//! What can happen in the simulated world, and what its processes say to each other.

use std::collections::BTreeMap;

use hera_common::action::ActionEnd;
use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::id::{Epoch, Incarnation, JobId, RunId, Token, WorkerId};
use hera_common::snapshot::Snapshot;
use hera_common::time::{Boot, Version, Wall};
use hera_common::unit::{Batch, Committed, Leadership};
use hera_engine::input::{Grant, Registered, Registration, ReleaseCause, VerdictKind};
use hera_store::{Scope, StoreError};
use hera_worker::attempt::Ended;
use hera_worker::process::order::StopCause;

/// Something at an instant of real time.
#[derive(Debug)]
pub(super) enum Event {
    /// Reaches one life of a master's process: dropped when that is over, late while it is stopped.
    Master {
        master: usize,
        life: u32,
        what: Box<ToMaster>,
    },
    /// Reaches the store, whatever became of the sender.
    Store {
        master: usize,
        life: u32,
        what: Box<ToStore>,
    },
    /// Reaches one life of a worker's process, as with masters.
    Worker {
        worker: usize,
        life: u32,
        what: ToWorker,
    },
    /// Reaches the process of an attempt.
    Process {
        process: usize,
        what: ToProcess,
    },
    /// A fault begins.
    Fault,
    /// Somebody wants something.
    Person,
    Boot(Machine),
    /// A host that slept goes on.
    Awake(usize),
    Mend(Damage),
}

/// A program on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    Master(usize),
    Worker(usize),
}

/// What heals by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// Between a worker and a master, one way or both.
    Link {
        worker: usize,
        master: usize,
        way: Way,
    },
    StoreLink(usize),
    /// The store's answers reach the master again.
    StoreAnswers(usize),
    StoreDown,
    /// Reports of ends arrive again.
    Ends,
    Noise,
}

/// What of a link is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// What the worker asks.
    There,
    /// What the master answers.
    Back,
    Both,
}

#[derive(Debug)]
pub(super) enum ToMaster {
    /// A standby looks who leads.
    Look,
    Sighted {
        number: u64,
        row: Result<Leadership, StoreError>,
    },
    Request {
        from: Caller,
        request: Request,
    },
    /// Takes what has queued, and decides.
    Turn,
    /// The same, if nothing else came first.
    Wake(u64),
    Acquired(Result<Option<Epoch>, StoreError>),
    Loaded(Result<Snapshot, StoreError>),
    Committed {
        number: u64,
        result: Result<Committed, StoreError>,
    },
    ReadAgain {
        number: u64,
        result: Result<Snapshot, StoreError>,
    },
    /// The next epoch of one that leads.
    Advanced {
        number: u64,
        result: Result<Epoch, StoreError>,
    },
    Renewed {
        epoch: Epoch,
        sent: Boot,
        result: Result<Wall, StoreError>,
    },
    Renew,
    Outcomes {
        asked: Vec<(JobId, Version)>,
        ends: Option<BTreeMap<(JobId, Version), ActionEnd>>,
    },
    Looked {
        caller: Caller,
        said: Option<Vec<Said>>,
    },
    /// Whoever polled has gone.
    PollGone(Caller),
    /// The wait for an answer of the store is over.
    NoAnswer(Waits),
}

/// What a master waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    Look(u64),
    Acquire,
    Load,
    Commit(u64),
    Advance(u64),
    ReadAgain(u64),
}

#[derive(Debug)]
pub(super) enum ToStore {
    Leadership(u64),
    /// The row as it was seen; None: as it is.
    Acquire(Option<(Epoch, i64)>),
    Resign {
        epoch: Epoch,
    },
    Load,
    Commit {
        number: u64,
        epoch: Epoch,
        batch: Batch,
    },
    Advance {
        number: u64,
        epoch: Epoch,
    },
    ReadAgain {
        number: u64,
        scope: Scope,
    },
    Renew {
        epoch: Epoch,
        sent: Boot,
    },
    Outcomes(Vec<(JobId, Version)>),
    Look {
        epoch: Epoch,
        caller: Caller,
        items: Vec<Said>,
        finish: bool,
    },
}

/// An item of a worker's list with its verdict; None: nobody knows, or it is to be looked up.
pub(super) type Said = (RunId, Token, Option<VerdictKind>);

/// Who waits for a master's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Caller {
    Worker { worker: usize, life: u32, call: u64, finish: bool },
    Person,
    Nobody,
}

/// What a worker asks a master.
#[derive(Debug, Clone)]
pub(super) enum Request {
    Register(Registration),
    Poll { worker: WorkerId, incarnation: Incarnation, tokens: Vec<Token> },
    Start(Vec<(RunId, Token)>),
    Heartbeat { items: Vec<(RunId, Token)>, kill_failed: Vec<(RunId, Token)> },
    Finish { run: RunId, token: Token, end: AttemptEnd, exit: Exit },
    Release { run: RunId, token: Token, cause: ReleaseCause, detail: String },
    Deregister { worker: WorkerId, incarnation: Incarnation, gone: bool },
}

/// What a master answers.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Registered(Option<Registered>),
    Granted(Vec<Grant>),
    /// Beat at once.
    Look,
    Verdicts(Vec<Said>),
    Done,
    /// Nobody knows: ask again.
    Unknown,
    /// The worker is another one's by now, or unknown: register again.
    Stale,
    /// Another master leads, perhaps this one.
    NotLeading(Option<usize>),
    /// What a master that steps down must never say.
    Lost,
}

#[derive(Debug, Clone)]
pub(super) enum ToWorker {
    Answer {
        call: u64,
        epoch: Epoch,
        answer: Answer,
    },
    /// The limit of a call is over.
    NoAnswer(u64),
    Poll,
    Beat(u64),
    Start(Token),
    End(Token),
    Register,
    /// The patience of a drain is over.
    DrainOver,
    Leave,
    Shim {
        token: Token,
        report: Report,
    },
}

/// What a shim says to its agent.
#[derive(Debug, Clone)]
pub(super) enum Report {
    Refused,
    Withdrawn,
    NotSpawned,
    Stopping(StopCause),
    Ended(Ended),
    KillFailed,
    ShimGone,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ToProcess {
    Exec,
    /// Its work is done.
    Exits,
    /// Something kills it that is none of the worker's.
    Killed,
    /// Looks at the deadline.
    Deadline,
    Timeout,
    /// Ends by the stop sequence.
    Stopped,
}
