//! Faults that users of other schedulers met with clocks and leap days, each with the right value.

use hera_common::spec::{DataSpec, Period};
use hera_common::time::Version;
use hera_engine::plan::data_interval;
use hera_engine::time::{next_after, prev_before, slots};
use jiff::civil::date;

use super::{schedule, shown, version};

#[test]
fn steps_of_hours_go_on_over_the_spring_night() {
    let pacific = schedule("20 */4 * * *", "America/Los_Angeles");
    let expected = ["03-12 08:20", "03-12 11:20", "03-12 15:20", "03-12 19:20"];
    assert_eq!(shown(&pacific, "2023-03-12T05:00:00Z", "2023-03-12T23:00:00Z"), expected);
    for minute in 0..24 * 60 {
        let at = Version::from_ms(version("2023-03-12T00:00:00Z").ms() + minute * 60_000);
        assert!(next_after(&pacific, at).expect("a slot") > at);
    }
}

#[test]
fn two_hours_of_one_name_are_two_versions() {
    let hourly = schedule("0 * * * *", "America/New_York");
    let count = |from, to| slots(&hourly, version(from), version(to)).count();
    assert_eq!(count("2021-11-07T04:00:00Z", "2021-11-08T05:00:00Z"), 25);
    assert_eq!(count("2021-03-14T05:00:00Z", "2021-03-15T04:00:00Z"), 23);
    let both = ["11-07 05:00", "11-07 06:00"];
    assert_eq!(shown(&hourly, "2021-11-07T05:00:00Z", "2021-11-07T07:00:00Z"), both);
}

#[test]
fn the_slot_before_a_gap_is_never_the_instant_that_was_asked_about() {
    for (cron, zone, at) in [
        ("0 2 * * *", "America/New_York", "2024-03-10T07:30:00Z"),
        ("0 1 * * *", "America/New_York", "2024-11-03T05:30:00Z"),
        ("0 2 * * *", "Australia/Lord_Howe", "2024-10-05T15:30:00Z"),
        ("30 1 * * *", "Australia/Lord_Howe", "2024-04-06T15:00:00Z"),
        ("0 2 * * *", "Australia/Sydney", "2024-10-05T16:00:00Z"),
        ("30 2 * * *", "Europe/Zurich", "2024-03-31T01:00:00Z"),
    ] {
        let nightly = schedule(cron, zone);
        let at = version(at);
        let (before, next) = (prev_before(&nightly, at), next_after(&nightly, at));
        let (before, next) = (before.expect("a slot"), next.expect("a slot"));
        assert!(before < at && at < next, "{zone} {before} {next}");
        let hours = (next.ms() - before.ms()) / 3_600_000;
        assert!((23..=48).contains(&hours), "{zone}: {hours} hours, no night is left out");
    }
}

#[test]
fn a_leap_day_is_followed_by_the_next_one() {
    let leap = schedule("0 9 29 2 *", "UTC");
    let on = |year: i16| {
        let noon = date(year, 2, 29).at(9, 0, 0, 0);
        let instant = jiff::tz::Offset::UTC.to_timestamp(noon).expect("a leap year");
        Version::from_timestamp(instant)
    };
    assert_eq!(next_after(&leap, version("2016-02-29T08:59:59Z")), Some(on(2016)));
    let years: Vec<i16> = (1972..2199).filter(|year| date(*year, 1, 1).in_leap_year()).collect();
    for pair in years.windows(2) {
        assert_eq!(next_after(&leap, on(pair[0])), Some(on(pair[1])), "{pair:?}");
        assert_eq!(prev_before(&leap, on(pair[1])), Some(on(pair[0])), "{pair:?}");
    }
    let weekdays = schedule("0 * * * 1-5", "UTC");
    let noon = Some(version("2016-02-29T12:00:00Z"));
    assert_eq!(next_after(&weekdays, version("2016-02-29T11:00:00Z")), noon);
}

#[test]
fn the_data_date_of_a_morning_after_the_change_is_that_day() {
    let zone = hera_engine::time::zone::find("America/New_York").expect("a zone");
    let data = |offset| DataSpec { period: Period::Day, offset };
    let seven = version("2024-03-10T11:00:00Z");
    assert_eq!(data_interval(&zone, data(0), seven).first, date(2024, 3, 10));
    let day_before = data_interval(&zone, data(-1), seven);
    assert_eq!(day_before.first, date(2024, 3, 9));
    assert_eq!(day_before.to, version("2024-03-10T05:00:00Z"));
}
