//! What a set of jobs is refused for, in the words that people read.

use expect_test::{Expect, expect};

use super::check;
use crate::plan::sketch::nodes;

#[track_caller]
fn refused(text: &str, expected: &Expect) {
    let told = match check(&nodes(text)) {
        Ok(()) => "saved\n".to_owned(),
        Err(refusals) => refusals.iter().map(|refusal| format!("{refusal}\n")).collect(),
    };
    expected.assert_eq(&told);
}

#[test]
fn a_circle_is_refused_by_its_path() {
    refused(
        "a: cron 0 0 * * * | on c\nb: on a\nc: on b",
        &expect![["the jobs wait for one another: 1 -> 2 -> 3 -> 1\n"]],
    );
    // The shortest of the circles through the lowest job.
    refused(
        "a: cron 0 0 * * * | on d | on b\nb: on a\nc: on b\nd: on c",
        &expect![["the jobs wait for one another: 1 -> 2 -> 1\n"]],
    );
    // Each knot is named.
    refused(
        "a: cron 0 0 * * * | on b\nb: on a\nc: cron 0 0 * * * | on d\nd: on c | on a",
        &expect![[
            "the jobs wait for one another: 1 -> 2 -> 1\nthe jobs wait for one another: 3 -> 4 -> 3\n"
        ]],
    );
}

#[test]
fn a_circle_that_leads_back_in_time_is_saved() {
    let saved = expect![["saved\n"]];
    refused("a: cron 0 0 * * * | on b previous 1\nb: on a", &saved);
    refused("a: cron 0 0 * * * | on b offset -1d\nb: on a", &saved);
    refused("a: cron 0 0 * * * | on b offset -1mo\nb: on a", &saved);
    refused("a: cron 0 0 * * * | on b offset -2slots\nb: on a", &saved);
    refused("a: cron 0 0 * * * | on b window -1d 0s\nb: on a", &saved);
    refused("a: cron 0 0 * * * | on b data offset -1d\nb: on a", &saved);
    refused("a: cron 0 0 * * * | on a previous 1", &saved);
    refused("a: cron 0 0 * * * | on b offset -2d\nb: cron 0 0 * * * | on a offset +1d", &saved);
}

#[test]
fn what_leads_ahead_outweighs_what_leads_back() {
    refused(
        "a: cron 0 0 * * * | on b offset -1h\nb: cron 0 0 * * * | on c\nc: cron 0 0 * * * | on a offset +1h",
        &expect![["the jobs wait for one another: 1 -> 3 -> 2 -> 1\n"]],
    );
    // A day can have 23 hours.
    refused(
        "a: cron 0 0 * * * | on b offset -1d\nb: cron 0 0 * * * | on a offset +23h",
        &expect![["the jobs wait for one another: 1 -> 2 -> 1\n"]],
    );
    // The window ends with the version itself.
    refused(
        "a: cron 0 0 * * * | on b window -1h 1s\nb: cron 0 0 * * * | on a",
        &expect![["the jobs wait for one another: 1 -> 2 -> 1\n"]],
    );
}

#[test]
fn an_edge_that_leads_back_on_a_circle_decides_about_no_version() {
    refused(
        "a: cron 0 0 * * * | on b previous 1 skip\nb: on a",
        &expect![[
            "job 1, edge 0: the edge leads back on a circle: with empty: skip, or to the baseline, the job's versions would follow from its own; say empty: ignore\n"
        ]],
    );
    refused(
        "a: on b previous 1 ignore | baseline b\nb: on a",
        &expect![[
            "job 1, edge 0: the edge leads back on a circle: with empty: skip, or to the baseline, the job's versions would follow from its own; say empty: ignore\n"
        ]],
    );
}

#[test]
fn versions_must_come_from_somewhere() {
    let saved = expect![["saved\n"]];
    let no_source = expect![[
        "job 2: it has no schedule, and no edge from which its versions could follow: give it a baseline, or an edge by nearest, same, data, or a period as long as its data interval, without offset and with empty: skip\n"
    ]];
    refused("a:", &saved);
    refused("a: cron 0 0 * * *\nb: on a at_or_before", &no_source);
    refused("a: cron 0 0 * * *\nb: on a nearest ignore", &no_source);
    refused("a: cron 0 0 * * *\nb: on a nearest offset -1d", &no_source);
    refused("a: cron 0 0 * * *\nb: on a last week", &no_source);
    refused("a: cron 0 0 * * *\nb: on b previous 1", &no_source);
    refused("a: cron 0 0 * * *\nb: on a last day", &saved);
    refused("a: cron 0 0 * * *\nb: on a at_or_before | baseline a", &saved);
    refused("a: cron 0 0 * * * | data week 0\nb: on a | data day 0", &no_source);
    refused("a: cron 0 0 * * * | data day 0\nb: on a | data week 0", &saved);
}

#[test]
fn faults_of_one_job_are_told_one_by_one() {
    refused(
        "
        a: cron 0 0 * * * | on a nearest
        b: cron 0 0 * * * | on a previous 0
        c:
        d: cron 0 0 * * * | on c nearest | on c at_or_before
        e: cron 0 0 * * * | on a | baseline a
        f: on a | baseline b
        g: on c at_or_before | baseline c
        h: on a | on a offset -1slots
        i: cron 0 0 * * * | on a window -2slots 0s
        ",
        &expect![[r#"
            job 1, edge 0: an edge of a job to itself must be previous
            job 2, edge 0: previous counts from 1
            job 4, edge 0: the upstream runs by hand or event only: the edge must be at_or_before
            job 5: it has a schedule: a baseline would mean nothing
            job 6: its baseline is none of its upstream jobs
            job 7: its baseline runs by hand or event only, and has no versions ahead
            job 8, edge 1: an offset in slots counts this job's own versions, so they cannot follow from it: say empty: ignore
            job 9, edge 0: the bounds of a window are times, not slots
        "#]],
    );
}

#[test]
fn an_upstream_that_is_not_there_refuses_nobody_else() {
    refused("a: cron 0 0 * * * | on z", &expect![["saved\n"]]);
}
