//! Who holds what: the one owner of this worker's attempts. It takes what is heard, asks each attempt's
//! core what that makes necessary, and tells those who do it. It neither calls nor executes anything.

mod desk;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hera_common::id::Token;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::attempt::{Action, AttemptCore, Event, State};
use crate::batch::Batch;
use crate::beat::Beats;
use crate::clock;
use crate::contract::{Assignment, Held, Outcome, Timing};
use crate::process::order::StopCause;
pub(crate) use desk::Desk;

/// How many messages may wait for the owner. Full means that the sender waits, too.
const INBOX_MAX: usize = 1_024;

/// What the owner hears.
#[derive(Debug)]
pub(crate) enum Input {
    /// The answer to a poll; told back is how many places are free then.
    Granted {
        assignments: Vec<Assignment>,
        free: oneshot::Sender<u32>,
    },
    Heard {
        token: Token,
        event: Event,
    },
    /// To be renewed at once.
    Look(Vec<Token>),
    Beats(oneshot::Sender<Beats>),
    Tokens(oneshot::Sender<Vec<Token>>),
    Timing(Timing),
    /// Take nothing new; with `stop`, stop what runs.
    Drain {
        stop: bool,
    },
}

/// What is wanted of the one who executes an attempt. Each field is set once, but for the deadline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// It may run until then, in milliseconds of the boot clock; None: not yet.
    pub(crate) deadline: Option<hera_common::time::Boot>,
    pub(crate) stop: Option<StopCause>,
    /// To be written down and told to the leader.
    pub(crate) outcome: Option<Outcome>,
    /// Nothing of it is needed any more.
    pub(crate) forget: bool,
}

/// How much this worker has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Load {
    /// Places for new attempts; none while draining, or while something cannot be killed.
    pub(crate) free: u32,
    /// Attempts of which something may run.
    pub(crate) occupied: usize,
    /// Those of them that cannot be killed.
    pub(crate) stuck: usize,
    /// Attempts that are not forgotten.
    pub(crate) held: usize,
}

impl Load {
    /// True where waiting for an end makes no sense any more.
    pub(crate) fn is_over(&self) -> bool {
        self.occupied == self.stuck
    }
}

/// Executes what is granted; wishes are told by the receiver. The timing is that by which the attempt's deadlines are
/// reckoned: who stops it must allow for the same TERM and KILL.
pub(crate) trait Execute: Send {
    fn execute(&self, assignment: Assignment, timing: Timing, wish: watch::Receiver<Wish>);
}

/// What the owner is made with.
pub(crate) struct Parts<E> {
    pub(crate) timing: Timing,
    pub(crate) capacity: u32,
    pub(crate) execute: E,
    pub(crate) starts: Arc<Batch<Held>>,
    /// Nudged where there is something new to beat for.
    pub(crate) beats: Arc<Notify>,
}

/// The owner.
pub(crate) struct Agent<E> {
    parts: Parts<E>,
    inbox: mpsc::Receiver<Input>,
    attempts: BTreeMap<Token, Entry>,
    kill_failed: Vec<Held>,
    /// The next beat is due now.
    look: bool,
    draining: bool,
    /// How many of them take a place, and how many of these cannot be killed.
    occupied: usize,
    stuck: usize,
    load: watch::Sender<Load>,
}

struct Entry {
    held: Held,
    core: AttemptCore,
    wish: watch::Sender<Wish>,
}

/// The ways to the owner: a desk for those who talk to it, and what is looked at by those who wait.
pub(crate) fn ways() -> (Desk, mpsc::Receiver<Input>, watch::Sender<Load>, watch::Receiver<Load>) {
    let (sender, inbox) = mpsc::channel(INBOX_MAX);
    let (load, look) = watch::channel(Load::default());
    (Desk::new(sender), inbox, load, look)
}

impl<E: Execute> Agent<E> {
    /// With nothing held.
    pub(crate) fn new(
        parts: Parts<E>,
        inbox: mpsc::Receiver<Input>,
        load: watch::Sender<Load>,
    ) -> Self {
        let agent = Self {
            parts,
            inbox,
            attempts: BTreeMap::new(),
            kill_failed: Vec::new(),
            look: false,
            draining: false,
            occupied: 0,
            stuck: 0,
            load,
        };
        agent.publish();
        agent
    }

    /// Takes over an end that an earlier process wrote down; the receiver is for who tells it.
    pub(crate) fn adopt(&mut self, held: Held, outcome: &Outcome) -> watch::Receiver<Wish> {
        let core = AttemptCore::reported(self.parts.timing, outcome, clock::boot());
        let wish = Wish { outcome: Some(outcome.clone()), ..Wish::default() };
        let (wish, receiver) = watch::channel(wish);
        self.attempts.insert(held.token, Entry { held, core, wish });
        self.publish();
        receiver
    }

    /// Owns until told to end.
    pub(crate) async fn serve(mut self, end: CancellationToken) {
        loop {
            let input = tokio::select! {
                input = self.inbox.recv() => input,
                () = end.cancelled() => return,
            };
            let Some(input) = input else { return };
            self.take(input);
            self.publish();
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Granted { assignments, free } => {
                for assignment in assignments {
                    self.granted(assignment);
                }
                // One who no longer waits has been told to end.
                let _ended = free.send(self.free());
            }
            Input::Heard { token, event } => self.heard(token, event),
            Input::Look(tokens) => {
                let beats =
                    |token: &Token| self.attempts.get(token).is_some_and(|e| e.core.beats());
                if tokens.iter().any(beats) {
                    self.look = true;
                    self.parts.beats.notify_one();
                }
            }
            Input::Beats(reply) => {
                let _ended = reply.send(self.beats());
            }
            Input::Tokens(reply) => {
                let _ended = reply.send(self.attempts.keys().copied().collect());
            }
            Input::Timing(timing) => self.parts.timing = timing,
            Input::Drain { stop } => self.drain(stop),
        }
    }

    fn granted(&mut self, assignment: Assignment) {
        let held = assignment.held;
        if self.attempts.contains_key(&held.token) {
            // The answer to a repeated poll names what is known already.
            return;
        }
        info!(
            run.id = %held.run,
            attempt.id = %assignment.fence,
            attempt.number = assignment.number,
            job.name = assignment.job,
            "granted"
        );
        let timing = self.parts.timing;
        let core = AttemptCore::granted(timing, assignment.lease, clock::boot());
        let (wish, receiver) = watch::channel(Wish::default());
        self.occupied += 1;
        self.attempts.insert(held.token, Entry { held, core, wish });
        self.parts.execute.execute(assignment, timing, receiver);
        if self.draining {
            self.heard(held.token, Event::Drain);
        } else {
            self.parts.starts.push(held);
        }
    }

    fn heard(&mut self, token: Token, event: Event) {
        let Some(entry) = self.attempts.get_mut(&token) else { return };
        let before = entry.core.clone();
        let actions = entry.core.on(event, clock::boot());
        let after = &entry.core;
        if after.beats() && !before.beats() {
            self.parts.beats.notify_one();
        }
        let stuck = |core: &AttemptCore| matches!(core.state(), State::Stuck(_));
        self.occupied -= usize::from(before.occupies());
        self.occupied += usize::from(after.occupies());
        self.stuck -= usize::from(stuck(&before));
        self.stuck += usize::from(stuck(after));
        for action in actions {
            self.perform(token, action);
        }
    }

    fn perform(&mut self, token: Token, action: Action) {
        let Some(entry) = self.attempts.get(&token) else { return };
        let Entry { held, wish, .. } = entry;
        match action {
            Action::Start => self.parts.starts.push(*held),
            Action::Launch(deadline) | Action::Renew(deadline) => {
                wish.send_modify(|wish| wish.deadline = Some(deadline));
            }
            Action::Stop(cause) => {
                info!(run.id = %held.run, "stops: {cause:?}");
                wish.send_modify(|wish| wish.stop = Some(cause));
            }
            Action::Report(outcome) => wish.send_modify(|wish| wish.outcome = Some(outcome)),
            Action::KillFailed(detail) => {
                error!(run.id = %held.run, "could not be killed: {detail}");
                self.kill_failed.push(*held);
                self.parts.beats.notify_one();
            }
            Action::Alarm(problem) => warn!(run.id = %held.run, "{problem}"),
            Action::Forget => {
                wish.send_modify(|wish| wish.forget = true);
                self.attempts.remove(&token);
            }
        }
    }

    fn beats(&mut self) -> Beats {
        let beating = || self.attempts.values().filter(|entry| entry.core.beats());
        let shortest = beating().map(|entry| entry.core.lease()).min().unwrap_or(Duration::ZERO);
        Beats {
            items: beating().map(|entry| entry.held).collect(),
            every: self.parts.timing.heartbeat(shortest),
            kill_failed: std::mem::take(&mut self.kill_failed),
            at_once: std::mem::take(&mut self.look),
        }
    }

    fn drain(&mut self, stop: bool) {
        self.draining = true;
        let tokens: Vec<Token> = self
            .attempts
            .iter()
            .filter(|(_, entry)| stop || entry.core.state() == State::Starting)
            .map(|(token, _)| *token)
            .collect();
        for token in tokens {
            self.heard(token, Event::Drain);
        }
    }

    fn free(&self) -> u32 {
        if self.draining || self.stuck > 0 {
            return 0;
        }
        self.parts.capacity.saturating_sub(u32::try_from(self.occupied).unwrap_or(u32::MAX))
    }

    fn publish(&self) {
        let load = Load {
            free: self.free(),
            occupied: self.occupied,
            stuck: self.stuck,
            held: self.attempts.len(),
        };
        self.load.send_if_modified(|before| std::mem::replace(before, load) != load);
    }
}

#[cfg(test)]
mod tests;
