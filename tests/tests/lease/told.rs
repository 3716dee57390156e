//! What the stories have in common: their jobs and scripts, and how one is told to its end.

use hera_tests::sim::{Machines, Mutation, Story, Work};

/// Longer than a lease and its window.
pub(crate) const LONG: Work = Work { lasts: 40_000, code: 0, ignores_term: false, immortal: false };
/// Shorter than a lease.
pub(crate) const SHORT: Work = Work { lasts: 3_000, ..LONG };

/// From the last sign of a holder until its hold may be taken: a lease of 10 s, its drift, and the grace.
pub(crate) const WINDOW_MS: i64 = 11_100;
/// A poll, a start and a few messages on top.
pub(crate) const SOON_MS: i64 = 2_500;

/// One worker is enough.
pub(crate) const ALONE: Machines = Machines { masters: 2, workers: 1, capacity: 2 };

/// One job, once, at eight; `says` is what else its entry says.
pub(crate) fn job(says: &str) -> String {
    format!(
        "group: g\ndefaults: {{ zone: UTC, lease: 10s }}\njobs:\n  - {{ name: a, \
         schedule: {{ cron: \"0 8 * * *\" }}, script: work{says} }}\n"
    )
}

pub(crate) fn begin(machines: Machines, work: Work) -> Story {
    begin_job("", machines, work)
}

pub(crate) fn begin_job(says: &str, machines: Machines, work: Work) -> Story {
    Story::begin(machines, &job(says), work, None)
}

/// The same, with a rule taken away.
pub(crate) fn without(rule: Option<Mutation>, machines: Machines, work: Work) -> Story {
    Story::begin(machines, &job(""), work, rule)
}

/// All must come to rest, without a lapse.
#[track_caller]
pub(crate) fn ends(story: Story) -> Story {
    let log = story.log().to_owned();
    let told = story.ends();
    assert!(told.is_ok(), "{:?}\n{log}", told.err());
    told.expect("a story without a lapse")
}

/// The run ends so, after these attempts, of which so many began to execute.
#[track_caller]
pub(crate) fn check(story: Story, state: &str, attempts: &[&str], starts: usize) {
    let story = ends(story);
    let log = story.log();
    assert_eq!(story.state(1), state, "{log}");
    assert_eq!(story.attempts(1), attempts, "{log}");
    assert_eq!(story.starts(1), starts, "{log}");
}

/// How long after `since` the second attempt begins.
pub(crate) fn second_after(story: &mut Story, since: i64) -> i64 {
    story.begins(1, 2);
    story.now() - since
}
