//! Circles in the graph that do not lead back in time. Knows weights, and no bind.

use std::collections::{BTreeMap, VecDeque};

use hera_common::id::JobId;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::NodeIndex;
use petgraph::visit::{EdgeFiltered, EdgeRef};

use super::Graph;

/// Jobs that lie on circles together, in the order of their ids: one can go from any to any other.
pub(super) type Knot = Vec<NodeIndex>;

/// The knots of all edges. Found without recursion, so that long chains do no harm.
pub(super) fn knots(graph: &Graph) -> Vec<Knot> {
    sorted(kosaraju_scc(&graph.jobs))
}

/// The knots of the edges that do not lead back: on each of their circles the weights add up to 0 or
/// more.
pub(super) fn unsound_knots(graph: &Graph) -> Vec<Knot> {
    sorted(kosaraju_scc(&EdgeFiltered::from_fn(&graph.jobs, |edge| edge.weight().weight >= 0)))
}

fn sorted(mut knots: Vec<Knot>) -> Vec<Knot> {
    knots.retain(|knot| knot.len() > 1);
    knots.iter_mut().for_each(|knot| knot.sort_unstable());
    knots.sort_unstable();
    knots
}

/// A shortest circle through the lowest job of a knot of edges that do not lead back: from upstream
/// to dependent.
pub(super) fn shortest(graph: &Graph, knot: &Knot) -> Vec<JobId> {
    let Some(start) = knot.first().copied() else { return Vec::new() };
    let mut from: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(place) = open.pop_front() {
        let edges = graph.jobs.edges(place).filter(|edge| edge.weight().weight >= 0);
        let mut next: Vec<NodeIndex> = edges.map(|edge| edge.target()).collect();
        if next.contains(&start) {
            return named(graph, &walked(&from, start, place));
        }
        next.sort_unstable();
        next.dedup();
        next.retain(|next| !from.contains_key(next));
        from.extend(next.iter().map(|next| (*next, place)));
        open.extend(next);
    }
    named(graph, knot)
}

/// The way from `start` to `end`, as a search has gone.
fn walked(
    from: &BTreeMap<NodeIndex, NodeIndex>,
    start: NodeIndex,
    end: NodeIndex,
) -> Vec<NodeIndex> {
    let mut way = vec![end];
    let mut place = end;
    while let Some(before) = from.get(&place).filter(|_| place != start) {
        place = *before;
        way.push(place);
    }
    way.reverse();
    way
}

fn named(graph: &Graph, places: &[NodeIndex]) -> Vec<JobId> {
    places.iter().filter_map(|place| graph.jobs.node_weight(*place).copied()).collect()
}

/// An edge by the numbers of its ends in a knot, and what it costs to go along it.
#[derive(Clone, Copy)]
struct Price {
    from: usize,
    to: usize,
    cost: i128,
}

/// A circle of a knot of which the weights add up to 0 or more, though some edge leads back. Only
/// an edge that leads ahead can make one.
pub(super) fn outweighed(graph: &Graph, knot: &Knot) -> Option<Vec<JobId>> {
    let mut ahead = false;
    let mut prices = Vec::new();
    // Bellman and Ford look for costs that add up to less than 0, but a weight of 0 must be found,
    // too: so an edge costs its weight, negated and multiplied beyond the number of edges of any
    // circle, less one.
    let many = knot.iter().fold(1_i128, |many, _| many + 1);
    for (from, place) in knot.iter().enumerate() {
        for edge in graph.jobs.edges(*place) {
            let weight = edge.weight().weight;
            let Ok(to) = knot.binary_search(&edge.target()) else { continue };
            ahead |= weight > 0;
            prices.push(Price { from, to, cost: -i128::from(weight) * many - 1 });
        }
    }
    if !ahead {
        return None;
    }
    let circle = cheaper_than_nothing(&prices, knot.len())?;
    let places: Vec<NodeIndex> =
        circle.iter().filter_map(|number| knot.get(*number).copied()).collect();
    Some(named(graph, &places))
}

/// A circle of costs below 0 in sum, among `count` places; the lowest comes first.
fn cheaper_than_nothing(prices: &[Price], count: usize) -> Option<Vec<usize>> {
    let mut cost = vec![0_i128; count];
    let mut before = vec![0_usize; count];
    let mut last = None;
    for _ in 0..=count {
        last = relax(prices, &mut cost, &mut before);
        last?;
    }
    // What still gets cheaper after so many rounds hangs on a circle: go back until on it.
    let step = |place: usize| before.get(place).copied().unwrap_or(0);
    let on_it = (0..count).fold(last?, |place, _| step(place));
    let mut circle = vec![on_it];
    let mut place = step(on_it);
    while place != on_it {
        circle.push(place);
        place = step(place);
    }
    circle.reverse();
    let lowest = circle.iter().enumerate().min_by_key(|(_, place)| **place)?.0;
    circle.rotate_left(lowest);
    Some(circle)
}

/// One round along all edges; the last place that became cheaper.
fn relax(prices: &[Price], cost: &mut [i128], before: &mut [usize]) -> Option<usize> {
    let mut last = None;
    for price in prices {
        let reached = cost.get(price.from).copied().unwrap_or(0) + price.cost;
        if let (Some(known), Some(before)) = (cost.get_mut(price.to), before.get_mut(price.to))
            && reached < *known
        {
            (*known, *before) = (reached, price.from);
            last = Some(price.to);
        }
    }
    last
}
