//! Schedules on calendars: days left out, slots that move to a business day, and the end of what is known.

use std::collections::BTreeSet;
use std::sync::Arc;

use hera_common::calendar::{CalendarSpec, DaySet, DaySpan, WeekDay};
use hera_common::schedule::{
    CalendarDays, CalendarUse, DstPolicy, EverySpec, Interval, Moment, Roll, ScheduleSpec,
};
use hera_common::time::Version;
use hera_engine::time::{BusinessDays, Schedule, next_after, prev_before, slots};
use jiff::civil::{Date, date};
use proptest::prelude::*;
use proptest::sample::select;

use super::{shown, version};

/// Weekends, Christmas, and the first days of 2027; up to the end of January.
fn days_off() -> CalendarSpec {
    let spans = ["2026-12-24..2026-12-26", "2027-01-01..2027-01-03", "2026-12-31"];
    CalendarSpec {
        weekly: [WeekDay::Sat, WeekDay::Sun].into(),
        days: spans.map(|span| DaySpan::parse(span).expect("days of a test")).into(),
        valid_until: Some(date(2027, 1, 29)),
        ..CalendarSpec::default()
    }
}

fn business_days(spec: &CalendarSpec, days: CalendarDays) -> Arc<BusinessDays> {
    let find = |_name: &str| Some(spec.clone());
    let set = DaySet::resolve("off", &find).expect("a calendar of a test");
    Arc::new(BusinessDays::new(set, days))
}

fn spec(cron: &str, zone: &str, roll: Roll) -> ScheduleSpec {
    ScheduleSpec {
        crons: Vec::from_iter((!cron.is_empty()).then(|| cron.to_owned())),
        every: None,
        at: Vec::new(),
        zone: zone.to_owned(),
        dst: DstPolicy::default(),
        start: None,
        end: None,
        jitter: None,
        calendar: Some(CalendarUse { name: "off".to_owned(), days: CalendarDays::Exclude, roll }),
    }
}

fn read(spec: &ScheduleSpec) -> Schedule {
    let days = business_days(&days_off(), CalendarDays::Exclude);
    Schedule::read(spec, Some(days)).expect("a schedule of a test")
}

const YEAR_END: (&str, &str) = ("2026-12-22T00:00:00Z", "2027-01-06T00:00:00Z");

#[test]
fn slots_of_other_days_are_left_out_or_move_to_the_next_or_the_previous_business_day() {
    let daily = |roll| shown(&read(&spec("30 6 * * *", "UTC", roll)), YEAR_END.0, YEAR_END.1);
    let business = [
        "12-22 06:30",
        "12-23 06:30",
        "12-28 06:30",
        "12-29 06:30",
        "12-30 06:30",
        "01-04 06:30",
        "01-05 06:30",
    ];
    for roll in [Roll::Skip, Roll::Next, Roll::Previous] {
        assert_eq!(
            daily(roll),
            business,
            "what rolls to a day with a slot of its own is that slot"
        );
    }
    let on = |cron: &str, roll| shown(&read(&spec(cron, "UTC", roll)), YEAR_END.0, YEAR_END.1);
    assert_eq!(on("0 9 25 12 *", Roll::Skip), [""; 0]);
    assert_eq!(on("0 9 25 12 *", Roll::Next), ["12-28 09:00"]);
    assert_eq!(on("0 9 25 12 *", Roll::Previous), ["12-23 09:00"]);
    assert_eq!(on("0 9,20 24-27 12 *", Roll::Next), ["12-28 09:00", "12-28 20:00"]);
    // The last business day of the month.
    assert_eq!(on("0 18 L * *", Roll::Previous), ["12-30 18:00"]);
}

#[test]
fn intervals_and_instants_go_by_the_calendar_too() {
    let mut every = spec("", "Asia/Tokyo", Roll::Skip);
    every.every = Some(EverySpec { interval: Interval::Seconds(6 * 3600), anchor: None });
    let expected = ["12-22 15:00", "12-22 21:00", "12-23 03:00", "12-23 09:00", "12-27 15:00"];
    let seen = shown(&read(&every), "2026-12-22T15:00:00Z", "2026-12-27T21:00:00Z");
    assert_eq!(seen, expected, "days are those of the zone");
    every.calendar.as_mut().expect("it has one").roll = Roll::Next;
    let days = business_days(&days_off(), CalendarDays::Exclude);
    let refused = Schedule::read(&every, Some(days)).expect_err("hours do not roll");
    assert_eq!(refused.field(), "calendar.roll");
    let mut at = spec("", "UTC", Roll::Next);
    at.at = ["2026-12-25T12:00:00Z", "2026-12-23T12:00", "2026-12-26T12:00"]
        .map(|text| Moment::parse(text).expect("an instant of a test"))
        .to_vec();
    assert_eq!(shown(&read(&at), YEAR_END.0, YEAR_END.1), ["12-23 12:00", "12-28 12:00"]);
    let unknown = Schedule::read(&at, None).expect_err("there is no such calendar");
    assert_eq!(unknown.field(), "calendar");
}

#[test]
fn past_the_end_of_a_calendar_nothing_is_a_working_day() {
    let daily = read(&spec("0 6 * * *", "Europe/Berlin", Roll::Skip));
    let last = version("2027-01-29T05:00:00Z");
    assert_eq!(next_after(&daily, version("2027-01-28T06:00:00Z")), Some(last));
    assert_eq!(next_after(&daily, last), None);
    assert_eq!(prev_before(&daily, version("2028-01-01T00:00:00Z")), Some(last));
    assert_eq!(daily.known_until(), Some(version("2027-01-29T23:00:00Z")));
    let unknown = |from, to| daily.unknown_between(version(from), version(to));
    assert!(!unknown("2027-01-01T00:00:00Z", "2027-01-30T05:00:00Z"));
    assert!(unknown("2027-01-01T00:00:00Z", "2027-01-30T05:00:01Z"));
    // What rolls on from the last days would need a day that nobody knows.
    let rolls = read(&spec("0 6 * * *", "Europe/Berlin", Roll::Next));
    assert_eq!(rolls.known_until(), Some(version("2027-01-29T23:00:00Z")));
    let yearly = read(&spec("0 6 1 6 *", "UTC", Roll::Skip));
    let spring = (version("2027-02-01T00:00:00Z"), version("2027-06-01T06:00:00Z"));
    assert!(!yearly.unknown_between(spring.0, spring.1), "no slot, nothing to know");
}

/// The days to which the local times of a day go, counted one by one.
fn target(spec: &CalendarSpec, roll: Roll, day: Date) -> Option<Date> {
    let off = |day: Date| {
        spec.weekly.contains(&WeekDay::of(day))
            || spec.days.iter().any(|span| (span.first..=span.last).contains(&day))
    };
    let mut day = day;
    while off(day) {
        day = match roll {
            Roll::Skip => return None,
            Roll::Next => day.tomorrow().ok()?,
            Roll::Previous => day.yesterday().ok()?,
        };
    }
    Some(day)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_schedule_on_a_calendar_is_the_one_without_moved_day_by_day(
        cron in select(vec![
            "0 9 * * *", "15 3,21 */2 * *", "0 18 L * *", "0 0 1,15 * *", "30 12 * * SAT",
            "0 7 24-31 12 *", "45 23 29 2 *",
        ]),
        roll in select(vec![Roll::Skip, Roll::Next, Roll::Previous]),
        off in proptest::collection::btree_set(0_i32..400, 0..60),
        weekend in any::<bool>(),
    ) {
        let start = date(2027, 6, 1);
        let day = |n: i32| start.checked_add(jiff::Span::new().days(n)).expect("near");
        let span = |n: i32| DaySpan { first: day(n), last: day(n) };
        let calendar = CalendarSpec {
            weekly: if weekend { [WeekDay::Sat, WeekDay::Sun].into() } else { BTreeSet::new() },
            days: off.iter().map(|n| span(*n)).collect(),
            ..CalendarSpec::default()
        };
        let with = business_days(&calendar, CalendarDays::Exclude);
        let moved = Schedule::read(&spec(cron, "UTC", roll), Some(with)).expect("a schedule");
        let bare = ScheduleSpec { calendar: None, ..spec(cron, "UTC", roll) };
        let bare = Schedule::read(&bare, None).expect("a schedule");
        let (from, to) = (version("2027-01-01T00:00:00Z"), version("2028-12-31T00:00:00Z"));
        let expected: BTreeSet<Version> = slots(&bare, from, to)
            .filter_map(|slot| {
                let local = jiff::tz::TimeZone::UTC.to_datetime(slot.timestamp());
                let day = target(&calendar, roll, local.date())?;
                let utc = jiff::tz::Offset::UTC.to_timestamp(day.to_datetime(local.time()));
                Some(Version::from_timestamp(utc.expect("near")))
            })
            .collect();
        let inner = (version("2027-03-01T00:00:00Z"), version("2028-10-01T00:00:00Z"));
        let within = |slot: &Version| (inner.0..inner.1).contains(slot);
        let expected: Vec<Version> = expected.into_iter().filter(within).collect();
        let found: Vec<Version> = slots(&moved, inner.0, inner.1).collect();
        prop_assert_eq!(&found, &expected);
        for pair in found.windows(2) {
            prop_assert_eq!(prev_before(&moved, pair[1]), Some(pair[0]));
            prop_assert_eq!(next_after(&moved, pair[0]), Some(pair[1]));
        }
    }
}
