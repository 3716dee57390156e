//! What a worker makes of answers and of its shims' words: events for the attempts' state machines, and the actions that
//! these want.

use hera_common::id::{Epoch, RunId, Token};
use hera_common::time::Boot;
use hera_engine::input::{Grant, VerdictKind};
use hera_worker::attempt::{Action, AttemptCore, Event as Heard};
use hera_worker::contract::{Outcome, ReleaseCause, Verdict};

use super::check::About;
use super::event::{Answer, Event, Machine, Report, Said, ToWorker};
use super::mutation::Mutation;
use super::process::Order;
use super::worker::{Attempt, Call, TIMING};
use super::world::World;

/// Between two tries of a call without an answer.
const AGAIN_MS: (i64, i64) = (200, 500);

impl World {
    pub(super) fn answered(&mut self, worker: usize, about: Call, answer: Option<(Epoch, Answer)>) {
        let stale_term = self.note_epoch(worker, answer.as_ref().map(|(epoch, _)| *epoch));
        let answer = answer.map(|(_epoch, answer)| answer);
        match &answer {
            None | Some(Answer::Unknown) => self.another_master(worker, None),
            Some(Answer::NotLeading(leader)) => self.another_master(worker, *leader),
            Some(
                Answer::Registered(_)
                | Answer::Granted(_)
                | Answer::Look
                | Answer::Verdicts(_)
                | Answer::Done
                | Answer::Stale
                | Answer::Lost,
            ) => {}
        }
        if let Some(Answer::Verdicts(said)) = &answer
            && said.iter().any(|(_, _, kind)| kind.is_some())
        {
            self.note_heard(worker);
        }
        if matches!(answer, Some(Answer::Stale)) {
            self.tell_worker(worker, 0, ToWorker::Register);
        }
        match (about, answer) {
            (Call::Register, Some(Answer::Registered(Some(registered)))) => {
                let Some(agent) = self.agent(worker) else { return };
                agent.registered = Some(registered);
                self.tell(format_args!(
                    "w{worker} is worker {} incarnation {}",
                    registered.worker, registered.incarnation
                ));
                self.at_work(worker);
            }
            (Call::Register, _) => self.later(worker, ToWorker::Register),
            (Call::Poll, Some(Answer::Granted(grants))) => {
                self.poll_over(worker);
                let empty = grants.is_empty();
                for grant in grants {
                    self.granted(worker, grant);
                }
                if empty {
                    self.later(worker, ToWorker::Poll);
                } else {
                    self.tell_worker(worker, 0, ToWorker::Poll);
                }
            }
            (Call::Poll, Some(Answer::Look)) => self.looks(worker),
            (Call::Poll, Some(Answer::Stale)) => {
                self.poll_over(worker);
                self.later(worker, ToWorker::Poll);
            }
            (Call::Poll, _) => self.later(worker, ToWorker::Poll),
            (Call::Start { token, sent }, answer) => {
                let verdict = one(answer, token, stale_term);
                let sent = self.counted_from(worker, sent);
                self.judge(worker, (token, verdict), About::Hold);
                self.hear(worker, token, Heard::Start { sent, verdict });
            }
            (Call::Beat { items, sent, told }, answer) => {
                self.beaten(worker, items, (sent, told), answer, stale_term);
            }
            (Call::End { token }, answer) => self.end_answered(worker, token, answer, stale_term),
            (Call::Deregister { gone }, answer) => match (answer, gone) {
                (Some(Answer::Done | Answer::Stale), true) => self.gone(worker),
                (Some(Answer::Done | Answer::Stale), false) => {}
                (_, true) => self.later(worker, ToWorker::Leave),
                (_, false) => self.deregister(worker, false),
            },
        }
    }

    /// It shall beat at once.
    fn looks(&mut self, worker: usize) {
        self.poll_over(worker);
        self.beat(worker);
        self.tell_worker(worker, 0, ToWorker::Poll);
    }

    /// Takes note of a term; true where the answer is from an older one than was seen.
    fn note_epoch(&mut self, worker: usize, epoch: Option<Epoch>) -> bool {
        let (Some(epoch), Some(agent)) = (epoch, self.agent(worker)) else { return false };
        let stale = epoch < agent.epoch_seen;
        let later = epoch > agent.epoch_seen && agent.epoch_seen > Epoch::from_raw(0);
        agent.epoch_seen = agent.epoch_seen.max(epoch);
        if later {
            self.leave_poll(worker);
        }
        stale
    }

    /// Asks another master from now on: the one that was named, or the next one.
    fn another_master(&mut self, worker: usize, named: Option<usize>) {
        let masters = self.masters.len();
        let Some(agent) = self.agent(worker) else { return };
        agent.asks = named.filter(|named| *named != agent.asks).unwrap_or(agent.asks + 1) % masters;
    }

    /// From when a lease counts.
    fn counted_from(&self, worker: usize, sent: Boot) -> Boot {
        if self.without(Mutation::LeaseFromAnswer) { self.worker_boot(worker) } else { sent }
    }

    fn judge(&mut self, worker: usize, (token, verdict): (Token, Verdict), about: About) {
        let run = self.agent(worker).and_then(|agent| agent.attempts.get(&token)).map(|a| a.run);
        if let Some(run) = run {
            self.check_verdict((run, token), verdict, about);
        }
    }

    fn later(&mut self, worker: usize, what: ToWorker) {
        let wait = self.dice.between(AGAIN_MS.0, AGAIN_MS.1);
        self.tell_worker(worker, wait, what);
    }

    /// Registered: ends first, then work.
    fn at_work(&mut self, worker: usize) {
        let Some(agent) = self.agent(worker) else { return };
        let ends: Vec<Token> = agent
            .attempts
            .iter_mut()
            .filter(|(_, attempt)| !attempt.core.occupies() && !attempt.ending)
            .map(|(token, attempt)| {
                attempt.ending = true;
                *token
            })
            .collect();
        for token in ends {
            self.tell_worker(worker, 0, ToWorker::End(token));
        }
        self.beat(worker);
        self.tell_worker(worker, 1, ToWorker::Poll);
    }

    fn granted(&mut self, worker: usize, grant: Grant) {
        let boot = self.worker_boot(worker);
        let Some(agent) = self.agent(worker) else { return };
        let token = grant.token;
        if agent.attempts.contains_key(&token) {
            return;
        }
        let core = AttemptCore::granted(TIMING, grant.lease, boot);
        let (run, draining, lease) = (grant.run, agent.draining, grant.lease);
        let attempt = Attempt { run, core, grant: Some(grant), process: None, ending: false };
        agent.attempts.insert(token, attempt);
        if draining {
            self.hear(worker, token, Heard::Drain);
        } else if self.without(Mutation::StartOnGrant) {
            self.hear(worker, token, Heard::Start { sent: boot, verdict: Verdict::Ok { lease } });
        } else {
            self.tell_worker(worker, 0, ToWorker::Start(token));
        }
    }

    fn beaten(
        &mut self,
        worker: usize,
        items: Vec<(RunId, Token)>,
        (sent, told): (Boot, usize),
        answer: Option<Answer>,
        stale_term: bool,
    ) {
        let said = match answer {
            Some(Answer::Verdicts(said)) => said,
            Some(Answer::Lost) => {
                items.iter().map(|(run, token)| (*run, *token, Some(VerdictKind::Lost))).collect()
            }
            Some(
                Answer::Registered(_)
                | Answer::Granted(_)
                | Answer::Look
                | Answer::Done
                | Answer::Unknown
                | Answer::Stale
                | Answer::NotLeading(_),
            )
            | None => {
                // The next master is asked soon.
                self.arm_beat(worker, 250);
                return;
            }
        };
        let sent = self.counted_from(worker, sent);
        if let Some(agent) = self.agent(worker) {
            agent.kill_failed.drain(..told.min(agent.kill_failed.len()));
        }
        for (_run, token) in items {
            let verdict = of(&said, token, stale_term);
            if verdict != Verdict::Unknown {
                self.judge(worker, (token, verdict), About::Hold);
                self.hear(worker, token, Heard::Heartbeat { sent, verdict });
            }
        }
    }

    fn end_answered(
        &mut self,
        worker: usize,
        token: Token,
        answer: Option<Answer>,
        stale_term: bool,
    ) {
        let verdict = one(answer, token, stale_term);
        let spooled = self.workers.get(worker).and_then(|own| own.disk.spool.get(&token));
        let Some((_run, outcome)) = spooled else { return };
        let finish = matches!(outcome, Outcome::Finish { .. });
        if verdict == Verdict::Unknown {
            self.later(worker, ToWorker::End(token));
        }
        self.judge(worker, (token, verdict), About::End);
        let heard = if finish { Heard::Finish(verdict) } else { Heard::Release(verdict) };
        self.hear(worker, token, heard);
    }

    /// Lets an attempt hear something, and does what it then wants.
    pub(super) fn hear(&mut self, worker: usize, token: Token, event: Heard) {
        let boot = self.worker_boot(worker);
        let Some(agent) = self.agent(worker) else { return };
        let Some(attempt) = agent.attempts.get_mut(&token) else { return };
        let occupied = attempt.core.occupies();
        let actions = attempt.core.on(event, boot);
        let freed = occupied && !attempt.core.occupies();
        for action in actions {
            self.act(worker, token, action);
        }
        if freed {
            self.tell_worker(worker, 0, ToWorker::Poll);
        }
    }

    fn act(&mut self, worker: usize, token: Token, action: Action) {
        match action {
            Action::Start => self.later(worker, ToWorker::Start(token)),
            Action::Launch(deadline) => {
                self.launch(worker, token, deadline);
                self.arm_beat(worker, 500);
            }
            Action::Renew(deadline) => self.order(worker, token, Order::Deadline(deadline)),
            Action::Stop(cause) => self.order(worker, token, Order::Stop(cause)),
            Action::Report(outcome) => {
                let Some(own) = self.workers.get_mut(worker) else { return };
                let Some(agent) = own.agent.as_mut() else { return };
                let Some(attempt) = agent.attempts.get_mut(&token) else { return };
                let ending = std::mem::replace(&mut attempt.ending, true);
                own.disk.spool.insert(token, (attempt.run, outcome));
                if !ending {
                    self.tell_worker(worker, 0, ToWorker::End(token));
                }
            }
            Action::KillFailed(_detail) => {
                let Some(agent) = self.agent(worker) else { return };
                if let Some(run) = agent.attempts.get(&token).map(|attempt| attempt.run) {
                    agent.kill_failed.push((run, token));
                    self.arm_beat(worker, 500);
                }
            }
            Action::Alarm(text) => {
                self.tell(format_args!("w{worker} {token:?} alarm: {text}"));
            }
            Action::Forget => {
                let Some(own) = self.workers.get_mut(worker) else { return };
                own.disk.spool.remove(&token);
                own.disk.exits.remove(&token);
                if let Some(agent) = own.agent.as_mut() {
                    agent.attempts.remove(&token);
                }
                self.tell_worker(worker, 0, ToWorker::Poll);
            }
        }
        let Some(agent) = self.agent(worker) else { return };
        if agent.draining && agent.attempts.is_empty() {
            self.tell_worker(worker, 0, ToWorker::Leave);
        }
    }

    pub(super) fn shim_said(&mut self, worker: usize, token: Token, report: Report) {
        let event = match report {
            Report::Refused => Heard::Refused,
            Report::Withdrawn => Heard::Withdrawn,
            Report::NotSpawned => Heard::NotSpawned("no memory".to_owned()),
            Report::KillFailed => Heard::KillFailed("it does not die".to_owned()),
            Report::ShimGone => Heard::ShimGone,
            Report::Stopping(cause) => Heard::Stopping(cause),
            Report::Ended(ended) => Heard::Ended(ended),
        };
        self.hear(worker, token, event);
    }

    pub(super) fn drain_over(&mut self, worker: usize) {
        let Some(agent) = self.agent(worker) else { return };
        if !agent.draining {
            return;
        }
        let tokens: Vec<Token> = agent.attempts.keys().copied().collect();
        for token in &tokens {
            if self.without(Mutation::ReleaseBeforeEmpty) {
                self.release_at_once(worker, *token);
            }
            self.hear(worker, *token, Heard::Drain);
        }
        if tokens.is_empty() {
            self.tell_worker(worker, 0, ToWorker::Leave);
        }
    }

    /// Gives back what still runs.
    fn release_at_once(&mut self, worker: usize, token: Token) {
        let Some(own) = self.workers.get_mut(worker) else { return };
        let Some(attempt) = own.agent.as_ref().and_then(|agent| agent.attempts.get(&token)) else {
            return;
        };
        let outcome =
            Outcome::Release { cause: ReleaseCause::Drain, detail: "too early".to_owned() };
        own.disk.spool.insert(token, (attempt.run, outcome));
        self.tell_worker(worker, 0, ToWorker::End(token));
    }

    /// Nothing is left to do: the worker says so, and goes.
    pub(super) fn leave(&mut self, worker: usize) {
        let Some(agent) = self.agent(worker) else { return };
        if agent.draining && agent.attempts.is_empty() {
            if agent.registered.is_some() {
                self.deregister(worker, true);
            } else {
                self.gone(worker);
            }
        }
    }

    fn gone(&mut self, worker: usize) {
        let Some(own) = self.workers.get_mut(worker) else { return };
        if own.agent.take().is_none() {
            return;
        }
        own.life += 1;
        self.tell(format_args!("w{worker} has gone"));
        let wait = self.dice.between(100, 10_000);
        self.after(wait, Event::Boot(Machine::Worker(worker)));
    }
}

/// The verdict on one token of a list.
fn of(said: &[Said], token: Token, stale_term: bool) -> Verdict {
    let kind = said.iter().find(|(_run, of, _kind)| *of == token).and_then(|(_, _, kind)| *kind);
    let Some(kind) = kind else { return Verdict::Unknown };
    match kind {
        VerdictKind::Ok { lease } => Verdict::Ok { lease },
        VerdictKind::Done => Verdict::Done,
        // What an older leader refuses may be a leader's refusal no more.
        VerdictKind::Lost | VerdictKind::Cancel | VerdictKind::Fenced if stale_term => {
            Verdict::Unknown
        }
        VerdictKind::Lost => Verdict::Lost,
        VerdictKind::Cancel => Verdict::Cancel,
        VerdictKind::Fenced => Verdict::Fenced,
        VerdictKind::Look => Verdict::Unknown,
    }
}

fn one(answer: Option<Answer>, token: Token, stale_term: bool) -> Verdict {
    match answer {
        Some(Answer::Verdicts(said)) => of(&said, token, stale_term),
        Some(
            Answer::Registered(_)
            | Answer::Granted(_)
            | Answer::Look
            | Answer::Done
            | Answer::Unknown
            | Answer::Stale
            | Answer::NotLeading(_),
        )
        | None => Verdict::Unknown,
        Some(Answer::Lost) => Verdict::Lost,
    }
}
