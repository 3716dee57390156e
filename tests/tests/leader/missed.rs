//! Many versions that came due at once: all are judged together, and the job goes on.

use hera_common::job::Gap;
use hera_common::time::Version;
use hera_engine::input::Input;

use crate::desk::{BEGIN_MS, Desk};

/// The versions of the only job in this state, in seconds past eight.
fn versions(desk: &Desk, wanted: impl Fn(&str) -> bool) -> Vec<i64> {
    desk.store.rows(|rows| {
        let actions = rows.actions.values();
        let found = actions.filter(|action| wanted(&action.state.to_string()));
        let mut found: Vec<i64> = found.map(|action| seconds(action.version)).collect();
        found.sort_unstable();
        found
    })
}

fn seconds(version: Version) -> i64 {
    (version.ms() - BEGIN_MS) / 1_000
}

fn taken(desk: &Desk) -> Vec<i64> {
    versions(desk, |state| !matches!(state, "planned" | "skipped(late)"))
}

#[test]
fn catch_up_looks_at_all_that_was_missed_and_the_job_goes_on() {
    // Ten days after eight o'clock and five minutes; the versions of the last minute were not missed.
    let now = 10 * 24 * 60 + 5;
    for (catch_up, first) in [("skip", now - 1), ("last", now - 2), ("all", now - 101)] {
        let mut desk = Desk::new();
        desk.wait(10 * 86_400);
        let job = "{name: tick, schedule: {cron: '0 * * * * ?'}, type: noop";
        desk.apply(&format!("  - {job}, catch_up: {catch_up}}}\n"));
        let minutes: Vec<i64> = (first..=now).map(|minute| minute * 60).collect();
        assert_eq!(taken(&desk), minutes, "{catch_up}");
        let gaps: Vec<Gap> = desk.store.rows(|rows| rows.gaps.values().cloned().collect());
        let told: Vec<_> = gaps.iter().map(|g| (seconds(g.from), seconds(g.to), g.count)).collect();
        assert_eq!(told, [(0, (first - 1) * 60, u64::try_from(first).unwrap())], "{catch_up}");
        desk.wait(60);
        desk.turn(vec![Input::Tick]);
        assert_eq!(taken(&desk).last(), Some(&((now + 1) * 60)), "{catch_up}");
    }
}

#[test]
fn rows_that_came_due_without_a_leader_are_judged_with_the_slots_behind_them() {
    let mut desk = Desk::new();
    desk.apply("  - {name: tick, schedule: {cron: '0/5 * * * * ?'}, type: noop, catch_up: last}\n");
    desk.turn(vec![Input::Tick]);
    assert_eq!(versions(&desk, |state| state == "planned").len(), 2_000);
    let before = taken(&desk);
    // The rows reach less than three hours ahead.
    desk.wait(10 * 3_600);
    desk.lead();
    desk.turn(vec![Input::Tick]);
    let now = 10 * 3_600 + 300;
    let after: Vec<i64> = taken(&desk).into_iter().filter(|v| !before.contains(v)).collect();
    // The newest that was missed, and those of the last minute.
    let expected: Vec<i64> = (0..=13).rev().map(|n| now - n * 5).collect();
    assert_eq!(after, expected);
    assert_eq!(versions(&desk, |state| state == "planned").len(), 2_000);
    assert_eq!(versions(&desk, |state| state == "skipped(late)").len(), 2_000);
}

#[test]
fn a_job_that_fires_each_second_never_runs_out_of_rows() {
    let mut desk = Desk::new();
    desk.apply("  - {name: tick, schedule: {cron: '* * * * * ?'}, type: noop}\n");
    desk.turn(vec![Input::Tick]);
    let late = versions(&desk, |state| state == "skipped(late)").len();
    for _part_of_a_minute in 0..44 {
        desk.wait(55);
        desk.turn(vec![Input::Tick]);
        assert!(versions(&desk, |state| state == "planned").len() >= 900);
    }
    assert_eq!(versions(&desk, |state| state == "skipped(late)").len(), late);
    assert_eq!(taken(&desk).last(), Some(&(44 * 55 + 300)));
}
