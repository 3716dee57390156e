//! When a job's tree is told to end, and when it is made to. Pure: no clock, no signal, no process.

use std::time::Duration;

use hera_common::time::Boot;

use super::order::{Launch, StopCause};

/// How long the rest of a group may go on when the job's own process has ended by itself: a `tee`
/// that the script's output went through has its last lines to write.
const LINGER: Duration = Duration::from_secs(1);
/// The first pause before a KILL is repeated; it doubles.
const AGAIN_MIN: Duration = Duration::from_millis(5);
/// The longest pause between two KILLs: a process that outlives them waits for a disk or a server.
const AGAIN_MAX: Duration = Duration::from_millis(500);

/// What the shim must do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// TERM to the whole tree.
    Term,
    /// KILL to the whole tree.
    Kill,
    /// Say that something outlives the KILL.
    KillFailed,
}

/// The life of one job's tree, from exec to empty.
#[derive(Debug)]
pub(super) struct Stopper {
    deadline: Boot,
    term: Duration,
    kill: Duration,
    timeout_at: Option<Boot>,
    cause: Option<StopCause>,
    phase: Phase,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Running,
    Lingering {
        until: Boot,
    },
    Terminating {
        kill_at: Boot,
    },
    Killing {
        again_at: Boot,
        pause: Duration,
        fail_at: Boot,
    },
    /// As `Killing`, and it has been said.
    Stuck {
        again_at: Boot,
    },
}

impl Stopper {
    pub(super) fn new(launch: &Launch, started: Boot) -> Self {
        Self {
            deadline: Boot::from_ms(launch.deadline_ms),
            term: Duration::from_millis(launch.term_ms),
            kill: Duration::from_millis(launch.kill_ms),
            timeout_at: launch.timeout_ms.map(|ms| started.plus(Duration::from_millis(ms))),
            cause: None,
            phase: Phase::Running,
        }
    }

    /// Why the stop sequence began, where it did before the job's own process had ended.
    pub(super) fn cause(&self) -> Option<StopCause> {
        self.cause
    }

    /// The last instant at which a KILL is in time.
    fn kill_limit(&self) -> Boot {
        self.deadline.minus(self.kill)
    }

    /// The lease was renewed. A tree that is being stopped gets no more time.
    pub(super) fn renew(&mut self, deadline: Boot) {
        if matches!(self.phase, Phase::Running) {
            self.deadline = self.deadline.max(deadline);
        }
    }

    /// Begins the stop sequence, if it has not begun. True where this call began it.
    pub(super) fn stop(&mut self, cause: StopCause, now: Boot) -> bool {
        match self.phase {
            Phase::Running => {
                self.cause = Some(cause);
                let kill_at = now.plus(self.term).min(self.kill_limit());
                self.phase = Phase::Terminating { kill_at };
                true
            }
            Phase::Lingering { .. } => {
                self.phase = Phase::Lingering { until: now };
                false
            }
            Phase::Terminating { .. } | Phase::Killing { .. } | Phase::Stuck { .. } => false,
        }
    }

    /// The job's own process has ended, and something else of the tree is left.
    pub(super) fn main_ended(&mut self, now: Boot) {
        if matches!(self.phase, Phase::Running) {
            self.phase = Phase::Lingering { until: now.plus(LINGER).min(self.kill_limit()) };
        }
    }

    /// Why the tree must be stopped now by the clock, if it must.
    pub(super) fn overdue(&self, now: Boot) -> Option<StopCause> {
        if !matches!(self.phase, Phase::Running) {
            None
        } else if self.timeout_at.is_some_and(|at| now >= at) {
            Some(StopCause::Timeout)
        } else {
            (now >= self.kill_limit().minus(self.term)).then_some(StopCause::Lease)
        }
    }

    /// What is due. The caller does it and asks again until there is nothing.
    pub(super) fn step(&mut self, now: Boot) -> Option<Step> {
        match self.phase {
            Phase::Lingering { until: at } | Phase::Terminating { kill_at: at } if now >= at => {
                self.phase = Phase::Killing {
                    again_at: now.plus(AGAIN_MIN),
                    pause: AGAIN_MIN,
                    fail_at: now.plus(self.kill),
                };
                Some(Step::Kill)
            }
            Phase::Killing { fail_at, .. } if now >= fail_at => {
                self.phase = Phase::Stuck { again_at: now.plus(AGAIN_MAX) };
                Some(Step::KillFailed)
            }
            Phase::Killing { again_at, pause, fail_at } if now >= again_at => {
                let pause = (pause * 2).min(AGAIN_MAX);
                self.phase = Phase::Killing { again_at: now.plus(pause), pause, fail_at };
                Some(Step::Kill)
            }
            Phase::Stuck { again_at } if now >= again_at => {
                self.phase = Phase::Stuck { again_at: now.plus(AGAIN_MAX) };
                Some(Step::Kill)
            }
            Phase::Running
            | Phase::Lingering { .. }
            | Phase::Terminating { .. }
            | Phase::Killing { .. }
            | Phase::Stuck { .. } => None,
        }
    }

    /// When the clock must be looked at again.
    pub(super) fn wake_at(&self) -> Boot {
        match self.phase {
            Phase::Running => {
                let term_at = self.kill_limit().minus(self.term);
                self.timeout_at.map_or(term_at, |at| at.min(term_at))
            }
            Phase::Lingering { until } => until,
            Phase::Terminating { kill_at } => kill_at,
            Phase::Killing { again_at, fail_at, .. } => again_at.min(fail_at),
            Phase::Stuck { again_at } => again_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};
    use hera_common::time::Boot;

    use super::{Step, Stopper};
    use crate::process::order::{Launch, StopCause};

    /// A job started at 0 with a deadline of 10,000, TERM to KILL 500 and a kill budget of 200.
    fn job(timeout_ms: Option<u64>) -> Stopper {
        let launch = Launch {
            program: String::new(),
            args: Vec::new(),
            env: Vec::new(),
            work: String::new(),
            log: String::new(),
            exit: String::new(),
            note: String::new(),
            deadline_ms: 10_000,
            term_ms: 500,
            kill_ms: 200,
            timeout_ms,
        };
        Stopper::new(&launch, Boot::from_ms(0))
    }

    /// Follows the clock by `wake_at` and writes down what is done, until the KILL has failed.
    #[track_caller]
    fn check(mut job: Stopper, from: i64, expected: &Expect) {
        let mut told = String::new();
        let mut now = Boot::from_ms(from);
        while !told.contains("KillFailed") {
            if let Some(cause) = job.overdue(now) {
                assert!(job.stop(cause, now));
                writeln!(told, "{} Term for {cause:?}", now.ms()).unwrap();
            }
            if let Some(step) = job.step(now) {
                writeln!(told, "{} {step:?}", now.ms()).unwrap();
            }
            now = job.wake_at();
        }
        expected.assert_eq(&told);
    }

    #[test]
    fn a_deadline_leaves_time_for_term_and_for_kill() {
        check(
            job(None),
            0,
            &expect![[r#"
                9300 Term for Lease
                9800 Kill
                9805 Kill
                9815 Kill
                9835 Kill
                9875 Kill
                9955 Kill
                10000 KillFailed
            "#]],
        );
    }

    #[test]
    fn a_timeout_comes_before_the_deadline() {
        check(
            job(Some(1_000)),
            0,
            &expect![[r#"
                1000 Term for Timeout
                1500 Kill
                1505 Kill
                1515 Kill
                1535 Kill
                1575 Kill
                1655 Kill
                1700 KillFailed
            "#]],
        );
    }

    #[test]
    fn a_stop_near_the_deadline_has_no_time_for_term() {
        let mut late = job(None);
        assert!(late.stop(StopCause::Cancel, Boot::from_ms(9_700)));
        assert_eq!(late.wake_at(), Boot::from_ms(9_800));
        assert_eq!(late.step(Boot::from_ms(9_799)), None);
        assert_eq!(late.step(Boot::from_ms(9_800)), Some(Step::Kill));
    }

    #[test]
    fn after_a_pause_past_the_deadline_the_kill_comes_at_once() {
        let mut paused = job(None);
        let now = Boot::from_ms(60_000);
        assert_eq!(paused.overdue(now), Some(StopCause::Lease));
        assert!(paused.stop(StopCause::Lease, now));
        assert_eq!(paused.step(now), Some(Step::Kill));
    }

    #[test]
    fn a_renewal_moves_the_deadline_forward_only_and_not_while_stopping() {
        let mut job = job(None);
        job.renew(Boot::from_ms(20_000));
        job.renew(Boot::from_ms(15_000));
        assert_eq!(job.wake_at(), Boot::from_ms(19_300));
        assert!(job.stop(StopCause::Drain, Boot::from_ms(100)));
        job.renew(Boot::from_ms(90_000));
        assert_eq!(job.wake_at(), Boot::from_ms(600));
        assert!(!job.stop(StopCause::Cancel, Boot::from_ms(200)), "the first cause stays");
        assert_eq!(job.cause(), Some(StopCause::Drain));
    }

    #[test]
    fn what_is_left_behind_may_linger_for_a_second_and_is_no_stop() {
        let mut job = job(None);
        job.main_ended(Boot::from_ms(50));
        assert_eq!(job.overdue(Boot::from_ms(9_500)), None);
        assert_eq!(job.wake_at(), Boot::from_ms(1_050));
        assert!(!job.stop(StopCause::Cancel, Boot::from_ms(60)));
        assert_eq!(job.step(Boot::from_ms(60)), Some(Step::Kill));
        assert_eq!(job.cause(), None);
    }
}
