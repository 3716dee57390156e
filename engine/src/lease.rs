//! Which holds the leader watches, and which of them have run out, by its own boot clock. No stored time is read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hera_common::id::{RunId, Seq, Token};
use hera_common::run::{Run, RunState};
use hera_common::time::Boot;

/// The windows after which a hold is judged to have run out.
#[derive(Debug, Clone, Copy)]
pub struct Windows {
    /// For a grant that was not started.
    pub accept: Duration,
    pub grace: Duration,
    /// Parts per million.
    pub rho_ppm: u32,
}

impl Windows {
    /// `L(1+rho)+G` for a running hold, `A+G` for a leased one.
    fn of(&self, run: &Run) -> Option<Duration> {
        match run.state {
            RunState::Running(_) => {
                let drift = run.limits.lease.saturating_mul(self.rho_ppm) / 1_000_000;
                Some(run.limits.lease + drift + self.grace)
            }
            RunState::Leased(_) => Some(self.accept + self.grace),
            RunState::Queued { .. } | RunState::Ended(_) => None,
        }
    }
}

/// A hold as it was last seen to change.
#[derive(Debug, Clone, Copy)]
struct Watched {
    token: Token,
    hb_seq: Seq,
    window: Duration,
    /// None: the change is not committed yet, so its window has not begun.
    ends: Option<Boot>,
}

/// All holds. A hold's window begins anew with each change of `(token, hb_seq)`, in any direction.
#[derive(Debug, Default)]
pub struct Holds {
    watched: BTreeMap<RunId, Watched>,
    /// Holds whose change was written, and not yet read back.
    fresh: BTreeSet<RunId>,
    ends: BTreeSet<(Boot, RunId)>,
}

impl Holds {
    /// Takes note of the run as it is now; one that nobody holds is no longer watched.
    pub fn observe(&mut self, run: &Run, windows: &Windows) {
        let same = |w: &Watched, token| w.token == token && w.hb_seq == run.hb_seq;
        match (run.state.hold(), windows.of(run)) {
            (Some(hold), Some(window)) => {
                if self.watched.get(&run.id).is_some_and(|w| same(w, hold.token)) {
                    return;
                }
                self.forget(run.id);
                let watched = Watched { token: hold.token, hb_seq: run.hb_seq, window, ends: None };
                self.watched.insert(run.id, watched);
                self.fresh.insert(run.id);
            }
            _ => self.forget(run.id),
        }
    }

    /// Watches the run no longer.
    pub fn forget(&mut self, run: RunId) {
        self.fresh.remove(&run);
        if let Some(Watched { ends: Some(ends), .. }) = self.watched.remove(&run) {
            self.ends.remove(&(ends, run));
        }
    }

    /// Begins the windows of what changed: to be called with a clock read *after* the store's answer.
    pub fn settle(&mut self, now: Boot) {
        for run in std::mem::take(&mut self.fresh) {
            if let Some(watched) = self.watched.get_mut(&run) {
                let ends = now.plus(watched.window);
                watched.ends = Some(ends);
                self.ends.insert((ends, run));
            }
        }
    }

    /// Takes the holds whose windows are over; each is judged once for each change.
    pub fn take_expired(&mut self, now: Boot) -> Vec<RunId> {
        let mut expired = Vec::new();
        while let Some(&(ends, run)) = self.ends.first() {
            if ends > now {
                break;
            }
            self.ends.pop_first();
            if let Some(watched) = self.watched.get_mut(&run) {
                watched.ends = None;
            }
            expired.push(run);
        }
        expired
    }

    /// When the next window is over.
    pub fn next_end(&self) -> Option<Boot> {
        self.ends.first().map(|&(ends, _run)| ends)
    }

    /// What each hold that is watched was last seen to be.
    pub fn seen(&self) -> BTreeMap<RunId, (Token, Seq)> {
        self.watched.iter().map(|(run, w)| (*run, (w.token, w.hb_seq))).collect()
    }

    /// How many holds are watched.
    pub fn len(&self) -> usize {
        self.watched.len()
    }

    /// True where nothing is held.
    pub fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }
}

#[cfg(test)]
mod tests;
