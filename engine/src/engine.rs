//! The engine as the shell sees it: load, step, and when to step again.

use std::sync::Arc;
use std::time::Duration;

use hera_common::id::{Epoch, JobId};
use hera_common::snapshot::Snapshot;
use hera_common::time::Now;

use crate::catalog::Catalog;
use crate::input::{Step, Tagged};

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
    /// `hera dev`: missed versions of a job whose file says nothing go by catch-up `last`.
    pub dev: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            accept: Duration::from_secs(10),
            grace: Duration::from_secs(3),
            rho_ppm: 10_000,
            poll: Duration::from_secs(20),
            dev: false,
        }
    }
}

/// All decisions of a leader. One owner steps it; between steps the owner commits.
pub struct Engine {
    settings: Settings,
    epoch: Epoch,
    catalog: Arc<Catalog>,
}

impl Engine {
    /// An engine that knows nothing yet; `load` follows.
    pub fn new(settings: Settings, epoch: Epoch) -> Self {
        Self { settings, epoch, catalog: Arc::new(Catalog::default()) }
    }

    /// Builds the memory from what the store holds: event Initialize. Every hold gets a full window from `now`.
    pub fn load(&mut self, _snapshot: Snapshot, _now: Now) {}

    /// Reads some jobs' handlers again, after units that changed them were left out or nobody knows.
    pub fn reload(&mut self, _jobs: &[JobId], _snapshot: Snapshot, _now: Now) {}

    /// Takes a batch of inputs. Memory runs ahead of the store until the owner has committed; a step follows only then.
    pub fn step(&mut self, _now: Now, _chance: &mut dyn Chance, _inputs: Vec<Tagged>) -> Step {
        Step::default()
    }

    /// How long until a tick is wanted, if no input comes; None: not before one comes.
    pub fn wake_in(&self, _now: Now) -> Option<Duration> {
        None
    }

    /// The definitions as they are now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    /// The settings and the epoch that it was made with.
    pub fn settings(&self) -> (&Settings, Epoch) {
        (&self.settings, self.epoch)
    }
}
