//! The world of one history: real time, hosts and their clocks, the network, the log. Decides nothing that the product
//! decides.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hera_common::id::Token;
use hera_common::time::{Boot, Version, Wall};
use hera_store::MemoryStore;

use super::check::{Check, Lapse, Ledger};
use super::dice::Dice;
use super::event::{Damage, Event, Machine, Way};
use super::jobs::Village;
use super::master::Master;
use super::mutation::Mutation;
use super::process::{Process, Work};
use super::worker::Worker;

/// Real time at which a history begins: 30 November 2026, 07:58 UTC.
pub(super) const BEGIN_MS: i64 = 1_796_025_480_000;
/// How far a boot clock may run wrong, parts per million.
pub(super) const RHO_PPM: i64 = 10_000;
const MILLION: i64 = 1_000_000;
/// In so many histories of a thousand two hosts have a worker of one name.
const TWINS: i64 = 40;

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Faults of machines, network and store happen.
    pub faults: bool,
    /// People act and edit.
    pub people: bool,
    /// A rule that is not kept.
    pub without: Option<Mutation>,
}

/// A host's boot clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Host {
    pub(super) offset: i64,
    /// Millionths by which it runs fast.
    pub(super) drift: i64,
    /// Nothing runs on it until then, by real time; its clock goes on.
    pub(super) asleep: i64,
}

impl Host {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let offset = dice.between(1_000, 1_000_000);
        Self { offset, drift: dice.between(-RHO_PPM, RHO_PPM), asleep: 0 }
    }

    pub(super) fn boot(self, real: i64) -> Boot {
        Boot::from_ms(self.offset + real + real * self.drift / MILLION)
    }

    /// Real time until the clock shows `at`; at least 1 ms where it does not show it yet.
    pub(super) fn until(self, at: Boot, real: i64) -> i64 {
        let left = at.ms() - self.boot(real).ms();
        if left <= 0 { 0 } else { left * MILLION / (MILLION + self.drift) + 1 }
    }
}

/// The network and the store's room.
#[derive(Debug, Default)]
pub(super) struct Net {
    /// Links that are cut, and which way.
    pub(super) cut: BTreeSet<(usize, usize, Way)>,
    /// Masters that cannot reach the store.
    pub(super) store_cut: BTreeSet<usize>,
    /// Masters that the store's answers do not reach.
    pub(super) store_deaf: BTreeSet<usize>,
    /// The next commit takes so much longer on its way.
    pub(super) slow_commit: Option<i64>,
    pub(super) store_down: bool,
    /// What reaches the store waits until then, by real time, and is then carried out.
    pub(super) store_locked: i64,
    /// Reports of ends do not arrive.
    pub(super) ends_lost: bool,
    /// Messages lost, slow, doubled: times in a thousand.
    pub(super) loss: i64,
    pub(super) slow: i64,
    pub(super) twice: i64,
}

/// Everything.
#[derive(Debug)]
pub(super) struct World {
    pub(super) options: Options,
    /// Milliseconds since the beginning.
    pub(super) now: i64,
    queue: BTreeMap<(i64, u64), Event>,
    number: u64,
    pub(super) dice: Dice,
    log: String,
    pub(super) store: MemoryStore,
    /// How far the store's wall clock is from real time.
    pub(super) store_jump: i64,
    pub(super) masters: Vec<Master>,
    pub(super) workers: Vec<Worker>,
    pub(super) processes: Vec<Process>,
    pub(super) net: Net,
    pub(super) village: Village,
    pub(super) ledger: Ledger,
    /// Processes that may still run.
    pub(super) living: BTreeSet<usize>,
    /// What scripts do; None: what the dice say.
    pub(super) work: Option<Work>,
    /// Tokens under other names, where a rule is taken away.
    pub(super) aliases: BTreeMap<Token, Token>,
    /// What is wrong; the history ends there.
    pub(super) wrong: Option<Lapse>,
    /// No fault begins any more, and nobody wants anything.
    pub(super) calm: bool,
}

impl World {
    pub(super) fn new(seed: u64, options: Options) -> Self {
        let mut dice = Dice::new(seed);
        let masters = if dice.permille(250) { 3 } else { 2 };
        let masters = (0..masters).map(|_| Master::new(&mut dice)).collect();
        let count = dice.index(4) + 1;
        let mut workers: Vec<Worker> = (0..count).map(|n| Worker::new(n, &mut dice)).collect();
        if options.faults && dice.permille(TWINS) {
            // On another host, with the name of the first one.
            let twin = Worker::new(0, &mut dice);
            workers.push(Worker { twin: true, ..twin });
        }
        let village = Village::new(&mut dice);
        Self::with(dice, options, (masters, workers), village)
    }

    /// A world of these machines and jobs.
    pub(super) fn with(
        dice: Dice,
        options: Options,
        (masters, workers): (Vec<Master>, Vec<Worker>),
        village: Village,
    ) -> Self {
        Self {
            options,
            now: 0,
            queue: BTreeMap::new(),
            number: 0,
            dice,
            log: String::new(),
            store: MemoryStore::new("00000000000000000000000000000001"),
            store_jump: 0,
            masters,
            workers,
            processes: Vec::new(),
            net: Net::default(),
            village,
            ledger: Ledger::default(),
            living: BTreeSet::new(),
            work: None,
            aliases: BTreeMap::new(),
            wrong: None,
            calm: false,
        }
    }

    /// Something happens after so many milliseconds.
    pub(super) fn after(&mut self, wait: i64, event: Event) {
        self.number += 1;
        self.queue.insert((self.now + wait.max(0), self.number), event);
    }

    /// Lets things happen until `end`, or until something is wrong.
    pub(super) fn run_until(&mut self, end: i64) {
        while self.wrong.is_none() && self.step(end) {}
        if self.wrong.is_none() {
            self.now = self.now.max(end);
        }
    }

    /// The next thing happens, if it is due by `end`; else false.
    pub(super) fn step(&mut self, end: i64) -> bool {
        let Some(entry) = self.queue.first_entry() else { return false };
        let (at, _number) = *entry.key();
        if at > end {
            return false;
        }
        let event = entry.remove();
        self.now = at;
        self.happen(event);
        true
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Master { master, life, what } => self.master_event(master, life, *what),
            Event::Store { master, life, what } => self.store_event(master, life, *what),
            Event::Worker { worker, life, what } => self.worker_event(worker, life, what),
            Event::Process { process, what } => self.process_event(process, what),
            Event::Fault => self.fault(),
            Event::Person => self.person(),
            Event::Boot(Machine::Master(master)) => self.boot_master(master),
            Event::Boot(Machine::Worker(worker)) => self.boot_worker(worker),
            Event::Awake(worker) => self.awake(worker),
            Event::Mend(damage) => self.mend(damage),
        }
    }

    pub(super) fn mend(&mut self, damage: Damage) {
        match damage {
            Damage::Link { worker, master, way } => {
                self.net.cut.remove(&(worker, master, way));
            }
            Damage::StoreLink(master) => {
                self.net.store_cut.remove(&master);
            }
            Damage::StoreAnswers(master) => {
                self.net.store_deaf.remove(&master);
            }
            Damage::StoreDown => self.net.store_down = false,
            Damage::Ends => self.net.ends_lost = false,
            Damage::Noise => self.quiet(),
        }
    }

    /// The network as it is on a good day.
    pub(super) fn quiet(&mut self) {
        let faults = i64::from(self.options.faults && !self.calm);
        (self.net.loss, self.net.slow, self.net.twice) = (10 * faults, 20 * faults, 10 * faults);
    }

    /// The store's wall clock.
    pub(super) fn wall(&self) -> Wall {
        Wall::from_ms(BEGIN_MS + self.now + self.store_jump)
    }

    /// How long a message travels.
    pub(super) fn travel(&mut self) -> i64 {
        if self.dice.permille(self.net.slow) {
            self.dice.between(50, 3_000)
        } else {
            self.dice.between(1, 15)
        }
    }

    /// How often a message arrives: not, once or twice.
    pub(super) fn copies(&mut self, worker: usize, master: usize, way: Way) -> usize {
        let cut = |way| self.net.cut.contains(&(worker, master, way));
        if cut(Way::Both) || cut(way) || self.dice.permille(self.net.loss) {
            0
        } else if self.dice.permille(self.net.twice) {
            2
        } else {
            1
        }
    }

    /// A line in the history.
    pub(super) fn tell(&mut self, text: impl std::fmt::Display) {
        let at = Version::from_ms(BEGIN_MS + self.now).timestamp();
        if writeln!(self.log, "{} {text}", at.strftime("%H:%M:%S.%3f")).is_err() {
            let what = "the history cannot be written".to_owned();
            self.wrong = Some(Lapse { check: Check::World, what });
        }
    }

    pub(super) fn log(&self) -> &str {
        &self.log
    }

    pub(super) fn into_log(self) -> (String, Option<Lapse>) {
        (self.log, self.wrong)
    }
}

/// The answer of a store in memory, which never keeps anybody waiting.
pub(super) fn ready<F: Future>(asked: F) -> Option<F::Output> {
    match pin!(asked).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}
