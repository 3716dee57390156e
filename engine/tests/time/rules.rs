//! Intervals and single instants, alone and beside crons.

use hera_common::shift::Shift;
use hera_common::time::Version;
use hera_engine::time::{
    At, DstGap, DstOverlap, DstPolicy, Every, Rule, RuleError, Schedule, next_after, prev_before,
    slots,
};

use super::{schedule, shown, version, with_policy};

fn every(interval: &str, anchor: &str) -> Result<Rule, RuleError> {
    let interval = Shift::parse(interval).expect("an interval of a test");
    Every::new(interval, version(anchor)).map(Rule::Every)
}

fn at(instants: &[&str]) -> Result<Rule, RuleError> {
    At::new(instants.iter().map(|instant| version(instant)).collect()).map(Rule::At)
}

fn made(rules: Vec<Rule>, zone: &str) -> Schedule {
    Schedule::of(rules, zone, DstPolicy::default()).expect("a schedule of a test")
}

/// Forward and back over the same slots.
fn check_steps(schedule: &Schedule, from: &str, to: &str) {
    let walked: Vec<_> = slots(schedule, version(from), version(to)).collect();
    assert!(walked.len() > 1, "{walked:?}");
    for (&before, &after) in walked.iter().zip(walked.iter().skip(1)) {
        assert_eq!(next_after(schedule, before), Some(after));
        assert_eq!(prev_before(schedule, after), Some(before));
    }
}

#[test]
fn hours_are_elapsed_time_from_the_anchor_on() {
    let rule = every("8h", "2026-03-28T20:00:00Z").expect("an interval");
    let berlin = made(vec![rule], "Europe/Berlin");
    let expected = ["03-28 20:00", "03-29 04:00", "03-29 12:00", "03-29 20:00"];
    assert_eq!(shown(&berlin, "2026-03-27T00:00:00Z", "2026-03-30T00:00:00Z"), expected);
    check_steps(&berlin, "2026-03-27T00:00:00Z", "2026-04-30T00:00:00Z");
    assert_eq!(prev_before(&berlin, version("2026-03-28T20:00:00Z")), None);
    let first = Some(version("2026-03-28T20:00:00Z"));
    assert_eq!(next_after(&berlin, Version::from_ms(i64::MIN)), first);
}

#[test]
fn whole_days_keep_the_time_of_day_and_the_policy() {
    let anchor = "2026-03-25T01:30:00Z"; // 02:30 in Berlin
    let (from, to) = (anchor, "2026-11-10T00:00:00Z");
    for (gap, overlap) in [
        (DstGap::Shift, DstOverlap::First),
        (DstGap::Skip, DstOverlap::Second),
        (DstGap::Shift, DstOverlap::Both),
    ] {
        let dst = DstPolicy { gap, overlap };
        let daily = with_policy("30 2 * * *", "Europe/Berlin", gap, overlap);
        for interval in ["1d", "24h"] {
            let rule = every(interval, anchor).expect("an interval");
            let counted = Schedule::of(vec![rule], "Europe/Berlin", dst).expect("a schedule");
            assert_eq!(shown(&counted, from, to), shown(&daily, from, to), "{interval} {dst:?}");
            check_steps(&counted, from, to);
        }
    }
    let third = made(vec![every("3d", anchor).expect("an interval")], "Europe/Berlin");
    let expected = ["03-25 01:30", "03-28 01:30", "03-31 00:30"];
    assert_eq!(shown(&third, "2026-01-01T00:00:00Z", "2026-04-01T00:00:00Z"), expected);
    check_steps(&third, from, to);
}

#[test]
fn single_instants_are_sorted_and_counted_once() {
    let (one, two) = ("2026-05-02T03:00:00Z", "2026-05-04T00:00:00Z");
    let some = made(vec![at(&[two, one, two]).expect("instants")], "Asia/Shanghai");
    assert_eq!(shown(&some, one, "2026-06-01T00:00:00Z"), ["05-02 03:00", "05-04 00:00"]);
    check_steps(&some, one, "2026-06-01T00:00:00Z");
    assert_eq!(next_after(&some, version(two)), None);
    assert_eq!(prev_before(&some, version(one)), None);
}

#[test]
fn rules_of_all_kinds_make_one_series() {
    let mut rules = schedule("0 6 * * *", "UTC").rules().to_vec();
    rules.push(every("12h", "2026-05-01T06:00:00Z").expect("an interval"));
    rules.push(at(&["2026-05-01T18:00:00Z", "2026-05-01T07:00:00Z"]).expect("instants"));
    let all = made(rules, "UTC");
    let expected = ["05-01 06:00", "05-01 07:00", "05-01 18:00", "05-02 06:00"];
    assert_eq!(shown(&all, "2026-05-01T00:00:00Z", "2026-05-02T12:00:00Z"), expected);
    check_steps(&all, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z");
}

#[test]
fn intervals_and_instants_without_sense_are_refused() {
    let anchor = "2026-05-01T00:00:00Z";
    let refused = |interval| every(interval, anchor).expect_err(interval);
    for interval in ["0s", "-1h", "0d", "-2d"] {
        assert_eq!(refused(interval), RuleError::NotForward, "{interval}");
    }
    assert_eq!(refused("36h"), RuleError::BrokenDays);
    assert_eq!(refused("1mo"), RuleError::NoInterval);
    assert_eq!(refused("2slots"), RuleError::NoInterval);
    let fraction = "2026-05-01T00:00:00.5Z";
    let broken = RuleError::BrokenSecond(version(fraction));
    assert_eq!(every("1h", fraction), Err(broken));
    assert_eq!(at(&[anchor, fraction]), Err(broken));
    assert_eq!(at(&[]), Err(RuleError::NoInstant));
    let past = made(vec![at(&[anchor]).expect("an instant")], "UTC");
    let refused = past.check_fires_from(version("2026-05-02T00:00:00Z")).expect_err("passed");
    assert_eq!(refused.field(), "at");
}
