//! Faults: machines die, stop and come back, links are cut, the store is away, its clock jumps. All of it heals.

use super::event::{Damage, Event, Machine};
use super::world::World;

const HOUR_MS: i64 = 3_600_000;

impl World {
    /// One fault begins, and the next is armed.
    pub(super) fn fault(&mut self) {
        if self.calm {
            return;
        }
        let worker = self.dice.index(self.workers.len());
        let master = self.leader().unwrap_or(0);
        let length = self.dice.pick(&[500, 2_000, 4_000, 8_000, 20_000]).unwrap_or(500);
        let length = length * self.dice.between(600, 1_400) / 1_000;
        match self.dice.below(13) {
            0 => {
                self.kill_master(master);
                self.after(length, Event::Boot(Machine::Master(master)));
            }
            1 => {
                self.tell(format_args!("m{master} stands still for {length} ms"));
                let until = self.now + length;
                if let Some(own) = self.masters.get_mut(master) {
                    own.stopped = until;
                }
            }
            2 => self.doubt_leader(master),
            3 => {
                self.kill_worker(worker);
                self.after(length, Event::Boot(Machine::Worker(worker)));
            }
            4 => {
                self.lose_power(worker);
                self.after(length, Event::Boot(Machine::Worker(worker)));
            }
            5 | 6 => {
                self.tell(format_args!("w{worker} stands still for {length} ms"));
                let until = self.now + length;
                if let Some(own) = self.workers.get_mut(worker) {
                    own.stopped = until;
                }
            }
            7 => {
                self.tell(format_args!("w{worker} and m{master} are cut off for {length} ms"));
                self.net.cut.insert((worker, master));
                self.after(length, Event::Mend(Damage::Link { worker, master }));
            }
            8 => {
                self.tell(format_args!("m{master} cannot reach the store for {length} ms"));
                self.net.store_cut.insert(master);
                self.after(length, Event::Mend(Damage::StoreLink(master)));
            }
            9 => {
                self.tell(format_args!("the store is away for {length} ms"));
                self.net.store_down = true;
                self.after(length, Event::Mend(Damage::StoreDown));
            }
            10 => self.jump(),
            11 => self.drain_worker(worker, length),
            _ => {
                self.tell(format_args!("the network is bad for {length} ms"));
                (self.net.loss, self.net.slow, self.net.twice) = (150, 250, 80);
                self.after(length, Event::Mend(Damage::Noise));
            }
        }
        let wait = self.dice.between(1_000, 30_000);
        self.after(wait, Event::Fault);
    }

    /// A standby takes the leader for dead while it lives.
    fn doubt_leader(&mut self, master: usize) {
        let other = 1 - master.min(1);
        if self.masters.get(other).is_some_and(|own| own.up && own.lead.is_none()) {
            self.tell(format_args!("m{other} takes m{master} for dead"));
            self.seek(other);
        }
    }

    /// The worker's host goes out: nothing writes down how it ended.
    fn lose_power(&mut self, worker: usize) {
        let now = self.now;
        self.tell(format_args!("w{worker}'s host loses power"));
        self.kill_worker(worker);
        for process in &mut self.processes {
            if process.worker == worker && process.is_alive() {
                process.lose(now);
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
        self.tell(format_args!("the store's clock jumps by {jump} ms"));
        self.store_jump += jump;
    }

    /// No fault is left, and none begins.
    pub(super) fn heal(&mut self) {
        self.tell("all faults heal");
        self.calm = true;
        self.net = super::world::Net::default();
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
