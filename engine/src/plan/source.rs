//! Where the versions of a job come from. Knows which of a job's fields decide that, and no instant.

use std::collections::BTreeMap;

use hera_common::id::JobId;
use hera_common::spec::{Bind, Empty, Period};

use super::{Edge, Node};

/// Where the versions of a job come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Its own schedule.
    Schedule,
    /// People and events: the actions that exist.
    Hand,
    /// This upstream's versions, at their own instants.
    Baseline(JobId),
    /// On each day those of the upstream, among these edges, that has the fewest.
    Fewest(Vec<usize>),
    /// One for each data interval, at the newest version that these edges bind for it.
    Intervals(Vec<usize>),
    /// Nothing: a job that is refused when it is saved.
    Nothing,
}

impl Source {
    /// Whether versions are made for data intervals.
    pub(super) const fn carries(&self) -> bool {
        matches!(self, Self::Intervals(_))
    }
}

/// Where the versions of a job come from; `nodes` tells the data periods of its upstream jobs.
pub fn source<S>(node: &Node<S>, nodes: &BTreeMap<JobId, Node<S>>) -> Source {
    if node.schedule.is_some() {
        return Source::Schedule;
    }
    if node.edges.is_empty() {
        return Source::Hand;
    }
    if let Some(baseline) = node.baseline {
        return Source::Baseline(baseline);
    }
    let of_day = chosen(node, |edge| matches!(edge.bind, Bind::Nearest | Bind::Same));
    if !of_day.is_empty() {
        return Source::Fewest(of_day);
    }
    let period_of = |job| nodes.get(&job).map(|upstream| upstream.data.period);
    let placing = chosen(node, |edge| places(edge, node.data.period, period_of(edge.upstream)));
    if placing.is_empty() { Source::Nothing } else { Source::Intervals(placing) }
}

/// The edges that may decide about versions: unmoved, to another job, and not to be ignored.
fn chosen<S>(node: &Node<S>, fits: impl Fn(&Edge) -> bool) -> Vec<usize> {
    let counts = |edge: &Edge| {
        edge.empty == Empty::Skip && edge.offset.is_none() && edge.upstream != node.id && fits(edge)
    };
    let numbered = node.edges.iter().enumerate();
    numbered.filter(|(_, edge)| counts(edge)).map(|(number, _)| number).collect()
}

/// Whether an edge can place one version in each data interval of a job. An upstream that is not
/// there counts: the fault is told when its versions are asked for.
fn places(edge: &Edge, mine: Period, theirs: Option<Period>) -> bool {
    match edge.bind {
        Bind::Data => theirs.is_none_or(|theirs| theirs <= mine),
        Bind::First { of } | Bind::Last { of } | Bind::All { of } => of == mine,
        Bind::Nearest
        | Bind::AtOrBefore
        | Bind::Same
        | Bind::Previous { .. }
        | Bind::Window { .. } => false,
    }
}
