//! Intervals and single instants, alone and beside crons.

use hera_common::schedule::{EverySpec, Interval, Moment, ScheduleSpec};
use hera_common::shift::Shift;
use hera_common::time::Version;
use hera_engine::time::{
    At, DstGap, DstOverlap, DstPolicy, Every, Rule, RuleError, Schedule, next_after, prev_before,
    slots, zone,
};

use super::{schedule, shown, version, with_policy};

fn every(interval: &str, anchor: &str) -> Result<Rule, RuleError> {
    every_in("Europe/Berlin", interval, Some(Moment::Instant(version(anchor))))
}

fn every_in(zone: &str, interval: &str, anchor: Option<Moment>) -> Result<Rule, RuleError> {
    let interval = Shift::parse(interval).expect("a distance of a test");
    let interval = Interval::of(interval).expect("an interval of a test");
    let zone = zone::find(zone).expect("a zone of a test");
    Every::new(interval, anchor, &zone).map(Rule::Every)
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
    let fraction = "2026-05-01T00:00:00.5Z";
    let broken = RuleError::BrokenSecond(version(fraction));
    assert_eq!(every("1h", fraction), Err(broken));
    assert_eq!(at(&[anchor, fraction]), Err(broken));
    assert_eq!(at(&[]), Err(RuleError::NoInstant));
    let past = made(vec![at(&[anchor]).expect("an instant")], "UTC");
    let refused = past.check_fires_from(version("2026-05-02T00:00:00Z")).expect_err("passed");
    assert_eq!(refused.field(), "at");
}

/// A schedule as in a job file: `every` and `anchor`, `at`, `start`, `end`; empty texts are not written.
fn read(zone: &str, rules: [&str; 5]) -> Schedule {
    let moment = |text: &str| Moment::parse(text).expect("an instant of a test");
    let maybe = |text: &str| (!text.is_empty()).then(|| moment(text));
    let [every, anchor, at, start, end] = rules;
    let interval =
        |text| Interval::of(Shift::parse(text).expect("a distance")).expect("an interval");
    let every =
        (!every.is_empty()).then(|| EverySpec { interval: interval(every), anchor: maybe(anchor) });
    let spec = ScheduleSpec {
        crons: Vec::new(),
        every,
        at: at.split_whitespace().map(moment).collect(),
        zone: zone.to_owned(),
        dst: DstPolicy::default(),
        start: maybe(start),
        end: maybe(end),
        jitter: None,
        calendar: None,
    };
    Schedule::read(&spec, None).expect("a schedule of a test")
}

#[test]
fn an_interval_without_anchor_is_counted_from_a_midnight_of_the_zone() {
    // Half past in UTC: the full hours of India.
    let kolkata = read("Asia/Kolkata", ["6h", "", "", "", ""]);
    let expected = ["05-01 00:30", "05-01 06:30", "05-01 12:30", "05-01 18:30"];
    assert_eq!(shown(&kolkata, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"), expected);
    let days = read("Asia/Tokyo", ["2d", "", "", "", ""]);
    assert_eq!(shown(&days, "2026-05-01T00:00:00Z", "2026-05-05T00:00:00Z").len(), 2);
}

#[test]
fn a_local_anchor_keeps_its_time_of_day_even_where_it_does_not_exist() {
    let daily = read("Europe/Berlin", ["1d", "2026-03-29T02:30", "", "", ""]);
    let expected = ["03-29 01:00", "03-30 00:30", "03-31 00:30"];
    assert_eq!(shown(&daily, "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"), expected);
    check_steps(&daily, "2026-03-01T00:00:00Z", "2026-12-01T00:00:00Z");
}

#[test]
fn local_instants_go_by_the_policy_of_their_zone() {
    let at = "2026-03-29T02:30 2026-10-25T02:30 2026-05-01T00:00Z";
    let berlin = read("Europe/Berlin", ["", "", at, "", ""]);
    let expected = ["03-29 01:00", "05-01 00:00", "10-25 00:30"];
    assert_eq!(shown(&berlin, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"), expected);
    check_steps(&berlin, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
    assert_eq!(next_after(&berlin, version("2026-10-25T00:30:00Z")), None);
}

#[test]
fn bounds_hold_both_of_their_ends() {
    let (from, to) = ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
    let some = |start, end| read("Europe/Berlin", ["12h", "2026-05-01T00:00", "", start, end]);
    let days = some("2026-05-02", "2026-05-03");
    let expected = ["05-01 22:00", "05-02 10:00", "05-02 22:00", "05-03 10:00"];
    assert_eq!(shown(&days, from, to), expected);
    check_steps(&days, from, to);
    assert_eq!(prev_before(&days, version("2026-05-01T22:00:00Z")), None);
    assert_eq!(prev_before(&days, version(to)), Some(version("2026-05-03T10:00:00Z")));
    let instants = some("2026-05-02T12:00", "2026-05-02T22:00:00Z");
    assert_eq!(shown(&instants, from, to), ["05-02 10:00", "05-02 22:00"]);
}
