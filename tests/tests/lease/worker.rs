//! Workers that die, stand still, sleep, or cannot be heard.

use hera_tests::sim::{Check, Machines, Work};

use crate::told::{ALONE, LONG, SHORT, SOON_MS, WINDOW_MS, begin, begin_job, check, second_after};

#[test]
fn a_host_without_power_loses_its_work_after_the_window() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    let since = story.now();
    story.power_fails(worker, None);
    let waited = second_after(&mut story, since);
    assert!((WINDOW_MS - 2_000..WINDOW_MS + SOON_MS).contains(&waited), "{waited}");
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn a_killed_agent_that_comes_back_frees_its_work_at_once() {
    let mut story = begin(ALONE, LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    let since = story.now();
    story.kills_worker(worker, Some(1_000));
    let waited = second_after(&mut story, since);
    assert!(waited < 1_000 + SOON_MS, "{waited}");
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn an_end_that_was_written_down_survives_its_agent() {
    let mut story = begin(Machines::default(), SHORT);
    let worker = story.begins(1, 1);
    story.loses_ends(10_000);
    story.until("the process ends", |story| !story.lives(1, 1));
    story.kills_worker(worker, Some(1_000));
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_killed_shim_is_waited_for_until_the_lease_has_run_out() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(3_000);
    let since = story.now();
    story.kills_shim(1, 1);
    let waited = second_after(&mut story, since);
    assert!(waited > WINDOW_MS - 2_000, "{waited}");
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn a_killed_job_has_failed_once() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.kills_job(1, 1);
    check(story, "failed(signal)", &["failed"], 1);
}

#[test]
fn an_agent_that_stands_still_for_less_than_a_lease_costs_nothing() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.stops_worker(worker, 6_000);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn the_job_of_an_agent_that_stands_still_is_dead_before_another_begins() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.stops_worker(worker, 60_000);
    story.begins(1, 2);
    assert!(!story.lives(1, 1));
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn a_host_that_slept_past_its_lease_kills_its_job_and_reports_nothing() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.sleeps(worker, 20_000);
    let since = story.now();
    let waited = second_after(&mut story, since);
    assert!(waited < 20_000, "{waited}");
    story.passes(20_100 - waited);
    assert!(!story.lives(1, 1), "{}", story.log());
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn a_job_that_stands_still_is_left_to_its_worker() {
    let mut story = begin(Machines::default(), LONG);
    story.begins(1, 1);
    story.stops_job(1, 1, 600_000);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_paused_guest_whose_boot_clock_stands_still_may_overlap_and_the_checks_show_it() {
    // The one exception that no clock can close: the store stays right, and the fence tells the two apart.
    let mut story = begin(Machines::default(), Work { lasts: 100_000, ..LONG });
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.pauses_guest(worker, 30_000);
    story.passes(60_000);
    assert_eq!(story.seen_by(), Some(Check::I2));
}

#[test]
fn a_short_partition_kills_nothing() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.cuts_off(worker, 5_000);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_long_partition_ends_the_job_before_the_next_attempt_begins() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.cuts_off(worker, 120_000);
    story.begins(1, 2);
    assert!(!story.lives(1, 1));
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn a_worker_that_reaches_only_the_standby_is_as_one_that_reaches_nobody() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.cuts(worker, story.leader(), 120_000);
    story.begins(1, 2);
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn where_only_answers_are_lost_the_worker_gives_its_work_back_by_itself() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.loses_answers(worker, 60_000);
    story.begins(1, 2);
    check(story, "succeeded", &["interrupted", "succeeded"], 2);
}

#[test]
fn where_only_requests_are_lost_it_is_as_in_a_partition() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.loses_requests(worker, 60_000);
    story.begins(1, 2);
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn a_grant_that_was_never_heard_goes_back_and_costs_no_start() {
    let mut story = begin(ALONE, SHORT);
    story.until("a worker is granted the run", |story| story.is_held(1));
    story.loses_answers(0, 7_000);
    story.until("the grant is taken back", |story| !story.is_held(1));
    check(story, "succeeded", &["unaccepted", "succeeded"], 1);
}

#[test]
fn a_start_whose_answer_is_lost_is_asked_again_and_counts_once() {
    let mut story = begin(Machines::default(), SHORT);
    story.until("the start is stored", |story| story.state(1) == "running");
    story.loses_answers(0, 1_000);
    story.loses_answers(1, 1_000);
    story.begins(1, 1);
    assert_eq!(story.run(1).map(|run| run.counts.starts), Some(1));
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_start_that_is_heard_too_late_executes_nothing() {
    let mut story = begin(Machines::default(), SHORT);
    story.until("the start is stored", |story| story.state(1) == "running");
    story.stops_worker(0, 40_000);
    story.stops_worker(1, 40_000);
    story.passes(41_000);
    assert!(!story.began(1, 1), "{}", story.log());
    check(story, "succeeded", &["interrupted", "succeeded"], 1);
}

#[test]
fn an_end_whose_answer_is_lost_is_told_again_and_stored_once() {
    let mut story = begin(ALONE, SHORT);
    story.until("the end is stored", |story| story.state(1) == "succeeded");
    story.loses_answers(0, 3_000);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn while_no_end_can_be_told_the_worker_keeps_its_lease_and_nothing_runs_again() {
    let mut story = begin(Machines::default(), SHORT);
    story.begins(1, 1);
    story.loses_ends(300_000);
    story.passes(300_000);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_success_that_comes_after_the_takeover_is_kept_as_a_late_report() {
    let mut story = begin(Machines::default(), SHORT);
    let worker = story.begins(1, 1);
    story.works(LONG);
    story.cuts_off(worker, 30_000);
    story.begins(1, 2);
    check(story, "succeeded", &["lost, late: succeeded", "succeeded"], 2);
}

#[test]
fn a_success_that_comes_before_any_takeover_is_taken_though_the_lease_is_over() {
    let mut story = begin(ALONE, SHORT);
    let worker = story.begins(1, 1);
    story.cuts_off(worker, 60_000);
    check(story, "succeeded", &["succeeded"], 1);
}

#[test]
fn a_drained_worker_hands_its_work_on_as_soon_as_that_is_dead() {
    let mut story = begin(Machines::default(), Work { ignores_term: true, ..LONG });
    let worker = story.begins(1, 1);
    story.passes(3_000);
    let since = story.now();
    story.drains(worker, 0);
    let waited = second_after(&mut story, since);
    assert!(waited < SOON_MS, "L4: {waited}");
    assert_eq!(story.run(1).map(|run| run.counts.losses), Some(0), "a drain costs nothing");
    check(story, "succeeded", &["interrupted", "succeeded"], 2);
}

#[test]
fn what_cannot_be_killed_is_waited_for_until_its_lease_has_run_out() {
    let mut story = begin(Machines::default(), Work { immortal: true, ..LONG });
    let worker = story.begins(1, 1);
    story.passes(3_000);
    story.drains(worker, 0);
    let since = story.now();
    let waited = second_after(&mut story, since);
    assert!(waited > WINDOW_MS - 2_000, "{waited}");
    check(story, "succeeded", &["lost", "succeeded"], 2);
}

#[test]
fn a_worker_may_get_its_own_run_again() {
    let mut story = begin(ALONE, LONG);
    story.begins(1, 1);
    story.passes(3_000);
    story.cuts_off(0, 30_000);
    story.begins(1, 2);
    check(story, "succeeded", &["interrupted", "succeeded"], 2);
}

#[test]
fn what_may_start_once_is_lost_with_its_worker() {
    let mut story = begin_job(", at_most_once: true", Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.power_fails(worker, None);
    check(story, "failed(lost)", &["lost"], 1);
}

#[test]
fn a_cancelled_run_whose_worker_is_gone_ends_after_the_window_and_is_not_taken_over() {
    let mut story = begin(Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.power_fails(worker, None);
    story.passes(2_000);
    story.cancels(1);
    check(story, "cancelled(by)", &["lost"], 1);
}

#[test]
fn a_cancellation_that_meets_the_end_makes_one_end() {
    let mut story = begin(Machines::default(), SHORT);
    story.begins(1, 1);
    story.until("the process ends", |story| !story.lives(1, 1));
    story.cancels(1);
    check(story, "succeeded", &["succeeded"], 1);
}
