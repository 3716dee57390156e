//! The simulator: one seed is one history of masters, workers, a store, a network and people, with faults, in which the
//! real engine, the real attempt's state machine and the store in memory decide. No clock, no thread, no IO.

mod agent;
mod check;
mod desk;
mod dice;
mod event;
mod fault;
mod jobs;
mod master;
mod mutation;
mod people;
mod process;
mod settle;
mod standby;
mod story;
mod term;
mod worker;
mod world;

use event::{Event, Machine};
use world::World;

pub use check::{Check, Lapse};
pub use mutation::Mutation;
pub use process::Work;
pub use story::{Machines, Story};
pub use world::Options;

/// How long faults happen, milliseconds: nearly as long as the jobs have slots.
const FAULTS_MS: i64 = 10 * 60_000;
/// The slots are over by then.
const SLOTS_MS: i64 = 16 * 60_000;
/// How long all may take to come to rest after that.
const REST_MS: i64 = 25 * 60_000;
/// How often rest is looked for.
const LOOK_MS: i64 = 60_000;

/// A history, told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    pub seed: u64,
    /// A line for each thing that happened.
    pub log: String,
    /// What was wrong; None: nothing.
    pub wrong: Option<Lapse>,
    pub counts: Counts,
}

/// How much happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub commits: u64,
    /// Times that memory was compared with the store.
    pub comparisons: u64,
    pub processes: usize,
}

impl History {
    /// The last lines of the log.
    pub fn tail(&self, lines: usize) -> String {
        let all: Vec<&str> = self.log.lines().collect();
        let from = all.len().saturating_sub(lines);
        all.get(from..).unwrap_or_default().join("\n")
    }
}

/// Tells the history of a seed.
pub fn run(seed: u64, options: Options) -> History {
    let mut world = World::new(seed, options);
    world.quiet();
    for master in 0..world.masters.len() {
        world.after(0, Event::Boot(Machine::Master(master)));
    }
    for worker in 0..world.workers.len() {
        world.after(200, Event::Boot(Machine::Worker(worker)));
    }
    world.after(4_000, Event::Person);
    if options.faults {
        world.after(10_000, Event::Fault);
    }
    world.run_until(FAULTS_MS);
    world.comes_to_rest(SLOTS_MS);
    let counts = world.counts();
    let (log, wrong) = world.into_log();
    History { seed, log, wrong, counts }
}

impl World {
    /// Faults heal; then nothing may be left to do but slots, the last of which comes at `slots`.
    fn comes_to_rest(&mut self, slots: i64) {
        self.heal();
        if !self.ledger.applied {
            self.apply(true);
        }
        // Where the store's clock is slow, slots come later.
        let slots = self.now.max(slots + (-self.store_jump).max(0));
        self.run_until(slots);
        let end = slots + REST_MS;
        while self.now < end && self.wrong.is_none() && !self.quiet_now() {
            self.run_until(self.now + LOOK_MS);
        }
        // What was wanted at the last moment has settled by then, too.
        self.run_until(self.now + LOOK_MS);
        if self.wrong.is_none() {
            self.check_rest();
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            commits: self.ledger.commits,
            comparisons: self.ledger.comparisons,
            processes: self.processes.len(),
        }
    }
}
