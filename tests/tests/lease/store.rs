//! A store that is away, slow, or whose answers are lost.

use hera_tests::sim::Machines;

use crate::told::{ALONE, LONG, SHORT, begin, check};

#[test]
fn a_store_that_is_away_for_less_than_a_lease_costs_nothing() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(3_000);
    story.store_is_away(5_000);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_store_that_is_locked_and_then_does_all_at_once_costs_nothing() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(3_000);
    story.locks_store(3_000);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_store_that_is_away_for_longer_than_a_lease_ends_what_runs_and_nothing_overlaps() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(3_000);
    story.store_is_away(40_000);
    story.passes(39_000);
    assert!(!story.lives(1, 1));
    check(story, "succeeded", &["interrupted", "succeeded"], 2);
}

#[test]
fn a_version_whose_commit_is_not_heard_of_runs_once() {
    let mut story = begin(ALONE, SHORT);
    story.passes(119_900 - story.now());
    story.loses_store_answers(story.leader(), 500);
    let story = crate::told::ends(story);
    assert_eq!((story.state(1).as_str(), story.starts(1)), ("succeeded", 1), "{}", story.log());
}

#[test]
fn a_start_whose_commit_is_not_heard_of_counts_once() {
    let mut story = begin(ALONE, SHORT);
    story.until("a worker is granted the run", |story| story.is_held(1));
    story.passes(20);
    story.loses_store_answers(story.leader(), 1_200);
    let story = crate::told::ends(story);
    assert_eq!(story.run(1).map(|run| run.counts.starts), Some(1), "{}", story.log());
    assert_eq!((story.state(1).as_str(), story.starts(1)), ("succeeded", 1), "{}", story.log());
}

#[test]
fn an_end_whose_commit_is_not_heard_of_is_stored_once() {
    let mut story = begin(ALONE, SHORT);
    story.begins(1, 1);
    story.until("the process ends", |story| !story.lives(1, 1));
    story.loses_store_answers(story.leader(), 1_200);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_renewal_that_comes_late_saves_a_run_or_comes_to_nothing() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(2_000);
    story.delays_next_commit(9_200);
    story.beats(worker);
    story.until("the commit is on its way", |story| story.commit_is_delayed());
    story.stops_worker(worker, 60_000);
    story.begins(1, 2);
    check(story, "succeeded", &["lost", "succeeded"], 2);
}
