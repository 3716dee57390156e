//! Rules taken away, one at a time, to see that the checks miss each. The product stays as it is: what is broken is the
//! shells, the clocks, the messages and the store that the simulator puts round it.

use std::collections::BTreeMap;

use hera_common::id::{Epoch, RunId, Token};
use hera_common::run::{Hold, Run, RunState};
use hera_common::time::{Boot, Now};
use hera_common::unit::{Batch, Guard, Put, Write};

use super::event::Request;
use super::world::World;

/// One rule that is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// A worker counts its lease from the answer, not from before the request.
    LeaseFromAnswer,
    /// The store takes a takeover whatever the count of the row is, and writes for every epoch: either guard is enough.
    TakeoverWithoutCount,
    /// A new leader takes what it reads for seen long ago.
    NoWindowForNewLeader,
    /// A leader judges leases by the store's wall clock.
    ExpiryByWallClock,
    /// The agent watches the deadline; the shim does not.
    NoShim,
    /// A drained worker gives back what still runs.
    ReleaseBeforeEmpty,
    /// A worker executes what it was granted, without asking.
    StartOnGrant,
    /// A master takes an end for the token that is on the row, whatever token reports it.
    FinishWithoutToken,
    /// The store loses gaps that come with a cursor.
    GapApart,
    /// A master grants again to a token that holds something.
    PollWithoutKey,
    /// A worker beats only while the process lives, not until the end is stored.
    BeatsUntilExit,
    /// The store writes for every epoch.
    NoEpochGuard,
    /// A master that steps down answers LOST.
    NotLeaderIsLost,
    /// A master answers before it has committed.
    AnswerBeforeCommit,
    /// A worker that comes back frees what it still has to report.
    NothingKept,
    /// A retry costs nothing.
    FreeRetries,
    /// A master takes the next epoch but one.
    EpochSkipped,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::LeaseFromAnswer,
        Self::TakeoverWithoutCount,
        Self::NoWindowForNewLeader,
        Self::ExpiryByWallClock,
        Self::NoShim,
        Self::ReleaseBeforeEmpty,
        Self::StartOnGrant,
        Self::FinishWithoutToken,
        Self::GapApart,
        Self::PollWithoutKey,
        Self::BeatsUntilExit,
        Self::NoEpochGuard,
        Self::NotLeaderIsLost,
        Self::AnswerBeforeCommit,
        Self::NothingKept,
        Self::FreeRetries,
        Self::EpochSkipped,
    ];
}

/// Longer than any window.
const LONG_MS: i64 = 3_600_000;

impl World {
    /// True where this rule is taken away.
    pub(super) fn without(&self, rule: Mutation) -> bool {
        self.options.without == Some(rule)
    }

    /// The clocks by which a leader decides.
    pub(super) fn judged_by(&self, now: Now) -> Now {
        if self.without(Mutation::ExpiryByWallClock) {
            return Now { boot: Boot::from_ms(now.wall.ms()), ..now };
        }
        now
    }

    /// The clock at which a new leader's windows begin.
    pub(super) fn windows_from(&self, now: Now) -> Now {
        let now = self.judged_by(now);
        if self.without(Mutation::NoWindowForNewLeader) {
            return Now { boot: Boot::from_ms(now.boot.ms() - LONG_MS), ..now };
        }
        now
    }

    /// A request, as a master's door lets it in.
    pub(super) fn let_in(&mut self, request: Request) -> Request {
        match request {
            Request::Finish { run, token, end, exit }
                if self.without(Mutation::FinishWithoutToken) =>
            {
                let token = self.holder(run).unwrap_or(token);
                Request::Finish { run, token, end, exit }
            }
            Request::Poll { worker, incarnation, tokens }
                if self.without(Mutation::PollWithoutKey) =>
            {
                let tokens = tokens.into_iter().map(|token| self.fresh_for(token)).collect();
                Request::Poll { worker, incarnation, tokens }
            }
            same @ (Request::Register(_)
            | Request::Poll { .. }
            | Request::Start(_)
            | Request::Heartbeat { .. }
            | Request::Finish { .. }
            | Request::Release { .. }
            | Request::Deregister { .. }) => same,
        }
    }

    fn holder(&self, run: RunId) -> Option<Token> {
        let state = self.store.rows(|rows| rows.runs.get(&run).map(|row| row.state))?;
        state.hold().map(|hold| hold.token)
    }

    /// Another name for a token that is on a row already.
    fn fresh_for(&mut self, token: Token) -> Token {
        let held = self.store.rows(|rows| {
            rows.runs.values().any(|run| run.state.hold().is_some_and(|hold| hold.token == token))
        });
        if !held {
            return token;
        }
        let fresh = Token::from_bytes(self.dice.bytes());
        self.aliases.insert(fresh, token);
        fresh
    }

    /// A batch, as it reaches the store.
    pub(super) fn as_stored(&self, epoch: Epoch, batch: &Batch) -> (Epoch, Batch) {
        let mut batch = batch.clone();
        let mut term = epoch;
        match self.options.without {
            Some(Mutation::TakeoverWithoutCount) => {
                term = self.ledger.epoch.unwrap_or(epoch);
                self.forget_counts(&mut batch);
            }
            Some(Mutation::GapApart) => {
                for unit in &mut batch.units {
                    unit.writes.retain(|write| !matches!(write, Write::Gap(_)));
                }
            }
            Some(Mutation::PollWithoutKey) => rename(&mut batch, &self.aliases),
            Some(Mutation::NoEpochGuard) => term = self.ledger.epoch.unwrap_or(epoch),
            Some(Mutation::FreeRetries) => {
                for run in runs(&mut batch) {
                    run.counts.failures = 0;
                }
            }
            Some(_) | None => {}
        }
        (term, batch)
    }

    /// Units that take a run over find it, whatever its count is.
    fn forget_counts(&self, batch: &mut Batch) {
        for unit in &mut batch.units {
            let takes = unit.writes.iter().any(|write| matches!(write, Write::Run(Put::Update, run) if matches!(run.state, RunState::Leased(_))));
            if !takes {
                continue;
            }
            for guard in &mut unit.guards {
                if let Guard::Run { id, hb_seq, token: Some(_) } = guard
                    && let Some(seen) = self.ledger.runs.get(id)
                {
                    *hb_seq = seen.hb_seq;
                }
            }
            for write in &mut unit.writes {
                if let Write::Run(Put::Update, run) = write
                    && let Some(seen) = self.ledger.runs.get(&run.id)
                {
                    run.hb_seq = run.hb_seq.max(seen.hb_seq.next());
                }
            }
        }
    }
}

fn runs(batch: &mut Batch) -> impl Iterator<Item = &mut Run> {
    batch.units.iter_mut().flat_map(|unit| &mut unit.writes).filter_map(|write| match write {
        Write::Run(_, run) => Some(&mut **run),
        Write::Action(..)
        | Write::DropPlanned(_)
        | Write::Bindings(..)
        | Write::Attempt(..)
        | Write::LateReport(..)
        | Write::Output(..)
        | Write::Gap(_)
        | Write::Job(..)
        | Write::Cursor(..)
        | Write::Revision(_)
        | Write::Calendar(_)
        | Write::Group(..)
        | Write::Worker(..)
        | Write::Audit(_) => None,
    })
}

/// Gives tokens the names that workers know.
fn rename(batch: &mut Batch, aliases: &BTreeMap<Token, Token>) {
    let known = |token: Token| aliases.get(&token).copied().unwrap_or(token);
    for write in batch.units.iter_mut().flat_map(|unit| &mut unit.writes) {
        if let Write::Attempt(_, attempt) = write {
            attempt.token = known(attempt.token);
        }
    }
    for run in runs(batch) {
        if let RunState::Leased(hold) = run.state {
            run.state = RunState::Leased(Hold { token: known(hold.token), ..hold });
        }
    }
}
