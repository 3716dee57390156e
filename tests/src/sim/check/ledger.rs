//! What the checks remember of a history: the rows as they were last written, and what workers really said.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::ActionState;
use hera_common::id::{ActionId, Epoch, Fence, JobId, RunId, Seq, Token};
use hera_common::run::{Run, RunCounts, RunState};
use hera_common::time::Version;
use hera_worker::contract::Outcome;

/// A run as it was last written: what no change may take back.
#[derive(Debug, Clone, Copy)]
pub(in crate::sim) struct RunSeen {
    pub(in crate::sim) state: RunState,
    pub(in crate::sim) hb_seq: Seq,
    pub(in crate::sim) counts: RunCounts,
    pub(in crate::sim) cancelled: bool,
}

impl RunSeen {
    pub(in crate::sim) fn of(run: &Run) -> Self {
        let Run { state, hb_seq, counts, cancel, .. } = run;
        Self { state: *state, hb_seq: *hb_seq, counts: *counts, cancelled: cancel.is_some() }
    }

    /// The token on the row, and the row's count.
    pub(in crate::sim) fn pair(&self) -> Option<(Token, Seq)> {
        self.state.hold().map(|hold| (hold.token, self.hb_seq))
    }
}

/// An attempt as it was last written.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttemptSeen {
    pub(super) token: Token,
    pub(super) ended: bool,
}

/// What the checks remember.
#[derive(Debug, Default)]
pub(in crate::sim) struct Ledger {
    /// The first job file is in.
    pub(in crate::sim) applied: bool,
    /// An edit is not in yet.
    pub(in crate::sim) wanted: bool,
    pub(in crate::sim) commits: u64,
    pub(in crate::sim) comparisons: u64,
    /// The latest that the store's clock ever showed.
    pub(in crate::sim) latest_wall: i64,
    /// When the store's clock jumped last.
    pub(in crate::sim) jumped: Option<i64>,
    pub(in crate::sim) epoch: Option<Epoch>,
    /// How far each job is decided.
    pub(super) decided: BTreeMap<JobId, Version>,
    pub(in crate::sim) runs: BTreeMap<RunId, RunSeen>,
    pub(super) attempts: BTreeMap<Fence, AttemptSeen>,
    pub(super) tokens: BTreeSet<Token>,
    pub(super) grants: BTreeMap<RunId, u32>,
    /// Attempts that failed by themselves, by run.
    pub(super) failed: BTreeMap<RunId, u32>,
    pub(super) succeeded: BTreeSet<RunId>,
    pub(super) held: BTreeMap<JobId, BTreeSet<RunId>>,
    pub(super) live: BTreeMap<ActionId, BTreeSet<RunId>>,
    pub(super) actions: BTreeMap<ActionId, ActionState>,
    /// What a worker has sent of its attempts' ends.
    pub(in crate::sim) reported: BTreeMap<Token, Outcome>,
    /// The attempts of which a worker has asked whether they may start.
    pub(in crate::sim) asked_to_start: BTreeSet<Token>,
    /// The last answer that each worker had from a commit, and since when such answers came without a break.
    pub(in crate::sim) heard: BTreeMap<usize, Heard>,
}

/// How well a worker reaches the leader, and the leader the store.
#[derive(Debug, Clone, Copy)]
pub(in crate::sim) struct Heard {
    pub(super) since: i64,
    pub(super) last: i64,
}
