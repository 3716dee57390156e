//! The order of the queue, and who stands in whose way.

use hera_common::id::RunId;
use hera_common::run::{QueuedWhy, Run, RunEnd, RunState, Trigger};
use hera_common::time::Wall;

use super::Queue;
use crate::fixture::{hold, queued};

const NOW: Wall = Wall::from_ms(1_000);

fn queue(runs: &[Run]) -> Queue {
    let mut queue = Queue::default();
    for run in runs {
        queue.put(run, None, false, NOW);
    }
    queue
}

fn order(queue: &Queue) -> Vec<i64> {
    queue.ready().map(RunId::raw).collect()
}

#[test]
fn due_work_goes_before_asked_work_then_by_urgency_then_by_version() {
    let manual = Run { trigger: Trigger::Manual, urgency: 5, ..queued(1, 1, 0) };
    let calm = Run { urgency: 1, ..queued(2, 2, 0) };
    let early = queued(3, 3, 10);
    let late = queued(4, 4, 20);
    let urgent = Run { urgency: 5, ..queued(5, 5, 90) };
    let recovered = Run { trigger: Trigger::Recover, ..queued(6, 6, 15) };
    let queue = queue(&[manual, calm, early, late, urgent, recovered]);
    assert_eq!(order(&queue), [5, 3, 6, 4, 2, 1]);
}

#[test]
fn of_an_exclusive_job_only_its_lowest_version_is_offered() {
    let queue = queue(&[queued(1, 7, 30), queued(2, 7, 10), queued(3, 8, 20)]);
    assert_eq!(order(&queue), [2, 3]);
}

#[test]
fn a_held_run_or_one_that_waits_for_a_retry_stands_before_the_others_of_its_job() {
    for state in [
        RunState::Leased(hold(1)),
        RunState::Running(hold(1)),
        RunState::Queued { not_before: Wall::from_ms(2_000), why: QueuedWhy::Retry },
    ] {
        let mut queue = queue(&[Run { state, ..queued(1, 7, 10) }, queued(2, 7, 20)]);
        assert_eq!(order(&queue), Vec::<i64>::new(), "{state}");
        let ended = Run { state: RunState::Ended(RunEnd::Succeeded), ..queued(1, 7, 10) };
        queue.put(&ended, None, false, NOW);
        assert_eq!(order(&queue), [2], "{state}");
    }
}

#[test]
fn runs_of_a_job_that_allows_overlap_are_all_offered() {
    let allow = |id, version| Run { exclusive: false, ..queued(id, 7, version) };
    let held = Run { state: RunState::Running(hold(1)), ..allow(1, 5) };
    assert_eq!(order(&queue(&[held, allow(2, 20), allow(3, 10)])), [3, 2]);
}

#[test]
fn an_expired_run_is_offered_for_takeover_before_its_jobs_other_versions() {
    let running = Run { state: RunState::Running(hold(1)), ..queued(1, 7, 50) };
    let mut queue = queue(&[running.clone(), queued(2, 7, 10)]);
    assert_eq!(order(&queue), Vec::<i64>::new());
    queue.put(&running, None, true, NOW);
    assert_eq!(order(&queue), [1]);
    // Its holder came back first.
    queue.put(&running, None, false, NOW);
    assert_eq!(order(&queue), Vec::<i64>::new());
}

#[test]
fn a_retry_is_offered_when_its_delay_is_over() {
    let at = Wall::from_ms(2_000);
    let retry = Run {
        state: RunState::Queued { not_before: at, why: QueuedWhy::Retry },
        ..queued(1, 7, 10)
    };
    let mut queue = queue(std::slice::from_ref(&retry));
    assert_eq!(queue.next_due(), Some(at));
    assert_eq!(queue.due(NOW), []);
    assert!(queue.is_later(retry.id) && !queue.is_ready(retry.id));
    assert_eq!(queue.due(at), [retry.id]);
    queue.put(&retry, None, false, at);
    assert_eq!(order(&queue), [1]);
    assert_eq!(queue.next_due(), None);
}

#[test]
fn each_host_group_has_a_head_of_its_own() {
    let mut queue = Queue::default();
    queue.put(&queued(1, 1, 10), Some("gpu"), false, NOW);
    queue.put(&queued(2, 2, 20), None, false, NOW);
    queue.put(&queued(3, 3, 30), Some("gpu"), false, NOW);
    let heads: Vec<_> =
        queue.heads().into_iter().map(|(group, place)| (group, place.run.raw())).collect();
    assert_eq!(heads, [(Some("gpu"), 1), (None, 2)]);
}

#[test]
fn a_removed_run_leaves_no_trace() {
    let mut queue = queue(&[queued(1, 7, 10), queued(2, 7, 20)]);
    queue.remove(RunId::from_raw(1));
    assert_eq!(order(&queue), [2]);
    queue.remove(RunId::from_raw(2));
    queue.remove(RunId::from_raw(2));
    assert_eq!(order(&queue), Vec::<i64>::new());
    assert!(queue.heads().is_empty());
}
