//! The life of one attempt on this worker, as a function of what is heard of it. Pure: no clock, no
//! process, no message.

use std::time::Duration;

use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::run::FailReason;
use hera_common::time::Boot;

use crate::contract::{Outcome, ReleaseCause, Timing, Verdict};
use crate::process::order::StopCause;

/// One attempt.
#[derive(Debug, Clone)]
pub struct AttemptCore {
    timing: Timing,
    lease: Duration,
    born: Boot,
    state: State,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Granted; the leader has not answered that it may start.
    Starting,
    /// Its process runs, or is about to.
    Running {
        deadline: Boot,
    },
    /// The stop sequence has begun.
    Killing(StopCause),
    /// Something of it outlived the KILL.
    Stuck(StopCause),
    /// Nothing of it runs; its end is on the way to the leader.
    Finishing {
        /// Until a verdict says that it is of no use any more.
        beats: bool,
    },
    /// Nothing of it runs; it is on its way back to the leader.
    Releasing,
    Gone,
}

/// What is heard of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The answer to Start. `sent` was read before the request was sent.
    Start { sent: Boot, verdict: Verdict },
    /// The answer to a heartbeat; `sent` likewise.
    Heartbeat { sent: Boot, verdict: Verdict },
    /// The answer to Finish.
    Finish(Verdict),
    /// The answer to Release.
    Release(Verdict),
    /// The worker goes, and its patience is over.
    Drain,
    /// The shim has begun the stop sequence by itself.
    Stopping(StopCause),
    /// Nothing of its processes is left.
    Ended(Ended),
    /// Stopped before anything was executed.
    Withdrawn,
    /// Not executed: the deadline was too near.
    Refused,
    /// The machine could not execute it.
    NotSpawned(String),
    /// Something outlives the KILL.
    KillFailed(String),
    /// The shim was killed. What it kept is being killed, and nobody can say when that is done.
    ShimGone,
}

/// How its process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Set where a stop came first.
    pub stopped: Option<StopCause>,
    /// Why it has failed whatever its code says: what it left behind cannot be taken, or it could not be executed.
    pub problem: Option<String>,
}

/// What must be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Ask the leader whether it may start (again).
    Start,
    /// Execute it; by the instant nothing of it may be left.
    Launch(Boot),
    /// Tell the shim the new deadline.
    Renew(Boot),
    /// Tell the shim to stop it.
    Stop(StopCause),
    /// Write it down, and tell the leader until it answers.
    Report(Outcome),
    /// Tell the leader, once, that it could not be killed.
    KillFailed(String),
    /// Tell people: this must not happen, or wastes work.
    Alarm(&'static str),
    /// Drop everything that is kept of it.
    Forget,
}

impl AttemptCore {
    /// One that was just granted.
    pub fn granted(timing: Timing, lease: Duration, born: Boot) -> Self {
        Self { timing, lease, born, state: State::Starting }
    }

    /// One whose end an earlier process of this worker wrote down.
    pub fn reported(timing: Timing, outcome: &Outcome, born: Boot) -> Self {
        let state = match outcome {
            Outcome::Finish { .. } => State::Finishing { beats: true },
            Outcome::Release { .. } => State::Releasing,
        };
        Self { timing, lease: Duration::ZERO, born, state }
    }

    /// Where it stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The lease that it was granted; zero where an earlier process held it.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// True where its lease must be renewed.
    pub fn beats(&self) -> bool {
        match self.state {
            State::Killing(cause) => cause != StopCause::Lost,
            State::Running { .. } => true,
            State::Finishing { beats } => beats,
            State::Starting | State::Stuck(_) | State::Releasing | State::Gone => false,
        }
    }

    /// True where it takes a place of the worker's capacity.
    pub fn occupies(&self) -> bool {
        match self.state {
            State::Starting | State::Running { .. } | State::Killing(_) | State::Stuck(_) => true,
            State::Finishing { .. } | State::Releasing | State::Gone => false,
        }
    }

    /// Takes one event; what it makes necessary is in the order in which it must be done.
    #[must_use]
    pub fn on(&mut self, event: Event, now: Boot) -> Vec<Action> {
        match self.state {
            State::Starting => self.on_starting(&event, now),
            State::Running { deadline } => self.on_running(event, deadline),
            State::Killing(cause) | State::Stuck(cause) => self.on_killing(event, cause),
            State::Finishing { .. } => self.on_finishing(&event),
            State::Releasing => self.on_releasing(&event),
            State::Gone => Vec::new(),
        }
    }

    fn on_starting(&mut self, event: &Event, now: Boot) -> Vec<Action> {
        match event {
            &Event::Start { sent, verdict: Verdict::Ok { lease } } => {
                let Timing { term, kill, .. } = self.timing;
                let deadline = sent.plus(self.timing.safe(lease));
                // The OK may have been read after a pause: two heartbeats must still fit in.
                let latest = deadline.minus(kill + term + 2 * self.timing.heartbeat(lease));
                if now > latest {
                    return self.give_back(ReleaseCause::Declined, "too late to start safely");
                }
                self.state = State::Running { deadline };
                vec![Action::Launch(deadline)]
            }
            Event::Start { verdict: Verdict::Cancel, .. } => {
                self.give_back(ReleaseCause::Cancel, "cancelled before it started")
            }
            Event::Start { verdict: Verdict::Lost | Verdict::Done | Verdict::Fenced, .. } => {
                self.forget()
            }
            Event::Start { verdict: Verdict::Unknown, .. } => {
                let limit = self.born.plus(self.timing.accept + self.lease);
                if now >= limit { self.forget() } else { vec![Action::Start] }
            }
            Event::Drain => self.give_back(ReleaseCause::Declined, "the worker drains"),
            Event::Heartbeat { .. }
            | Event::Finish(_)
            | Event::Release(_)
            | Event::Stopping(_)
            | Event::Ended(_)
            | Event::Withdrawn
            | Event::Refused
            | Event::NotSpawned(_)
            | Event::KillFailed(_)
            | Event::ShimGone => Vec::new(),
        }
    }

    fn on_running(&mut self, event: Event, deadline: Boot) -> Vec<Action> {
        match event {
            Event::Heartbeat { sent, verdict: Verdict::Ok { lease } } => {
                let deadline = deadline.max(sent.plus(self.timing.safe(lease)));
                self.state = State::Running { deadline };
                vec![Action::Renew(deadline)]
            }
            Event::Heartbeat { verdict: Verdict::Lost | Verdict::Fenced, .. } => {
                self.kill(StopCause::Lost)
            }
            Event::Heartbeat { verdict: Verdict::Done, .. } => {
                let mut actions = vec![Action::Alarm("the leader has an end of a running attempt")];
                actions.extend(self.kill(StopCause::Lost));
                actions
            }
            Event::Heartbeat { verdict: Verdict::Cancel, .. } => self.kill(StopCause::Cancel),
            Event::Drain => self.kill(StopCause::Drain),
            Event::Stopping(cause) => {
                self.state = State::Killing(cause);
                Vec::new()
            }
            Event::Ended(ended) => self.end(&ended),
            Event::Refused => self.give_back(ReleaseCause::Declined, "too late to start safely"),
            Event::NotSpawned(detail) => {
                let exit = Exit { code: None, signal: None, detail: Some(detail) };
                self.finish(AttemptEnd::Failed(FailReason::Spawn), exit)
            }
            Event::KillFailed(detail) => {
                // What its own process left behind cannot be killed; there was no stop.
                self.state = State::Stuck(StopCause::Lease);
                vec![Action::KillFailed(detail)]
            }
            Event::ShimGone => self.shim_gone(),
            Event::Heartbeat { verdict: Verdict::Unknown, .. }
            | Event::Start { .. }
            | Event::Finish(_)
            | Event::Release(_)
            | Event::Withdrawn => Vec::new(),
        }
    }

    fn on_killing(&mut self, event: Event, cause: StopCause) -> Vec<Action> {
        match event {
            Event::Heartbeat {
                verdict: Verdict::Lost | Verdict::Done | Verdict::Fenced, ..
            } => {
                self.state = match self.state {
                    State::Stuck(_) => State::Stuck(StopCause::Lost),
                    State::Starting
                    | State::Running { .. }
                    | State::Killing(_)
                    | State::Finishing { .. }
                    | State::Releasing
                    | State::Gone => State::Killing(StopCause::Lost),
                };
                Vec::new()
            }
            // It had ended by itself: the leader keeps that as a late report, and nothing more.
            Event::Ended(ended) if cause == StopCause::Lost && ended.stopped.is_none() => {
                let actions = self.end(&ended);
                self.state = State::Finishing { beats: false };
                actions
            }
            // Somebody else may have it already: what became of it here is of no use.
            Event::Ended(_) | Event::Withdrawn | Event::Refused | Event::NotSpawned(_)
                if cause == StopCause::Lost =>
            {
                self.forget()
            }
            Event::Ended(ended) => self.end(&ended),
            Event::Withdrawn | Event::Refused | Event::NotSpawned(_) => self.stopped(cause, None),
            Event::KillFailed(detail) => {
                self.state = State::Stuck(cause);
                vec![Action::KillFailed(detail)]
            }
            Event::ShimGone => self.shim_gone(),
            Event::Heartbeat {
                verdict: Verdict::Ok { .. } | Verdict::Cancel | Verdict::Unknown,
                ..
            }
            | Event::Start { .. }
            | Event::Finish(_)
            | Event::Release(_)
            | Event::Drain
            | Event::Stopping(_) => Vec::new(),
        }
    }

    fn on_finishing(&mut self, event: &Event) -> Vec<Action> {
        match event {
            // The two may cross: DONE is an answer to the Finish as well.
            Event::Finish(Verdict::Ok { .. } | Verdict::Done)
            | Event::Heartbeat { verdict: Verdict::Done, .. } => self.forget(),
            Event::Finish(Verdict::Fenced | Verdict::Lost | Verdict::Cancel) => {
                let mut actions = vec![Action::Alarm("an end came too late, and was not taken")];
                actions.extend(self.forget());
                actions
            }
            // The Finish goes on: it is kept as a late report.
            Event::Heartbeat { verdict: Verdict::Lost | Verdict::Fenced, .. } => {
                self.state = State::Finishing { beats: false };
                Vec::new()
            }
            Event::Heartbeat {
                verdict: Verdict::Ok { .. } | Verdict::Cancel | Verdict::Unknown,
                ..
            }
            | Event::Finish(Verdict::Unknown)
            | Event::Start { .. }
            | Event::Release(_)
            | Event::Drain
            | Event::Stopping(_)
            | Event::Ended(_)
            | Event::Withdrawn
            | Event::Refused
            | Event::NotSpawned(_)
            | Event::KillFailed(_)
            | Event::ShimGone => Vec::new(),
        }
    }

    fn on_releasing(&mut self, event: &Event) -> Vec<Action> {
        match event {
            Event::Release(
                Verdict::Ok { .. }
                | Verdict::Lost
                | Verdict::Done
                | Verdict::Fenced
                | Verdict::Cancel,
            ) => self.forget(),
            Event::Release(Verdict::Unknown)
            | Event::Start { .. }
            | Event::Heartbeat { .. }
            | Event::Finish(_)
            | Event::Drain
            | Event::Stopping(_)
            | Event::Ended(_)
            | Event::Withdrawn
            | Event::Refused
            | Event::NotSpawned(_)
            | Event::KillFailed(_)
            | Event::ShimGone => Vec::new(),
        }
    }

    fn kill(&mut self, cause: StopCause) -> Vec<Action> {
        self.state = State::Killing(cause);
        vec![Action::Stop(cause)]
    }

    /// Nobody can say that its tree is empty, so the lease must run out.
    fn shim_gone(&mut self) -> Vec<Action> {
        self.state = State::Gone;
        let detail = "the process that watched over it was killed".to_owned();
        vec![Action::KillFailed(detail), Action::Forget]
    }

    fn end(&mut self, ended: &Ended) -> Vec<Action> {
        match outcome_of(ended) {
            Outcome::Finish { end, exit } => self.finish(end, exit),
            Outcome::Release { cause, detail } => self.give_back(cause, &detail),
        }
    }

    fn stopped(&mut self, cause: StopCause, signal: Option<i32>) -> Vec<Action> {
        self.end(&Ended { code: None, signal, stopped: Some(cause), problem: None })
    }

    fn finish(&mut self, end: AttemptEnd, exit: Exit) -> Vec<Action> {
        self.state = State::Finishing { beats: true };
        vec![Action::Report(Outcome::Finish { end, exit })]
    }

    fn give_back(&mut self, cause: ReleaseCause, detail: &str) -> Vec<Action> {
        self.state = State::Releasing;
        vec![Action::Report(Outcome::Release { cause, detail: detail.to_owned() })]
    }

    fn forget(&mut self) -> Vec<Action> {
        self.state = State::Gone;
        vec![Action::Forget]
    }
}

/// How an end is classified; the first that fits.
pub fn outcome_of(ended: &Ended) -> Outcome {
    let Ended { code, signal, stopped, problem } = ended;
    let finish =
        |end, detail| Outcome::Finish { end, exit: Exit { code: *code, signal: *signal, detail } };
    let release = |cause, detail: &str| Outcome::Release { cause, detail: detail.to_owned() };
    match stopped {
        // By itself: what it says of itself holds.
        None => match (code, problem) {
            (Some(0), None) => finish(AttemptEnd::Succeeded, None),
            (Some(_), problem) => finish(AttemptEnd::Failed(FailReason::Exit), problem.clone()),
            (None, _) => finish(AttemptEnd::Failed(FailReason::Signal), None),
        },
        Some(StopCause::Timeout) => finish(AttemptEnd::TimedOut, None),
        Some(StopCause::Cancel) => finish(AttemptEnd::Cancelled, None),
        // Whatever the exit code: a program that ends with 0 on TERM has not done its work.
        Some(StopCause::Drain) => release(ReleaseCause::Drain, "stopped by the worker's drain"),
        Some(StopCause::Lease | StopCause::Lost | StopCause::AgentGone) => {
            release(ReleaseCause::Lease, "stopped: its lease could not be renewed in time")
        }
    }
}

#[cfg(test)]
mod tests;
