//! Checks of what workers are told (I9, I19, Lost): a verdict is true when it is heard.

use hera_common::attempt::AttemptState;
use hera_common::id::{RunId, Token};
use hera_common::run::RunState;
use hera_worker::contract::{Outcome, Verdict};

use super::Check;
use crate::sim::world::World;

/// What a verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) enum About {
    /// Start or a heartbeat.
    Hold,
    /// Finish or Release.
    End,
}

impl World {
    /// A worker hears a verdict.
    pub(in crate::sim) fn check_verdict(
        &mut self,
        (run, token): (RunId, Token),
        verdict: Verdict,
        about: About,
    ) {
        let alive = self.processes.iter().any(|p| p.token == token && p.executes());
        match verdict {
            Verdict::Done if alive => {
                self.wrong(Check::I9, format_args!("r{run} is DONE, and its process lives"));
            }
            Verdict::Done => {
                let by =
                    self.store.rows(|rows| rows.runs.get(&run).and_then(|row| row.final_token));
                if by != Some(token) {
                    self.wrong(Check::I19, format_args!("r{run} is DONE, and ended by {by:?}"));
                }
            }
            Verdict::Ok { .. } if about == About::End => self.check_stored(run, token),
            Verdict::Lost | Verdict::Fenced => {
                let on = self.store.rows(|rows| {
                    rows.runs.get(&run).is_some_and(
                        |row| matches!(row.state, RunState::Running(hold) if hold.token == token),
                    )
                });
                if on {
                    self.wrong(Check::Lost, format_args!("r{run} is {verdict:?}, and is its own"));
                }
            }
            Verdict::Ok { .. } | Verdict::Cancel | Verdict::Unknown => {}
        }
    }

    /// An end that was taken is in the attempt's row, as it was reported.
    fn check_stored(&mut self, run: RunId, token: Token) {
        let reported = self.ledger.reported.get(&token).cloned();
        let end = self.store.rows(|rows| {
            let attempt = rows.attempts.values().rev().find(|attempt| attempt.token == token);
            match attempt.map(|attempt| &attempt.state) {
                Some(AttemptState::Ended { end, .. }) => Some(*end),
                Some(AttemptState::Leased | AttemptState::Started) | None => None,
            }
        });
        let true_end = match (&reported, end) {
            (Some(Outcome::Finish { end: said, .. }), Some(end)) => *said == end,
            (Some(Outcome::Release { .. }), Some(_)) => true,
            (_, None) | (None, _) => false,
        };
        if !true_end {
            self.wrong(
                Check::I19,
                format_args!("r{run} was told to be stored as {reported:?}, and is {end:?}"),
            );
        }
    }
}
