//! Shims and the processes of attempts: they live by their host's boot clock, whatever becomes of the agent. What they
//! did, and when by real time, is the truth that stores are measured by.

use std::time::Duration;

use hera_common::id::{Fence, JobId, RunId, Token};
use hera_common::time::Boot;
use hera_worker::attempt::Ended;
use hera_worker::process::order::StopCause;

use super::check::Check;
use super::event::{Event, Report, ToProcess, ToWorker};
use super::mutation::Mutation;
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
    /// Its job, where one process of that may live at most.
    pub(super) alone_of: Option<JobId>,
    deadline: Boot,
    timeout: Option<Duration>,
    stop: Option<StopCause>,
    started: Option<i64>,
    ended: Option<i64>,
    exit: Option<Exit>,
    /// Nothing of it will run any more.
    over: bool,
    /// The promises do not hold for it: nothing can kill it, or its host slept past its deadline.
    pub(super) excused: bool,
    /// Stopped until then, by real time; its shim is not.
    pub(super) stopped: i64,
    /// Its shim was killed.
    orphan: bool,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Code(i32),
    Signal(i32),
}

/// What a script does, where it is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Milliseconds.
    pub lasts: i64,
    pub code: i32,
    /// It has to be killed.
    pub ignores_term: bool,
    /// And cannot be.
    pub immortal: bool,
}

impl Process {
    /// True where something of it runs, or may still begin to.
    pub(super) fn is_alive(&self) -> bool {
        !self.over
    }

    /// Its host goes out.
    pub(super) fn lose(&mut self, now: i64) {
        self.over = true;
        if self.started.is_some() && self.ended.is_none() {
            self.ended = Some(now);
        }
    }

    /// When its code began to run, by real time.
    pub(super) fn began(&self) -> Option<i64> {
        self.started
    }

    /// When it ended, by real time.
    pub(super) fn over_at(&self) -> Option<i64> {
        self.ended
    }

    /// The code with which it ended by itself.
    pub(super) fn code(&self) -> Option<i32> {
        match self.exit? {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) => None,
        }
    }

    /// True where it ended before anybody stopped it.
    pub(super) fn by_itself(&self) -> bool {
        self.exit.is_some() && self.stop.is_none()
    }

    /// True where somebody wrote down how it ended.
    pub(super) fn is_known(&self) -> bool {
        !self.orphan
    }

    /// By its host's clock: nothing of it may be left then.
    pub(super) fn deadline(&self) -> Boot {
        self.deadline
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
            self.wrong(Check::I3, format_args!("r{} was granted, and is not stored", grant.run));
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
            alone_of: exclusive.then_some(job),
            deadline,
            timeout: grant.timeout,
            stop: None,
            started: None,
            ended: None,
            exit: None,
            over: false,
            excused: false,
            stopped: 0,
            orphan: false,
        });
        self.living.insert(number);
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
        let Some(own) = self.processes.get(process).filter(|own| !own.over) else { return };
        let asleep = self.workers.get(own.worker).map_or(0, |worker| worker.host.asleep);
        let stopped =
            if matches!(what, ToProcess::Exits) { own.stopped.max(asleep) } else { asleep };
        if stopped > self.now {
            // A shim looks at the deadline first when its host wakes.
            let first = matches!(what, ToProcess::Deadline);
            let wait = stopped - self.now + if first { 0 } else { self.dice.between(1, 4) };
            self.after(wait, Event::Process { process, what });
            return;
        }
        match what {
            ToProcess::Exec => self.exec(process),
            ToProcess::Exits => {
                let fails = self.dice.permille(220);
                let code = self.work.map_or(i32::from(fails), |work| work.code);
                self.process_ends(process, Exit::Code(code));
            }
            ToProcess::Killed => self.process_ends(process, Exit::Signal(9)),
            ToProcess::Deadline => self.watch_deadline(process),
            ToProcess::Timeout => self.stop_process(process, StopCause::Timeout),
            ToProcess::Stopped => self.process_ends(process, Exit::Signal(15)),
        }
    }

    /// A host that slept goes on: what is past its deadline by now is killed, after a moment.
    pub(super) fn awake(&mut self, worker: usize) {
        let boot = self.worker_boot(worker);
        let living: Vec<usize> = self.living.iter().copied().collect();
        for number in living {
            let Some(own) = self.processes.get_mut(number) else { continue };
            if own.worker == worker && boot >= own.deadline.minus(TIMING.kill) {
                own.excused = true;
            }
        }
    }

    /// Somebody kills the shim: its agent sees that and kills the rest, of which nobody can say when it is gone.
    pub(super) fn kill_shim(&mut self, process: usize) {
        let Some(own) = self.processes.get_mut(process).filter(|own| own.executes()) else {
            return;
        };
        own.orphan = true;
        let (worker, attempt, run) = (own.worker, own.attempt, own.run);
        self.tell(format_args!("w{worker} r{run} #{attempt} loses its shim"));
        self.report(process, Report::ShimGone);
        let wait = self.dice.between(5, 450);
        self.after(wait, Event::Process { process, what: ToProcess::Killed });
    }

    /// The last thing before the job's own code runs is a look at the deadline.
    fn exec(&mut self, process: usize) {
        let unlucky = self.net.loss > 0 && self.work.is_none() && self.dice.permille(6);
        let Some((boot, own)) = self.shim(process) else { return };
        let refused = if own.stop.is_some() {
            Some(Report::Withdrawn)
        } else if boot >= own.deadline.minus(TIMING.kill) {
            Some(Report::Refused)
        } else if unlucky {
            Some(Report::NotSpawned)
        } else {
            None
        };
        if let Some(report) = refused {
            own.over = true;
            self.living.remove(&process);
            self.report(process, report);
            return;
        }
        let timeout = own.timeout;
        let now = self.now;
        if let Some(own) = self.processes.get_mut(process) {
            own.started = Some(now);
        }
        self.check_exec(process);
        let work = self.work.map(|work| work.lasts);
        let work = work.unwrap_or_else(|| self.village.work(&mut self.dice));
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
        let blind = self.blind(process);
        let Some((boot, own)) = self.shim(process) else { return };
        if own.stop.is_some() || own.orphan {
            return;
        }
        if blind {
            self.after(50, Event::Process { process, what: ToProcess::Deadline });
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

    /// Nobody watches the deadline: there is no shim, and the agent stands still.
    fn blind(&self, process: usize) -> bool {
        let worker = self.processes.get(process).and_then(|own| self.workers.get(own.worker));
        self.without(Mutation::NoShim) && worker.is_some_and(|own| own.stopped > self.now)
    }

    /// The stop sequence begins; only the first one counts.
    pub(super) fn stop_process(&mut self, process: usize, cause: StopCause) {
        let Some((boot, own)) = self.shim(process) else { return };
        if own.over || own.stop.is_some() {
            return;
        }
        own.stop = Some(cause);
        let (deadline, excused) = (own.deadline, own.excused);
        if own.started.is_none() {
            // The shim withdraws when it comes to executing.
            return;
        }
        if matches!(cause, StopCause::Lease | StopCause::Timeout) {
            self.report(process, Report::Stopping(cause));
        }
        let term_over = boot.plus(TIMING.term).min(deadline.minus(TIMING.kill)).max(boot);
        if self.is_immortal(process) {
            let wait = self.host_wait(process, term_over.plus(TIMING.kill));
            self.outlive(process, wait);
            return;
        }
        let deaf = self.work.map_or_else(|| !self.dice.permille(600), |work| work.ignores_term);
        let wait = if deaf {
            let killed = if excused { 5 } else { 450 };
            self.host_wait(process, term_over) + self.dice.below(killed)
        } else {
            self.dice.below(self.host_wait(process, term_over).max(1))
        };
        self.after(wait, Event::Process { process, what: ToProcess::Stopped });
    }

    fn is_immortal(&mut self, process: usize) -> bool {
        let faults = self.net.loss > 0;
        let chance = faults && self.dice.permille(4);
        let immortal = self.work.map_or(chance, |work| work.immortal);
        if let Some(own) = self.processes.get_mut(process).filter(|_| immortal) {
            own.excused = true;
        }
        immortal
    }

    /// It outlives the KILL, and dies some time later.
    fn outlive(&mut self, process: usize, wait: i64) {
        let Some(own) = self.processes.get(process) else { return };
        let (worker, life, attempt, run) = (own.worker, own.life, own.attempt, own.run);
        let what = ToWorker::Shim { token: own.token, report: Report::KillFailed };
        self.tell(format_args!("w{worker} r{run} #{attempt} cannot be killed"));
        self.after(wait, Event::Worker { worker, life, what });
        let more = self.dice.between(1_000, 60_000);
        self.after(wait + more, Event::Process { process, what: ToProcess::Stopped });
    }

    fn process_ends(&mut self, process: usize, exit: Exit) {
        let now = self.now;
        self.check_last_moment(process);
        self.living.remove(&process);
        let Some(own) = self.processes.get_mut(process) else { return };
        own.over = true;
        own.ended = Some(now);
        own.exit = Some(exit);
        let (code, signal) = match exit {
            Exit::Code(code) => (Some(code), None),
            Exit::Signal(signal) => (None, Some(signal)),
        };
        let ended = Ended { code, signal, stopped: own.stop, problem: None };
        let (run, worker, token, orphan) = (own.run, own.worker, own.token, own.orphan);
        let text = match (exit, own.stop) {
            (Exit::Code(code), _) => format!("r{run} #{} exits with {code}", own.attempt),
            (Exit::Signal(_), stop) => format!("r{run} #{} is stopped: {stop:?}", own.attempt),
        };
        self.tell(format_args!("w{worker} {text}"));
        if orphan {
            // Nobody was left to see how it ended.
            return;
        }
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
