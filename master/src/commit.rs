//! The loop of a leader: takes what is queued, lets the engine decide, commits, and only then answers. It owns the engine
//! for one term, and must not decide anything itself.

mod answer;
mod apart;
mod reload;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hera_common::id::{Epoch, JobId};
use hera_common::snapshot::Snapshot;
use hera_common::time::Now;
use hera_common::unit::{Batch, Committed, Outcome};
use hera_engine::catalog::Catalog;
use hera_engine::input::{Effect, Input, Step, Tag, Tagged};
use hera_engine::outcome::{done, jobs, left_out, must_commit};
use hera_engine::{Chance, Engine};
use hera_store::{Candidate, Store, StoreError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::chance::SystemChance;
use crate::changes::Changes;
use crate::clock::Clock;
use crate::desk::{Ask, Desk, INBOX_MAX, Told, Unanswered};
use crate::metrics::Metrics;
use crate::role::OwnEpoch;
use crate::tasks::Tasks;
use hera_common::chain::Chain;

/// What the loop asks of the engine; a test gives a scripted one.
pub(crate) trait Decide: Send {
    fn reload(&mut self, jobs: &[JobId], snapshot: Snapshot, now: Now);
    fn step(&mut self, now: Now, chance: &mut dyn Chance, inputs: Vec<Tagged>) -> Step;
    fn wake_in(&mut self, now: Now) -> Option<Duration>;
    fn catalog(&self) -> Arc<Catalog>;
    fn leads_as(&mut self, epoch: Epoch);
}

impl Decide for Engine {
    fn reload(&mut self, jobs: &[JobId], snapshot: Snapshot, now: Now) {
        Self::reload(self, jobs, snapshot, now);
    }

    fn step(&mut self, now: Now, chance: &mut dyn Chance, inputs: Vec<Tagged>) -> Step {
        Self::step(self, now, chance, inputs)
    }

    fn wake_in(&mut self, now: Now) -> Option<Duration> {
        Self::wake_in(self, now)
    }

    fn catalog(&self) -> Arc<Catalog> {
        Self::catalog(self)
    }

    fn leads_as(&mut self, epoch: Epoch) {
        Self::leads_as(self, epoch);
    }
}

/// How a term is told to end.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// After the commit that is in flight.
    pub(crate) stop: CancellationToken,
    /// At once: this master leads no more.
    pub(crate) lost: CancellationToken,
}

/// Why the loop ended.
#[derive(Debug)]
pub(crate) enum LoopEnd {
    /// It was told to stop, and nothing is in flight.
    Stopped,
    /// Another master leads, or may.
    NotLeader,
    /// The store cannot be used; starting again does not help.
    Unusable(StoreError),
}

/// What the loop needs of its surroundings.
#[derive(Clone)]
pub(crate) struct Around {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) changes: Changes,
    pub(crate) metrics: Metrics,
    pub(crate) tasks: Tasks,
}

/// The loop's own state.
pub(crate) struct CommitLoop<E> {
    engine: E,
    epoch: OwnEpoch,
    me: Candidate,
    chance: SystemChance,
    around: Around,
    term: Term,
    desk: Desk,
    inbox: mpsc::Receiver<Ask>,
    callers: BTreeMap<Tag, oneshot::Sender<Told>>,
    catalog: watch::Sender<Arc<Catalog>>,
    /// Commits that failed since the last one that did not.
    failures: u32,
}

/// No answer for this long is none: large applies take seconds, and a store that is gone is found by the renewals first.
const COMMIT_MAX: Duration = Duration::from_secs(60);
/// What is due and cannot be done keeps no processor busy.
const SLEEP_MIN: Duration = Duration::from_millis(1);
/// The longest sleep while something is due within [`SOON`]: the clock is read again at each wake.
const SLEEP_SOON_MAX: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(60);
/// The longest sleep at all.
const SLEEP_MAX: Duration = Duration::from_secs(60);

/// What a term begins with.
pub(crate) struct Begin<E> {
    pub(crate) engine: E,
    pub(crate) epoch: OwnEpoch,
    /// As the row of leadership names its holder.
    pub(crate) me: Candidate,
    pub(crate) term: Term,
    pub(crate) desk: Desk,
    pub(crate) inbox: mpsc::Receiver<Ask>,
    pub(crate) catalog: watch::Sender<Arc<Catalog>>,
}

impl<E: Decide> CommitLoop<E> {
    /// A loop round an engine that has loaded.
    pub(crate) fn new(begin: Begin<E>, around: Around) -> Self {
        let Begin { engine, epoch, me, term, desk, inbox, catalog } = begin;
        let chance = SystemChance;
        let callers = BTreeMap::new();
        Self { engine, epoch, me, chance, around, term, desk, inbox, callers, catalog, failures: 0 }
    }

    /// Runs until the term ends. The first batch begins with a tick, so that what was missed is decided before polls are
    /// answered.
    pub(crate) async fn run(mut self) -> LoopEnd {
        let mut asks = Vec::with_capacity(INBOX_MAX);
        let mut inputs = vec![self.tick()];
        loop {
            // What has queued in the meantime is part of this batch.
            while inputs.len() < INBOX_MAX
                && let Ok(ask) = self.inbox.try_recv()
            {
                inputs.push(self.admit(ask));
            }
            if let Err(end) = self.turn(std::mem::take(&mut inputs)).await {
                return end;
            }
            let now = self.around.clock.now();
            let sleep = sleep(self.engine.wake_in(now));
            tokio::select! {
                biased;
                () = self.term.lost.cancelled() => return LoopEnd::NotLeader,
                () = self.term.stop.cancelled() => return LoopEnd::Stopped,
                _count = self.inbox.recv_many(&mut asks, INBOX_MAX) => {}
                () = tokio::time::sleep(sleep) => {}
            }
            let due = self.engine.wake_in(self.around.clock.now()) == Some(Duration::ZERO);
            if due || asks.is_empty() {
                inputs.push(self.tick());
            }
            for ask in asks.drain(..) {
                inputs.push(self.admit(ask));
            }
        }
    }

    fn tick(&self) -> Tagged {
        Tagged { tag: self.desk.tag(), input: Input::Tick }
    }

    fn admit(&mut self, ask: Ask) -> Tagged {
        let Ask { tag, input, reply } = ask;
        if let Some(reply) = reply {
            self.callers.insert(tag, reply);
        }
        Tagged { tag, input }
    }

    /// One batch: decide, commit, answer.
    async fn turn(&mut self, inputs: Vec<Tagged>) -> Result<(), LoopEnd> {
        let count = inputs.len();
        let step = self.engine.step(self.around.clock.now(), &mut self.chance, inputs);
        debug!(input_count = count, unit_count = step.batch.units.len(), "decided a batch");
        if !must_commit(&step) {
            self.finish(step, &[]);
            return Ok(());
        }
        let committed = match self.commit(&step.batch).await {
            Err(StoreError::Corrupt { .. }) => self.commit_apart(&step.batch).await,
            other => other,
        };
        match committed {
            Ok(committed) => self.committed(step, &committed).await,
            Err(StoreError::NotLeader) => Err(LoopEnd::NotLeader),
            Err(error @ StoreError::Unusable(_)) => Err(LoopEnd::Unusable(error)),
            Err(
                error @ (StoreError::Unavailable(_)
                | StoreError::Corrupt { .. }
                | StoreError::BadMark(_)),
            ) => {
                warn!(error = %Chain(&error), unit_count = step.batch.units.len(), "a commit failed");
                self.failed(step).await
            }
        }
    }

    async fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let sent = self.around.clock.boot();
        let committed = tokio::select! {
            biased;
            () = self.term.lost.cancelled() => return Err(StoreError::NotLeader),
            done = tokio::time::timeout(COMMIT_MAX, self.around.store.commit(self.epoch.get(), batch)) => {
                let done = done.map_err(|elapsed| StoreError::Unavailable(Box::new(elapsed)));
                done.and_then(|committed| committed)
            }
        };
        let took = self.around.clock.boot().since(sent);
        let committed = committed.inspect_err(|_error| self.around.metrics.commit_failed(took))?;
        self.around.metrics.committed(took, &committed.outcomes);
        self.around.clock.measured(sent, committed.store_now);
        Ok(committed)
    }

    async fn committed(&mut self, step: Step, committed: &Committed) -> Result<(), LoopEnd> {
        self.failures = 0;
        let left_out = left_out(&step, &committed.outcomes);
        let all_done = committed.outcomes.iter().all(|outcome| *outcome == Outcome::Done);
        if all_done {
            // Before the answers, so that a caller reads what it has just written.
            self.publish();
        }
        self.finish(step, &committed.outcomes);
        if all_done {
            return Ok(());
        }
        warn!(job_count = left_out.len(), "units were left out, their jobs are read again");
        self.read_again(&left_out).await
    }

    /// Nobody knows what became of the batch.
    async fn failed(&mut self, step: Step) -> Result<(), LoopEnd> {
        let touched = jobs(step.touched.iter().flatten());
        for answer in step.answers {
            self.tell(answer.tag, Err(Unanswered::Unknown));
        }
        for effect in step.effects {
            // A question to the store is asked all the same; what was to be told never happened.
            if let Effect::Resolve(versions) = effect {
                self.resolve(versions);
            }
        }
        // What fails again and again is tried less often.
        let wait = reload::backoff(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.pause(wait).await?;
        self.begin_next_epoch().await?;
        self.read_again(&touched).await
    }

    fn publish(&self) {
        let catalog = self.engine.catalog();
        self.catalog.send_if_modified(|old| {
            let changed = !Arc::ptr_eq(old, &catalog);
            *old = catalog;
            changed
        });
    }

    /// Gives the answers and performs the effects of a batch that is committed.
    fn finish(&mut self, step: Step, outcomes: &[Outcome]) {
        for answer in step.answers {
            let told = answer::told(answer.reply, &answer.after, outcomes);
            self.tell(answer.tag, told);
        }
        let at = self.around.clock.now().wall;
        for effect in step.effects {
            match effect {
                Effect::Resolve(versions) => self.resolve(versions),
                Effect::Changed { unit, change } => {
                    if done(outcomes, unit) {
                        self.around.metrics.changed(&change);
                        self.around.changes.tell(at, change);
                    }
                }
            }
        }
    }

    fn tell(&mut self, tag: Tag, told: Told) {
        let Some(caller) = self.callers.remove(&tag) else { return };
        if caller.send(told).is_err() {
            debug!("a caller left before its answer");
        }
    }
}

/// How long to sleep when the engine wants to wake in `wake`.
fn sleep(wake: Option<Duration>) -> Duration {
    match wake {
        Some(wake) if wake <= SOON => wake.clamp(SLEEP_MIN, SLEEP_SOON_MAX),
        Some(_) | None => SLEEP_MAX,
    }
}
