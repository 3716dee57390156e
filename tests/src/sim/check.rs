//! What must always hold, by name: the invariants of the lease protocol and of the plan. Knows how a lapse is told, not
//! how it comes about.

mod answers;
mod cursor;
mod ledger;
mod memory;
mod rows;
mod truth;
mod window;

use std::fmt;

pub(super) use answers::About;
pub(super) use ledger::Ledger;
pub(super) use window::Observed;

use super::world::World;

/// What is checked after each step, and at the end of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// Of an exclusive job one process lives at most.
    I1,
    /// While a process lives its run is running, with its token.
    I2,
    /// When a process begins its run is running with its token, and its deadline is ahead.
    I3,
    /// A row that has ended never changes, and no row goes back.
    I4,
    /// Fences grow with the starts of a job, and none is used twice.
    I5,
    /// A token is on a row exactly while that is held, and on one row in all time.
    I6,
    /// A final token is that of a holder that reported the end while its token was on the row.
    I7,
    /// Budgets are kept, and each grant has its attempt.
    I8,
    /// A worker never hears DONE of an attempt whose process lives.
    I9,
    /// One row for a version, one live run for an action, one held run for an exclusive job.
    I10,
    /// What lies before a cursor has a row that was decided, or lies in a gap.
    I11,
    /// Nothing starts by itself before its version, or after its limit.
    I12,
    /// Epochs grow by one, each has one holder, and none writes after the next one has begun.
    I13,
    /// What is given back has no process.
    I14,
    /// What ended by itself is not started again because of a lease, as long as its worker could renew.
    I15,
    /// Nothing lives after its deadline, by the clock of its own host.
    I16,
    /// A hold is taken away only where its leader saw it unchanged for a whole window.
    I17,
    /// An attempt ends once, and one of a run succeeds.
    I18,
    /// What a worker was told to be stored is stored.
    I19,
    /// A worker's word changes nothing that another token holds.
    I20,
    /// In the end no run is live.
    L1,
    /// In the end every due version is decided, and nothing waits for nothing.
    L2,
    /// In the end one master leads, and every worker is registered.
    L3,
    /// What was given back is granted again as soon as a worker is free.
    L4,
    /// In the end no worker has anything left to report.
    L5,
    /// An outage shorter than a lease costs nothing.
    L6,
    /// A worker is told LOST only where its token is off the row.
    Lost,
    /// A version starts by itself only when its edges are met.
    Edges,
    /// A leader's memory is what a new leader would read.
    Memory,
    /// The store takes what a leader orders.
    Refused,
    /// The simulated world itself.
    World,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A check that saw something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lapse {
    pub check: Check,
    pub what: String,
}

impl fmt::Display for Lapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.what)
    }
}

impl World {
    /// Something that must not be; the history ends there.
    pub(super) fn wrong(&mut self, check: Check, what: impl fmt::Display) {
        let lapse = Lapse { check, what: what.to_string() };
        self.tell(format_args!("WRONG: {lapse}"));
        self.wrong.get_or_insert(lapse);
    }

    /// Tells of a lapse, where there is one.
    pub(super) fn wrong_if(&mut self, check: Check, what: Option<String>) {
        if let Some(what) = what {
            self.wrong(check, what);
        }
    }
}
