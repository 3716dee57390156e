//! I17: a leader takes a hold away only if it has itself seen it unchanged for a whole window, and the store still shows
//! what it saw. Counted apart from the engine, from the answers that the leader had.

use std::collections::BTreeMap;
use std::time::Duration;

use hera_common::attempt::{AttemptEnd, AttemptState};
use hera_common::id::{RunId, Seq, Token};
use hera_common::run::{Run, RunState};
use hera_common::snapshot::Snapshot;
use hera_common::time::Boot;
use hera_common::unit::{Batch, Guard, Outcome as Became, Unit, Write};
use hera_engine::input::Step;
use hera_worker::contract::Outcome;

use super::Check;
use super::rows::RETURNED;
use crate::sim::master::settings;
use crate::sim::world::World;

/// Which holds a leader knows, and since when they have not changed in its eyes.
#[derive(Debug, Default)]
pub(in crate::sim) struct Observed(BTreeMap<RunId, (Token, Seq, Boot, Duration)>);

impl Observed {
    /// The leader has read these runs.
    pub(in crate::sim) fn read(&mut self, snapshot: &Snapshot, now: Boot) {
        for run in &snapshot.runs {
            self.see(run, now);
        }
    }

    /// The leader has heard that its batch is written.
    pub(in crate::sim) fn committed(&mut self, batch: &Batch, became: &[Became], now: Boot) {
        let done = batch.units.iter().zip(became).filter(|(_, became)| **became == Became::Done);
        for write in done.flat_map(|(unit, _)| &unit.writes) {
            if let Write::Run(_, run) = write {
                self.see(run, now);
            }
        }
    }

    fn see(&mut self, run: &Run, now: Boot) {
        let Some((hold, window)) = run.state.hold().zip(window(run)) else {
            self.0.remove(&run.id);
            return;
        };
        let known = self.0.get(&run.id);
        if known.is_none_or(|(token, seq, ..)| (*token, *seq) != (hold.token, run.hb_seq)) {
            self.0.insert(run.id, (hold.token, run.hb_seq, now, window));
        }
    }
}

/// Of a running hold `L(1+rho)+G`, of a leased one `A+G`.
fn window(run: &Run) -> Option<Duration> {
    let settings = settings();
    match run.state {
        RunState::Running(_) => {
            let lease = run.limits.lease;
            Some(lease + lease * settings.rho_ppm / 1_000_000 + settings.grace)
        }
        RunState::Leased(_) => Some(settings.accept + settings.grace),
        RunState::Queued { .. } | RunState::Ended(_) => None,
    }
}

impl World {
    /// What a leader is about to take away: it has seen it for long enough.
    pub(in crate::sim) fn check_windows(&mut self, master: usize, step: &Step, now: Boot) {
        let taken: Vec<_> = step.batch.units.iter().filter_map(|unit| self.taken(unit)).collect();
        for (run, token, seq) in taken {
            let lead = self.masters.get(master).and_then(|own| own.lead.as_ref());
            let seen = lead.and_then(|lead| lead.observed.0.get(&run).copied());
            let long = seen.is_some_and(|(of, at, since, window)| {
                (of, at) == (token, seq) && now.since(since) >= window
            });
            if !long {
                let age = seen.map(|(_, _, since, _)| now.since(since));
                self.wrong(
                    Check::I17,
                    format_args!("m{master} takes r{run} away, seen for {age:?}: {seen:?}"),
                );
            }
        }
    }

    /// What a batch took away: the store showed what the leader had seen. `before` are the rows as they were.
    pub(in crate::sim) fn check_taken(&mut self, master: usize, asked: &Batch, became: &[Became]) {
        let done = asked.units.iter().zip(became).filter(|(_, became)| **became == Became::Done);
        let taken: Vec<_> = done.filter_map(|(unit, _)| self.taken(unit)).collect();
        for (run, token, seq) in taken {
            let before = self.ledger.runs.get(&run).and_then(|seen| seen.pair());
            if before != Some((token, seq)) {
                self.wrong(
                    Check::I17,
                    format_args!(
                        "m{master} takes r{run} away as {token:?} {seq}: it is {before:?}"
                    ),
                );
            }
            self.check_no_rerun(token);
        }
    }

    /// The hold that a unit takes away by the leader's own judgement.
    fn taken(&self, unit: &Unit) -> Option<(RunId, Token, Seq)> {
        let judged = |write: &Write| {
            let Write::Attempt(_, attempt) = write else { return None };
            let AttemptState::Ended { end, exit, .. } = &attempt.state else { return None };
            let released =
                matches!(self.ledger.reported.get(&attempt.token), Some(Outcome::Release { .. }));
            let own = match end {
                AttemptEnd::Lost => exit.detail.as_deref() != Some(RETURNED),
                AttemptEnd::Unaccepted => !released,
                AttemptEnd::Succeeded
                | AttemptEnd::Failed(_)
                | AttemptEnd::TimedOut
                | AttemptEnd::Interrupted
                | AttemptEnd::Cancelled
                | AttemptEnd::NotYet => false,
            };
            own.then_some(attempt.token)
        };
        let token = unit.writes.iter().find_map(judged)?;
        unit.guards.iter().find_map(|guard| match guard {
            Guard::Run { id, hb_seq, token: of } if *of == Some(token) => {
                Some((*id, token, *hb_seq))
            }
            Guard::Run { .. }
            | Guard::Action { .. }
            | Guard::Job { .. }
            | Guard::Cursor { .. }
            | Guard::Worker { .. } => None,
        })
    }
}
