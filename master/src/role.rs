//! What this master is at the moment, for all who must know: standby, about to lead, or leader. It must not change it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use dashmap::DashMap;
use hera_common::id::{Epoch, Fence, Incarnation, Token, WorkerId};
use hera_engine::catalog::Catalog;
use tokio::sync::watch;

use crate::desk::Desk;

/// What this master is.
#[derive(Debug, Clone)]
pub(crate) enum Role {
    /// Another leads, or nobody.
    Standby {
        leader: Option<String>,
    },
    /// Has the epoch, and reads what is active.
    Activating,
    Leading(Lead),
    /// On its way out.
    Stopping,
}

/// The epoch in which this master leads. It grows within a term where nobody knows what became of a commit; all copies
/// see that.
#[derive(Debug, Clone)]
pub(crate) struct OwnEpoch(Arc<AtomicI64>);

impl OwnEpoch {
    pub(crate) fn new(epoch: Epoch) -> Self {
        Self(Arc::new(AtomicI64::new(epoch.raw())))
    }

    pub(crate) fn get(&self) -> Epoch {
        Epoch::from_raw(self.0.load(Ordering::Acquire))
    }

    pub(crate) fn set(&self, epoch: Epoch) {
        self.0.store(epoch.raw(), Ordering::Release);
    }
}

/// What serves requests during one term.
#[derive(Debug, Clone)]
pub(crate) struct Lead {
    pub(crate) epoch: OwnEpoch,
    pub(crate) desk: Desk,
    pub(crate) catalog: watch::Receiver<Arc<Catalog>>,
    pub(crate) known: Arc<Known>,
}

/// What requests of workers are checked against without asking the loop or the store.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) workers: DashMap<WorkerId, KnownWorker>,
    /// Attempts granted in this term, for their logs.
    pub(crate) fences: DashMap<Token, Fence>,
}

/// A worker's name and present registration.
#[derive(Debug, Clone)]
pub(crate) struct KnownWorker {
    pub(crate) name: String,
    pub(crate) incarnation: Incarnation,
}

/// How many tokens are remembered before all are read from the store again.
const FENCES_MAX: usize = 100_000;

impl Known {
    /// Remembers which attempt a token is of.
    pub(crate) fn remember(&self, token: Token, fence: Fence) {
        if self.fences.len() >= FENCES_MAX {
            self.fences.clear();
        }
        self.fences.insert(token, fence);
    }

    /// The attempt of a token.
    pub(crate) fn fence(&self, token: Token) -> Option<Fence> {
        self.fences.get(&token).map(|fence| *fence)
    }

    /// A worker, where it is registered.
    pub(crate) fn worker(&self, id: WorkerId) -> Option<KnownWorker> {
        self.workers.get(&id).map(|worker| worker.clone())
    }
}

impl Lead {
    /// The definitions as they are now.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.borrow())
    }
}
