//! What may stand in the rows of a store once: the unique indexes of the schema, for memory. Knows no batch.

use std::collections::BTreeMap;

use hera_common::action::Action;
use hera_common::attempt::Attempt;
use hera_common::id::{ActionId, JobId, RunId, Token};
use hera_common::job::{GroupRow, JobRow};
use hera_common::path::Path;
use hera_common::run::Run;
use hera_common::time::Version;
use hera_common::worker::WorkerRow;

use crate::rules::{Broken, holds};

/// What is taken, and by the row with which number.
pub(super) type Taken = BTreeMap<Key, i64>;

/// A thing that one row at most may have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Version(JobId, Version),
    RunNumber(ActionId, u32),
    LiveRun(ActionId),
    HeldRun(JobId),
    Token(Token),
    AttemptNumber(RunId, u32),
    JobPath(Path),
    GroupPath(Path),
    WorkerName(String),
}

/// A row that has such things.
pub(super) trait Keyed {
    /// The row's number.
    fn owner(&self) -> i64;
    fn keys(&self) -> Vec<Key>;
}

impl Keyed for Action {
    fn owner(&self) -> i64 {
        self.id.raw()
    }

    fn keys(&self) -> Vec<Key> {
        vec![Key::Version(self.job, self.version)]
    }
}

impl Keyed for Run {
    fn owner(&self) -> i64 {
        self.id.raw()
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = vec![Key::RunNumber(self.action, self.number)];
        if !self.state.ended() {
            keys.push(Key::LiveRun(self.action));
        }
        if self.exclusive && self.state.hold().is_some() {
            keys.push(Key::HeldRun(self.job));
        }
        keys
    }
}

impl Keyed for Attempt {
    fn owner(&self) -> i64 {
        self.fence.raw()
    }

    fn keys(&self) -> Vec<Key> {
        vec![Key::Token(self.token), Key::AttemptNumber(self.run, self.number)]
    }
}

impl Keyed for JobRow {
    fn owner(&self) -> i64 {
        self.id.raw()
    }

    fn keys(&self) -> Vec<Key> {
        if self.deleted_at.is_some() { Vec::new() } else { vec![Key::JobPath(self.path.clone())] }
    }
}

impl Keyed for GroupRow {
    fn owner(&self) -> i64 {
        self.id.raw()
    }

    fn keys(&self) -> Vec<Key> {
        vec![Key::GroupPath(self.path.clone())]
    }
}

impl Keyed for WorkerRow {
    fn owner(&self) -> i64 {
        self.id.raw()
    }

    fn keys(&self) -> Vec<Key> {
        vec![Key::WorkerName(self.name.clone())]
    }
}

/// What a batch does to the keys: checked as a whole before anything is written.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    leaving: BTreeMap<Key, i64>,
    entering: BTreeMap<Key, i64>,
}

impl Exchange {
    /// A row that goes, or changes.
    pub(super) fn leave(&mut self, row: &impl Keyed) {
        for key in row.keys() {
            self.leaving.insert(key, row.owner());
        }
    }

    /// A row that comes, or has changed.
    pub(super) fn enter(&mut self, row: &impl Keyed, noun: &str) -> Result<(), Broken> {
        for key in row.keys() {
            if self.entering.contains_key(&key) {
                let owner = row.owner();
                return Err(Broken(format!(
                    "{noun} {owner} takes what another one takes: {key:?}"
                )));
            }
            self.entering.insert(key, row.owner());
        }
        Ok(())
    }

    /// Makes the exchange, if nobody who stays has what somebody wants.
    pub(super) fn make(self, taken: &mut Taken) -> Result<(), Broken> {
        for key in self.entering.keys() {
            let free = !taken.contains_key(key) || self.leaving.contains_key(key);
            holds(free, || format!("taken already: {key:?}"))?;
        }
        for key in self.leaving.keys() {
            taken.remove(key);
        }
        taken.extend(self.entering);
        Ok(())
    }
}
