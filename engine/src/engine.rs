//! The engine as the shell sees it: load, step, and when to step again.

mod by_hand;
mod calendars;
mod definitions;
mod difference;
mod dispatch;
mod due;
mod generate;
mod grant;
mod holders;
mod load;
mod look;
mod missed;
mod verbs;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hera_common::doc::GroupDoc;
use hera_common::id::{Epoch, JobId, RunId, Token, WorkerId};
use hera_common::time::{Boot, Now, Version, Wall};
use hera_common::unit::Marks;
use hera_common::worker::WorkerRow;

use crate::catalog::Catalog;
use crate::handler::Handler;
use crate::input::{Input, Reply, Step, Tag, Tagged, VersionKey};
use crate::lease::{Holds, Windows};
use crate::plan::Memo;
use crate::poll::{Polls, Spent};
use crate::queue::Queue;
use crate::stage::Stage;

pub(crate) use difference::{differ, maps};

/// Randomness from outside: the system's in a master, a seed's in a simulation.
pub trait Chance: Send {
    /// Sixty-four random bits.
    fn bits(&mut self) -> u64;
}

/// Numbers that the operator can set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A grant that is not started within this (and `grace`) goes back to the queue.
    pub accept: Duration,
    /// Added to a lease before it is judged to have run out; saves needless takeovers.
    pub grace: Duration,
    /// How far a boot clock may run wrong, parts per million.
    pub rho_ppm: u32,
    /// How long an open poll waits.
    pub poll: Duration,
    /// What holds above all groups. `hera dev` sets `hera.dir`, and catch-up `last` as the default.
    pub base: GroupDoc,
}

impl Settings {
    /// What holds where the operator says nothing, milliseconds and parts per million: the command line's, too.
    pub const ACCEPT_MS: u32 = 10_000;
    pub const GRACE_MS: u32 = 3_000;
    pub const POLL_MS: u32 = 20_000;
    pub const RHO_PPM: u32 = 10_000;
}

impl Default for Settings {
    fn default() -> Self {
        let ms = |ms: u32| Duration::from_millis(u64::from(ms));
        Self {
            accept: ms(Self::ACCEPT_MS),
            grace: ms(Self::GRACE_MS),
            rho_ppm: Self::RHO_PPM,
            poll: ms(Self::POLL_MS),
            base: GroupDoc::default(),
        }
    }
}

/// A worker as the leader knows it.
#[derive(Debug)]
struct Worker {
    row: WorkerRow,
    /// When it was last heard of; None: not since this master leads.
    heard: Option<Boot>,
    /// It said that it goes.
    gone: bool,
    held: BTreeSet<RunId>,
    /// As it said with its last poll.
    takes_nothing: String,
    /// What it holds, or believes to hold, and shall beat for at once: told by its next poll.
    look: BTreeSet<Token>,
}

/// All decisions of a leader. One owner steps it; between steps the owner commits.
pub struct Engine {
    settings: Settings,
    epoch: Epoch,
    catalog: Arc<Catalog>,
    marks: Marks,
    handlers: BTreeMap<JobId, Handler>,
    /// Which actions wait for an upstream version.
    waiters: BTreeMap<VersionKey, BTreeSet<VersionKey>>,
    /// Of jobs that run by hand only the newest versions that have an action, oldest first.
    by_hand: BTreeMap<JobId, Vec<Version>>,
    run_of: BTreeMap<RunId, JobId>,
    /// The held run of a token, and the worker that holds it.
    token_of: BTreeMap<Token, RunId>,
    holder_of: BTreeMap<RunId, (Token, WorkerId)>,
    /// When each job's next planned action is due.
    due: BTreeSet<(Version, JobId)>,
    due_of: BTreeMap<JobId, Version>,
    /// Jobs whose rows must be made further ahead.
    to_extend: VecDeque<JobId>,
    /// What was computed for the jobs looked at before, and the edition of the catalog for which it holds.
    planned: (u64, Memo),
    /// When all jobs' rows are looked at again.
    extend_at: Wall,
    queue: Queue,
    holds: Holds,
    polls: Polls,
    workers: BTreeMap<WorkerId, Worker>,
    /// On which worker the last attempt of a live run came to nothing.
    failed_on: BTreeMap<RunId, WorkerId>,
    /// When the memory was built.
    since: Boot,
    /// Upstream versions that the store was asked for.
    asked: BTreeSet<VersionKey>,
    /// Upstream versions to ask the store for.
    to_ask: BTreeSet<VersionKey>,
    /// Actions that were read, and whose edges say what is to be done with them.
    to_settle: BTreeSet<VersionKey>,
    spent: Spent,
}

impl Engine {
    /// An engine that knows nothing yet; [`Engine::load`] follows.
    pub fn new(settings: Settings, epoch: Epoch) -> Self {
        let catalog = Catalog { base: settings.base.clone(), ..Catalog::default() };
        Self {
            settings,
            epoch,
            catalog: Arc::new(catalog),
            marks: Marks::default(),
            handlers: BTreeMap::new(),
            waiters: BTreeMap::new(),
            by_hand: BTreeMap::new(),
            run_of: BTreeMap::new(),
            token_of: BTreeMap::new(),
            holder_of: BTreeMap::new(),
            due: BTreeSet::new(),
            due_of: BTreeMap::new(),
            to_extend: VecDeque::new(),
            planned: (0, Memo::default()),
            extend_at: Wall::from_ms(i64::MIN),
            queue: Queue::default(),
            holds: Holds::default(),
            polls: Polls::default(),
            workers: BTreeMap::new(),
            failed_on: BTreeMap::new(),
            since: Boot::from_ms(0),
            asked: BTreeSet::new(),
            to_ask: BTreeSet::new(),
            to_settle: BTreeSet::new(),
            spent: Spent::default(),
        }
    }

    /// Takes a batch of inputs. Memory runs ahead of the store until the owner has committed; the next step follows
    /// only then, with clocks read after the store's answer.
    pub fn step(&mut self, now: Now, chance: &mut dyn Chance, inputs: Vec<Tagged>) -> Step {
        self.holds.settle(now.boot);
        self.spent.forget(now.boot);
        let mut stage = Stage::default();
        let mut at = At { now, stage: &mut stage, chance };
        self.run_due(&mut at);
        for Tagged { tag, input } in inputs {
            self.take(&mut at, tag, input);
        }
        self.grant_all(&mut at);
        self.answer_polls(&mut at);
        self.ask_store(&mut at);
        stage.finish(self.marks)
    }

    fn take(&mut self, at: &mut At<'_>, tag: Tag, input: Input) {
        match input {
            Input::Tick => at.stage.answer(tag, [], Reply::Done),
            Input::Apply(set) => self.apply(at, tag, &set),
            Input::DeleteCalendar { asked, name } => {
                self.delete_calendar(at, tag, &asked, name);
            }
            Input::DeleteJob { asked, job } => self.delete_job(at, tag, &asked, job),
            Input::Run { asked, action, set } => self.manual(at, tag, &asked, *action, set),
            Input::RunNow { asked, job, set } => self.run_now(at, tag, &asked, (job, set)),
            Input::Recover { asked, action } => self.recover(at, tag, &asked, *action),
            Input::Cancel { asked, action } => self.cancel(at, tag, &asked, *action),
            Input::Register(registration) => self.register(at, tag, registration),
            Input::Poll { worker, incarnation, tokens, takes_nothing } => {
                if let Some(worker) = self.workers.get_mut(&worker) {
                    worker.takes_nothing = takes_nothing;
                }
                self.poll(at, tag, (worker, incarnation), tokens);
            }
            Input::PollGone { poll } => {
                // Nobody listens any more: what it was given in this step is told again when the tokens come back.
                // Its worker was there until now.
                if let Some(closed) = self.polls.close(poll) {
                    self.heard(closed.worker, at.now.boot);
                }
            }
            Input::Start { items } => self.start(at, tag, &items),
            Input::Heartbeat { items, kill_failed } => {
                self.heartbeat(at, tag, &items, &kill_failed);
            }
            Input::Finish { items } => self.finish(at, tag, items),
            Input::Release { items } => self.release(at, tag, items),
            Input::Deregister { worker, incarnation, gone } => {
                self.deregister(at, tag, (worker, incarnation), gone);
            }
            Input::Resolved { asked, ends } => {
                self.resolved(at, &asked, &ends);
                at.stage.answer(tag, [], Reply::Done);
            }
            Input::Queue => {
                let queue = self.queue_now(at.now.boot);
                at.stage.answer(tag, [], Reply::Queue(queue));
            }
            Input::Standing => {
                let standing = self.standing(at.now);
                at.stage.answer(tag, [], Reply::Standing(standing));
            }
        }
    }

    /// How long until a tick is wanted, if no input comes; None: not before one comes. To be asked with clocks read
    /// after the commit.
    pub fn wake_in(&mut self, now: Now) -> Option<Duration> {
        self.holds.settle(now.boot);
        if !(self.to_extend.is_empty() && self.to_ask.is_empty() && self.to_settle.is_empty()) {
            return Some(Duration::ZERO);
        }
        let due = self.due.first().map(|&(version, _job)| version.due());
        let walls = [due, self.queue.next_due(), Some(self.extend_at)];
        let boots = [self.holds.next_end(), self.polls.next_end()];
        let walls = walls.into_iter().flatten().map(|wall| wall.since(now.wall));
        walls.chain(boots.into_iter().flatten().map(|boot| boot.since(now.boot))).min()
    }

    /// The definitions as they are now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    /// Its leader has taken the next epoch, and leads on.
    pub const fn leads_as(&mut self, epoch: Epoch) {
        self.epoch = epoch;
    }

    /// The epoch in which it leads.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    fn windows(&self) -> Windows {
        Windows {
            accept: self.settings.accept,
            grace: self.settings.grace,
            rho_ppm: self.settings.rho_ppm,
        }
    }
}

/// What a step carries through the engine.
struct At<'a> {
    now: Now,
    stage: &'a mut Stage,
    chance: &'a mut dyn Chance,
}
