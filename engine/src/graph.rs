//! The jobs as a graph: what may not be saved, what lies upstream and downstream of a job, and in
//! which order. Knows edges and their weights, but no version.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use hera_common::id::JobId;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::plan::Node;

mod ahead;
mod check;
mod circle;
#[cfg(test)]
mod refusals;
mod weight;

pub use ahead::deadlocks;
pub use check::{Reason, Refusal, check};
pub use weight::weight_seconds;

/// The jobs and the edges between them, from upstream to dependent. Edges of a job to itself, and to
/// jobs that are not there, are left out.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    jobs: DiGraph<JobId, Arc>,
    places: BTreeMap<JobId, NodeIndex>,
}

/// An edge between two jobs.
#[derive(Debug, Clone, Copy)]
struct Arc {
    /// The latest shift in time, seconds; below 0: it binds what lies before.
    weight: i64,
    /// Its number among the dependent's edges.
    edge: usize,
}

impl Graph {
    /// Takes all jobs. Costs as much as there are jobs and edges.
    pub fn new<S>(nodes: &BTreeMap<JobId, Node<S>>) -> Self {
        let mut graph = Self::default();
        for job in nodes.keys() {
            graph.places.insert(*job, graph.jobs.add_node(*job));
        }
        for node in nodes.values() {
            graph.add_edges(node);
        }
        graph
    }

    fn add_edges<S>(&mut self, node: &Node<S>) {
        let Some(place) = self.places.get(&node.id).copied() else { return };
        for (number, edge) in node.edges.iter().enumerate() {
            let upstream = self.places.get(&edge.upstream).filter(|found| **found != place);
            if let Some(upstream) = upstream {
                let arc = Arc { weight: weight_seconds(edge), edge: number };
                self.jobs.add_edge(*upstream, place, arc);
            }
        }
    }

    /// All jobs from which something leads to this one; itself not.
    pub fn upstream_of(&self, job: JobId) -> BTreeSet<JobId> {
        self.reached(job, Direction::Incoming)
    }

    /// All jobs to which something leads from this one; itself not.
    pub fn downstream_of(&self, job: JobId) -> BTreeSet<JobId> {
        self.reached(job, Direction::Outgoing)
    }

    fn reached(&self, job: JobId, direction: Direction) -> BTreeSet<JobId> {
        let mut found = BTreeSet::new();
        let mut open: Vec<NodeIndex> = self.places.get(&job).copied().into_iter().collect();
        while let Some(place) = open.pop() {
            for next in self.jobs.neighbors_directed(place, direction) {
                let new = self.jobs.node_weight(next).is_some_and(|job| found.insert(*job));
                open.extend(new.then_some(next));
            }
        }
        found.remove(&job);
        found
    }

    /// The given jobs, each after those upstream of it; where the edges leave it open, by id. Edges
    /// that bind only what lies before count for nothing here: on a circle they are where it begins.
    /// Jobs that are not there are left out; what lies on a circle that should have been refused
    /// comes last, by id.
    pub fn order(&self, jobs: &BTreeSet<JobId>) -> Vec<JobId> {
        let mut waiting: BTreeMap<JobId, usize> = BTreeMap::new();
        for (job, place) in jobs.iter().filter_map(|job| self.places.get_key_value(job)) {
            let upstream = self.sure_neighbors(*place, Direction::Incoming);
            waiting.insert(*job, upstream.filter(|upstream| jobs.contains(upstream)).count());
        }
        let free = waiting.iter().filter(|(_, open)| **open == 0).map(|(job, _)| Reverse(*job));
        let mut free: BinaryHeap<Reverse<JobId>> = free.collect();
        let mut order = Vec::with_capacity(waiting.len());
        while let Some(Reverse(job)) = free.pop() {
            waiting.remove(&job);
            order.push(job);
            for dependent in self.dependents(job) {
                free.extend(released(&mut waiting, dependent).map(Reverse));
            }
        }
        order.extend(waiting.into_keys());
        order
    }

    fn dependents(&self, job: JobId) -> impl Iterator<Item = JobId> {
        let place = self.places.get(&job).copied();
        place.into_iter().flat_map(|place| self.sure_neighbors(place, Direction::Outgoing))
    }

    /// Neighbours by edges that may bind the same instant or a later one; one for each edge.
    fn sure_neighbors(
        &self,
        place: NodeIndex,
        direction: Direction,
    ) -> impl Iterator<Item = JobId> {
        let edges = self.jobs.edges_directed(place, direction);
        edges.filter(|edge| edge.weight().weight >= 0).filter_map(move |edge| {
            let other =
                if direction == Direction::Incoming { edge.source() } else { edge.target() };
            self.jobs.node_weight(other).copied()
        })
    }
}

/// One upstream less; the job itself, where that was the last.
fn released(waiting: &mut BTreeMap<JobId, usize>, job: JobId) -> Option<JobId> {
    let open = waiting.get_mut(&job)?;
    *open = open.saturating_sub(1);
    (*open == 0).then_some(job)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hera_common::id::JobId;

    use super::Graph;
    use crate::plan::sketch::nodes;

    fn graph(text: &str) -> Graph {
        Graph::new(&nodes(text))
    }

    fn ids(jobs: impl IntoIterator<Item = JobId>) -> Vec<i64> {
        jobs.into_iter().map(JobId::raw).collect()
    }

    fn order(graph: &Graph, jobs: &[i64]) -> Vec<i64> {
        let jobs: BTreeSet<JobId> = jobs.iter().copied().map(JobId::from_raw).collect();
        ids(graph.order(&jobs))
    }

    const DIAMOND: &str = "
        a: on i | on e previous 1 ignore
        b: on a
        c: on a
        d: on b | on c | on c previous 1
        e: on d
        i: cron 0 0 * * *
    ";

    #[test]
    fn closures_leave_out_the_job_itself() {
        let diamond = graph(DIAMOND);
        let d = JobId::from_raw(4);
        assert_eq!(ids(diamond.upstream_of(d)), [1, 2, 3, 5, 9]);
        assert_eq!(ids(diamond.downstream_of(d)), [1, 2, 3, 5]);
        assert!(diamond.downstream_of(JobId::from_raw(77)).is_empty());
    }

    #[test]
    fn upstream_comes_first_and_ties_go_by_id() {
        let diamond = graph(DIAMOND);
        assert_eq!(order(&diamond, &[1, 2, 3, 4, 5, 9]), [9, 1, 2, 3, 4, 5]);
        assert_eq!(order(&diamond, &[4, 9, 77]), [4, 9]);
    }

    #[test]
    fn an_edge_to_the_version_before_begins_a_circle() {
        let circle = graph("a: on c\nb: on a\nc: cron 0 0 * * * | on b previous 1");
        assert_eq!(order(&circle, &[1, 2, 3]), [3, 1, 2]);
    }

    #[test]
    fn what_should_have_been_refused_is_not_lost() {
        assert_eq!(order(&graph("a: on b\nb: on a\nc: cron 0 0 * * *"), &[1, 2, 3]), [3, 1, 2]);
    }
}
