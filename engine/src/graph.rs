//! Circles among jobs: found by ids, told as a path. Knows no rows and no instants.

use std::collections::BTreeMap;

use hera_common::id::JobId;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::plan::Node;

/// Jobs that depend on each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the jobs depend on each other in a circle")]
pub struct Cycle {
    /// The jobs of the circle.
    pub path: Vec<JobId>,
}

/// Refuses a circle; a job's edge to itself is no circle.
///
/// # Errors
/// One circle.
pub fn check(nodes: &BTreeMap<JobId, Node>) -> Result<(), Cycle> {
    let mut graph: DiGraphMap<i64, ()> = DiGraphMap::new();
    for node in nodes.values() {
        for edge in node.edges.iter().filter(|edge| edge.upstream != node.id) {
            graph.add_edge(edge.upstream.raw(), node.id.raw(), ());
        }
    }
    match tarjan_scc(&graph).into_iter().find(|circle| circle.len() > 1) {
        Some(circle) => Err(Cycle { path: circle.into_iter().map(JobId::from_raw).collect() }),
        None => Ok(()),
    }
}
