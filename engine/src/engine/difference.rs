//! What tells two memories apart: for checkers that hold a leader's memory against one that was read from the store.

use std::collections::BTreeMap;
use std::fmt::Debug;

use hera_common::id::{JobId, RunId};
use hera_common::run::RunState;
use hera_common::time::{Now, Version};

use super::Engine;
use crate::catalog::Catalog;
use crate::handler::Handler;

impl Engine {
    /// The first difference from a memory that has just been read, at the time of the last step; None: there is none.
    /// To be asked when the last batch is committed. What this one still asks the store for, and what it alone has seen
    /// of leases, is no difference.
    pub fn difference(&self, mut fresh: Self, now: Now) -> Option<String> {
        for live in self.handlers.values().flat_map(Handler::lives).filter(|live| live.expired) {
            fresh.take_for_expired(live.run.job, live.run.id, now);
        }
        // The store's clock may have gone back: a delay that was over stays over.
        for live in self.handlers.values().flat_map(Handler::lives) {
            if let RunState::Queued { not_before, .. } = live.run.state
                && !self.queue.is_later(live.run.id)
            {
                let group = self.catalog.jobs.get(&live.run.job).and_then(|job| job.host_group());
                fresh.queue.put(&live.run, group, false, not_before.max(now.wall));
            }
        }
        catalogs(&self.catalog, &fresh.catalog)
            .or_else(|| self.handlers_differ(&fresh))
            .or_else(|| self.indexes_differ(&fresh))
            .or_else(|| self.workers_differ(&fresh))
    }

    fn take_for_expired(&mut self, job: JobId, run: RunId, now: Now) {
        let Some(handler) = self.handlers.get_mut(&job) else { return };
        handler.mark_expired(run, true);
        let group = self.catalog.jobs.get(&job).and_then(|job| job.host_group());
        if let Some(live) = handler.live(run) {
            self.queue.put(&live.run, group, true, now.wall);
        }
    }

    fn handlers_differ(&self, fresh: &Self) -> Option<String> {
        let ids = |of: &Self| of.handlers.keys().copied().collect::<Vec<_>>();
        let pending = |key| self.asked.contains(&key) || self.to_ask.contains(&key);
        differ("jobs with a handler", &ids(self), &ids(fresh)).or_else(|| {
            let pairs = self.handlers.values().zip(fresh.handlers.values());
            pairs.map(|(own, other)| own.difference(other, &pending)).find_map(|told| told)
        })
    }

    fn indexes_differ(&self, fresh: &Self) -> Option<String> {
        maps("versions by hand", &self.by_hand, &fresh.by_hand)
            .or_else(|| maps("waiters", &self.waiters, &fresh.waiters))
            .or_else(|| maps("runs", &self.run_of, &fresh.run_of))
            .or_else(|| maps("tokens", &self.token_of, &fresh.token_of))
            .or_else(|| maps("holders", &self.holder_of, &fresh.holder_of))
            .or_else(|| maps("due", &self.due_known(self), &fresh.due_known(self)))
            .or_else(|| self.queue.difference(&fresh.queue))
            .or_else(|| maps("holds", &self.holds.seen(), &fresh.holds.seen()))
    }

    /// When jobs are due, but for those in whose memory a version is armed that has no row: it is looked for after they
    /// were read.
    fn due_known(&self, armed_in: &Self) -> BTreeMap<JobId, Version> {
        let armed = |job: &JobId| armed_in.handlers.get(job).is_some_and(Handler::is_armed);
        let due = self.due.iter().map(|&(version, job)| (job, version));
        due.filter(|(job, _version)| !armed(job)).collect()
    }

    fn workers_differ(&self, fresh: &Self) -> Option<String> {
        let rows = |of: &Self| -> BTreeMap<_, _> {
            of.workers.iter().map(|(id, w)| (*id, (w.row.clone(), w.held.clone()))).collect()
        };
        maps("workers", &rows(self), &rows(fresh))
    }
}

fn catalogs(own: &Catalog, other: &Catalog) -> Option<String> {
    let edges = |of: &Catalog| -> BTreeMap<_, _> {
        let parts = of.nodes.iter().map(|(id, node)| {
            let schedule = node.schedule.is_some();
            (*id, (node.edges.clone(), node.baseline, node.birth, node.data, schedule))
        });
        parts.collect()
    };
    let rows = |of: &Catalog| -> BTreeMap<_, _> {
        of.jobs.iter().map(|(id, job)| (*id, (**job).clone())).collect()
    };
    let groups = |of: &Catalog| -> BTreeMap<_, _> {
        of.groups.iter().map(|(path, group)| (path.clone(), group.row.clone())).collect()
    };
    let below = |of: &Catalog| -> BTreeMap<_, _> {
        let used = of.downstream.iter().filter(|(_, below)| !below.is_empty());
        used.map(|(id, below)| (*id, below.clone())).collect()
    };
    maps("jobs", &rows(own), &rows(other))
        .or_else(|| maps("paths", &own.by_path, &other.by_path))
        .or_else(|| maps("groups", &groups(own), &groups(other)))
        .or_else(|| maps("nodes", &edges(own), &edges(other)))
        .or_else(|| maps("downstream", &below(own), &below(other)))
}

/// Tells two values apart.
pub(crate) fn differ<T: PartialEq + Debug>(what: &str, own: &T, other: &T) -> Option<String> {
    (own != other).then(|| format!("{what}: {own:?} in memory, {other:?} in the store"))
}

/// Tells two tables apart, by the first row.
pub(crate) fn maps<K: Ord + Debug, V: PartialEq + Debug>(
    what: &str,
    own: &BTreeMap<K, V>,
    other: &BTreeMap<K, V>,
) -> Option<String> {
    let unlike = own.iter().find(|(key, value)| other.get(key) != Some(value));
    let key = match unlike {
        Some((key, _value)) => key,
        None => other.keys().find(|key| !own.contains_key(key))?,
    };
    let (own, other) = (own.get(key), other.get(key));
    Some(format!("{what} {key:?}: {own:?} in memory, {other:?} in the store"))
}
