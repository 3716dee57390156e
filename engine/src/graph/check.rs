//! What may not be saved: circles that no version could ever leave, and jobs whose versions nothing
//! makes. Knows definitions only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hera_common::id::JobId;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, Empty};
use hera_common::time::Version;
use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use thiserror::Error;

use super::{Graph, circle};
use crate::plan::{Edge, Node, Source, runs_by_hand, source};

/// A reason not to save a set of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Each job waits for the one named before it, and the first for the last, at the same time or
    /// a later one. The lowest id comes first.
    #[error("the jobs wait for one another: {}", Circle(.path))]
    Cycle { path: Vec<JobId> },
    /// Each of these versions waits for the one after it, and the last for the first.
    #[error("versions wait for one another: {}", VersionCircle(.path))]
    Deadlock { path: Vec<(JobId, Version)> },
    /// A fault of one job.
    #[error("job {job}: {reason}")]
    Job { job: JobId, reason: Reason },
    /// A fault of one edge, by its number from 0.
    #[error("job {job}, edge {edge}: {reason}")]
    Edge { job: JobId, edge: usize, reason: Reason },
}

impl Refusal {
    /// The jobs at fault: where none of them is changed, the fault was there before.
    pub fn jobs(&self) -> Vec<JobId> {
        match self {
            Self::Cycle { path } => path.clone(),
            Self::Deadlock { path } => path.iter().map(|(job, _version)| *job).collect(),
            Self::Job { job, .. } | Self::Edge { job, .. } => vec![*job],
        }
    }
}

/// Why a job or an edge is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Reason {
    #[error(
        "it has no schedule, and no edge from which its versions could follow: give it a baseline, \
         or an edge by nearest, same, data, or a period as long as its data interval, without \
         offset and with empty: skip"
    )]
    NoSource,
    #[error("it has a schedule: a baseline would mean nothing")]
    BaselineBesideSchedule,
    #[error("its baseline is none of its upstream jobs")]
    BaselineNotUpstream,
    #[error("its baseline runs by hand or event only, and has no versions ahead")]
    BaselineByHand,
    #[error("an edge of a job to itself must be previous")]
    SelfEdge,
    #[error("previous counts from 1")]
    PreviousOfNone,
    #[error("the upstream runs by hand or event only: the edge must be at_or_before")]
    UpstreamByHand,
    #[error(
        "the edge leads back on a circle: with empty: skip, or to the baseline, the job's versions \
         would follow from its own; say empty: ignore"
    )]
    SkipOnCircle,
    #[error(
        "an offset in slots counts this job's own versions, so they cannot follow from it: say \
         empty: ignore"
    )]
    SkipBySlots,
    #[error("the bounds of a window are times, not slots")]
    WindowInSlots,
}

impl Reason {
    /// The field of a job's file at fault, where it is no single edge.
    pub const fn field(self) -> &'static str {
        match self {
            Self::BaselineBesideSchedule | Self::BaselineNotUpstream | Self::BaselineByHand => {
                "baseline"
            }
            Self::NoSource
            | Self::SelfEdge
            | Self::PreviousOfNone
            | Self::UpstreamByHand
            | Self::SkipOnCircle
            | Self::SkipBySlots
            | Self::WindowInSlots => "depends_on",
        }
    }
}

/// Ids with arrows, closed at the end.
struct Circle<'a>(&'a [JobId]);

impl fmt::Display for Circle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for job in self.0 {
            write!(f, "{job} -> ")?;
        }
        self.0.first().map_or(Ok(()), |first| write!(f, "{first}"))
    }
}

/// Versions with arrows, closed at the end.
struct VersionCircle<'a>(&'a [(JobId, Version)]);

impl fmt::Display for VersionCircle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (job, version) in self.0 {
            write!(f, "{job}@{version} -> ")?;
        }
        self.0.first().map_or(Ok(()), |(job, version)| write!(f, "{job}@{version}"))
    }
}

/// Checks all jobs together. Edges to jobs that are not there are not its matter. Costs as much as
/// there are jobs and edges; in a knot of circles with offsets that point ahead, their product.
///
/// # Errors
/// All reasons not to save the set, of each knot of circles one.
pub fn check<S>(nodes: &BTreeMap<JobId, Node<S>>) -> Result<(), Vec<Refusal>> {
    let mut refusals = Vec::new();
    for node in nodes.values() {
        refusals.extend(job_fault(nodes, node).map(|reason| Refusal::Job { job: node.id, reason }));
        for (number, edge) in node.edges.iter().enumerate() {
            let fault = edge_fault(node, edge, runs_by_hand(nodes, edge.upstream));
            refusals.extend(fault.map(|reason| Refusal::Edge {
                job: node.id,
                edge: number,
                reason,
            }));
        }
    }
    let graph = Graph::new(nodes);
    let mut unsound: BTreeSet<NodeIndex> = BTreeSet::new();
    for knot in circle::unsound_knots(&graph) {
        refusals.push(Refusal::Cycle { path: circle::shortest(&graph, &knot) });
        unsound.extend(knot);
    }
    for knot in circle::knots(&graph) {
        if knot.iter().any(|place| unsound.contains(place)) {
            continue;
        }
        match circle::outweighed(&graph, &knot) {
            Some(path) => refusals.push(Refusal::Cycle { path }),
            None => refusals.extend(decided_by_itself(nodes, &graph, &knot)),
        }
    }
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

fn job_fault<S>(nodes: &BTreeMap<JobId, Node<S>>, node: &Node<S>) -> Option<Reason> {
    match (source(node, nodes), node.baseline) {
        (Source::Nothing, _) => Some(Reason::NoSource),
        (Source::Schedule, Some(_)) => Some(Reason::BaselineBesideSchedule),
        (Source::Hand, Some(_)) => Some(Reason::BaselineNotUpstream),
        (Source::Baseline(job), _) => {
            let upstream = node.edges.iter().any(|edge| edge.upstream == job) && job != node.id;
            if !upstream {
                Some(Reason::BaselineNotUpstream)
            } else {
                runs_by_hand(nodes, job).then_some(Reason::BaselineByHand)
            }
        }
        (Source::Schedule | Source::Hand, None) | (Source::Fewest(_) | Source::Intervals(_), _) => {
            None
        }
    }
}

fn edge_fault<S>(node: &Node<S>, edge: &Edge, upstream_by_hand: bool) -> Option<Reason> {
    let in_slots = |shift| matches!(shift, Shift::Slots { .. });
    if let Bind::Previous { n: 0 } = edge.bind {
        return Some(Reason::PreviousOfNone);
    }
    if edge.upstream == node.id {
        let previous = matches!(edge.bind, Bind::Previous { .. });
        return (!previous).then_some(Reason::SelfEdge);
    }
    if upstream_by_hand && edge.bind != Bind::AtOrBefore {
        return Some(Reason::UpstreamByHand);
    }
    if let Bind::Window { from, to } = edge.bind
        && (in_slots(from) || in_slots(to))
    {
        return Some(Reason::WindowInSlots);
    }
    let decides = edge.empty == Empty::Skip && node.schedule.is_none();
    (decides && in_slots(edge.offset)).then_some(Reason::SkipBySlots)
}

/// On sound circles: an edge that leads back may not decide whether a version exists.
fn decided_by_itself<S>(
    nodes: &BTreeMap<JobId, Node<S>>,
    graph: &Graph,
    knot: &[NodeIndex],
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let edges = knot.iter().flat_map(|at| graph.jobs.edges_directed(*at, Direction::Incoming));
    for arc in edges.filter(|arc| arc.weight().weight < 0) {
        let inside = knot.binary_search(&arc.source()).is_ok();
        let job = graph.jobs.node_weight(arc.target()).filter(|_| inside);
        let Some(node) = job.and_then(|job| nodes.get(job)) else { continue };
        let number = arc.weight().edge;
        let decides = node
            .edges
            .get(number)
            .is_some_and(|edge| edge.empty == Empty::Skip || node.baseline == Some(edge.upstream));
        if decides {
            let reason = Reason::SkipOnCircle;
            refusals.push(Refusal::Edge { job: node.id, edge: number, reason });
        }
    }
    refusals
}
