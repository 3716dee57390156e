//! The chain from a waiting action to the one that holds it up: each exact upstream version, and theirs, breadth first.

use std::collections::{BTreeSet, VecDeque};

use hera_common::action::{Action, ActionEnd, ActionState, Binding, SkipReason};
use hera_common::id::{ActionId, JobId};
use hera_common::run::Run;
use hera_common::snapshot::BoundAction;
use hera_common::spec::CatchUp;
use hera_common::time::{Version, Wall};
use hera_engine::edge::{EdgeState, judge};

use super::{Looking, Place, WhyCode};
use crate::service::fault::Fault;
use crate::service::shown::name;

/// Actions that one answer looks at: a person reads a chain, not the whole night.
const LOOKS_MAX: usize = 500;

/// The chain that was found.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) code: WhyCode,
    pub(super) text: String,
    pub(super) root: String,
    pub(super) path: Vec<String>,
    pub(super) expected_start: Option<Wall>,
}

/// One action on the way, and from where it was reached.
#[derive(Debug)]
struct Node {
    name: String,
    from: Option<usize>,
    place: Place,
}

/// Whether an edge is met, and if not, what holds it.
#[derive(Debug)]
enum Edge {
    Met,
    /// By this action; it waits itself where it is bound.
    Held {
        name: String,
        place: Place,
        waits: Option<Box<Action>>,
    },
}

impl Looking<'_> {
    /// Follows a waiting action, which stands at `here` by itself, to the root.
    pub(super) async fn follow(&self, bound: &BoundAction, here: Place) -> Result<Chain, Fault> {
        let start = Node { name: self.name(&bound.action), from: None, place: here };
        let mut nodes = vec![start];
        let mut seen: BTreeSet<(JobId, Version)> = BTreeSet::new();
        let mut open = VecDeque::from([(0, bound.clone())]);
        let mut ends = Vec::new();
        while let Some((from, bound)) = open.pop_front() {
            let fresh = |binding: &&Binding| seen.insert((binding.upstream, binding.version));
            let edges: Vec<&Binding> = bound.bindings.iter().filter(fresh).collect();
            // What was seen before holds this one, too.
            let mut held = edges.len() < bound.bindings.len();
            let keys: Vec<_> = edges.iter().map(|edge| (edge.upstream, edge.version)).collect();
            let mut rows = self.service.at_versions(&keys).await?;
            let mut waiting = Vec::new();
            for (binding, key) in edges.into_iter().zip(&keys) {
                if nodes.len() >= LOOKS_MAX {
                    break;
                }
                let edge = self.edge(binding, rows.remove(key)).await?;
                let Edge::Held { name, place, waits } = edge else { continue };
                held = true;
                let at = nodes.len();
                nodes.push(Node { name, from: Some(from), place });
                match waits {
                    Some(action) => waiting.push((at, *action)),
                    None => ends.push(at),
                }
            }
            open.extend(self.bound(waiting).await?);
            if !held {
                ends.push(from);
            }
        }
        // Of equal weight the first: the nearest.
        let weight = |at: &usize| nodes.get(*at).map_or(0, |node| node.place.code.weight());
        let root = ends.iter().copied().rev().max_by_key(weight).unwrap_or(0);
        Ok(told(&nodes, root))
    }

    /// Actions that wait themselves, with what they are bound to: one read for all of them.
    async fn bound(
        &self,
        waiting: Vec<(usize, Action)>,
    ) -> Result<Vec<(usize, BoundAction)>, Fault> {
        let ids: Vec<ActionId> = waiting.iter().map(|(_at, action)| action.id).collect();
        let mut lists = self.service.store().bindings_of(&ids).await?;
        let with_bindings = |(at, action): (usize, Action)| {
            let bindings = lists.remove(&action.id).unwrap_or_default();
            (at, BoundAction { action, bindings })
        };
        Ok(waiting.into_iter().map(with_bindings).collect())
    }

    async fn edge(
        &self,
        binding: &Binding,
        row: Option<(Action, Option<Run>)>,
    ) -> Result<Edge, Fault> {
        let (job, version) = (binding.upstream, binding.version);
        let name = name(&self.shower.job(job), version);
        let Some((action, live)) = row else {
            return self.no_row(binding, name).await;
        };
        let Some(end) = action.outcome else {
            let place = self.place(&action, live.as_ref()).await?;
            let follow = action.state == ActionState::Waiting && place.code == WhyCode::QueueFull;
            let waits = follow.then(|| Box::new(action));
            return Ok(Edge::Held { name, place, waits });
        };
        if judge(binding.on, end, self.catch_up(job)) == EdgeState::Met {
            return Ok(Edge::Met);
        }
        // Also where a later run is live: the last end that counts is what blocks.
        let place = self.place(&action, live.as_ref()).await?;
        Ok(Edge::Held { name, place, waits: None })
    }

    async fn no_row(&self, binding: &Binding, name: String) -> Result<Edge, Fault> {
        let (job, version) = (binding.upstream, binding.version);
        let gap = self.service.store().gaps(job, version, version).await?.into_iter().next();
        let held = |code, text: String, expected_start| Edge::Held {
            name: name.clone(),
            place: Place { code, text, expected_start },
            waits: None,
        };
        let Some(gap) = gap else {
            let due = version.due();
            return Ok(if due > self.shower.now {
                held(WhyCode::NotDue, format!("is not due before {due}"), Some(due))
            } else {
                held(WhyCode::UpstreamMissing, "was never made".to_owned(), None)
            });
        };
        let late = ActionEnd::Skipped(SkipReason::Late);
        if judge(binding.on, late, self.catch_up(job)) == EdgeState::Met {
            return Ok(Edge::Met);
        }
        let text = format!("was left out ({})", gap.reason.label());
        Ok(held(WhyCode::UpstreamMissing, text, None))
    }

    fn catch_up(&self, job: JobId) -> CatchUp {
        self.shower.catalog.jobs.get(&job).map_or(CatchUp::All, |job| job.catch_up())
    }
}

/// The answer for the root at this place.
fn told(nodes: &[Node], root: usize) -> Chain {
    let mut chain: Vec<&Node> = Vec::new();
    let mut at = nodes.get(root);
    while let Some(node) = at {
        chain.push(node);
        at = node.from.and_then(|from| nodes.get(from));
    }
    chain.reverse();
    let (first, last) = (chain.first(), chain.last());
    let (Some(first), Some(last)) = (first, last) else { unreachable!("the start is a node") };
    let alone = chain.len() == 1;
    let code = last.place.code;
    let between = chain.iter().skip(1).map(|node| node.name.as_str()).collect::<Vec<_>>();
    let text = if alone {
        format!("{} {}", first.name, last.place.text)
    } else {
        let between = between.join(", which waits for ");
        format!("{} waits for {between}, which {}", first.name, last.place.text)
    };
    Chain {
        code: if alone { code } else { code.seen_from_below() },
        text,
        root: if alone { String::new() } else { last.name.clone() },
        path: chain.iter().map(|node| node.name.clone()).collect(),
        expected_start: last.place.expected_start,
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, Place, WhyCode, told};

    fn node(name: &str, from: Option<usize>, code: WhyCode, text: &str) -> Node {
        let place = Place { code, text: text.to_owned(), expected_start: None };
        Node { name: name.to_owned(), from, place }
    }

    #[test]
    fn a_chain_is_told_from_the_action_to_the_root() {
        let nodes = [
            node("c@3", None, WhyCode::QueueFull, "waits for room"),
            node("b@2", Some(0), WhyCode::QueueFull, "waits for room"),
            node("a@1", Some(1), WhyCode::Failed, "failed (exit)"),
        ];
        let chain = told(&nodes, 2);
        assert_eq!(chain.text, "c@3 waits for b@2, which waits for a@1, which failed (exit)");
        assert_eq!(chain.code, WhyCode::UpstreamFailed);
        assert_eq!(chain.root, "a@1");
        assert_eq!(chain.path, ["c@3", "b@2", "a@1"]);

        let alone = told(&nodes, 0);
        assert_eq!(alone.text, "c@3 waits for room");
        assert_eq!((alone.code, alone.root.as_str()), (WhyCode::QueueFull, ""));
    }
}
