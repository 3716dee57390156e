//! A master's shell in small: inbox, step, commit, answers, effects, reading again. As the real one, and without its threads.

use std::time::Duration;

use hera_common::id::{Epoch, JobId, WorkerId};
use hera_common::time::{Boot, Now, Wall};
use hera_common::unit::{Committed, Outcome};
use hera_engine::input::{Effect, Input, Step, Tag, Tagged};
use hera_engine::outcome::{done, held, jobs, left_out, must_commit};
use hera_engine::{Engine, Settings};
use hera_store::{Scope, StoreError};

use std::collections::BTreeMap;

use super::check::Observed;
use super::dice::Dice;
use super::event::{Answer, Caller, Event, ToMaster, ToStore, Waits};
use super::mutation::Mutation;
use super::standby::Sighting;
use super::world::{Host, World};

/// How long a master waits for one answer of the store.
const STORE_MS: i64 = 1_000;
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
    pub(super) sighting: Option<Sighting>,
    /// Counts looks at the row of leadership, so that late answers are known.
    pub(super) looks: u64,
    chance: Dice,
}

/// What a leader holds.
pub(super) struct Lead {
    pub(super) engine: Engine,
    pub(super) epoch: Epoch,
    /// The store's wall clock minus this host's boot clock, as last measured.
    pub(super) offset: i64,
    pub(super) inbox: Vec<Tagged>,
    pub(super) callers: BTreeMap<Tag, Caller>,
    pub(super) next_tag: u64,
    pub(super) at: At,
    /// Counts commits and reads, so that late answers are known.
    pub(super) number: u64,
    pub(super) wakes: u64,
    /// Workers that registered with it, or that it has read of.
    pub(super) known: BTreeMap<WorkerId, hera_common::id::Incarnation>,
    pub(super) stepped: Now,
    /// No unit of it is in flight or in doubt.
    pub(super) settled: bool,
    /// When the last renewal that succeeded was sent.
    pub(super) renewed: Boot,
    /// What it has seen of holds, counted apart from the engine.
    pub(super) observed: Observed,
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
    /// Takes the next epoch, since nobody knows what became of a commit; these jobs are then read again.
    Advancing(Vec<JobId>),
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
            sighting: None,
            looks: 0,
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
        own.sighting = None;
        self.tell(format_args!("m{master} starts"));
        self.stand_by(master);
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

    /// It learns that another one leads, or may.
    pub(super) fn step_down(&mut self, master: usize) {
        let Some(own) = self.masters.get_mut(master) else { return };
        own.life += 1;
        own.sighting = None;
        let lead = own.lead.take();
        self.tell(format_args!("m{master} steps down"));
        let lost = self.without(Mutation::NotLeaderIsLost);
        let answer = if lost { Answer::Lost } else { Answer::NotLeading(None) };
        if let Some(lead) = lead {
            for caller in lead.callers.into_values() {
                self.reply_of((master, lead.epoch), caller, &answer);
            }
        }
        self.stand_by(master);
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
            ToMaster::Look => self.look_who_leads(master),
            ToMaster::Sighted { number, row } => self.sighted(master, number, row),
            ToMaster::NoAnswer(Waits::Look(number)) => {
                self.sighted(master, number, Err(unavailable()));
            }
            ToMaster::Acquired(Ok(Some(epoch))) => self.begin_term(master, epoch),
            ToMaster::Acquired(_) | ToMaster::NoAnswer(Waits::Acquire) => self.give_up(master),
            ToMaster::PollGone(caller) => self.poll_gone(master, caller),
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
            ToMaster::Advanced { number, result } => self.advanced(master, number, result),
            ToMaster::NoAnswer(Waits::Advance(number)) => {
                self.advanced(master, number, Err(unavailable()));
            }
            ToMaster::ReadAgain { number, result } => self.read(master, number, result),
            ToMaster::NoAnswer(Waits::ReadAgain(number)) => {
                self.read(master, number, Err(unavailable()));
            }
            ToMaster::Renew => self.renew(master),
            ToMaster::Renewed { epoch, sent, result } => {
                self.renewed(master, (epoch, sent), result);
            }
            ToMaster::Outcomes { asked, ends } => self.outcomes(master, asked, ends),
            ToMaster::Looked { caller, said } => self.looked(master, caller, said),
        }
    }

    pub(super) fn lead(&mut self, master: usize) -> Option<&mut Lead> {
        self.masters.get_mut(master)?.lead.as_mut()
    }

    pub(super) fn boot_clock(&self, master: usize) -> Boot {
        self.masters.get(master).map_or(Boot::from_ms(0), |own| own.host.boot(self.now))
    }

    fn both_clocks(&mut self, master: usize) -> Now {
        let boot = self.boot_clock(master);
        let offset = self.lead(master).map_or(0, |lead| lead.offset);
        Now { wall: Wall::from_ms(boot.ms() + offset), boot }
    }

    /// The store's clock was `store_now` between then and now. An offset that this allows stays as it is.
    pub(super) fn measured(&mut self, master: usize, sent: Boot, store_now: Wall) {
        let boot = self.boot_clock(master);
        if let Some(lead) = self.lead(master) {
            let lowest = store_now.ms() - boot.ms();
            lead.offset = lead.offset.clamp(lowest, (store_now.ms() - sent.ms()).max(lowest));
        }
    }

    pub(super) fn tell_master(&mut self, master: usize, wait: i64, what: ToMaster) {
        let Some(life) = self.masters.get(master).map(|own| own.life) else { return };
        self.after(wait, Event::Master { master, life, what: Box::new(what) });
    }

    pub(super) fn no_answer(&mut self, master: usize, waits: Waits) {
        self.tell_master(master, STORE_MS, ToMaster::NoAnswer(waits));
    }

    /// Another master was quicker, or the store is away.
    fn give_up(&mut self, master: usize) {
        if self.masters.get(master).is_some_and(|own| own.lead.is_none()) {
            self.stand_by(master);
        }
    }

    /// One batch: what has queued, or a tick.
    pub(super) fn turn(&mut self, master: usize) {
        let real = self.both_clocks(master);
        let now = self.judged_by(real);
        let Some(own) = self.masters.get_mut(master) else { return };
        let Some(lead) = own.lead.as_mut().filter(|lead| matches!(lead.at, At::Idle)) else {
            return;
        };
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
        self.check_windows(master, &step, real.boot);
        let step = if self.without(Mutation::AnswerBeforeCommit) {
            self.answer_at_once(master, step)
        } else {
            step
        };
        let Some(lead) = self.lead(master) else { return };
        lead.number += 1;
        let (number, epoch, batch) = (lead.number, lead.epoch, step.batch.clone());
        lead.at = At::Committing(Box::new(step), real.boot);
        self.ask_store(master, ToStore::Commit { number, epoch, batch });
        self.no_answer(master, Waits::Commit(number));
    }

    /// As if all units were written.
    fn answer_at_once(&mut self, master: usize, mut step: Step) -> Step {
        let all = vec![Outcome::Done; step.batch.units.len()];
        let answers = std::mem::take(&mut step.answers);
        let told = Step { answers, effects: std::mem::take(&mut step.effects), ..Step::default() };
        self.finish(master, told, &all);
        step
    }

    fn committed(&mut self, master: usize, number: u64, result: Result<Committed, StoreError>) {
        let Some(lead) = self.lead(master).filter(|lead| lead.number == number) else { return };
        let (step, sent) = match std::mem::replace(&mut lead.at, At::Idle) {
            At::Committing(step, sent) => (*step, sent),
            other @ (At::Loading | At::Idle | At::Advancing(_) | At::Reading(_)) => {
                lead.at = other;
                return;
            }
        };
        match result {
            Ok(committed) => {
                self.measured(master, sent, committed.store_now);
                let boot = self.boot_clock(master);
                if let Some(lead) = self.lead(master) {
                    lead.observed.committed(&step.batch, &committed.outcomes, boot);
                }
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
        self.begin_next_epoch(master, touched);
    }

    /// What is still under way of the present epoch was written before the next one begins, or never will be.
    fn begin_next_epoch(&mut self, master: usize, touched: Vec<JobId>) {
        let Some(lead) = self.lead(master) else { return };
        lead.number += 1;
        let (number, epoch) = (lead.number, lead.epoch);
        lead.at = At::Advancing(touched);
        lead.settled = false;
        self.ask_store(master, ToStore::Advance { number, epoch });
        self.no_answer(master, Waits::Advance(number));
    }

    fn advanced(&mut self, master: usize, number: u64, result: Result<Epoch, StoreError>) {
        let Some(lead) = self.lead(master).filter(|lead| lead.number == number) else { return };
        let jobs = match &lead.at {
            At::Advancing(jobs) => jobs.clone(),
            At::Loading | At::Idle | At::Committing(..) | At::Reading(_) => return,
        };
        match result {
            Ok(epoch) => {
                lead.epoch = epoch;
                lead.engine.leads_as(epoch);
                self.tell(format_args!("m{master} leads on, epoch {epoch}"));
                self.read_again(master, jobs);
            }
            Err(StoreError::NotLeader) => self.step_down(master),
            Err(_away) => self.begin_next_epoch(master, jobs),
        }
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
        let real = self.both_clocks(master);
        let now = self.judged_by(real);
        let Some(lead) = self.lead(master).filter(|lead| lead.number == number) else { return };
        let jobs = match std::mem::replace(&mut lead.at, At::Idle) {
            At::Reading(jobs) => jobs,
            other @ (At::Loading | At::Idle | At::Committing(..) | At::Advancing(_)) => {
                lead.at = other;
                return;
            }
        };
        match result {
            Ok(snapshot) => {
                lead.observed.read(&snapshot, real.boot);
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
        let real = self.both_clocks(master);
        let now = self.judged_by(real);
        let host = self.masters.get(master).map(|own| own.host);
        let Some(lead) = self.lead(master) else { return };
        lead.wakes += 1;
        let (number, queued) = (lead.wakes, !lead.inbox.is_empty());
        let sleep = match lead.engine.wake_in(now) {
            Some(wake) if wake <= SLEEP_MAX => wake.min(SLEEP_SOON_MAX),
            Some(_) | None => SLEEP_MAX,
        };
        let real = host.map_or(0, |host| host.until(real.boot.plus(sleep), self.now));
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

    /// Puts an input of a caller into the queue, if a leader can take it.
    pub(super) fn put(&mut self, master: usize, caller: Caller, input: Input) -> bool {
        let Some(lead) = self.lead(master) else { return false };
        if matches!(lead.at, At::Loading | At::Advancing(_) | At::Reading(_)) {
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
}

pub(super) fn unavailable() -> StoreError {
    StoreError::Unavailable(Box::new(std::io::Error::other("no answer in time")))
}
