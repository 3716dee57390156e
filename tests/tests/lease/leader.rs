//! Leaders that die, stand still, lose the store, or are doubted while they live.

use hera_tests::sim::Machines;

use crate::told::{LONG, SHORT, begin, check, second_after};

#[test]
fn a_leader_that_dies_with_a_grant_on_its_way_starts_nothing_twice() {
    let mut story = begin(Machines::default(), SHORT);
    story.until("a worker is granted the run", |story| story.is_held(1));
    story.kills_master(story.leader(), Some(20_000));
    story.begins_any(1);
    let story = crate::told::ends(story);
    assert_eq!((story.state(1).as_str(), story.starts(1)), ("succeeded", 1), "{}", story.log());
}

#[test]
fn a_version_that_comes_due_without_a_leader_runs_once() {
    let mut story = begin(Machines::default(), SHORT);
    story.passes(119_900 - story.now());
    story.kills_master(story.leader(), Some(20_000));
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn nothing_that_runs_notices_that_its_leader_died() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.kills_master(story.leader(), Some(20_000));
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_leader_that_wakes_after_another_has_taken_over_writes_nothing() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    let old = story.leader();
    story.stops_master(old, 30_000);
    story.until("the standby leads", |story| story.leads(1 - old));
    story.passes(30_000);
    assert!(story.leads(1 - old), "{}", story.log());
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_commit_of_a_leader_that_was_deposed_meanwhile_is_not_written() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    let old = story.leader();
    story.delays_next_commit(9_000);
    story.beats(worker);
    story.until("the commit is on its way", |story| story.commit_is_delayed());
    story.stops_master(old, 12_000);
    story.until("the standby leads", |story| story.leads(1 - old));
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn of_two_standbys_one_leads() {
    let mut story = begin(Machines { masters: 3, ..Machines::default() }, LONG);
    story.begins(1, 1);
    story.kills_master(story.leader(), Some(40_000));
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_leader_that_cannot_reach_the_store_gives_up_before_another_leads() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    let old = story.leader();
    story.cuts_store(old, 30_000);
    story.until("the standby leads", |story| story.leads(1 - old));
    assert_ne!(story.leader(), old);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_leadership_that_flaps_takes_nothing_over() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    for _turn in 0..7 {
        let standby = 1 - story.leader();
        story.seizes(standby);
        story.passes(4_500);
    }
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_leader_that_is_asked_to_end_is_followed_at_once() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    let (old, since) = (story.leader(), story.now());
    story.ends_master(old, 20_000);
    story.until("the standby leads", |story| story.leads(1 - old));
    let waited = story.now() - since;
    assert!(waited < 1_500, "{waited}");
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn all_masters_away_for_less_than_a_lease_cost_nothing() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(3_000);
    story.kills_master(0, Some(1_000));
    story.kills_master(1, Some(1_000));
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn after_a_power_cut_of_everything_the_workers_return_frees_their_work() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(3_000);
    for number in 0..2 {
        story.kills_master(number, Some(3_000));
        story.power_fails(number, Some(3_000));
    }
    let since = story.now();
    let waited = second_after(&mut story, since);
    // The new leader waits for the old one's lease, the workers for the leader, and nobody for a worker's lease.
    assert!(waited < 3_000 + 5_050 + 3_000, "{waited}");
    check(story, "succeeded", &["lost", "succeeded"], 2);
}
