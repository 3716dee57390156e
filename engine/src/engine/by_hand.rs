//! Edges to jobs that only people run: no function tells their versions, so an action takes the newest that there is when
//! its own time has come. Until then its row shows the newest so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use hera_common::action::Binding;
use hera_common::id::JobId;
use hera_common::limits::BY_HAND_MAX;
use hera_common::time::Version;

use super::Engine;
use crate::catalog::Catalog;
use crate::edge::EdgeState;
use crate::input::VersionKey;
use crate::plan::{Node, runs_by_hand};

/// What an action waits for, by upstream version.
pub(super) type Edges = BTreeMap<VersionKey, (Binding, EdgeState)>;

impl Engine {
    /// Takes note of an action that a person made.
    pub(super) fn made_by_hand(&mut self, job: JobId, version: Version) {
        let versions = self.by_hand.entry(job).or_default();
        versions.push(version);
        let old = versions.len().saturating_sub(BY_HAND_MAX);
        versions.drain(..old);
    }

    /// After an edit of these jobs: of one that runs by hand from now on the newest version so far counts.
    pub(super) fn turn_by_hand(&mut self, before: &Catalog, edited: impl Iterator<Item = JobId>) {
        let catalog = Arc::clone(&self.catalog);
        for job in edited {
            let now = catalog.nodes.get(&job).filter(|_node| runs_by_hand(&catalog.nodes, job));
            match (runs_by_hand(&before.nodes, job), now) {
                (true, None) => drop(self.by_hand.remove(&job)),
                (false, Some(node)) => {
                    let newest = self.handlers.get(&job).map(|handler| handler.cursor.decided_to);
                    if let Some(newest) = newest.filter(|newest| *newest >= node.birth) {
                        self.by_hand.insert(job, vec![newest]);
                    }
                }
                (true, Some(_)) | (false, None) => {}
            }
        }
    }

    /// Adds the versions of jobs by hand that an action of `version` waits for. One that never ran is not waited for.
    pub(super) fn bind_by_hand(
        &self,
        nodes: &BTreeMap<JobId, Node>,
        node: &Node,
        version: Version,
        edges: &mut Edges,
    ) {
        for edge in node.edges.iter().filter(|edge| runs_by_hand(nodes, edge.upstream)) {
            let versions = self.by_hand.get(&edge.upstream).map_or(&[][..], Vec::as_slice);
            let before = versions.partition_point(|made| *made <= version);
            let newest = before.checked_sub(1).and_then(|newest| versions.get(newest));
            if let Some(&version) = newest {
                let binding = Binding { upstream: edge.upstream, version, on: edge.on };
                edges.insert((edge.upstream, version), (binding, self.edge_state(&binding)));
            }
        }
    }

    /// For the versions of a job that are due now: what they wait for by the actions that people have made meanwhile.
    pub(super) fn due_by_hand(
        &self,
        job: JobId,
        now: Version,
    ) -> Vec<(Version, Vec<(Binding, EdgeState)>)> {
        let nodes = &self.catalog.nodes;
        let node = nodes.get(&job);
        let by_hand = |upstream: JobId| runs_by_hand(nodes, upstream);
        let waits = |node: &&Node| node.edges.iter().any(|edge| by_hand(edge.upstream));
        let (Some(node), Some(handler)) = (node.filter(waits), self.handlers.get(&job)) else {
            return Vec::new();
        };
        let anew = |version: Version| {
            let known = handler.entry(version).map_or(&[][..], |entry| entry.edges.as_slice());
            let others = known.iter().filter(|(b, _state)| !by_hand(b.upstream));
            let mut edges: Edges =
                others.map(|&(b, state)| ((b.upstream, b.version), (b, state))).collect();
            self.bind_by_hand(nodes, node, version, &mut edges);
            (version, edges.into_values().collect())
        };
        handler.planned_until(now).map(anew).collect()
    }
}
