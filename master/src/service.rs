//! Use cases: one function for each thing that a person or a worker asks. They know the domain, the store and the leader's
//! desk, and must not know the wire.

pub(crate) mod action;
pub(crate) mod apply;
pub(crate) mod calendar;
pub(crate) mod cluster;
pub(crate) mod fault;
pub(crate) mod filter;
pub(crate) mod history;
pub(crate) mod job;
pub(crate) mod log;
pub(crate) mod look;
pub(crate) mod page;
pub(crate) mod reference;
pub(crate) mod render;
pub(crate) mod resolve;
pub(crate) mod run;
pub(crate) mod shown;
pub(crate) mod verb;
pub(crate) mod watch;
pub(crate) mod why;
pub(crate) mod worker;

use std::sync::Arc;
use std::time::Duration;

use hera_common::time::Now;
use hera_engine::catalog::Catalog;
use hera_store::Store;
use tokio::sync::watch::Receiver;

use crate::commit::Around;
use crate::config::{StoreKind, WorkerTiming};
use crate::role::{Lead, Role};
use fault::Fault;

/// What is true of this master as long as it runs.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) store_id: String,
    pub(crate) store: StoreKind,
    /// Where others reach this master.
    pub(crate) address: String,
    /// Its port speaks without TLS and tokens, and others may reach it.
    pub(crate) insecure: bool,
    pub(crate) timing: WorkerTiming,
    pub(crate) accept: Duration,
    pub(crate) rho_ppm: u32,
}

/// All use cases. Copies share everything.
#[derive(Clone)]
pub(crate) struct Service {
    role: Receiver<Role>,
    around: Around,
    site: Arc<Site>,
}

impl Service {
    pub(crate) fn new(role: Receiver<Role>, around: Around, site: Site) -> Self {
        Self { role, around, site: Arc::new(site) }
    }

    /// What serves requests, if this master leads.
    ///
    /// # Errors
    /// [`Fault::NotLeading`], [`Fault::Activating`] or [`Fault::Stopping`].
    pub(crate) fn lead(&self) -> Result<Lead, Fault> {
        match &*self.role.borrow() {
            Role::Leading(lead) => Ok(lead.clone()),
            Role::Standby { leader } => Err(Fault::NotLeading { leader: leader.clone() }),
            Role::Activating => Err(Fault::Activating),
            Role::Stopping => Err(Fault::Stopping),
        }
    }

    /// What this master is, as it changes.
    pub(crate) fn role(&self) -> Receiver<Role> {
        self.role.clone()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    fn store(&self) -> &dyn Store {
        &*self.around.store
    }

    fn catalog(&self) -> Result<Arc<Catalog>, Fault> {
        Ok(self.lead()?.catalog())
    }

    pub(crate) fn now(&self) -> Now {
        self.around.clock.now()
    }
}
