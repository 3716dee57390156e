//! What tells two memories of one job apart.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::ActionState;
use hera_common::time::Version;

use super::{Entry, Handler};
use crate::edge::EdgeState;
use crate::engine::{differ, maps};
use crate::input::VersionKey;

impl Handler {
    /// The first difference from a memory that has just been read. `pending` says of which upstream versions the answer of
    /// the store is still awaited.
    pub(crate) fn difference(
        &self,
        fresh: &Self,
        pending: &dyn Fn(VersionKey) -> bool,
    ) -> Option<String> {
        let job = self.job;
        let actions = |of: &Self| -> BTreeMap<_, _> {
            of.actions.iter().map(|(at, entry)| (*at, entry.action.clone())).collect()
        };
        let runs = |of: &Self| -> BTreeMap<_, _> {
            of.runs
                .iter()
                .map(|(id, live)| (*id, (live.run.clone(), live.attempt.clone())))
                .collect()
        };
        // What an action waits to hear, one that has just been read knows.
        let hears =
            |at: &Version| self.actions.get(at).is_some_and(|e| e.unknown().next().is_some());
        let known = |of: &BTreeSet<Version>| -> BTreeSet<_> {
            of.iter().filter(|at| !hears(at)).copied().collect()
        };
        differ("cursor", &self.cursor, &fresh.cursor)
            .or_else(|| maps("action", &actions(self), &actions(fresh)))
            .or_else(|| self.edges_differ(fresh, pending))
            .or_else(|| differ("planned", &self.planned, &fresh.planned))
            .or_else(|| differ("ready", &self.ready, &known(&fresh.ready)))
            .or_else(|| maps("run", &runs(self), &runs(fresh)))
            .map(|told| format!("job {job}: {told}"))
    }

    fn edges_differ(&self, fresh: &Self, pending: &dyn Fn(VersionKey) -> bool) -> Option<String> {
        let pairs = self.actions.values().zip(fresh.actions.values());
        pairs.map(|(own, other)| edges_differ(own, other, pending)).find_map(|told| told)
    }
}

fn edges_differ(
    own: &Entry,
    fresh: &Entry,
    pending: &dyn Fn(VersionKey) -> bool,
) -> Option<String> {
    let asked = own.unknown().all(pending);
    let own_keys = own.edges.iter().map(|&(binding, _state)| binding).collect::<Vec<_>>();
    let fresh_keys = fresh.edges.iter().map(|&(binding, _state)| binding).collect::<Vec<_>>();
    let version = own.action.version;
    differ("bindings", &own_keys, &fresh_keys)
        .or_else(|| (!asked).then(|| "an upstream is unknown and nobody asks".to_owned()))
        .or_else(|| {
            // Of one that runs, or has ended and runs again, nobody asks what its edges say.
            let waits =
                matches!(own.action.state, ActionState::Planned { .. } | ActionState::Waiting);
            let known = |state: &EdgeState| waits && *state != EdgeState::Unknown;
            let mut pairs = own.edges.iter().zip(&fresh.edges);
            let unlike = pairs.find(|((_, own), (_, other))| known(own) && own != other)?;
            Some(format!("edge {:?}, {:?} in the store", unlike.0, unlike.1.1))
        })
        .map(|told| format!("@{version}: {told}"))
}
