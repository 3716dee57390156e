//! Until when a job is left to its shim. The shim keeps the job's time; this says when that has evidently not been
//! done, so that the time holds though the shim is stopped. Pure: no clock, no process.

use std::time::Duration;

use hera_common::time::Boot;

use crate::contract::Timing;
use crate::process::order::StopCause;

/// How long a shim may take to say its first word. It takes a millisecond, unless the spawner hangs.
const FIRST_WORD: Duration = Duration::from_secs(30);
/// How much later than its time a shim may say that it has done what was due: a loaded host is not a broken one.
pub(super) const MARGIN: Duration = Duration::from_secs(1);

/// What is expected of one shim.
#[derive(Debug)]
pub(super) struct Patience {
    /// From the order to stop to a word on how that went.
    stopping: Duration,
    /// Between the last instant for a KILL and the end of the lease.
    kill: Duration,
    deadline: Boot,
    first_word: Option<Boot>,
    timeout: Option<Boot>,
    stop: Option<(Boot, StopCause)>,
    /// It has said that it cannot: it does all that can be done.
    excused: bool,
}

impl Patience {
    /// With a shim that was asked for at `now`.
    pub(super) fn new(timing: &Timing, deadline: Option<Boot>, now: Boot) -> Self {
        let first_word = now.plus(FIRST_WORD);
        Self {
            stopping: timing.term + timing.kill + MARGIN,
            kill: timing.kill,
            deadline: deadline.unwrap_or(first_word),
            first_word: Some(first_word),
            timeout: None,
            stop: None,
            excused: false,
        }
    }

    /// It has started its job.
    pub(super) fn started(&mut self, at: Boot, timeout: Option<Duration>) {
        self.first_word = None;
        self.timeout = timeout.map(|timeout| at.plus(timeout + self.stopping));
    }

    /// It may go on until then.
    pub(super) fn renewed(&mut self, deadline: Boot) {
        if self.stop.is_none() {
            self.deadline = self.deadline.max(deadline);
        }
    }

    /// It was told to stop its job, or says that it does.
    pub(super) fn stops(&mut self, cause: StopCause, now: Boot) {
        self.stop.get_or_insert((now.plus(self.stopping), cause));
    }

    /// It has said that something outlives the KILL.
    pub(super) fn excused(&mut self) {
        self.excused = true;
    }

    /// When it must be ended with all below it, and why its job had to stop; None: never.
    pub(super) fn end(&self) -> Option<(Boot, StopCause)> {
        if self.excused {
            return None;
        }
        // The shim kills at the first instant of this span, and should be done in its first half.
        let lease = self.deadline.minus(self.kill / 2);
        let cause = self.stop.map_or(StopCause::Lease, |(_, cause)| cause);
        let timeout = self.timeout.filter(|_| self.stop.is_none());
        [
            Some((lease, cause)),
            self.first_word.map(|at| (at, cause)),
            timeout.map(|at| (at, StopCause::Timeout)),
            self.stop,
        ]
        .into_iter()
        .flatten()
        .min_by_key(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Boot {
        Boot::from_ms(ms)
    }

    /// TERM to KILL 5 s, a kill budget of 2 s: a stop has 8 s.
    fn patience(lease_ms: i64) -> Patience {
        Patience::new(&Timing::USUAL, Some(at(lease_ms)), at(0))
    }

    #[test]
    fn a_shim_that_says_nothing_is_ended_after_half_a_minute_or_before_its_lease_is_over() {
        assert_eq!(patience(300_000).end(), Some((at(30_000), StopCause::Lease)));
        assert_eq!(patience(20_000).end(), Some((at(19_000), StopCause::Lease)));
    }

    #[test]
    fn a_time_out_holds_though_the_lease_is_renewed() {
        let mut patience = patience(60_000);
        patience.started(at(100), Some(Duration::from_secs(5)));
        for ms in [70_000, 80_000, 75_000] {
            patience.renewed(at(ms));
        }
        assert_eq!(patience.end(), Some((at(13_100), StopCause::Timeout)));
    }

    #[test]
    fn a_stop_has_its_time_once_and_never_more_than_the_lease() {
        let mut patience = patience(60_000);
        patience.started(at(0), None);
        assert_eq!(patience.end(), Some((at(59_000), StopCause::Lease)));
        patience.stops(StopCause::Cancel, at(1_000));
        patience.stops(StopCause::Drain, at(2_000));
        patience.renewed(at(90_000));
        assert_eq!(patience.end(), Some((at(9_000), StopCause::Cancel)));
        let mut late = self::patience(60_000);
        late.started(at(0), None);
        late.stops(StopCause::Cancel, at(58_000));
        assert_eq!(late.end(), Some((at(59_000), StopCause::Cancel)));
    }

    #[test]
    fn one_that_has_said_that_it_cannot_is_left_alone() {
        let mut patience = patience(60_000);
        patience.started(at(0), None);
        patience.stops(StopCause::Timeout, at(0));
        patience.excused();
        assert_eq!(patience.end(), None);
    }
}
