//! What changes of the clocks and odd calendars do to crons, each by its name.

use hera_common::time::Version;
use hera_engine::time::{
    Cron, DstGap, DstOverlap, DstPolicy, Schedule, next_after, note, prev_before, slots,
};

use super::{schedule, shown, version, with_policy};

const HOUR_MS: i64 = 3_600_000;

#[test]
fn an_hourly_job_has_23_and_25_slots_on_the_days_of_change() {
    let hourly = schedule("0 * * * *", "America/New_York");
    let spring = shown(&hourly, "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z");
    assert_eq!(spring.len(), 23);
    let autumn: Vec<_> =
        slots(&hourly, version("2026-11-01T04:00:00Z"), version("2026-11-02T05:00:00Z")).collect();
    assert_eq!(autumn.len(), 25);
    assert!(autumn.windows(2).all(|pair| pair[1].ms() - pair[0].ms() == HOUR_MS));
}

#[test]
fn steps_of_hours_are_elapsed_time_but_lists_and_ranges_are_wall_clock() {
    let (from, to) = ("2023-03-12T08:00:00Z", "2023-03-12T19:00:00Z");
    let stepped = schedule("20 */4 * * *", "America/Los_Angeles");
    assert_eq!(shown(&stepped, from, to), ["03-12 08:20", "03-12 11:20", "03-12 15:20"]);
    let (from, to) = ("2024-03-10T08:00:00Z", "2024-03-10T18:00:00Z");
    for cron in ["0 7,9 * * *", "0 7-9/2 * * *"] {
        let listed = schedule(cron, "America/Chicago");
        assert_eq!(shown(&listed, from, to), ["03-10 12:00", "03-10 14:00"], "{cron}");
    }
}

#[test]
fn a_time_in_the_gap_shifts_to_its_end_or_is_skipped() {
    let day = ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
    let nightly = |gap| with_policy("0 30 2 * * ?", "Europe/Berlin", gap, DstOverlap::First);
    assert_eq!(shown(&nightly(DstGap::Shift), day.0, day.1), ["03-29 01:00"]);
    assert_eq!(shown(&nightly(DstGap::Skip), day.0, day.1), [""; 0]);
}

#[test]
fn two_times_that_land_on_one_instant_are_one_slot() {
    let two = Schedule::new(&["0,30 2 * * *", "0 3 * * *"], "Europe/Berlin", DstPolicy::default());
    let two = two.expect("both are crons");
    let day = ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
    assert_eq!(shown(&two, day.0, day.1), ["03-29 01:00"]);
}

#[test]
fn a_repeated_time_is_taken_first_second_or_twice() {
    let night = ("2026-10-24T22:00:00Z", "2026-10-25T22:00:00Z");
    let taken = |overlap| {
        let nightly = with_policy("10,40 2 * * *", "Europe/Berlin", DstGap::Shift, overlap);
        shown(&nightly, night.0, night.1)
    };
    assert_eq!(taken(DstOverlap::First), ["10-25 00:10", "10-25 00:40"]);
    assert_eq!(taken(DstOverlap::Second), ["10-25 01:10", "10-25 01:40"]);
    let both = ["10-25 00:10", "10-25 00:40", "10-25 01:10", "10-25 01:40"];
    assert_eq!(taken(DstOverlap::Both), both);
}

#[test]
fn policies_do_not_touch_crons_of_real_instants() {
    let night = ("2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z");
    for cron in ["*/30 2 * * *", "0 0/30 2 * * ?", "0 /30 2 * * ?", "0,30 * * * *"] {
        let second = with_policy(cron, "Europe/Berlin", DstGap::Shift, DstOverlap::Second);
        assert_eq!(shown(&second, night.0, night.1).len(), 4, "{cron}");
        let gap = shown(&second, "2026-03-29T00:59:00Z", "2026-03-29T01:01:00Z");
        assert_eq!(gap.len(), usize::from(cron.starts_with("0,30")), "{cron}");
    }
    for fixed in ["0 0,30 2 * * ?", "0 0-59/30 2 * * ?", "*/30 0 2 * * ?", "0 10/30 2 * * ?"] {
        assert!(!Cron::parse(fixed).expect("a cron").fires_every_instant(), "{fixed}");
    }
}

#[test]
fn gaps_at_midnight_move_the_daily_job_to_the_days_first_instant() {
    for (zone, day, expected) in [
        ("Asia/Beirut", "2026-03-29", "03-28 22:00"),
        ("America/Sao_Paulo", "2017-10-15", "10-15 03:00"),
        ("Africa/Cairo", "2026-04-24", "04-23 22:00"),
    ] {
        let daily = schedule("0 0 * * *", zone);
        let morning = format!("{day}T06:00:00Z");
        let evening = Version::from_ms(version(&morning).ms() - 12 * HOUR_MS).to_string();
        assert_eq!(shown(&daily, &evening, &morning), [expected], "{zone}");
    }
}

#[test]
fn a_date_that_a_zone_leaves_out_shifts_to_the_next_one() {
    // Samoa had no 30 December 2011.
    let (from, to) = ("2011-12-29T00:00:00Z", "2012-01-01T00:00:00Z");
    let midnight = schedule("0 0 * * *", "Pacific/Apia");
    assert_eq!(shown(&midnight, from, to), ["12-29 10:00", "12-30 10:00", "12-31 10:00"]);
    let night = schedule("30 2 * * *", "Pacific/Apia");
    let expected = ["12-29 12:30", "12-30 10:00", "12-30 12:30", "12-31 12:30"];
    assert_eq!(shown(&night, from, to), expected);
    let skipping = with_policy("30 2 * * *", "Pacific/Apia", DstGap::Skip, DstOverlap::First);
    assert_eq!(shown(&skipping, from, to), ["12-29 12:30", "12-30 12:30", "12-31 12:30"]);
}

#[test]
fn half_an_hour_of_summer_time_is_enough_to_shift() {
    let gap = schedule("15 2 * * *", "Australia/Lord_Howe");
    let (from, to) = ("2026-10-03T00:00:00Z", "2026-10-05T00:00:00Z");
    assert_eq!(shown(&gap, from, to), ["10-03 15:30", "10-04 15:15"]);
}

#[test]
fn local_hours_of_half_hour_zones_are_whole_local_hours() {
    for (zone, minute) in [("Asia/Kolkata", "30"), ("Asia/Kathmandu", "15")] {
        let slots =
            shown(&schedule("0 * * * *", zone), "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z");
        assert_eq!(slots.len(), 24);
        assert!(slots.iter().all(|slot| slot.ends_with(minute)), "{zone}: {slots:?}");
    }
}

#[test]
fn the_slots_round_a_shifted_one_leave_no_empty_interval() {
    let nightly = schedule("0 2 * * *", "America/New_York");
    let asked = version("2024-03-10T07:30:00Z");
    assert_eq!(prev_before(&nightly, asked), Some(version("2024-03-10T07:00:00Z")));
    assert_eq!(next_after(&nightly, asked), Some(version("2024-03-11T06:00:00Z")));
    let early = schedule("0 1 * * *", "America/New_York");
    let asked = version("2024-11-03T05:30:00Z");
    assert_eq!(prev_before(&early, asked), Some(version("2024-11-03T05:00:00Z")));
    assert_eq!(next_after(&early, asked), Some(version("2024-11-04T06:00:00Z")));
}

#[test]
fn february_29_is_a_day() {
    let leap = schedule("0 9 29 2 *", "UTC");
    let next = |after| next_after(&leap, version(after)).map(|slot| slot.to_string());
    assert_eq!(next("2016-02-29T09:00:00Z").as_deref(), Some("2020-02-29T09:00:00Z"));
    assert_eq!(next("2020-02-29T09:00:00Z").as_deref(), Some("2024-02-29T09:00:00Z"));
    // 2100 has none.
    assert_eq!(next("2096-02-29T09:00:00Z").as_deref(), Some("2104-02-29T09:00:00Z"));
    let working = schedule("0 * * * 1-5", "UTC");
    let asked = version("2016-02-29T11:00:00Z");
    assert_eq!(next_after(&working, asked), Some(version("2016-02-29T12:00:00Z")));
}

#[test]
fn a_cron_with_a_year_fires_its_time_and_has_ended() {
    let once = schedule("0 20 9 11 8 ? 2021", "UTC");
    let all: Vec<_> =
        slots(&once, Version::from_ms(i64::MIN), Version::from_ms(i64::MAX)).collect();
    assert_eq!(all, [version("2021-08-11T09:20:00Z")]);
    assert_eq!(next_after(&once, all[0]), None);
    assert_eq!(prev_before(&once, all[0]), None);
}

#[test]
fn both_day_fields_of_a_unix_cron_widen_each_other_unless_one_starts_with_a_star() {
    let (from, to) = ("2026-05-01T00:00:00Z", "2026-05-16T00:00:00Z");
    let either = schedule("0 0 13 * FRI", "UTC");
    assert_eq!(
        shown(&either, from, to),
        ["05-01 00:00", "05-08 00:00", "05-13 00:00", "05-15 00:00"]
    );
    let both = schedule("0 0 */2 * FRI", "UTC");
    assert_eq!(shown(&both, from, to), ["05-01 00:00", "05-15 00:00"]);
}

#[test]
fn sunday_is_0_and_7_in_five_fields_and_1_in_six() {
    let (from, to) = ("2026-05-01T00:00:00Z", "2026-05-08T00:00:00Z");
    for cron in ["0 0 * * 0", "0 0 * * 7", "0 0 * * sun", "0 0 0 ? * 1", "0 0 0 ? * SUN"] {
        assert_eq!(shown(&schedule(cron, "UTC"), from, to), ["05-03 00:00"], "{cron}");
    }
    for cron in ["0 0 * * 5-7", "0 0 * * FRI-SUN", "0 0 0 ? * 6-1"] {
        let days = ["05-01 00:00", "05-02 00:00", "05-03 00:00"];
        assert_eq!(shown(&schedule(cron, "UTC"), from, to), days, "{cron}");
    }
    for cron in ["0 0 ? * 1/2", "0 0 0 ? * 2/2"] {
        let days = ["05-01 00:00", "05-04 00:00", "05-06 00:00"];
        assert_eq!(shown(&schedule(cron, "UTC"), from, to), days, "{cron}");
    }
}

#[test]
fn bounds_are_half_open_and_slots_are_on_whole_seconds() {
    let minutely = schedule("* * * * *", "UTC");
    let (from, to) = ("2026-05-01T00:00:00Z", "2026-05-01T00:02:00Z");
    assert_eq!(shown(&minutely, from, to), ["05-01 00:00", "05-01 00:01"]);
    assert_eq!(shown(&minutely, from, from), [""; 0]);
    assert_eq!(shown(&minutely, to, from), [""; 0]);
    let odd = Version::from_ms(version(from).ms() + 1);
    assert_eq!(next_after(&minutely, odd), Some(version("2026-05-01T00:01:00Z")));
    assert_eq!(prev_before(&minutely, odd), Some(version(from)));
    assert_eq!(slots(&minutely, odd, version(to)).count(), 1);
}

#[test]
fn a_slot_that_the_clocks_moved_or_repeat_says_so() {
    let told = |cron: &str, from: &str, to: &str| {
        let both = with_policy(cron, "Europe/Berlin", DstGap::Shift, DstOverlap::Both);
        let told = |slot| note(&both, slot).map_or(String::new(), |note| note.to_string());
        slots(&both, version(from), version(to)).map(told).collect::<Vec<_>>()
    };
    let spring = told("0,30 2,3 * * *", "2026-03-29T00:00:00Z", "2026-03-29T02:00:00Z");
    assert_eq!(spring, ["03-29 02:00 does not exist: first instant after", ""]);
    let autumn = told("0 1-3 * * *", "2026-10-24T22:00:00Z", "2026-10-25T03:00:00Z");
    assert_eq!(autumn, ["", "first of two", "second of two", ""]);
    let hourly = told("0 * * * *", "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z");
    assert_eq!(hourly, ["", "", ""]);
}
