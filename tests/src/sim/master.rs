//! A master's shell in small: inbox, step, commit, answers, effects, reading again. As the real one, and without its threads.

use std::time::Duration;

use hera_common::id::{Epoch, JobId, WorkerId};
use hera_common::time::{Boot, Now, Wall};
use hera_common::unit::{Committed, Outcome};
use hera_engine::input::{Effect, Input, Step, Tag, Tagged};
use hera_engine::{Engine, Settings};
use hera_store::{Scope, StoreError};

use std::collections::BTreeMap;

use super::dice::Dice;
use super::event::{Caller, Event, Machine, ToMaster, ToStore, Waits};
use super::outcome::{done, held, jobs, left_out, must_commit};
use super::world::{Host, World};

/// How long a master waits for one answer of the store.
const STORE_MS: i64 = 1_000;
/// How often a leader renews its term, and measures the store's clock.
const RENEW_MS: i64 = 1_000;
/// When jobs are read once more after a commit without an answer: it may be carried out late.
const DOUBTS_MS: [i64; 2] = [5_000, 60_000];
/// The longest sleeps, while something is due soon, and else.
const SLEEP_SOON_MAX: Duration = Duration::from_secs(1);
const SLEEP_MAX: Duration = Duration::from_secs(60);

/// The numbers of this cluster: a lease is 6 to 20 s here.
pub(super) fn settings() -> Settings {
    Settings {
        accept: Duration::from_secs(4),
        grace: Duration::from_secs(1),
        poll: Duration::from_secs(5),
        ..Settings::default()
    }
}

/// A master's host, and its process while that lives.
#[derive(Debug)]
pub(super) struct Master {
    pub(super) host: Host,
    pub(super) up: bool,
    /// Grows with each start and end of the process.
    pub(super) life: u32,
    /// Stopped until then, by real time.
    pub(super) stopped: i64,
    /// None: it waits for its turn to lead.
    pub(super) lead: Option<Lead>,
    chance: Dice,
}

/// What a leader holds.
pub(super) struct Lead {
    pub(super) engine: Engine,
    pub(super) epoch: Epoch,
    /// The store's wall clock minus this host's boot clock, as last measured.
    offset: i64,
    pub(super) inbox: Vec<Tagged>,
    pub(super) callers: BTreeMap<Tag, Caller>,
    next_tag: u64,
    pub(super) at: At,
    /// Counts commits and reads, so that late answers are known.
    number: u64,
    wakes: u64,
    /// Workers that registered with it, or that it has read of.
    pub(super) known: BTreeMap<WorkerId, hera_common::id::Incarnation>,
    /// Jobs to be read again when the present doing is done.
    doubts: Vec<JobId>,
    pub(super) stepped: Now,
    /// No unit of it is in flight or in doubt.
    pub(super) settled: bool,
}

impl Lead {
    /// True where the answer to this commit is awaited.
    pub(super) fn awaits(&self, number: u64) -> bool {
        self.number == number && matches!(self.at, At::Committing(..))
    }
}

impl std::fmt::Debug for Lead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lead").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// What a leader does at present.
#[derive(Debug)]
pub(super) enum At {
    Loading,
    Idle,
    Committing(Box<Step>, Boot),
    Reading(Vec<JobId>),
}

impl Master {
    pub(super) fn new(dice: &mut Dice) -> Self {
        Self {
            host: Host::new(dice),
            up: false,
            life: 0,
            stopped: 0,
            lead: None,
            chance: dice.fork(),
        }
    }
}

impl World {
    pub(super) fn boot_master(&mut self, master: usize) {
        let Some(own) = self.masters.get_mut(master) else { return };
        if own.up {
            return;
        }
        own.up = true;
        own.life += 1;
        self.tell(format_args!("m{master} starts"));
        self.seek(master);
    }

    /// The process ends at once, wherever it is.
    pub(super) fn kill_master(&mut self, master: usize) {
        let Some(own) = self.masters.get_mut(master).filter(|own| own.up) else { return };
        own.up = false;
        own.life += 1;
        own.lead = None;
        own.stopped = 0;
        self.tell(format_args!("m{master} is killed"));
    }

    /// It learns that another one leads.
    fn step_down(&mut self, master: usize) {
        let Some(own) = self.masters.get_mut(master) else { return };
        own.life += 1;
        own.lead = None;
        self.tell(format_args!("m{master} steps down"));
    }

    /// Wants to lead.
    pub(super) fn seek(&mut self, master: usize) {
        self.ask_store(master, ToStore::Acquire);
        self.no_answer(master, Waits::Acquire);
    }

    pub(super) fn master_event(&mut self, master: usize, life: u32, what: ToMaster) {
        let now = self.now;
        let Some(own) = self.masters.get(master) else { return };
        if !own.up || own.life != life {
            return;
        }
        if own.stopped > now {
            let wait = own.stopped - now + self.dice.below(3);
            let what = Box::new(what);
            self.after(wait, Event::Master { master, life, what });
            return;
        }
        match what {
            ToMaster::Acquired(Ok(Some(epoch))) => self.begin_term(master, epoch),
            ToMaster::Acquired(_) | ToMaster::NoAnswer(Waits::Acquire) => self.give_up(master),
            ToMaster::Loaded(result) => self.loaded(master, result),
            ToMaster::NoAnswer(Waits::Load) => {
                self.loaded(master, Err(unavailable()));
            }
            ToMaster::Request { from, request } => self.request(master, from, request),
            ToMaster::Turn => self.turn(master),
            ToMaster::Wake(number) => {
                if self.lead(master).is_some_and(|lead| lead.wakes == number) {
                    self.turn(master);
                }
            }
            ToMaster::Committed { number, result } => self.committed(master, number, result),
            ToMaster::NoAnswer(Waits::Commit(number)) => {
                self.committed(master, number, Err(unavailable()));
            }
            ToMaster::ReadAgain { number, result } => self.read(master, number, result),
            ToMaster::NoAnswer(Waits::ReadAgain(number)) => {
                self.read(master, number, Err(unavailable()));
            }
            ToMaster::Renew => self.renew(master),
            ToMaster::Renewed { sent, result } => self.renewed(master, sent, result),
            ToMaster::Outcomes { asked, ends } => self.outcomes(master, asked, ends),
            ToMaster::Looked { caller, said } => self.looked(master, caller, said),
            ToMaster::Doubt(jobs) => self.doubt(master, jobs),
        }
    }

    pub(super) fn lead(&mut self, master: usize) -> Option<&mut Lead> {
        self.masters.get_mut(master)?.lead.as_mut()
    }

    fn boot_clock(&self, master: usize) -> Boot {
        self.masters.get(master).map_or(Boot::from_ms(0), |own| own.host.boot(self.now))
    }

    fn both_clocks(&mut self, master: usize) -> Now {
        let boot = self.boot_clock(master);
        let offset = self.lead(master).map_or(0, |lead| lead.offset);
        Now { wall: Wall::from_ms(boot.ms() + offset), boot }
    }

    /// The store's clock as an answer told it, half the way ago.
    fn measured(&mut self, master: usize, sent: Boot, store_now: Wall) {
        let boot = self.boot_clock(master);
        if let Some(lead) = self.lead(master) {
            lead.offset = store_now.ms() - i64::midpoint(sent.ms(), boot.ms());
        }
    }

    pub(super) fn tell_master(&mut self, master: usize, wait: i64, what: ToMaster) {
        let Some(life) = self.masters.get(master).map(|own| own.life) else { return };
        self.after(wait, Event::Master { master, life, what: Box::new(what) });
    }

    fn no_answer(&mut self, master: usize, waits: Waits) {
        self.tell_master(master, STORE_MS, ToMaster::NoAnswer(waits));
    }

    /// Another master was quicker, or the store is away.
    fn give_up(&mut self, master: usize) {
        if self.masters.get(master).is_some_and(|own| own.lead.is_none()) {
            self.step_down(master);
        }
    }

    fn begin_term(&mut self, master: usize, epoch: Epoch) {
        let boot = self.boot_clock(master);
        let Some(own) = self.masters.get_mut(master) else { return };
        if own.lead.is_some() {
            return;
        }
        own.lead = Some(Lead {
            engine: Engine::new(settings(), epoch),
            epoch,
            offset: 0,
            inbox: Vec::new(),
            callers: BTreeMap::new(),
            next_tag: 1,
            at: At::Loading,
            number: 0,
            wakes: 0,
            known: BTreeMap::new(),
            doubts: Vec::new(),
            stepped: Now { wall: Wall::from_ms(0), boot },
            settled: false,
        });
        self.tell(format_args!("m{master} leads, epoch {epoch}"));
        self.ask_store(master, ToStore::Load);
        self.no_answer(master, Waits::Load);
    }

    fn loaded(&mut self, master: usize, result: Result<hera_store::Snapshot, StoreError>) {
        let boot = self.boot_clock(master);
        let Some(lead) = self.lead(master).filter(|lead| matches!(lead.at, At::Loading)) else {
            return;
        };
        let Ok(snapshot) = result else {
            self.step_down(master);
            return;
        };
        lead.offset = snapshot.store_now.ms() - boot.ms();
        lead.known = snapshot.workers.iter().map(|row| (row.id, row.incarnation)).collect();
        let now = Now { wall: snapshot.store_now, boot };
        lead.engine.load(snapshot, now);
        (lead.at, lead.stepped, lead.settled) = (At::Idle, now, true);
        self.tell_master(master, 0, ToMaster::Renew);
        self.turn(master);
    }

    /// One batch: what has queued, or a tick.
    fn turn(&mut self, master: usize) {
        let now = self.both_clocks(master);
        let Some(own) = self.masters.get_mut(master) else { return };
        let Some(lead) = own.lead.as_mut().filter(|lead| matches!(lead.at, At::Idle)) else {
            return;
        };
        if !lead.doubts.is_empty() {
            let jobs = std::mem::take(&mut lead.doubts);
            self.read_again(master, jobs);
            return;
        }
        let mut inputs = std::mem::take(&mut lead.inbox);
        let due = lead.engine.wake_in(now) == Some(Duration::ZERO);
        if due || inputs.is_empty() {
            inputs.push(Tagged { tag: Tag(0), input: Input::Tick });
        }
        let step = lead.engine.step(now, &mut own.chance, inputs);
        (lead.stepped, lead.settled) = (now, false);
        if !must_commit(&step) {
            lead.settled = true;
            self.finish(master, step, &[]);
            self.rest(master);
            return;
        }
        lead.number += 1;
        let (number, epoch, batch) = (lead.number, lead.epoch, step.batch.clone());
        lead.at = At::Committing(Box::new(step), now.boot);
        self.ask_store(master, ToStore::Commit { number, epoch, batch });
        self.no_answer(master, Waits::Commit(number));
    }

    fn committed(&mut self, master: usize, number: u64, result: Result<Committed, StoreError>) {
        let Some(lead) = self.lead(master).filter(|lead| lead.number == number) else { return };
        let (step, sent) = match std::mem::replace(&mut lead.at, At::Idle) {
            At::Committing(step, sent) => (*step, sent),
            other @ (At::Loading | At::Idle | At::Reading(_)) => {
                lead.at = other;
                return;
            }
        };
        match result {
            Ok(committed) => {
                self.measured(master, sent, committed.store_now);
                let left_out = left_out(&step, &committed.outcomes);
                let all = committed.outcomes.iter().all(|outcome| *outcome == Outcome::Done);
                self.finish(master, step, &committed.outcomes);
                if all {
                    if let Some(lead) = self.lead(master) {
                        lead.settled = true;
                    }
                    self.compare(master);
                    self.rest(master);
                } else {
                    self.read_again(master, left_out);
                }
            }
            Err(StoreError::NotLeader) => self.step_down(master),
            Err(StoreError::Unavailable(_)) => self.unknown(master, step),
            // Told as wrong already, where it is.
            Err(_refused) => self.unknown(master, step),
        }
    }

    /// Nobody knows what became of the batch.
    fn unknown(&mut self, master: usize, step: Step) {
        let touched = jobs(step.touched.iter().flatten());
        self.tell(format_args!("m{master} has no answer to a commit"));
        for answer in step.answers {
            self.answer(master, answer.tag, None);
        }
        for effect in step.effects {
            if let Effect::Resolve(versions) = effect {
                self.ask_store(master, ToStore::Outcomes(versions));
            }
        }
        for wait in DOUBTS_MS {
            self.tell_master(master, wait, ToMaster::Doubt(touched.clone()));
        }
        self.read_again(master, touched);
    }

    fn doubt(&mut self, master: usize, jobs: Vec<JobId>) {
        let Some(lead) = self.lead(master) else { return };
        lead.doubts.extend(jobs);
        lead.doubts.sort_unstable();
        lead.doubts.dedup();
        self.tell_master(master, 0, ToMaster::Turn);
    }

    /// Whoever waits or asks meanwhile hears that nobody knows.
    fn read_again(&mut self, master: usize, jobs: Vec<JobId>) {
        let Some(lead) = self.lead(master) else { return };
        lead.at = At::Reading(jobs.clone());
        lead.settled = false;
        lead.number += 1;
        let number = lead.number;
        let waiting: Vec<Tag> = lead.inbox.drain(..).map(|tagged| tagged.tag).collect();
        for tag in waiting {
            self.answer(master, tag, None);
        }
        self.ask_store(master, ToStore::ReadAgain { number, scope: Scope::Jobs(jobs) });
        self.no_answer(master, Waits::ReadAgain(number));
    }

    fn read(
        &mut self,
        master: usize,
        number: u64,
        result: Result<hera_store::Snapshot, StoreError>,
    ) {
        let now = self.both_clocks(master);
        let Some(lead) = self.lead(master).filter(|lead| lead.number == number) else { return };
        let jobs = match std::mem::replace(&mut lead.at, At::Idle) {
            At::Reading(jobs) => jobs,
            other @ (At::Loading | At::Idle | At::Committing(..)) => {
                lead.at = other;
                return;
            }
        };
        match result {
            Ok(snapshot) => {
                lead.engine.reload(&jobs, snapshot, now);
                lead.settled = true;
                self.tell(format_args!("m{master} has read {} jobs again", jobs.len()));
                self.compare(master);
                self.rest(master);
            }
            Err(_away) => self.read_again(master, jobs),
        }
    }

    /// Waits for input, or for its time.
    fn rest(&mut self, master: usize) {
        let now = self.both_clocks(master);
        let host = self.masters.get(master).map(|own| own.host);
        let Some(lead) = self.lead(master) else { return };
        lead.wakes += 1;
        let (number, queued) = (lead.wakes, !lead.inbox.is_empty() || !lead.doubts.is_empty());
        let sleep = match lead.engine.wake_in(now) {
            Some(wake) if wake <= SLEEP_MAX => wake.min(SLEEP_SOON_MAX),
            Some(_) | None => SLEEP_MAX,
        };
        let real = host.map_or(0, |host| host.until(now.boot.plus(sleep), self.now));
        if queued {
            self.tell_master(master, 0, ToMaster::Turn);
        } else {
            self.tell_master(master, real, ToMaster::Wake(number));
        }
    }

    /// Answers and effects of a batch that is committed.
    fn finish(&mut self, master: usize, step: Step, outcomes: &[Outcome]) {
        for answer in step.answers {
            let all = answer.after.iter().all(|unit| done(outcomes, *unit));
            self.answer(master, answer.tag, all.then(|| held(answer.reply, outcomes)));
        }
        for effect in step.effects {
            if let Effect::Resolve(versions) = effect {
                self.ask_store(master, ToStore::Outcomes(versions));
            }
        }
    }

    fn renew(&mut self, master: usize) {
        let sent = self.boot_clock(master);
        let Some(lead) = self.lead(master) else { return };
        let epoch = lead.epoch;
        self.ask_store(master, ToStore::Renew { epoch, sent });
        self.tell_master(master, RENEW_MS, ToMaster::Renew);
    }

    fn renewed(&mut self, master: usize, sent: Boot, result: Result<Wall, StoreError>) {
        match result {
            Ok(store_now) => self.measured(master, sent, store_now),
            Err(StoreError::NotLeader) => self.step_down(master),
            Err(_away) => {}
        }
    }

    /// Puts an input of a caller into the queue, if a leader can take it.
    pub(super) fn put(&mut self, master: usize, caller: Caller, input: Input) -> bool {
        let Some(lead) = self.lead(master) else { return false };
        if matches!(lead.at, At::Loading | At::Reading(_)) {
            return false;
        }
        let tag = Tag(lead.next_tag);
        lead.next_tag += 1;
        lead.callers.insert(tag, caller);
        lead.inbox.push(Tagged { tag, input });
        if matches!(lead.at, At::Idle) {
            let wait = self.dice.below(4);
            self.tell_master(master, wait, ToMaster::Turn);
        }
        true
    }

    /// Looks whether somebody leads; if not, one of those that wait takes its turn.
    pub(super) fn watch(&mut self) {
        let now = self.now;
        self.after(2_000, Event::Watch);
        let leads = |own: &Master| own.up && own.lead.is_some() && own.stopped <= now;
        if self.masters.iter().any(leads) {
            return;
        }
        let waits = |own: &Master| own.up && own.lead.is_none() && own.stopped <= now;
        let waiting: Vec<usize> =
            self.masters.iter().enumerate().filter(|(_, own)| waits(own)).map(|(n, _)| n).collect();
        match self.dice.pick(&waiting) {
            Some(master) => self.seek(master),
            None if self.calm => self.after(0, Event::Boot(Machine::Master(0))),
            None => {}
        }
    }
}

pub(super) fn unavailable() -> StoreError {
    StoreError::Unavailable(Box::new(std::io::Error::other("no answer in time")))
}
