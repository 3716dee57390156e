//! Versions ahead that wait for one another though their jobs' edges lead back in time: what weights cannot show, since
//! an edge by day or by period binds later versions, too. The one room of graphs that looks at versions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hera_common::id::JobId;
use hera_common::spec::Bind;
use hera_common::time::Version;

use super::check::Refusal;
use super::{Graph, circle};
use crate::plan::{Node, Plan, Slots};

/// How far ahead is looked: each day of a year, and each month with its neighbours.
const AHEAD: Duration = Duration::from_secs(400 * 24 * 3_600);
/// The first look; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(8 * 24 * 3_600);
/// Versions and bindings that are looked at for one knot: jobs that fire often are looked at less far ahead.
const LOOKS_MAX: usize = 20_000;

type Key = (JobId, Version);

/// Circles of versions from `from` on, among jobs that lie on circles together. Of each knot with a job of `concerned`
/// one at most; a knot whose versions cannot be told is left to whoever tells that.
pub fn deadlocks<S: Slots>(
    nodes: &BTreeMap<JobId, Node<S>>,
    from: Version,
    concerned: &BTreeSet<JobId>,
) -> Vec<Refusal> {
    let graph = Graph::new(nodes);
    let named = |knot: circle::Knot| -> BTreeSet<JobId> {
        knot.iter().filter_map(|place| graph.jobs.node_weight(*place).copied()).collect()
    };
    let knots = circle::knots(&graph).into_iter().map(named);
    let suspect = knots.filter(|knot| !knot.is_disjoint(concerned) && binds_later(nodes, knot));
    suspect.filter_map(|knot| deadlock(nodes, &knot, from)).collect()
}

/// Whether an edge within the knot may bind a version later than its own.
fn binds_later<S>(nodes: &BTreeMap<JobId, Node<S>>, knot: &BTreeSet<JobId>) -> bool {
    let edges = knot.iter().filter_map(|job| nodes.get(job)).flat_map(|node| &node.edges);
    edges.filter(|edge| knot.contains(&edge.upstream)).any(|edge| match edge.bind {
        Bind::Nearest | Bind::Data | Bind::First { .. } | Bind::Last { .. } | Bind::All { .. } => {
            true
        }
        // Their weights say all.
        Bind::AtOrBefore | Bind::Same | Bind::Previous { .. } | Bind::Window { .. } => false,
    })
}

fn deadlock<S: Slots>(
    nodes: &BTreeMap<JobId, Node<S>>,
    knot: &BTreeSet<JobId>,
    from: Version,
) -> Option<Refusal> {
    let mut plan = Plan::new(nodes);
    let mut waits: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    let (mut start, mut window) = (from, FIRST);
    let end = from.plus(AHEAD);
    let mut looks = 0;
    while start < end && looks < LOOKS_MAX {
        let to = start.plus(window).min(end);
        for &job in knot {
            for planned in plan.versions(job, start, to).ok()? {
                if looks >= LOOKS_MAX {
                    break;
                }
                let bound = plan.bindings(job, planned.version).ok()?;
                let inside = bound.iter().filter(|bound| knot.contains(&bound.upstream));
                let inside: Vec<Key> =
                    inside.map(|bound| (bound.upstream, bound.version)).collect();
                looks += 1 + inside.len();
                waits.insert((job, planned.version), inside);
            }
        }
        if let Some(path) = circle_of(&waits) {
            return Some(Refusal::Deadlock { path });
        }
        (start, window) = (to, window * 2);
    }
    None
}

/// Versions that wait for one another, each for the one after it, and the last for the first.
fn circle_of(waits: &BTreeMap<Key, Vec<Key>>) -> Option<Vec<Key>> {
    let mut waiting: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    let mut open: BTreeMap<Key, usize> = BTreeMap::new();
    for (&key, upstream) in waits {
        let known = upstream.iter().filter(|upstream| waits.contains_key(*upstream));
        for &upstream in known.clone() {
            waiting.entry(upstream).or_default().push(key);
        }
        open.insert(key, known.count());
    }
    let mut free: Vec<Key> = open.iter().filter(|(_, n)| **n == 0).map(|(key, _)| *key).collect();
    while let Some(key) = free.pop() {
        open.remove(&key);
        for dependent in waiting.get(&key).into_iter().flatten() {
            if let Some(count) = open.get_mut(dependent) {
                *count -= 1;
                free.extend((*count == 0).then_some(*dependent));
            }
        }
    }
    // Each that is left waits for another that is left: go up until one comes again.
    let mut way: Vec<Key> = vec![*open.first_key_value()?.0];
    loop {
        let last = way.last().copied()?;
        let next = *waits.get(&last)?.iter().find(|upstream| open.contains_key(*upstream))?;
        if let Some(place) = way.iter().position(|key| *key == next) {
            return Some(way.split_off(place));
        }
        way.push(next);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::{Expect, expect};
    use hera_common::id::JobId;
    use hera_common::time::Version;

    use super::deadlocks;
    use crate::graph::check;
    use crate::plan::sketch::nodes;

    /// What the versions from 30 November 2026 on are refused for, though the graph of the jobs is saved.
    #[track_caller]
    fn told(text: &str, expected: &Expect) {
        let nodes = nodes(text);
        assert_eq!(check(&nodes), Ok(()), "weights show it already");
        let from = Version::from_ms(1_795_996_800_000);
        let concerned: BTreeSet<JobId> = nodes.keys().copied().collect();
        let refusals = deadlocks(&nodes, from, &concerned);
        let told: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        expected.assert_eq(&told.join("\n"));
        assert!(deadlocks(&nodes, from, &BTreeSet::new()).is_empty(), "nobody is concerned");
    }

    #[test]
    fn versions_that_wait_for_one_another_are_found_though_the_edges_lead_back() {
        told(
            "a: cron 0 12 * * * | on b nearest offset -1h\nb: cron 30 11 * * * | on a nearest",
            &expect![
                "versions wait for one another: 1@2026-11-30T12:00:00Z -> 2@2026-11-30T11:30:00Z -> 1@2026-11-30T12:00:00Z"
            ],
        );
        // All versions of the day, the later ones, too.
        told(
            "a: cron 0 * * * * | on b at_or_before offset -1h\nb: cron 0 0 * * * | on a all day",
            &expect![
                "versions wait for one another: 1@2026-11-30T01:00:00Z -> 2@2026-11-30T00:00:00Z -> 1@2026-11-30T01:00:00Z"
            ],
        );
        // Not on most days: where the month ends.
        told(
            "a: cron 0 6 * * * | on b at_or_before offset -1h\nb: cron 0 0 L * ? | on a last month",
            &expect![
                "versions wait for one another: 1@2026-11-30T06:00:00Z -> 2@2026-11-30T00:00:00Z -> 1@2026-11-30T06:00:00Z"
            ],
        );
    }

    #[test]
    fn a_circle_that_leads_back_day_by_day_is_none() {
        told(
            "a: cron 0 12 * * * | on b nearest offset -1d\nb: cron 30 11 * * * | on a nearest",
            &expect![""],
        );
        told("a: cron 0 0 * * * | on b previous 1\nb: on a", &expect![""]);
        told(
            "a: cron * * * * * | on b previous 1\nb: cron 0 0 * * * | on a nearest offset -1d",
            &expect![""],
        );
    }
}
