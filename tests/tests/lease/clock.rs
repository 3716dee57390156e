//! Wall clocks that jump: no lease ends by them, and nothing runs twice.

use hera_tests::sim::Machines;

use crate::told::{LONG, SHORT, begin, check, ends};

const HOUR_MS: i64 = 3_600_000;

#[test]
fn no_lease_ends_when_the_stores_clock_jumps_ahead() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(3_000);
    story.jumps(HOUR_MS);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn no_lease_ends_when_the_stores_clock_jumps_back() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(3_000);
    story.jumps(-HOUR_MS);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_version_that_was_decided_is_not_decided_again_when_the_clock_goes_back() {
    let mut story = begin(Machines::default(), SHORT);
    story.until("the run ends", |story| story.state(1) == "succeeded");
    story.jumps(-HOUR_MS / 6);
    let story = ends(story);
    assert!(story.run(2).is_none(), "{}", story.log());
}

#[test]
fn after_one_bad_minute_the_schedule_goes_on_from_the_right_time() {
    let mut story = begin(Machines::default(), SHORT);
    story.passes(30_000);
    story.jumps(60_000);
    story.until("the run ends", |story| story.state(1) == "succeeded");
    story.jumps(-60_000);
    let story = ends(story);
    assert!(story.run(2).is_none(), "{}", story.log());
}
