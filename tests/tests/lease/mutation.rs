//! The checks are tested: each rule of the lease protocol is taken away once, and a story shows which check then sees it.
//! With the rule in its place the same story ends well.

use hera_tests::sim::{Check, Lapse, Machines, Mutation, Story, Work};

use crate::told::{ALONE, LONG, SHORT, job, without};

type Rule = Option<Mutation>;

/// A rule that is taken away, the story that needs it, and which checks may see that it is gone.
struct Lesson {
    rule: Mutation,
    tell: fn(Rule) -> Story,
    seen_by: &'static [Check],
}

const fn lesson(rule: Mutation, tell: fn(Rule) -> Story, seen_by: &'static [Check]) -> Lesson {
    Lesson { rule, tell, seen_by }
}

/// Each rule once.
const LESSONS: [Lesson; 17] = [
    lesson(Mutation::LeaseFromAnswer, an_answer_is_read_late, &[Check::I2]),
    lesson(Mutation::TakeoverWithoutCount, a_renewal_comes_late, &[Check::I17]),
    lesson(Mutation::NoWindowForNewLeader, a_leader_dies, &[Check::I17]),
    lesson(Mutation::ExpiryByWallClock, the_clock_jumps, &[Check::I17]),
    lesson(Mutation::NoShim, an_agent_stops, &[Check::I2, Check::I16]),
    lesson(Mutation::ReleaseBeforeEmpty, a_worker_drains, &[Check::I14]),
    lesson(Mutation::StartOnGrant, nothing_happens, &[Check::I3]),
    lesson(Mutation::FinishWithoutToken, an_end_comes_late, &[Check::I7, Check::I20]),
    lesson(Mutation::GapApart, versions_fall_into_a_gap, &[Check::I11]),
    lesson(Mutation::PollWithoutKey, polls_arrive_twice, &[Check::I6]),
    lesson(Mutation::BeatsUntilExit, ends_are_not_heard, &[Check::I15]),
    lesson(Mutation::NoEpochGuard, a_deposed_leader_commits, &[Check::I13]),
    lesson(Mutation::NotLeaderIsLost, a_deposed_leader_answers, &[Check::Lost]),
    lesson(Mutation::AnswerBeforeCommit, an_end_is_not_stored, &[Check::I19]),
    lesson(Mutation::NothingKept, an_agent_dies_with_an_end, &[Check::I15]),
    lesson(Mutation::FreeRetries, a_job_fails_again_and_again, &[Check::I8]),
    lesson(Mutation::EpochSkipped, nothing_happens, &[Check::I13]),
];

fn nothing_happens(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), SHORT);
    story.begins(1, 1);
    story
}

fn an_answer_is_read_late(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(2_000);
    story.beats(worker);
    story.stops_worker(worker, 5_000);
    story.passes(200);
    story.cuts_off(worker, 60_000);
    story.begins(1, 2);
    story
}

fn a_renewal_comes_late(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(2_000);
    story.delays_next_commit(9_200);
    story.beats(worker);
    story.until("the commit is on its way", |story| story.commit_is_delayed());
    story.stops_worker(worker, 60_000);
    story.begins(1, 2);
    story
}

fn a_leader_dies(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), LONG);
    story.begins(1, 1);
    story.kills_master(story.leader(), Some(20_000));
    story.passes(20_000);
    story
}

fn the_clock_jumps(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), LONG);
    story.begins(1, 1);
    story.passes(2_000);
    story.jumps(3_600_000);
    story.passes(5_000);
    story
}

fn an_agent_stops(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), LONG);
    let worker = story.begins(1, 1);
    story.passes(2_000);
    story.stops_worker(worker, 60_000);
    story.begins(1, 2);
    story
}

fn a_worker_drains(rule: Rule) -> Story {
    let work = Work { ignores_term: true, ..LONG };
    let mut story = without(rule, Machines::default(), work);
    let worker = story.begins(1, 1);
    story.passes(2_000);
    story.drains(worker, 0);
    story.begins(1, 2);
    story
}

fn an_end_comes_late(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), SHORT);
    let worker = story.begins(1, 1);
    story.works(LONG);
    story.cuts_off(worker, 30_000);
    story.begins(1, 2);
    story.passes(20_000);
    story
}

/// More versions than are planned ahead come due at once.
fn versions_fall_into_a_gap(rule: Rule) -> Story {
    let jobs = "group: g\ndefaults: { zone: UTC }\njobs:\n  - { name: a, catch_up: skip, \
                schedule: { cron: \"0 * * * *\" }, script: work }\n";
    let mut story = Story::begin(Machines::default(), jobs, SHORT, rule);
    story.begins(1, 1);
    story.jumps(70 * 3_600_000);
    story.passes(10_000);
    story
}

fn polls_arrive_twice(rule: Rule) -> Story {
    let mut jobs = String::from("group: g\ndefaults: { zone: UTC, lease: 10s }\njobs:\n");
    for number in 0..40 {
        jobs.push_str("  - { name: a");
        jobs.push_str(&number.to_string());
        jobs.push_str(", schedule: { cron: \"0 8 * * *\" }, script: work }\n");
    }
    let machines = Machines { capacity: 1, ..ALONE };
    let mut story = Story::begin(machines, &jobs, Work { lasts: 200, ..SHORT }, rule);
    story.doubles_messages(180_000);
    story.passes(170_000);
    story
}

/// Three jobs keep the workers busy, so that these are heard; the fourth one ends, and cannot say so.
fn ends_are_not_heard(rule: Rule) -> Story {
    let mut jobs = job("");
    for name in ["b", "c", "d"] {
        jobs.push_str("  - { name: ");
        jobs.push_str(name);
        jobs.push_str(", schedule: { cron: \"59 7 * * *\" }, script: work }\n");
    }
    let mut story = Story::begin(Machines::default(), &jobs, Work { lasts: 300_000, ..LONG }, rule);
    for run in 1..=3 {
        story.begins(run, 1);
    }
    story.works(SHORT);
    story.begins(4, 1);
    story.loses_ends(60_000);
    story.passes(60_000);
    story
}

fn a_deposed_leader_commits(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), LONG);
    let worker = story.begins(1, 1);
    let old = story.leader();
    story.delays_next_commit(9_000);
    story.beats(worker);
    story.until("the commit is on its way", |story| story.commit_is_delayed());
    story.stops_master(old, 12_000);
    story.until("the standby leads", |story| story.leads(1 - old));
    story.passes(6_000);
    story
}

/// The worker hears of no other leader, and asks the old one before that knows.
fn a_deposed_leader_answers(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), LONG);
    let worker = story.begins(1, 1);
    let old = story.leader();
    story.passes(1_000);
    story.cuts(worker, 1 - old, 30_000);
    story.seizes(1 - old);
    story.until("the standby leads", |story| story.leads(1 - old));
    story.asks(worker, old);
    story.beats(worker);
    story.passes(1_000);
    story
}

fn an_end_is_not_stored(rule: Rule) -> Story {
    let mut story = without(rule, ALONE, SHORT);
    story.begins(1, 1);
    story.until("the process ends", |story| !story.lives(1, 1));
    story.cuts_store(story.leader(), 1_500);
    story.passes(5_000);
    story
}

fn an_agent_dies_with_an_end(rule: Rule) -> Story {
    let mut story = without(rule, Machines::default(), SHORT);
    let worker = story.begins(1, 1);
    story.loses_ends(10_000);
    story.until("the process ends", |story| !story.lives(1, 1));
    story.kills_worker(worker, Some(1_000));
    story.passes(15_000);
    story
}

fn a_job_fails_again_and_again(rule: Rule) -> Story {
    let jobs = job(", retries: { times: 2, delay: 1s }");
    let mut story = Story::begin(Machines::default(), &jobs, Work { code: 1, ..SHORT }, rule);
    story.begins(1, 3);
    story.passes(10_000);
    story
}

/// The first lapse, and the story up to its last scripted moment.
fn told(lesson: &Lesson, rule: Rule) -> (Option<Box<Lapse>>, String) {
    let story = (lesson.tell)(rule);
    let log = story.log().to_owned();
    (story.ends().err(), log)
}

#[test]
fn each_rule_has_its_lesson() {
    for rule in Mutation::ALL {
        assert!(LESSONS.iter().any(|lesson| lesson.rule == rule), "{rule:?}");
    }
}

#[test]
fn a_rule_that_is_taken_away_is_missed() {
    for lesson in &LESSONS {
        let (lapse, log) = told(lesson, Some(lesson.rule));
        let seen = lapse.as_ref().is_some_and(|lapse| lesson.seen_by.contains(&lapse.check));
        assert!(seen, "{:?} was to be seen by {:?}: {lapse:?}\n{log}", lesson.rule, lesson.seen_by);
    }
}

#[test]
fn with_all_rules_every_lesson_ends_well() {
    for lesson in &LESSONS {
        let (lapse, log) = told(lesson, None);
        assert!(lapse.is_none(), "{:?}: {lapse:?}\n{log}", lesson.rule);
    }
}
