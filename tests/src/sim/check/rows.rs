//! Checks of what the store was made to hold: each row that is written, against what was there before and what workers
//! have said (I4, I5, I6, I7, I8, I10, I12, I13, I14, I18, I20).

use std::collections::BTreeSet;

use hera_common::action::Action;
use hera_common::attempt::{Attempt, AttemptEnd, AttemptState};
use hera_common::id::{ActionId, Epoch, JobId};
use hera_common::limits::ATTEMPTS_MAX;
use hera_common::run::{FailReason, Run, RunEnd, RunState, Trigger};
use hera_common::unit::{Batch, Outcome as Became, Put, Write};
use hera_engine::edge::EdgeState;
use hera_worker::contract::Outcome;

use super::Check;
use super::ledger::{AttemptSeen, RunSeen};
use crate::sim::mutation::Mutation;
use crate::sim::world::World;

/// How far a leader may be wrong about the store's clock when it decides: one way of a message.
const WALL_MS: i64 = 4_000;
/// For so long after a jump of the store's clock a leader may not have measured it.
const JUMP_MS: i64 = 15_000;

/// What a batch touched that must be unique once it is written.
#[derive(Debug, Default)]
struct Touched {
    jobs: BTreeSet<JobId>,
    actions: BTreeSet<ActionId>,
}

impl World {
    /// A batch was written, by the leader of an epoch.
    pub(in crate::sim) fn written(&mut self, master: usize, batch: &Batch, became: &[Became]) {
        self.ledger.commits += 1;
        let mut touched = Touched::default();
        for (unit, became) in batch.units.iter().zip(became) {
            if *became == Became::LeftOut {
                self.tell("  a unit is left out");
                continue;
            }
            for write in &unit.writes {
                self.wrote(write, &mut touched);
            }
        }
        self.check_unique(&touched);
        self.check_cursors(master, batch, became);
        self.check_living();
    }

    fn wrote(&mut self, write: &Write, touched: &mut Touched) {
        match write {
            Write::Run(put, run) => {
                touched.jobs.insert(run.job);
                touched.actions.insert(run.action);
                self.tell_run(*put, run);
                self.wrote_run(*put, run);
            }
            Write::Attempt(put, attempt) => self.wrote_attempt(*put, attempt),
            Write::Action(_, action) => self.wrote_action(action),
            Write::DropPlanned(id) => {
                let before = self.ledger.actions.remove(id);
                if before.is_some_and(|state| !state.planned()) {
                    self.wrong(Check::I4, format_args!("action {id} was decided and is gone"));
                }
            }
            Write::Gap(gap) => self.tell(format_args!(
                "  gap of job {} {} to {}: {} {}",
                gap.job,
                gap.from,
                gap.to,
                gap.count,
                gap.reason.label()
            )),
            Write::LateReport(fence, text) => {
                self.tell(format_args!("  late report of attempt {fence}: {text}"));
            }
            Write::Bindings(..)
            | Write::Output(..)
            | Write::Job(..)
            | Write::Cursor(..)
            | Write::Revision(_)
            | Write::Calendar(_)
            | Write::Group(..)
            | Write::Worker(..)
            | Write::Audit(_) => {}
        }
    }

    fn wrote_action(&mut self, action: &Action) {
        let before = self.ledger.actions.insert(action.id, action.state);
        if action.state.planned() {
            if before.is_some_and(|state| !state.planned()) {
                let id = action.id;
                self.wrong(Check::I4, format_args!("action {id} was decided and is planned"));
            }
            return;
        }
        self.tell(format_args!(
            "  action {} of job {} @{} {} seq {}",
            action.id, action.job, action.version, action.state, action.seq
        ));
    }

    /// Renewals are too many to be told.
    fn tell_run(&mut self, put: Put, run: &Run) {
        let new = put == Put::Insert;
        let same = self.ledger.runs.get(&run.id).is_some_and(|seen| {
            seen.state == run.state
                && seen.counts.attempts == run.counts.attempts
                && seen.cancelled == run.cancel.is_some()
        });
        if same {
            return;
        }
        let trigger = if new { run.trigger.label() } else { "" };
        self.tell(format_args!(
            "  run r{} of job {} @{} {} #{} seq {} {trigger}",
            run.id, run.job, run.version, run.state, run.counts.attempts, run.hb_seq
        ));
    }

    fn wrote_run(&mut self, put: Put, run: &Run) {
        let before = self.ledger.runs.insert(run.id, RunSeen::of(run));
        match (put, before) {
            (Put::Insert, None) => {
                self.check_edges(run);
                self.check_time(run);
            }
            (Put::Update, Some(before)) => self.check_change(&before, run),
            (Put::Insert, Some(_)) => {
                self.wrong(Check::I10, format_args!("r{} is made twice", run.id));
            }
            (Put::Update, None) => {
                self.wrong(Check::I4, format_args!("r{} changes and was never made", run.id));
            }
        }
        let grants = self.ledger.grants.get(&run.id).copied().unwrap_or_default();
        self.wrong_if(Check::I8, over_budget(run));
        let new = matches!(run.state, RunState::Leased(_));
        // The attempt of a grant follows in the same unit.
        if run.counts.attempts != grants && !(new && run.counts.attempts == grants + 1) {
            let told = run.counts.attempts;
            self.wrong(Check::I8, format_args!("r{} counts {told} of {grants} grants", run.id));
        }
        let failed = self.ledger.failed.get(&run.id).copied().unwrap_or_default();
        let new_failure = run.counts.failures == failed + 1 && run.state.hold().is_none();
        if run.counts.failures != failed && !new_failure {
            let told = run.counts.failures;
            self.wrong(Check::I8, format_args!("r{} counts {told} of {failed} failures", run.id));
        }
        self.note_live(run);
    }

    fn note_live(&mut self, run: &Run) {
        let live = self.ledger.live.entry(run.action).or_default();
        if run.state.ended() {
            live.remove(&run.id);
        } else {
            live.insert(run.id);
        }
        let held = self.ledger.held.entry(run.job).or_default();
        if run.exclusive && run.state.hold().is_some() {
            held.insert(run.id);
        } else {
            held.remove(&run.id);
        }
    }

    fn check_unique(&mut self, touched: &Touched) {
        let many = |of: Option<&BTreeSet<_>>| of.is_some_and(|runs| runs.len() > 1);
        let held = touched.jobs.iter().find(|job| many(self.ledger.held.get(job)));
        let live = touched.actions.iter().find(|action| many(self.ledger.live.get(action)));
        let held = held.map(|job| format!("two runs of job {job} are held"));
        let live = live.map(|action| format!("two runs of action {action} are live"));
        self.wrong_if(Check::I10, held.or(live));
    }

    fn check_change(&mut self, before: &RunSeen, run: &Run) {
        let id = run.id;
        let (old, new) = (before.counts, run.counts);
        let back = old.attempts > new.attempts
            || old.starts > new.starts
            || old.failures > new.failures
            || old.losses > new.losses
            || before.hb_seq >= run.hb_seq;
        let jumps =
            matches!((before.state, run.state), (RunState::Queued { .. }, RunState::Running(_)));
        if before.state.ended() || back || jumps {
            let (was, is) = (before.state, run.state);
            self.wrong(Check::I4, format_args!("r{id} goes from {was} to {is}"));
        }
        let (was, is) = (before.state.hold(), run.state.hold());
        if let Some(hold) = is.filter(|hold| was.is_none_or(|was| was.token != hold.token)) {
            if !self.ledger.tokens.insert(hold.token) {
                self.wrong(Check::I6, format_args!("r{id} gets {:?} a second time", hold.token));
            }
            if !matches!(run.state, RunState::Leased(_)) {
                self.wrong(Check::I4, format_args!("r{id} runs without a grant"));
            }
        }
        if let (RunState::Leased(_), RunState::Running(hold)) = (before.state, run.state)
            && !self.ledger.asked_to_start.contains(&hold.token)
        {
            self.wrong(Check::I20, format_args!("r{id} runs, and its holder did not say so"));
        }
        if let Some(token) = run.final_token
            && (was.is_none_or(|was| was.token != token)
                || !self.ledger.reported.contains_key(&token))
        {
            self.wrong(Check::I7, format_args!("r{id} ends by {token:?}, which did not say so"));
        }
        if run.state == RunState::Ended(RunEnd::Succeeded) && run.final_token.is_none() {
            self.wrong(Check::I7, format_args!("r{id} succeeds, and nobody said so"));
        }
    }

    fn wrote_attempt(&mut self, put: Put, attempt: &Attempt) {
        let fence = attempt.fence;
        let end = match &attempt.state {
            AttemptState::Ended { end, exit, .. } => Some((*end, exit.detail.as_deref())),
            AttemptState::Leased | AttemptState::Started => None,
        };
        let seen = AttemptSeen { token: attempt.token, ended: end.is_some() };
        let newest = self.ledger.attempts.last_key_value().map(|(fence, _)| *fence);
        let before = self.ledger.attempts.insert(fence, seen);
        match (put, before) {
            (Put::Insert, None) => {
                *self.ledger.grants.entry(attempt.run).or_default() += 1;
                if newest.is_some_and(|newest| newest > fence) {
                    self.wrong(
                        Check::I5,
                        format_args!("attempt {fence} is made after a later one"),
                    );
                }
            }
            (Put::Insert, Some(_)) => {
                self.wrong(Check::I5, format_args!("attempt {fence} is made twice"));
            }
            (Put::Update, Some(before)) if before.ended || before.token != attempt.token => {
                self.wrong(Check::I18, format_args!("attempt {fence} had ended and changes"));
            }
            (Put::Update, _) => {}
        }
        if let Some((end, detail)) = end {
            self.check_attempt_end(attempt, end, detail.is_some_and(|detail| detail == RETURNED));
        }
    }

    /// An attempt ends as its holder said, or by a judgement of the leader.
    fn check_attempt_end(&mut self, attempt: &Attempt, end: AttemptEnd, returned: bool) {
        let (fence, token) = (attempt.fence, attempt.token);
        if end == AttemptEnd::Succeeded && !self.ledger.succeeded.insert(attempt.run) {
            self.wrong(Check::I18, format_args!("a second attempt of r{} succeeds", attempt.run));
        }
        let failed = matches!(end, AttemptEnd::TimedOut | AttemptEnd::NotYet)
            || matches!(end, AttemptEnd::Failed(reason) if !matches!(reason, FailReason::Spawn | FailReason::Render));
        if failed {
            *self.ledger.failed.entry(attempt.run).or_default() += 1;
        }
        let own = matches!(end, AttemptEnd::Lost | AttemptEnd::Failed(FailReason::Render));
        let reported = self.ledger.reported.get(&token).cloned();
        let released = matches!(reported, Some(Outcome::Release { .. }));
        let says = match &reported {
            Some(Outcome::Finish { end: said, .. }) => *said == end,
            Some(Outcome::Release { .. }) => matches!(
                end,
                AttemptEnd::Interrupted | AttemptEnd::Cancelled | AttemptEnd::Unaccepted
            ),
            None => end == AttemptEnd::Unaccepted,
        };
        if !(own || says || returned) {
            self.wrong(
                Check::I20,
                format_args!(
                    "attempt {fence} ends as {}, and its holder said {reported:?}",
                    end.word()
                ),
            );
            return;
        }
        let process = self.processes.iter().find(|p| p.token == token);
        let kept = process.is_some_and(|process| process.by_itself() && process.is_known());
        let alive = process.is_some_and(|process| process.is_alive());
        let code = process.and_then(|process| process.code());
        if alive && released {
            self.wrong(Check::I14, format_args!("attempt {fence} is given back, and lives"));
        }
        if returned && kept {
            self.wrong(
                Check::I15,
                format_args!("attempt {fence} ended by itself, and its worker's return frees it"),
            );
        }
        if end == AttemptEnd::Succeeded && code != Some(0) {
            self.wrong(Check::I20, format_args!("attempt {fence} succeeds with code {code:?}"));
        }
    }

    /// Nothing starts by itself before its version.
    fn check_time(&mut self, run: &Run) {
        if !matches!(run.trigger, Trigger::Schedule | Trigger::Event) || self.jumped_lately() {
            return;
        }
        // What was decided stays so where the clock goes back.
        let early = run.version.ms() - self.ledger.latest_wall.max(self.wall().ms());
        if early > 1_000 {
            self.wrong(Check::I12, format_args!("r{} is made {early} ms too early", run.id));
        }
    }

    /// The first start comes within its limit, if that was set.
    pub(in crate::sim) fn check_start_by(&mut self, run: &Run) {
        let late = run.limits.start_by.map(|by| self.wall().ms() - by.ms());
        if run.counts.starts == 0
            && late.is_some_and(|late| late > WALL_MS)
            && !self.jumped_lately()
        {
            self.wrong(Check::I12, format_args!("r{} is granted after its limit", run.id));
        }
    }

    fn jumped_lately(&self) -> bool {
        self.ledger.jumped.is_some_and(|at| self.now - at < JUMP_MS)
    }

    /// A version starts by itself only when all that it is bound to has ended well.
    fn check_edges(&mut self, run: &Run) {
        if !matches!(run.trigger, Trigger::Schedule | Trigger::Event) {
            return;
        }
        for (upstream, version, state) in self.edges(run.action) {
            if state != EdgeState::Met {
                self.wrong(
                    Check::Edges,
                    format_args!(
                        "r{} of job {} @{} is queued though job {upstream} @{version} says {state:?}",
                        run.id, run.job, run.version
                    ),
                );
            }
        }
    }

    /// A master takes the next epoch.
    pub(in crate::sim) fn check_epoch(&mut self, master: usize, epoch: Epoch) {
        let before = self.ledger.epoch.replace(epoch).unwrap_or(Epoch::from_raw(0));
        if before.next() != epoch {
            self.wrong(Check::I13, format_args!("m{master} takes epoch {epoch} after {before}"));
        }
    }

    /// A leader's batch was written: no later one had begun.
    pub(in crate::sim) fn check_term(&mut self, master: usize, epoch: Epoch) {
        let now = self.ledger.epoch.unwrap_or(epoch);
        if now != epoch && !self.without(Mutation::TakeoverWithoutCount) {
            self.wrong(Check::I13, format_args!("m{master} writes for epoch {epoch} in {now}"));
        }
    }
}

/// What the engine notes on an attempt whose worker came back without it.
pub(super) const RETURNED: &str = "worker restarted";

/// What a run may use up.
fn over_budget(run: &Run) -> Option<String> {
    let (counts, limits) = (run.counts, run.limits);
    let open = !run.state.ended();
    let over = counts.starts > counts.attempts
        || counts.attempts > ATTEMPTS_MAX
        || (open && (counts.failures > limits.retries || counts.losses > limits.restarts));
    over.then(|| format!("r{} has used up more than it may: {counts:?}", run.id))
}
