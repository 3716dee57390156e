//! A worker in small: the agent that polls, starts, beats and reports, round the real attempt's state machine; and what
//! its disk keeps when it dies.

use std::collections::BTreeMap;
use std::time::Duration;

use hera_common::id::{Epoch, RunId, Token};
use hera_common::time::Boot;
use hera_engine::input::{Grant, Registered, Registration};
use hera_worker::attempt::{AttemptCore, Ended, outcome_of};
use hera_worker::contract::{Outcome, Timing};
use hera_worker::process::order::StopCause;

use super::dice::Dice;
use super::event::{Caller, Event, Machine, Request, ToMaster, ToWorker, Way};
use super::mutation::Mutation;
use super::world::{Host, World};

/// The numbers that this cluster's workers are given.
pub(super) const TIMING: Timing = Timing {
    heartbeat_min: Duration::from_millis(500),
    heartbeat_max: Duration::from_secs(10),
    rpc: Duration::from_millis(250),
    term: Duration::from_millis(300),
    kill: Duration::from_millis(500),
    accept: Duration::from_secs(4),
    rho_ppm: 10_000,
    poll: Duration::from_secs(5),
};
/// How long a Poll may stay open, and then travel.
const POLL_MS: i64 = 5_600;
/// Any other call.
const RPC_MS: i64 = 250;

/// A worker's host, and its agent while that lives.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) name: String,
    pub(super) host: Host,
    pub(super) life: u32,
    /// Stopped until then, by real time; its shims are not.
    pub(super) stopped: i64,
    pub(super) capacity: u32,
    pub(super) disk: Disk,
    pub(super) agent: Option<Agent>,
    /// On another host, with a name that is taken.
    pub(super) twin: bool,
}

/// What outlives the agent.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) spool: BTreeMap<Token, (RunId, Outcome)>,
    /// Exit files of shims.
    pub(super) exits: BTreeMap<Token, (RunId, Ended)>,
}

/// One life of a worker's process.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) registered: Option<Registered>,
    pub(super) epoch_seen: Epoch,
    /// The master that is asked next.
    pub(super) asks: usize,
    pub(super) attempts: BTreeMap<Token, Attempt>,
    /// The tokens of the open poll.
    polling: Option<Vec<Token>>,
    pub(super) draining: bool,
    next_call: u64,
    calls: BTreeMap<u64, Call>,
    /// Counts the arming of beats, so that only the newest rings.
    beats: u64,
    /// When the next beat is due, by real time.
    beat_at: Option<i64>,
    pub(super) kill_failed: Vec<(RunId, Token)>,
}

#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) run: RunId,
    pub(super) core: AttemptCore,
    /// None: an earlier life of the worker held it.
    pub(super) grant: Option<Grant>,
    pub(super) process: Option<usize>,
    /// A call about its end is open, or waits to be repeated.
    pub(super) ending: bool,
}

/// What an open call is about.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Register,
    Poll,
    Start { token: Token, sent: Boot },
    Beat { items: Vec<(RunId, Token)>, sent: Boot, told: usize },
    End { token: Token },
    Deregister { gone: bool },
}

impl Worker {
    pub(super) fn new(number: usize, dice: &mut Dice) -> Self {
        Self {
            name: format!("w{number}"),
            host: Host::new(dice),
            life: 0,
            stopped: 0,
            capacity: u32::try_from(dice.between(2, 5)).unwrap_or(2),
            disk: Disk::default(),
            agent: None,
            twin: false,
        }
    }
}

impl World {
    /// A new process of the worker begins, when nothing of the earlier one is left.
    pub(super) fn boot_worker(&mut self, worker: usize) {
        let left = self.processes.iter().any(|p| p.worker == worker && p.is_alive());
        let Some(own) = self.workers.get_mut(worker).filter(|own| own.agent.is_none()) else {
            return;
        };
        if left {
            self.after(50, Event::Boot(Machine::Worker(worker)));
            return;
        }
        own.life += 1;
        own.stopped = 0;
        for (token, (run, ended)) in std::mem::take(&mut own.disk.exits) {
            // The registration frees what was cut off: sooner than by giving it back.
            let cut_off = matches!(
                ended.stopped,
                Some(StopCause::Lease | StopCause::Lost | StopCause::AgentGone)
            );
            if !cut_off {
                own.disk.spool.entry(token).or_insert_with(|| (run, outcome_of(&ended)));
            }
        }
        let boot = own.host.boot(self.now);
        let attempts = own.disk.spool.iter().map(|(token, (run, outcome))| {
            let core = AttemptCore::reported(TIMING, outcome, boot);
            let attempt = Attempt { run: *run, core, grant: None, process: None, ending: false };
            (*token, attempt)
        });
        own.agent = Some(Agent {
            registered: None,
            epoch_seen: Epoch::from_raw(0),
            asks: 0,
            attempts: attempts.collect(),
            polling: None,
            draining: false,
            next_call: 1,
            calls: BTreeMap::new(),
            beats: 0,
            beat_at: None,
            kill_failed: Vec::new(),
        });
        self.tell(format_args!("w{worker} starts"));
        self.tell_worker(worker, 0, ToWorker::Register);
    }

    /// The agent ends at once; its shims see that.
    pub(super) fn kill_worker(&mut self, worker: usize) {
        let Some(own) = self.workers.get_mut(worker) else { return };
        if own.agent.take().is_none() {
            return;
        }
        own.life += 1;
        self.tell(format_args!("w{worker} is killed"));
        self.note_break(worker);
        let mine = |p: &super::process::Process| p.worker == worker && p.is_alive();
        let mine: Vec<usize> =
            self.processes.iter().enumerate().filter(|(_, p)| mine(p)).map(|(n, _)| n).collect();
        for process in mine {
            self.stop_process(process, StopCause::AgentGone);
        }
    }

    pub(super) fn tell_worker(&mut self, worker: usize, wait: i64, what: ToWorker) {
        let Some(life) = self.workers.get(worker).map(|own| own.life) else { return };
        self.after(wait, Event::Worker { worker, life, what });
    }

    pub(super) fn agent(&mut self, worker: usize) -> Option<&mut Agent> {
        self.workers.get_mut(worker)?.agent.as_mut()
    }

    pub(super) fn worker_boot(&self, worker: usize) -> Boot {
        self.workers.get(worker).map_or(Boot::from_ms(0), |own| own.host.boot(self.now))
    }

    pub(super) fn worker_event(&mut self, worker: usize, life: u32, what: ToWorker) {
        let now = self.now;
        let Some(own) = self.workers.get(worker) else { return };
        if own.life != life || own.agent.is_none() {
            return;
        }
        let stopped = own.stopped.max(own.host.asleep);
        if stopped > now {
            // What has come is read before it is taken for lost.
            let patience = if matches!(what, ToWorker::NoAnswer(_)) { 3 } else { 0 };
            let wait = stopped - now + patience + self.dice.below(3);
            self.note_break(worker);
            self.after(wait, Event::Worker { worker, life, what });
            return;
        }
        match what {
            ToWorker::Answer { call, epoch, answer } => {
                let Some(agent) = self.agent(worker) else { return };
                let Some(about) = agent.calls.remove(&call) else { return };
                self.answered(worker, about, Some((epoch, answer)));
            }
            ToWorker::NoAnswer(call) => {
                let Some(agent) = self.agent(worker) else { return };
                let Some(about) = agent.calls.remove(&call) else { return };
                if matches!(about, Call::Poll) {
                    self.hang_up(worker, call);
                }
                self.answered(worker, about, None);
            }
            ToWorker::Register => self.register(worker),
            ToWorker::Poll => self.poll(worker),
            ToWorker::Beat(number) => {
                if self.agent(worker).is_some_and(|agent| agent.beats == number) {
                    self.beat(worker);
                }
            }
            ToWorker::Start(token) => self.start(worker, token),
            ToWorker::End(token) => self.report_end(worker, token),
            ToWorker::DrainOver => self.drain_over(worker),
            ToWorker::Leave => self.leave(worker),
            ToWorker::Shim { token, report } => self.shim_said(worker, token, report),
        }
    }

    /// Sends a request to the master that seems to lead; its answer, or the lack of one, comes back as an event.
    pub(super) fn call(&mut self, worker: usize, about: Call, request: &Request) {
        let limit = if matches!(about, Call::Poll) { POLL_MS } else { RPC_MS };
        let finish = matches!(request, Request::Finish { .. });
        let now = self.now;
        let Some(own) = self.workers.get_mut(worker) else { return };
        let (life, host) = (own.life, own.host);
        let Some(agent) = own.agent.as_mut() else { return };
        let call = agent.next_call;
        agent.next_call += 1;
        agent.calls.insert(call, about);
        let caller = Caller::Worker { worker, life, call, finish };
        let master = agent.asks;
        let lost = matches!(request, Request::Finish { .. } | Request::Release { .. })
            && self.net.ends_lost;
        for _copy in 0..self.copies(worker, master, Way::There) {
            let wait = self.travel();
            let what = ToMaster::Request { from: caller, request: request.clone() };
            if !lost {
                self.tell_master(master, wait, what);
            }
        }
        let limit = Duration::from_millis(u64::try_from(limit).unwrap_or(0));
        let real = host.until(host.boot(now).plus(limit), now);
        self.tell_worker(worker, real, ToWorker::NoAnswer(call));
    }

    /// Another leader has answered: the one that was polled may be frozen, and would be waited for in vain.
    pub(super) fn leave_poll(&mut self, worker: usize) {
        let Some(agent) = self.agent(worker) else { return };
        let open = agent.calls.iter().find(|(_, call)| matches!(call, Call::Poll));
        if let Some(call) = open.map(|(call, _)| *call) {
            agent.calls.remove(&call);
            self.tell_worker(worker, 1, ToWorker::Poll);
        }
    }

    /// The connection of a poll that was given up is closed, and its master may hear of it.
    fn hang_up(&mut self, worker: usize, call: u64) {
        let Some(own) = self.workers.get(worker) else { return };
        let caller = Caller::Worker { worker, life: own.life, call, finish: false };
        for master in 0..self.masters.len() {
            if self.copies(worker, master, Way::There) > 0 {
                let wait = self.travel();
                self.tell_master(master, wait, ToMaster::PollGone(caller));
            }
        }
    }

    fn register(&mut self, worker: usize) {
        let Some(own) = self.workers.get(worker) else { return };
        let Some(agent) = own.agent.as_ref() else { return };
        if agent.calls.values().any(|call| matches!(call, Call::Register)) {
            return;
        }
        let keep = if self.without(Mutation::NothingKept) {
            Vec::new()
        } else {
            agent.attempts.keys().copied().collect()
        };
        let whose = if own.twin { format!("{}'s twin", own.name) } else { own.name.clone() };
        let registration = Registration {
            name: own.name.clone(),
            state_id: format!("state of {whose}"),
            instance_id: format!("{}-{whose}", own.life),
            keep,
            groups: Vec::new(),
            labels: Vec::new(),
            capacity: own.capacity,
            program: "sim".to_owned(),
        };
        self.call(worker, Call::Register, &Request::Register(registration));
    }

    fn poll(&mut self, worker: usize) {
        let Some(own) = self.workers.get_mut(worker) else { return };
        let Some(agent) = own.agent.as_mut() else { return };
        let Some(Registered { worker: id, incarnation }) = agent.registered else { return };
        if agent.draining || agent.calls.values().any(|call| matches!(call, Call::Poll)) {
            return;
        }
        let taken = agent.attempts.values().filter(|attempt| attempt.core.occupies()).count();
        let free = usize::try_from(own.capacity).unwrap_or(0).saturating_sub(taken);
        let tokens = match agent.polling.take() {
            Some(tokens) => tokens,
            None if free == 0 => return,
            None => (0..free).map(|_| Token::from_bytes(self.dice.bytes())).collect(),
        };
        let Some(agent) = self.agent(worker) else { return };
        agent.polling = Some(tokens.clone());
        let request = Request::Poll { worker: id, incarnation, tokens };
        self.call(worker, Call::Poll, &request);
    }

    /// Beats for all that beats, and arms the next beat.
    pub(super) fn beat(&mut self, worker: usize) {
        let sent = self.worker_boot(worker);
        let ends_are_silent = self.without(Mutation::BeatsUntilExit);
        let Some(agent) = self.agent(worker) else { return };
        agent.beat_at = None;
        let beating = agent.attempts.iter().filter(|(_, attempt)| {
            attempt.core.beats() && (attempt.core.occupies() || !ends_are_silent)
        });
        let items: Vec<(RunId, Token)> =
            beating.map(|(token, attempt)| (attempt.run, *token)).collect();
        let kill_failed = agent.kill_failed.clone();
        if items.is_empty() && kill_failed.is_empty() {
            return;
        }
        let leases = agent.attempts.values().filter(|a| a.core.beats()).map(|a| a.core.lease());
        let shortest = leases.min().unwrap_or_default();
        let every = i64::try_from(TIMING.heartbeat(shortest).as_millis()).unwrap_or(500);
        let wait = every * self.dice.between(800, 1_000) / 1_000;
        let told = kill_failed.len();
        let request = Request::Heartbeat { items: items.clone(), kill_failed };
        self.call(worker, Call::Beat { items, sent, told }, &request);
        self.arm_beat(worker, wait);
    }

    /// A beat after so long, if none comes sooner.
    pub(super) fn arm_beat(&mut self, worker: usize, wait: i64) {
        let at = self.now + wait;
        let Some(agent) = self.agent(worker) else { return };
        if agent.beat_at.is_some_and(|armed| armed <= at) {
            return;
        }
        agent.beat_at = Some(at);
        agent.beats += 1;
        let number = agent.beats;
        self.tell_worker(worker, wait, ToWorker::Beat(number));
    }

    fn start(&mut self, worker: usize, token: Token) {
        let sent = self.worker_boot(worker);
        let Some(attempt) = self.agent(worker).and_then(|agent| agent.attempts.get(&token)) else {
            return;
        };
        let request = Request::Start(vec![(attempt.run, token)]);
        self.ledger.asked_to_start.insert(token);
        self.call(worker, Call::Start { token, sent }, &request);
    }

    /// Tells the leader of an end that lies in the spool.
    fn report_end(&mut self, worker: usize, token: Token) {
        let Some(own) = self.workers.get(worker) else { return };
        let Some((run, outcome)) = own.disk.spool.get(&token).cloned() else { return };
        self.ledger.reported.insert(token, outcome.clone());
        let request = match outcome {
            Outcome::Finish { end, exit } => Request::Finish { run, token, end, exit },
            Outcome::Release { cause, detail } => {
                Request::Release { run, token, cause: engine_cause(cause), detail }
            }
        };
        self.call(worker, Call::End { token }, &request);
    }

    /// A poll's answer is taken, or the worker knows it again.
    pub(super) fn poll_over(&mut self, worker: usize) {
        if let Some(agent) = self.agent(worker) {
            agent.polling = None;
        }
    }

    /// The worker wants to end: no new work.
    pub(super) fn drain_worker(&mut self, worker: usize, patience: i64) {
        let Some(agent) = self.agent(worker) else { return };
        if agent.draining {
            return;
        }
        agent.draining = true;
        self.tell(format_args!("w{worker} drains"));
        self.deregister(worker, false);
        self.tell_worker(worker, patience, ToWorker::DrainOver);
    }

    pub(super) fn deregister(&mut self, worker: usize, gone: bool) {
        let Some(agent) = self.agent(worker) else { return };
        let Some(Registered { worker: id, incarnation }) = agent.registered else { return };
        let request = Request::Deregister { worker: id, incarnation, gone };
        self.call(worker, Call::Deregister { gone }, &request);
    }
}

fn engine_cause(cause: hera_worker::contract::ReleaseCause) -> hera_engine::input::ReleaseCause {
    use hera_engine::input::ReleaseCause as To;
    use hera_worker::contract::ReleaseCause as From;
    match cause {
        From::Declined => To::Declined,
        From::Drain => To::Drain,
        From::Lease => To::Lease,
        From::Cancel => To::Cancel,
    }
}
