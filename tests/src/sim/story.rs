//! A history that somebody tells step by step: a few machines, one job file, and faults at the very moment that matters.
//! Chance has no part in it but for how long messages travel, within a few milliseconds.

use hera_common::run::{Run, RunState};

use super::check::{Check, Lapse};
use super::dice::Dice;
use super::event::{Damage, Event, Machine, Way};
use super::jobs::Village;
use super::master::Master;
use super::mutation::Mutation;
use super::process::Work;
use super::worker::Worker;
use super::world::{Options, World};

/// How long anything that is waited for may take, milliseconds.
const LIMIT_MS: i64 = 15 * 60_000;

/// The first versions are due by then: at eight, two minutes after the beginning.
const FIRST_MS: i64 = 130_000;

/// What a story plays on.
#[derive(Debug, Clone, Copy)]
pub struct Machines {
    pub masters: usize,
    pub workers: usize,
    /// Of each worker.
    pub capacity: u32,
}

impl Default for Machines {
    fn default() -> Self {
        Self { masters: 2, workers: 2, capacity: 2 }
    }
}

/// One history, as it is told.
#[derive(Debug)]
pub struct Story(World);

impl Story {
    /// All machines start, and the job file is applied as soon as somebody leads. Every script works as `work` says.
    pub fn begin(machines: Machines, jobs: &str, work: Work, without: Option<Mutation>) -> Self {
        let mut dice = Dice::new(1);
        let Machines { masters, workers, capacity } = machines;
        let masters = (0..masters).map(|_| Master::new(&mut dice)).collect();
        let workers = (0..workers).map(|n| Worker { capacity, ..Worker::new(n, &mut dice) });
        let workers = workers.collect();
        let options = Options { faults: false, people: false, without };
        let mut world = World::with(dice, options, (masters, workers), Village::written(jobs));
        world.work = Some(work);
        for master in 0..world.masters.len() {
            world.after(0, Event::Boot(Machine::Master(master)));
        }
        for worker in 0..world.workers.len() {
            world.after(200, Event::Boot(Machine::Worker(worker)));
        }
        world.after(4_000, Event::Person);
        let mut story = Self(world);
        story.until("the job file is applied", |story| story.0.ledger.applied);
        story
    }

    /// What a check has seen; None: nothing so far.
    pub fn lapse(&self) -> Option<&Lapse> {
        self.0.wrong.as_ref()
    }

    /// Which check has seen something.
    pub fn seen_by(&self) -> Option<Check> {
        self.lapse().map(|lapse| lapse.check)
    }

    /// The story so far.
    pub fn log(&self) -> &str {
        self.0.log()
    }

    /// Lets things happen for so many milliseconds.
    pub fn passes(&mut self, ms: i64) {
        let end = self.0.now + ms;
        self.0.run_until(end);
    }

    /// Lets things happen until this is true, at most for a quarter of an hour; that it never comes is a lapse.
    pub fn until(&mut self, what: &str, is: impl Fn(&Self) -> bool) {
        let end = self.0.now + LIMIT_MS;
        while self.0.wrong.is_none() && !is(self) {
            if !self.0.step(end) {
                self.0.wrong(Check::World, format_args!("never comes: {what}"));
            }
        }
    }

    /// Until the process of a run's attempt begins; answers on which worker.
    pub fn begins(&mut self, run: i64, attempt: u32) -> usize {
        let name = format!("r{run} #{attempt} begins");
        self.until(&name, |story| story.process(run, attempt).is_some());
        let process = self.process(run, attempt).and_then(|n| self.0.processes.get(n));
        process.map_or(0, |process| process.worker)
    }

    /// Until any attempt of a run begins.
    pub fn begins_any(&mut self, run: i64) {
        self.until("an attempt begins", |story| story.starts(run) > 0);
    }

    fn process(&self, run: i64, attempt: u32) -> Option<usize> {
        self.0.processes.iter().position(|process| {
            process.run.raw() == run && process.attempt == attempt && process.began().is_some()
        })
    }

    /// True where the process of an attempt has begun, whatever became of it.
    pub fn began(&self, run: i64, attempt: u32) -> bool {
        self.process(run, attempt).is_some()
    }

    /// True where the process of an attempt runs.
    pub fn lives(&self, run: i64, attempt: u32) -> bool {
        let process = self.process(run, attempt).and_then(|n| self.0.processes.get(n));
        process.is_some_and(|process| process.executes())
    }

    /// How many processes of a run began.
    pub fn starts(&self, run: i64) -> usize {
        let of = |process: &&super::process::Process| process.run.raw() == run;
        self.0.processes.iter().filter(of).filter(|process| process.began().is_some()).count()
    }

    /// A run's row.
    pub fn run(&self, run: i64) -> Option<Run> {
        let id = hera_common::id::RunId::from_raw(run);
        self.0.store.rows(|rows| rows.runs.get(&id).cloned())
    }

    /// The state of a run's row in words; empty where there is none.
    pub fn state(&self, run: i64) -> String {
        self.run(run).map(|run| run.state.to_string()).unwrap_or_default()
    }

    /// The ends of a run's attempts in words, in order; `open` for one that has none.
    pub fn attempts(&self, run: i64) -> Vec<String> {
        self.0.store.rows(|rows| {
            let own = rows.attempts.values().filter(|attempt| attempt.run.raw() == run);
            own.map(|attempt| match &attempt.state {
                hera_common::attempt::AttemptState::Ended { end, .. } => {
                    let late = attempt.late_report.as_deref().map(|late| format!(", late: {late}"));
                    format!("{}{}", end.word(), late.unwrap_or_default())
                }
                hera_common::attempt::AttemptState::Leased
                | hera_common::attempt::AttemptState::Started => "open".to_owned(),
            })
            .collect()
        })
    }

    /// Real time since the beginning, milliseconds.
    pub fn now(&self) -> i64 {
        self.0.now
    }

    /// The master that leads by the store's row.
    pub fn leader(&self) -> usize {
        self.0.leader().unwrap_or(0)
    }

    /// True where this master leads by the store's row.
    pub fn leads(&self, master: usize) -> bool {
        let lead = self.0.masters.get(master).and_then(|own| own.lead.as_ref());
        lead.is_some_and(|lead| Some(lead.epoch) == self.0.ledger.epoch)
    }

    /// Every run ends, whatever faults there still are; then these heal, and all must come to rest. Answers the first
    /// lapse.
    pub fn ends(mut self) -> Result<Self, Box<Lapse>> {
        self.until("every run has ended", |story| story.0.quiet_now() && story.0.now > FIRST_MS);
        if self.0.wrong.is_none() {
            let now = self.0.now;
            self.0.comes_to_rest(now);
        }
        match self.0.wrong.clone() {
            None => Ok(self),
            Some(lapse) => Err(Box::new(lapse)),
        }
    }
}

/// Faults, and what people do.
impl Story {
    /// SIGKILL; comes back after so long.
    pub fn kills_master(&mut self, master: usize, back_in: Option<i64>) {
        self.0.kill_master(master);
        if let Some(wait) = back_in {
            self.0.after(wait, Event::Boot(Machine::Master(master)));
        }
    }

    /// SIGSTOP, then SIGCONT.
    pub fn stops_master(&mut self, master: usize, ms: i64) {
        self.0.stop_master_for(master, ms);
    }

    /// SIGTERM; comes back after so long.
    pub fn ends_master(&mut self, master: usize, back_in: i64) {
        self.0.stop_master(master, back_in);
    }

    /// SIGKILL of the agent; comes back after so long.
    pub fn kills_worker(&mut self, worker: usize, back_in: Option<i64>) {
        self.0.kill_worker(worker);
        self.boots_worker(worker, back_in);
    }

    /// The whole host goes out; comes back after so long.
    pub fn power_fails(&mut self, worker: usize, back_in: Option<i64>) {
        self.0.lose_power(worker);
        self.boots_worker(worker, back_in);
    }

    fn boots_worker(&mut self, worker: usize, back_in: Option<i64>) {
        if let Some(wait) = back_in {
            self.0.after(wait, Event::Boot(Machine::Worker(worker)));
        }
    }

    /// SIGSTOP of the agent, then SIGCONT.
    pub fn stops_worker(&mut self, worker: usize, ms: i64) {
        self.0.stop_worker_for(worker, ms);
    }

    /// The host is suspended; its boot clock goes on.
    pub fn sleeps(&mut self, worker: usize, ms: i64) {
        self.0.sleep(worker, ms);
    }

    /// A hypervisor stops the guest: its boot clock stands still as well.
    pub fn pauses_guest(&mut self, worker: usize, ms: i64) {
        self.0.pause_guest(worker, ms);
    }

    /// SIGTERM: the worker drains, and waits so long for what runs.
    pub fn drains(&mut self, worker: usize, patience: i64) {
        self.0.drain_worker(worker, patience);
    }

    /// SIGSTOP of a job's process, then SIGCONT.
    pub fn stops_job(&mut self, run: i64, attempt: u32, ms: i64) {
        if let Some(process) = self.process(run, attempt) {
            self.0.stop_job_for(process, ms);
        }
    }

    /// SIGKILL of a job's process.
    pub fn kills_job(&mut self, run: i64, attempt: u32) {
        if let Some(process) = self.process(run, attempt) {
            self.0.kill_job(process);
        }
    }

    /// SIGKILL of a job's shim.
    pub fn kills_shim(&mut self, run: i64, attempt: u32) {
        if let Some(process) = self.process(run, attempt) {
            self.0.kill_shim(process);
        }
    }

    /// Nothing passes between a worker and all masters.
    pub fn cuts_off(&mut self, worker: usize, ms: i64) {
        self.0.cut_off(worker, ms);
    }

    /// Nothing passes between a worker and a master.
    pub fn cuts(&mut self, worker: usize, master: usize, ms: i64) {
        self.0.cut(worker, master, Way::Both, ms);
    }

    /// Requests arrive, answers do not.
    pub fn loses_answers(&mut self, worker: usize, ms: i64) {
        for master in 0..self.0.masters.len() {
            self.0.cut(worker, master, Way::Back, ms);
        }
    }

    /// Answers arrive, requests do not.
    pub fn loses_requests(&mut self, worker: usize, ms: i64) {
        for master in 0..self.0.masters.len() {
            self.0.cut(worker, master, Way::There, ms);
        }
    }

    /// Reports of ends do not arrive; all else does.
    pub fn loses_ends(&mut self, ms: i64) {
        self.0.net.ends_lost = true;
        self.0.after(ms, Event::Mend(Damage::Ends));
    }

    /// A master and the store do not reach each other.
    pub fn cuts_store(&mut self, master: usize, ms: i64) {
        self.0.cut_store(master, ms);
    }

    /// A master's orders reach the store, and it does not hear what became of them.
    pub fn loses_store_answers(&mut self, master: usize, ms: i64) {
        self.0.net.store_deaf.insert(master);
        self.0.after(ms, Event::Mend(Damage::StoreAnswers(master)));
    }

    /// The next commit arrives so much later, and is carried out then.
    pub fn delays_next_commit(&mut self, ms: i64) {
        self.0.net.slow_commit = Some(ms);
    }

    /// True once that commit is on its way.
    pub fn commit_is_delayed(&self) -> bool {
        self.0.net.slow_commit.is_none()
    }

    /// Every message arrives twice for so long.
    pub fn doubles_messages(&mut self, ms: i64) {
        self.0.net.twice = 1_000;
        self.0.after(ms, Event::Mend(Damage::Noise));
    }

    /// The worker asks this master next.
    pub fn asks(&mut self, worker: usize, master: usize) {
        if let Some(agent) = self.0.agent(worker) {
            agent.asks = master;
        }
    }

    /// The store refuses everybody.
    pub fn store_is_away(&mut self, ms: i64) {
        self.0.net.store_down = true;
        self.0.after(ms, Event::Mend(Damage::StoreDown));
    }

    /// What reaches the store waits so long, and is then carried out.
    pub fn locks_store(&mut self, ms: i64) {
        self.0.lock_store(ms);
    }

    /// The store's wall clock jumps.
    pub fn jumps(&mut self, ms: i64) {
        self.0.jump_by(ms);
    }

    /// A standby takes the leader for dead, though it lives.
    pub fn seizes(&mut self, master: usize) {
        self.0.seize(master);
    }

    /// The worker beats at this moment.
    pub fn beats(&mut self, worker: usize) {
        self.0.beat(worker);
    }

    /// What scripts do from now on.
    pub fn works(&mut self, work: Work) {
        self.0.work = Some(work);
    }

    /// Somebody applies another job file.
    pub fn applies(&mut self, jobs: &str) {
        self.0.village = Village::written(jobs);
        self.0.ledger.applied = false;
        self.0.apply(false);
        self.until("the job file is applied", |story| story.0.ledger.applied);
    }

    /// Somebody cancels the run.
    pub fn cancels(&mut self, run: i64) {
        self.0.cancel_run(run);
    }

    /// True while the run is held by a worker.
    pub fn is_held(&self, run: i64) -> bool {
        let state = self.run(run).map(|run| run.state);
        matches!(state, Some(RunState::Leased(_) | RunState::Running(_)))
    }
}
