//! Faults: machines die, stop and come back, hosts sleep, links are cut, the store is away, its clock jumps. All of it
//! heals.

use super::event::{Damage, Event, Machine, Way};
use super::world::{Net, World};

const HOUR_MS: i64 = 3_600_000;

/// What can break.
#[derive(Debug, Clone, Copy)]
enum Fault {
    MasterDies,
    MasterStops,
    MasterEnds,
    MasterDoubted,
    WorkerDies,
    PowerLost,
    WorkerStops,
    HostSleeps,
    LinkCut,
    WorkerAlone,
    StoreLinkCut,
    StoreAway,
    StoreLocked,
    EndsLost,
    ClockJumps,
    Drain,
    Process(Harm),
    /// A worker stands still while an answer is on its way, and is then cut off from all masters.
    StopThenCut,
    Noise,
}

/// What can happen to a job's own processes.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Stops,
    Killed,
    ShimKilled,
}

const FAULTS: [Fault; 23] = [
    Fault::MasterDies,
    Fault::MasterDies,
    Fault::MasterStops,
    Fault::MasterEnds,
    Fault::MasterDoubted,
    Fault::WorkerDies,
    Fault::PowerLost,
    Fault::WorkerStops,
    Fault::WorkerStops,
    Fault::HostSleeps,
    Fault::LinkCut,
    Fault::WorkerAlone,
    Fault::StoreLinkCut,
    Fault::StoreAway,
    Fault::StoreLocked,
    Fault::EndsLost,
    Fault::ClockJumps,
    Fault::Drain,
    Fault::Process(Harm::Stops),
    Fault::Process(Harm::Killed),
    Fault::Process(Harm::ShimKilled),
    Fault::StopThenCut,
    Fault::Noise,
];

impl World {
    /// One fault begins, and the next is armed.
    pub(super) fn fault(&mut self) {
        if self.calm {
            return;
        }
        let length = self.dice.pick(&[500, 2_000, 4_000, 8_000, 20_000]).unwrap_or(500);
        let length = length * self.dice.between(600, 1_400) / 1_000;
        if let Some(fault) = self.dice.pick(&FAULTS) {
            self.breaks(fault, length);
        }
        let wait = self.dice.between(1_000, 30_000);
        self.after(wait, Event::Fault);
    }

    fn breaks(&mut self, fault: Fault, length: i64) {
        let worker = self.dice.index(self.workers.len());
        let master = self.leader().unwrap_or(0);
        match fault {
            Fault::MasterDies => {
                self.kill_master(master);
                self.after(length, Event::Boot(Machine::Master(master)));
            }
            Fault::MasterStops => self.stop_master_for(master, length),
            Fault::MasterEnds => self.stop_master(master, length),
            Fault::MasterDoubted => self.doubt_leader(master),
            Fault::WorkerDies => {
                self.kill_worker(worker);
                self.after(length, Event::Boot(Machine::Worker(worker)));
            }
            Fault::PowerLost => {
                self.lose_power(worker);
                self.after(length, Event::Boot(Machine::Worker(worker)));
            }
            Fault::WorkerStops => self.stop_worker_for(worker, length),
            Fault::HostSleeps => self.sleep(worker, length),
            Fault::LinkCut => {
                let way = self.dice.pick(&[Way::There, Way::Back, Way::Both]).unwrap_or(Way::Both);
                self.cut(worker, master, way, length);
            }
            Fault::WorkerAlone => self.cut_off(worker, length),
            Fault::StoreLinkCut => self.cut_store(master, length),
            Fault::StoreAway => {
                self.tell(format_args!("the store is away for {length} ms"));
                self.net.store_down = true;
                self.after(length, Event::Mend(Damage::StoreDown));
            }
            Fault::StoreLocked => self.lock_store(length),
            Fault::EndsLost => {
                self.tell(format_args!("no end is heard for {length} ms"));
                self.net.ends_lost = true;
                self.after(length, Event::Mend(Damage::Ends));
            }
            Fault::ClockJumps => self.jump(),
            Fault::Drain => self.drain_worker(worker, length),
            Fault::Process(harm) => self.hurt(harm, length),
            Fault::StopThenCut => {
                self.stop_worker_for(worker, length);
                let cut = self.dice.between(3_000, 25_000);
                self.cut_off(worker, length + cut);
            }
            Fault::Noise => {
                self.tell(format_args!("the network is bad for {length} ms"));
                (self.net.loss, self.net.slow, self.net.twice) = (150, 250, 80);
                self.after(length, Event::Mend(Damage::Noise));
            }
        }
    }

    pub(super) fn stop_master_for(&mut self, master: usize, length: i64) {
        self.tell(format_args!("m{master} stands still for {length} ms"));
        let until = self.now + length;
        if let Some(own) = self.masters.get_mut(master) {
            own.stopped = until;
        }
    }

    pub(super) fn stop_worker_for(&mut self, worker: usize, length: i64) {
        self.tell(format_args!("w{worker} stands still for {length} ms"));
        let until = self.now + length;
        if let Some(own) = self.workers.get_mut(worker) {
            own.stopped = until;
        }
    }

    /// A host is suspended: nothing runs on it, and its boot clock goes on.
    pub(super) fn sleep(&mut self, worker: usize, length: i64) {
        self.tell(format_args!("w{worker}'s host sleeps for {length} ms"));
        let until = self.now + length;
        if let Some(own) = self.workers.get_mut(worker) {
            own.host.asleep = until;
        }
        self.after(length, Event::Awake(worker));
    }

    /// A hypervisor stops the guest: its boot clock stands still as well.
    pub(super) fn pause_guest(&mut self, worker: usize, length: i64) {
        self.tell(format_args!("w{worker}'s guest is paused for {length} ms"));
        let until = self.now + length;
        if let Some(own) = self.workers.get_mut(worker) {
            own.host.asleep = until;
            own.host.offset -= length;
        }
    }

    pub(super) fn cut(&mut self, worker: usize, master: usize, way: Way, length: i64) {
        self.tell(format_args!("w{worker} and m{master} are cut off, {way:?}, for {length} ms"));
        self.net.cut.insert((worker, master, way));
        self.after(length, Event::Mend(Damage::Link { worker, master, way }));
    }

    /// From all masters.
    pub(super) fn cut_off(&mut self, worker: usize, length: i64) {
        for master in 0..self.masters.len() {
            self.cut(worker, master, Way::Both, length);
        }
    }

    pub(super) fn cut_store(&mut self, master: usize, length: i64) {
        self.tell(format_args!("m{master} cannot reach the store for {length} ms"));
        self.net.store_cut.insert(master);
        self.after(length, Event::Mend(Damage::StoreLink(master)));
    }

    /// What reaches the store waits, and is then carried out, whoever still waits for it.
    pub(super) fn lock_store(&mut self, length: i64) {
        self.tell(format_args!("the store is locked for {length} ms"));
        self.net.store_locked = self.now + length;
    }

    /// A standby takes the leader for dead while it lives.
    fn doubt_leader(&mut self, master: usize) {
        let other = (master + 1) % self.masters.len();
        if self.masters.get(other).is_some_and(|own| own.up && own.lead.is_none()) {
            self.tell(format_args!("m{other} takes m{master} for dead"));
            self.seize(other);
        }
    }

    /// Something happens to a job's own processes.
    fn hurt(&mut self, harm: Harm, length: i64) {
        let living: Vec<usize> = self.living.iter().copied().collect();
        let Some(process) = self.dice.pick(&living) else { return };
        match harm {
            Harm::Stops => self.stop_job_for(process, length),
            Harm::Killed => self.kill_job(process),
            Harm::ShimKilled => self.kill_shim(process),
        }
    }

    pub(super) fn stop_job_for(&mut self, process: usize, length: i64) {
        let until = self.now + length;
        if let Some(own) = self.processes.get_mut(process) {
            own.stopped = until;
        }
    }

    pub(super) fn kill_job(&mut self, process: usize) {
        if self.processes.get(process).is_some_and(|own| own.executes()) {
            self.after(0, Event::Process { process, what: super::event::ToProcess::Killed });
        }
    }

    /// The worker's host goes out: nothing writes down how it ended.
    pub(super) fn lose_power(&mut self, worker: usize) {
        let now = self.now;
        self.tell(format_args!("w{worker}'s host loses power"));
        self.kill_worker(worker);
        for (number, process) in self.processes.iter_mut().enumerate() {
            if process.worker == worker && process.is_alive() {
                process.lose(now);
                self.living.remove(&number);
            }
        }
    }

    fn jump(&mut self) {
        let far = if self.dice.permille(50) { 30 * HOUR_MS } else { 60_000 };
        let jump = if far > HOUR_MS {
            self.dice.between(HOUR_MS, far)
        } else {
            self.dice.between(-far, far)
        };
        self.jump_by(jump);
    }

    pub(super) fn jump_by(&mut self, jump: i64) {
        self.tell(format_args!("the store's clock jumps by {jump} ms"));
        self.ledger.latest_wall = self.ledger.latest_wall.max(self.wall().ms());
        self.store_jump += jump;
        self.ledger.jumped = Some(self.now);
    }

    /// No fault is left, and none begins.
    pub(super) fn heal(&mut self) {
        self.tell("all faults heal");
        self.calm = true;
        self.net = Net::default();
        for master in 0..self.masters.len() {
            if let Some(own) = self.masters.get_mut(master) {
                own.stopped = own.stopped.min(self.now);
            }
            self.after(0, Event::Boot(Machine::Master(master)));
        }
        for worker in 0..self.workers.len() {
            if let Some(own) = self.workers.get_mut(worker) {
                own.stopped = own.stopped.min(self.now);
            }
            self.after(0, Event::Boot(Machine::Worker(worker)));
        }
    }
}
