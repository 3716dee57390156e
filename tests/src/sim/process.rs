//! Shims and the processes of attempts: they live by their host's boot clock, whatever becomes of the agent. What they
//! did, and when by real time, is the truth that stores are measured by.

use std::time::Duration;

use hera_common::id::{Fence, JobId, RunId, Token};
use hera_common::time::Boot;
use hera_worker::attempt::Ended;
use hera_worker::process::order::StopCause;

use super::event::{Event, Report, ToProcess, ToWorker};
use super::worker::TIMING;
use super::world::World;

/// What an agent tells a shim.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    Deadline(Boot),
    Stop(StopCause),
}

/// One process, from its shim's start on.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) worker: usize,
    /// The agent's life that started it.
    life: u32,
    pub(super) token: Token,
    pub(super) run: RunId,
    pub(super) job: JobId,
    pub(super) attempt: u32,
    pub(super) fence: Fence,
    pub(super) exclusive: bool,
    deadline: Boot,
    timeout: Option<Duration>,
    stop: Option<StopCause>,
    pub(super) started: Option<i64>,
    pub(super) ended: Option<i64>,
    /// How it ended by itself.
    pub(super) code: Option<i32>,
    /// Nothing of it will run any more.
    over: bool,
}

impl Process {
    /// True where something of it runs, or may still begin to.
    pub(super) fn is_alive(&self) -> bool {
        !self.over
    }

    /// Its host goes out.
    pub(super) fn lose(&mut self, now: i64) {
        self.over = true;
        if self.started.is_some() {
            self.ended = Some(now);
        }
    }

    /// True where the job's own code runs.
    pub(super) fn executes(&self) -> bool {
        self.started.is_some() && self.ended.is_none()
    }
}

impl World {
    /// The agent starts a shim.
    pub(super) fn launch(&mut self, worker: usize, token: Token, deadline: Boot) {
        let number = self.processes.len();
        let Some(own) = self.workers.get_mut(worker) else { return };
        let life = own.life;
        let Some(attempt) = own.agent.as_mut().and_then(|a| a.attempts.get_mut(&token)) else {
            return;
        };
        attempt.process = Some(number);
        let Some(grant) = attempt.grant.clone() else { return };
        let row =
            self.store.rows(|rows| rows.runs.get(&grant.run).map(|row| (row.job, row.exclusive)));
        let Some((job, exclusive)) = row else {
            self.wrong(format_args!("run {} was granted and is not in the store", grant.run));
            return;
        };
        self.processes.push(Process {
            worker,
            life,
            token,
            run: grant.run,
            job,
            attempt: grant.number,
            fence: grant.fence,
            exclusive,
            deadline,
            timeout: grant.timeout,
            stop: None,
            started: None,
            ended: None,
            code: None,
            over: false,
        });
        let wait = self.dice.between(2, 60);
        self.after(wait, Event::Process { process: number, what: ToProcess::Exec });
    }

    pub(super) fn order(&mut self, worker: usize, token: Token, order: Order) {
        let attempt = self.agent(worker).and_then(|agent| agent.attempts.get(&token));
        let Some(process) = attempt.and_then(|attempt| attempt.process) else { return };
        match order {
            Order::Deadline(deadline) => {
                let Some(own) = self.processes.get_mut(process) else { return };
                if own.stop.is_none() {
                    own.deadline = own.deadline.max(deadline);
                }
            }
            Order::Stop(cause) => self.stop_process(process, cause),
        }
    }

    pub(super) fn process_event(&mut self, process: usize, what: ToProcess) {
        if self.processes.get(process).is_none_or(|own| own.over) {
            return;
        }
        match what {
            ToProcess::Exec => self.exec(process),
            ToProcess::Exits => {
                let code = if self.dice.permille(220) { 1 } else { 0 };
                self.process_ends(process, Some(code));
            }
            ToProcess::Deadline => self.watch_deadline(process),
            ToProcess::Timeout => self.stop_process(process, StopCause::Timeout),
            ToProcess::Stopped => self.process_ends(process, None),
        }
    }

    /// The last thing before the job's own code runs is a look at the deadline.
    fn exec(&mut self, process: usize) {
        let Some((boot, own)) = self.shim(process) else { return };
        if own.stop.is_some() {
            own.over = true;
            self.report(process, Report::Withdrawn);
            return;
        }
        if boot >= own.deadline.minus(TIMING.kill) {
            own.over = true;
            self.report(process, Report::Refused);
            return;
        }
        let timeout = own.timeout;
        let now = self.now;
        if let Some(own) = self.processes.get_mut(process) {
            own.started = Some(now);
        }
        self.check_exec(process);
        let work = self.village.work(&mut self.dice);
        self.after(work, Event::Process { process, what: ToProcess::Exits });
        if let Some(timeout) = timeout {
            let wait = self.host_wait(process, boot.plus(timeout));
            self.after(wait, Event::Process { process, what: ToProcess::Timeout });
        }
        self.watch_deadline(process);
    }

    fn shim(&mut self, process: usize) -> Option<(Boot, &mut Process)> {
        let worker = self.processes.get(process)?.worker;
        let boot = self.worker_boot(worker);
        Some((boot, self.processes.get_mut(process)?))
    }

    fn host_wait(&self, process: usize, at: Boot) -> i64 {
        let worker = self.processes.get(process).map(|own| own.worker);
        let host = worker.and_then(|worker| self.workers.get(worker)).map(|own| own.host);
        host.map_or(0, |host| host.until(at, self.now))
    }

    /// TERM must come early enough for KILL to be over by the deadline.
    fn watch_deadline(&mut self, process: usize) {
        let Some((boot, own)) = self.shim(process) else { return };
        if own.stop.is_some() {
            return;
        }
        let term_at = own.deadline.minus(TIMING.kill + TIMING.term);
        if boot >= term_at {
            self.stop_process(process, StopCause::Lease);
        } else {
            let wait = self.host_wait(process, term_at);
            self.after(wait, Event::Process { process, what: ToProcess::Deadline });
        }
    }

    /// The stop sequence begins; only the first one counts.
    pub(super) fn stop_process(&mut self, process: usize, cause: StopCause) {
        let Some((boot, own)) = self.shim(process) else { return };
        if own.over || own.stop.is_some() {
            return;
        }
        own.stop = Some(cause);
        let deadline = own.deadline;
        if own.started.is_none() {
            // The shim withdraws when it comes to executing.
            return;
        }
        if matches!(cause, StopCause::Lease | StopCause::Timeout) {
            self.report(process, Report::Stopping(cause));
        }
        let term_over = boot.plus(TIMING.term).min(deadline.minus(TIMING.kill)).max(boot);
        let wait = if self.dice.permille(600) {
            self.dice.below(self.host_wait(process, term_over).max(1))
        } else {
            let killed = self.dice.below(450);
            self.host_wait(process, term_over) + killed
        };
        self.after(wait, Event::Process { process, what: ToProcess::Stopped });
    }

    fn process_ends(&mut self, process: usize, code: Option<i32>) {
        let now = self.now;
        let Some(own) = self.processes.get_mut(process) else { return };
        own.over = true;
        own.ended = Some(now);
        own.code = code;
        let signal = if code.is_none() { Some(15) } else { None };
        let ended = Ended { code, signal, stopped: own.stop, output_problem: None };
        let (run, worker, token) = (own.run, own.worker, own.token);
        let text = match (code, own.stop) {
            (Some(code), _) => format!("r{run} #{} exits with {code}", own.attempt),
            (None, stop) => format!("r{run} #{} is stopped: {stop:?}", own.attempt),
        };
        self.tell(format_args!("w{worker} {text}"));
        if let Some(own) = self.workers.get_mut(worker) {
            own.disk.exits.insert(token, (run, ended.clone()));
        }
        self.report(process, Report::Ended(ended));
    }

    /// To the agent that started it, if that lives.
    fn report(&mut self, process: usize, report: Report) {
        let wait = self.dice.between(1, 5);
        let Some(own) = self.processes.get(process) else { return };
        let (worker, life, token) = (own.worker, own.life, own.token);
        self.after(wait, Event::Worker { worker, life, what: ToWorker::Shim { token, report } });
    }
}
