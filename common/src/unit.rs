//! What the engine asks the store to write: units that commit or are left out whole.

use crate::action::{Action, Binding};
use crate::attempt::Attempt;
use crate::audit::AuditRow;
use crate::calendar::CalendarRow;
use crate::id::{ActionId, Epoch, Fence, GroupId, JobId, RunId, Seq, Token, WorkerId};
use crate::job::{Cursor, Gap, GroupRow, JobRow, RevisionRow};
use crate::run::Run;
use crate::time::Wall;
use crate::worker::WorkerRow;

/// A batch of units: one transaction, epoch guard first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    pub units: Vec<Unit>,
    /// The highest ids that the units use; kept in the store, so that no id is used twice.
    pub marks: Marks,
}

/// Writes that belong together: all of them are made, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unit {
    /// What the unit believes; judged on the rows as the units before it in the batch leave them.
    pub guards: Vec<Guard>,
    pub writes: Vec<Write>,
    /// Places in the batch, all before this one, of units without which this one makes no sense.
    pub after: Vec<usize>,
}

/// What a unit believes about a row that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// The run's row has not changed since it was read; `token` is None where nobody holds it.
    Run {
        id: RunId,
        hb_seq: Seq,
        token: Option<Token>,
    },
    Action {
        id: ActionId,
        seq: Seq,
    },
    Job {
        id: JobId,
        seq: Seq,
    },
    Cursor {
        job: JobId,
        seq: Seq,
    },
    Worker {
        id: WorkerId,
        seq: Seq,
    },
}

/// One row, whole, as it shall be. A row that the batch writes twice is written once, as the last unit left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    Action(Put, Box<Action>),
    /// Takes away a planned action and its bindings; any other state is an error.
    DropPlanned(ActionId),
    /// Takes the place of all bindings of the action.
    Bindings(ActionId, Vec<Binding>),
    Run(Put, Box<Run>),
    Attempt(Put, Box<Attempt>),
    /// Sets `late_report` of an ended attempt, once; a second report changes nothing.
    LateReport(Fence, String),
    /// What the attempt wrote for downstream, at most 64 KiB.
    Output(Fence, Vec<u8>),
    Gap(Gap),
    Job(Put, Box<JobRow>),
    Cursor(Put, Cursor),
    Revision(Box<RevisionRow>),
    Group(Put, Box<GroupRow>),
    /// A revision of a calendar; one of that number must not be there.
    Calendar(Box<CalendarRow>),
    Worker(Put, Box<WorkerRow>),
    Audit(Box<AuditRow>),
}

/// Whether the row is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    Insert,
    Update,
}

/// The highest ids in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    pub job: JobId,
    pub group: GroupId,
    pub action: ActionId,
    pub run: RunId,
    pub fence: Fence,
    pub worker: WorkerId,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            job: JobId::from_raw(0),
            group: GroupId::from_raw(0),
            action: ActionId::from_raw(0),
            run: RunId::from_raw(0),
            fence: Fence::from_raw(0),
            worker: WorkerId::from_raw(0),
        }
    }
}

impl Marks {
    /// Of each kind the higher one.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            job: self.job.max(other.job),
            group: self.group.max(other.group),
            action: self.action.max(other.action),
            run: self.run.max(other.run),
            fence: self.fence.max(other.fence),
            worker: self.worker.max(other.worker),
        }
    }
}

impl Unit {
    /// The highest ids of the rows that it makes; 0 where it makes none of a kind.
    pub fn made(&self) -> Marks {
        self.writes.iter().fold(Marks::default(), |marks, write| marks.max(write.made()))
    }
}

impl Write {
    fn made(&self) -> Marks {
        let none = Marks::default();
        match self {
            Self::Action(Put::Insert, row) => Marks { action: row.id, ..none },
            Self::Run(Put::Insert, row) => Marks { run: row.id, ..none },
            Self::Attempt(Put::Insert, row) => Marks { fence: row.fence, ..none },
            Self::Job(Put::Insert, row) => Marks { job: row.id, ..none },
            Self::Group(Put::Insert, row) => Marks { group: row.id, ..none },
            Self::Worker(Put::Insert, row) => Marks { worker: row.id, ..none },
            Self::Action(Put::Update, _)
            | Self::Run(Put::Update, _)
            | Self::Attempt(Put::Update, _)
            | Self::Job(Put::Update, _)
            | Self::Group(Put::Update, _)
            | Self::Worker(Put::Update, _)
            | Self::Cursor(..)
            | Self::DropPlanned(_)
            | Self::Bindings(..)
            | Self::LateReport(..)
            | Self::Output(..)
            | Self::Gap(_)
            | Self::Revision(_)
            | Self::Calendar(_)
            | Self::Audit(_) => none,
        }
    }
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// One for each unit, in order.
    pub outcomes: Vec<Outcome>,
    /// The store's clock, read in the transaction.
    pub store_now: Wall,
}

/// What became of one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// A guard did not hold, or a unit that it builds on was left out; nothing of it was written.
    LeftOut,
}

/// Who leads, as a master sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leadership {
    pub epoch: Epoch,
    /// None: nobody, the last leader resigned.
    pub holder: Option<String>,
    /// Where the leader listens.
    pub address: String,
    /// Grows with every renewal; a standby watches it by its own boot clock.
    pub renew_seq: i64,
}
