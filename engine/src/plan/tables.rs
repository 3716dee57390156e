//! Job sets in a few lines, and what their versions and bindings are.

use expect_test::{Expect, expect};

use super::sketch::{id, nodes, table, version};
use super::{Bound, Plan};

/// Two days: a Friday and a Saturday, unless a test says otherwise.
#[track_caller]
fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&table(text, "2026-05-01", "2026-05-03"));
}

#[test]
fn nearest_stays_on_the_calendar_day_and_ties_go_to_the_earlier() {
    check(
        "
        a: cron 30 23 * * *
        b: cron 0 4,8 * * *
        c: cron 0 6 * * * | on a nearest | on b nearest
        ",
        &expect![[r#"
            a 2026-05-01T23:30:00Z 2026-05-01
            a 2026-05-02T23:30:00Z 2026-05-02
            b 2026-05-01T04:00:00Z 2026-05-01
            b 2026-05-01T08:00:00Z 2026-05-01
            b 2026-05-02T04:00:00Z 2026-05-02
            b 2026-05-02T08:00:00Z 2026-05-02
            c 2026-05-01T06:00:00Z 2026-05-01 a@2026-05-01T23:30:00Z b@2026-05-01T04:00:00Z
            c 2026-05-02T06:00:00Z 2026-05-02 a@2026-05-02T23:30:00Z b@2026-05-02T04:00:00Z
        "#]],
    );
}

#[test]
fn at_or_before_reaches_across_midnight() {
    check(
        "
        a: cron 30 23 * * 4
        b: cron 0 6 * * * | on a
        ",
        &expect![[r#"
            b 2026-05-01T06:00:00Z 2026-05-01 a@2026-04-30T23:30:00Z
            b 2026-05-02T06:00:00Z 2026-05-02 a@2026-04-30T23:30:00Z
        "#]],
    );
}

#[test]
fn the_baseline_is_the_upstream_with_the_fewest_versions_of_the_day() {
    check(
        "
        a: cron 0 */8 * * *
        b: cron 0 5 * * *
        c: cron 0 7 * * *
        d: on a | on b | on c
        e: on a | baseline a | on b ignore
        ",
        &expect![[r#"
            a 2026-05-01T00:00:00Z 2026-05-01
            a 2026-05-01T08:00:00Z 2026-05-01
            a 2026-05-01T16:00:00Z 2026-05-01
            a 2026-05-02T00:00:00Z 2026-05-02
            a 2026-05-02T08:00:00Z 2026-05-02
            a 2026-05-02T16:00:00Z 2026-05-02
            b 2026-05-01T05:00:00Z 2026-05-01
            b 2026-05-02T05:00:00Z 2026-05-02
            c 2026-05-01T07:00:00Z 2026-05-01
            c 2026-05-02T07:00:00Z 2026-05-02
            d 2026-05-01T07:00:00Z 2026-05-01 a@2026-05-01T08:00:00Z b@2026-05-01T05:00:00Z c@2026-05-01T07:00:00Z
            d 2026-05-02T07:00:00Z 2026-05-02 a@2026-05-02T08:00:00Z b@2026-05-02T05:00:00Z c@2026-05-02T07:00:00Z
            e 2026-05-01T00:00:00Z 2026-05-01 a@2026-05-01T00:00:00Z b@2026-05-01T05:00:00Z
            e 2026-05-01T08:00:00Z 2026-05-01 a@2026-05-01T08:00:00Z b@2026-05-01T05:00:00Z
            e 2026-05-01T16:00:00Z 2026-05-01 a@2026-05-01T16:00:00Z b@2026-05-01T05:00:00Z
            e 2026-05-02T00:00:00Z 2026-05-02 a@2026-05-02T00:00:00Z b@2026-05-02T05:00:00Z
            e 2026-05-02T08:00:00Z 2026-05-02 a@2026-05-02T08:00:00Z b@2026-05-02T05:00:00Z
            e 2026-05-02T16:00:00Z 2026-05-02 a@2026-05-02T16:00:00Z b@2026-05-02T05:00:00Z
        "#]],
    );
}

#[test]
fn a_day_on_which_an_upstream_has_nothing_is_skipped_or_ignored() {
    check(
        "
        a: cron 0 5 * * *
        b: cron 0 3 * * 6
        c: on a | on b
        d: on a | on b ignore
        e: cron 0 6 * * * | on b nearest skip
        ",
        &expect![[r#"
            a 2026-05-01T05:00:00Z 2026-05-01
            a 2026-05-02T05:00:00Z 2026-05-02
            b 2026-05-02T03:00:00Z 2026-05-02
            c 2026-05-02T05:00:00Z 2026-05-02 a@2026-05-02T05:00:00Z b@2026-05-02T03:00:00Z
            d 2026-05-01T05:00:00Z 2026-05-01 a@2026-05-01T05:00:00Z
            d 2026-05-02T05:00:00Z 2026-05-02 a@2026-05-02T05:00:00Z b@2026-05-02T03:00:00Z
            e 2026-05-02T06:00:00Z 2026-05-02 b@2026-05-02T03:00:00Z
        "#]],
    );
}

#[test]
fn previous_counts_strictly_before_and_the_first_version_waits_for_nothing() {
    check(
        "
        a: cron 0 5 * * * | birth 2026-05-01 | on a previous 1
        b: cron 0 5 * * * | on a previous 1 skip
        c: cron 0 5 * * * | birth 2026-04-29 | on c previous 2
        ",
        &expect![[r#"
            a 2026-05-01T05:00:00Z 2026-05-01
            a 2026-05-02T05:00:00Z 2026-05-02 a@2026-05-01T05:00:00Z
            b 2026-05-02T05:00:00Z 2026-05-02 a@2026-05-01T05:00:00Z
            c 2026-05-01T05:00:00Z 2026-05-01 c@2026-04-29T05:00:00Z
            c 2026-05-02T05:00:00Z 2026-05-02 c@2026-04-30T05:00:00Z
        "#]],
    );
}

#[test]
fn of_edges_that_bind_one_version_the_first_with_success_counts() {
    let cases = [
        ("on a finished | on a same | on a nearest failed", 1),
        ("on a finished | on a same failed", 0),
        ("on a same | on a finished", 0),
    ];
    for (edges, counts) in cases {
        let nodes = nodes(&format!("a: cron 0 5 * * *\nb: cron 0 5 * * * | {edges}"));
        let at = version("2026-05-01T05:00:00Z");
        let bound = Plan::new(&nodes).bindings(id("b"), at);
        assert_eq!(bound, Ok(vec![Bound { edge: counts, upstream: id("a"), version: at }]));
    }
}

#[test]
fn nothing_is_before_its_birth() {
    check(
        "
        a: cron 0 5 * * *
        b: on a | birth 2026-05-01T12:00:00Z
        c: cron 0 6 * * * | on b
        ",
        &expect![[r#"
            a 2026-05-01T05:00:00Z 2026-05-01
            a 2026-05-02T05:00:00Z 2026-05-02
            b 2026-05-02T05:00:00Z 2026-05-02 a@2026-05-02T05:00:00Z
            c 2026-05-01T06:00:00Z 2026-05-01
            c 2026-05-02T06:00:00Z 2026-05-02 b@2026-05-02T05:00:00Z
        "#]],
    );
}

#[test]
fn a_job_that_runs_by_hand_binds_by_its_actions() {
    check(
        "
        a: exists 2026-04-01T10:00:00.123Z 2026-05-01T23:00:00Z
        b: cron 0 5 * * * | on a
        ",
        &expect![[r#"
            a 2026-05-01T23:00:00Z 2026-05-01
            b 2026-05-01T05:00:00Z 2026-05-01 a@2026-04-01T10:00:00.123Z
            b 2026-05-02T05:00:00Z 2026-05-02 a@2026-05-01T23:00:00Z
        "#]],
    );
}

#[test]
fn a_fault_is_told_for_those_whom_it_concerns() {
    check(
        "
        a: cron 0 5 * * *
        b: on a | on z
        c: on b
        d: cron 0 5 * * * | on z
        e: on a
        f: on f at_or_before
        g: on h | on a
        h: on g | on a
        ",
        &expect![[r#"
            a 2026-05-01T05:00:00Z 2026-05-01
            a 2026-05-02T05:00:00Z 2026-05-02
            b: job 2 has an edge to job 26, which is not there or is parked
            c: job 2 has an edge to job 26, which is not there or is parked
            d 2026-05-01T05:00:00Z 2026-05-01: job 4 has an edge to job 26, which is not there or is parked
            d 2026-05-02T05:00:00Z 2026-05-02: job 4 has an edge to job 26, which is not there or is parked
            e 2026-05-01T05:00:00Z 2026-05-01 a@2026-05-01T05:00:00Z
            e 2026-05-02T05:00:00Z 2026-05-02 a@2026-05-02T05:00:00Z
            f: job 6 has neither a schedule nor an upstream whose versions it could take
            g: the versions of job 7 follow from its own
            h: the versions of job 7 follow from its own
        "#]],
    );
}

#[test]
fn slots_count_those_of_the_schedule() {
    check(
        "
        a: cron 0 5 * * 1-5
        b: cron 0 5 * * 1-5 | on a same offset -2slots | on a same offset +1slots
        ",
        &expect![[r#"
            a 2026-05-01T05:00:00Z 2026-05-01
            b 2026-05-01T05:00:00Z 2026-05-01 a@2026-04-29T05:00:00Z a@2026-05-04T05:00:00Z
        "#]],
    );
}

#[test]
fn a_memo_that_forgets_what_an_edit_touches_tells_no_old_versions() {
    let before = nodes("a: cron 0 5 * * *\nb: on a\nc: on b\nd: on z\ne: cron 0 3 * * *");
    let after = nodes("a: cron 0 6 * * *\nb: on a\nc: on b\nd: on z\ne: cron 0 3 * * *\nz: on e");
    let (from, to) = (version("2026-05-01"), version("2026-05-02"));
    let all = |plan: &mut Plan<'_>| -> Vec<_> {
        ["a", "b", "c", "d", "e"].map(|job| plan.versions(id(job), from, to)).into()
    };
    let mut plan = Plan::new(&before);
    let old = all(&mut plan);
    let mut memo = plan.into_memo();
    memo.forget(&["a", "b", "c", "d", "z"].map(id).into());
    let kept = all(&mut Plan::with(&after, memo));
    assert_eq!(kept, all(&mut Plan::new(&after)));
    assert!(old.iter().zip(&kept).take(4).all(|(old, kept)| old != kept));
}
