//! Tells watchers and log followers what has changed. A slow one misses something, and is told how much; nobody waits for it.

use std::sync::{Arc, OnceLock};

use dashmap::DashMap;
use hera_common::attempt::{Attempt, AttemptState};
use hera_common::id::Fence;
use hera_common::time::Wall;
use hera_engine::input::Change;
use tokio::sync::{Notify, broadcast};
use tracing::{debug, info};

/// How far a watcher may fall behind: some seconds of a busy leader.
const BEHIND_MAX: usize = 4_096;

/// A change, and when it was committed.
#[derive(Debug, Clone)]
pub(crate) struct Committed {
    pub(crate) at: Wall,
    pub(crate) change: Arc<Change>,
}

/// Whoever wants to hear of changes asks here. Copies share all.
#[derive(Debug, Clone)]
pub(crate) struct Changes {
    all: broadcast::Sender<Committed>,
    logs: Arc<DashMap<Fence, Arc<Followed>>>,
}

/// A log that somebody follows.
#[derive(Debug, Default)]
struct Followed {
    bell: Notify,
    /// How long it will be, once that is known.
    whole: OnceLock<u64>,
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self { all: broadcast::Sender::new(BEHIND_MAX), logs: Arc::default() }
    }

    /// All changes from now on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<Committed> {
        self.all.subscribe()
    }

    /// Tells a change to whoever watches.
    pub(crate) fn tell(&self, at: Wall, change: Change) {
        log(&change);
        if let Change::Run { attempt: Some(attempt), .. } = &change {
            // Whoever follows its log learns that it has ended.
            self.log_grew(attempt.fence);
        }
        let change = Arc::new(change);
        // No receiver is no fault: nobody watches.
        if self.all.send(Committed { at, change }).is_err() {
            tracing::trace!("nobody watches");
        }
    }

    /// Wakes whoever follows the log of this attempt.
    pub(crate) fn log_grew(&self, fence: Fence) {
        let bell = self.logs.get(&fence).map(|bell| Arc::clone(&bell));
        if let Some(followed) = bell {
            followed.bell.notify_waiters();
        }
    }

    /// Tells whoever follows the log of this attempt how long it will be.
    pub(crate) fn log_ends(&self, fence: Fence, bytes: u64) {
        if let Some(followed) = self.logs.get(&fence) {
            // The first report is as good as another one.
            followed.whole.get_or_init(|| bytes);
        }
    }

    /// Follows the log of an attempt until the answer is dropped.
    pub(crate) fn follow(&self, fence: Fence) -> LogBell {
        let followed = Arc::clone(&self.logs.entry(fence).or_default());
        LogBell { fence, followed, logs: Arc::clone(&self.logs) }
    }
}

fn ended(attempt: &Attempt) -> Option<&'static str> {
    match &attempt.state {
        AttemptState::Ended { end, .. } => Some(end.word()),
        AttemptState::Leased | AttemptState::Started => None,
    }
}

/// One line for each change of state, and no other.
fn log(change: &Change) {
    match change {
        Change::Action(action) if action.state.planned() => debug!(
            action.id = action.id.raw(),
            job.id = action.job.raw(),
            "planned action {} for {}",
            action.id,
            action.version
        ),
        Change::Action(action) => info!(
            action.id = action.id.raw(),
            job.id = action.job.raw(),
            "action {} of {} is {}",
            action.id,
            action.version,
            action.state
        ),
        Change::Run { run, attempt: Some(attempt) }
            if !run.state.ended() && ended(attempt).is_some() =>
        {
            info!(
                run.id = run.id.raw(),
                action.id = run.action.raw(),
                job.id = run.job.raw(),
                attempt.id = attempt.fence.raw(),
                attempt.number = attempt.number,
                trigger.cause = run.trigger.label(),
                "attempt {} of run {} is {}, the run is {}",
                attempt.number,
                run.id,
                ended(attempt).unwrap_or_default(),
                run.state
            );
        }
        Change::Run { run, attempt } => info!(
            run.id = run.id.raw(),
            action.id = run.action.raw(),
            job.id = run.job.raw(),
            attempt.id = attempt.as_ref().map(|attempt| attempt.fence.raw()),
            attempt.number = attempt.as_ref().map(|attempt| attempt.number),
            trigger.cause = run.trigger.label(),
            "run {} is {}",
            run.id,
            run.state
        ),
        Change::Worker { name, state } => info!(worker.name = name, "worker {name} is {state}"),
        Change::Gap { job, from, to, count, reason } => info!(
            job.id = job.raw(),
            slot_count = count,
            reason,
            "{count} slots of job {job} from {from} to {to} became no action"
        ),
    }
}

/// Rings when an attempt's log has grown.
#[derive(Debug)]
pub(crate) struct LogBell {
    fence: Fence,
    followed: Arc<Followed>,
    logs: Arc<DashMap<Fence, Arc<Followed>>>,
}

impl LogBell {
    /// What rings. Enable it before reading the log, so that nothing falls in between.
    pub(crate) fn bell(&self) -> &Notify {
        &self.followed.bell
    }

    /// How long the log is, once its attempt has ended and the worker has said so.
    pub(crate) fn whole(&self) -> Option<u64> {
        self.followed.whole.get().copied()
    }
}

impl Drop for LogBell {
    fn drop(&mut self) {
        // The map's and this one's: nobody else follows.
        self.logs.remove_if(&self.fence, |_fence, bell| Arc::strong_count(bell) <= 2);
    }
}

#[cfg(test)]
mod tests {
    use hera_common::id::Fence;

    use super::Changes;

    #[tokio::test]
    async fn a_bell_rings_for_its_log_alone_and_leaves_nothing_behind() {
        let changes = Changes::new();
        let (first, other) =
            (changes.follow(Fence::from_raw(1)), changes.follow(Fence::from_raw(2)));
        {
            let rings = first.bell().notified();
            let silent = other.bell().notified();
            tokio::pin!(rings, silent);
            rings.as_mut().enable();
            silent.as_mut().enable();
            changes.log_grew(Fence::from_raw(1));
            rings.await;
            assert!(futures::poll!(silent.as_mut()).is_pending());
        }

        let twin = changes.follow(Fence::from_raw(1));
        drop(first);
        assert_eq!(changes.logs.len(), 2);
        drop(twin);
        drop(other);
        assert!(changes.logs.is_empty());
    }

    #[tokio::test]
    async fn the_length_of_a_log_is_known_as_long_as_somebody_follows_it() {
        let changes = Changes::new();
        let fence = Fence::from_raw(1);
        changes.log_ends(fence, 3);
        let first = changes.follow(fence);
        assert_eq!(first.whole(), None, "nobody followed");
        changes.log_ends(fence, 7);
        let second = changes.follow(fence);
        assert_eq!((first.whole(), second.whole()), (Some(7), Some(7)));
        drop((first, second));
        assert_eq!(changes.logs.len(), 0);
    }
}
