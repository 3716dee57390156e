//! Expressions, zones and policies that are refused, each with place and reason.

use expect_test::expect;
use hera_engine::time::cron::CronFault;
use hera_engine::time::{Cron, DstPolicy, Schedule};

use super::{schedule, version};

/// Each expression with the text of its refusal.
fn refusals(expressions: &str) -> String {
    let refused = |text: &str| {
        let refused = Cron::parse(text).expect_err(text);
        format!("{text}\n    {refused}\n")
    };
    expressions.lines().map(str::trim).filter(|text| !text.is_empty()).map(refused).collect()
}

#[test]
fn a_wrong_number_of_fields_is_refused() {
    let shown = refusals(
        "
        0 3 * *
        0 0 3 * * ? * *
        @daily
        0 0 3 * *　?
        ",
    );
    expect![[r#"
        0 3 * *
            byte 0: 4 fields; write 5 (minute hour day-of-month month day-of-week), 6 (second first) or 7 (year last)
        0 0 3 * * ? * *
            byte 14: 8 fields; write 5 (minute hour day-of-month month day-of-week), 6 (second first) or 7 (year last)
        @daily
            byte 0: 1 fields; write 5 (minute hour day-of-month month day-of-week), 6 (second first) or 7 (year last)
        0 0 3 * *　?
            byte 9: unexpected `　`; write plain ASCII characters and spaces
    "#]].assert_eq(&shown);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let shown = refusals(
        "
        60 3 * * *
        0 24 * * *
        0 0 24 * * ?
        0 0 0 32 * ?
        0 0 0 0 * ?
        0 0 0 1 13 ?
        0 0 0 ? * 0
        0 0 0 ? * 8
        0 0 * * 8
        99 0 0 * * ?
        99999999999 * * * *
        0 0 0 1 1 ? 1969
        0 0 0 1 1 ? 2200
        -5 * * * *
        5- * * * *
        1,,2 * * * *
        1,2, * * * *
        5x * * * *
        *5 * * * *
        1.5 * * * *
        ",
    );
    expect![[r#"
        60 3 * * *
            minute, byte 0: 60 is out of range; write 0 to 59
        0 24 * * *
            hour, byte 2: 24 is out of range; write 0 to 23
        0 0 24 * * ?
            hour, byte 4: 24 is out of range; write 0 to 23
        0 0 0 32 * ?
            day-of-month, byte 6: 32 is out of range; write 1 to 31
        0 0 0 0 * ?
            day-of-month, byte 6: 0 is out of range; write 1 to 31
        0 0 0 1 13 ?
            month, byte 8: 13 is out of range; write 1 to 12
        0 0 0 ? * 0
            day-of-week, byte 10: 0 is out of range; write 1 to 7
        0 0 0 ? * 8
            day-of-week, byte 10: 8 is out of range; write 1 to 7
        0 0 * * 8
            day-of-week, byte 8: 8 is out of range; write 0 to 7
        99 0 0 * * ?
            second, byte 0: 99 is out of range; write 0 to 59
        99999999999 * * * *
            minute, byte 0: 99999999999 is out of range; write 0 to 59
        0 0 0 1 1 ? 1969
            year, byte 12: 1969 is out of range; write 1970 to 2199
        0 0 0 1 1 ? 2200
            year, byte 12: 2200 is out of range; write 1970 to 2199
        -5 * * * *
            minute, byte 0: unexpected `-`; write `*`, a number, or a range such as 1-5
        5- * * * *
            minute, byte 2: the value is missing; write `*`, a number, or a range such as 1-5
        1,,2 * * * *
            minute, byte 2: the value is missing; write `*`, a number, or a range such as 1-5
        1,2, * * * *
            minute, byte 4: the value is missing; write `*`, a number, or a range such as 1-5
        5x * * * *
            minute, byte 1: unexpected `x`; write a comma, a range such as 1-5, or a step such as /5
        *5 * * * *
            minute, byte 1: unexpected `5`; write a comma, a range such as 1-5, or a step such as /5
        1.5 * * * *
            minute, byte 1: unexpected `.`; write a comma, a range such as 1-5, or a step such as /5
    "#]]
    .assert_eq(&shown);
}

#[test]
fn steps_and_ranges_that_do_not_work_are_refused() {
    let shown = refusals(
        "
        */0 * * * *
        */ * * * *
        */60 * * * *
        0 0 0/25 * * ?
        0 0 0 1/32 * ?
        0 0 0 1 1/13 ?
        0 0 0 ? * 2/8
        0 0 0 1 1 ? 2028-2026
        1-2-3 * * * *
        1/2/3 * * * *
        ",
    );
    expect![[r#"
        */0 * * * *
            minute, byte 2: a step of 0 never moves; leave it off, or write 1 or more
        */ * * * *
            minute, byte 2: the value is missing; write a number after `/`
        */60 * * * *
            minute, byte 2: a step of 60 is above 59; write 59 or less
        0 0 0/25 * * ?
            hour, byte 6: a step of 25 is above 23; write 23 or less
        0 0 0 1/32 * ?
            day-of-month, byte 8: a step of 32 is above 31; write 31 or less
        0 0 0 1 1/13 ?
            month, byte 10: a step of 13 is above 12; write 12 or less
        0 0 0 ? * 2/8
            day-of-week, byte 12: a step of 8 is above 7; write 7 or less
        0 0 0 1 1 ? 2028-2026
            year, byte 17: the range ends in 2026, before it starts; years do not wrap: write 2026-2028
        1-2-3 * * * *
            minute, byte 3: unexpected `-`; write a comma, a range such as 1-5, or a step such as /5
        1/2/3 * * * *
            minute, byte 3: unexpected `/`; write a comma, a range such as 1-5, or a step such as /5
    "#]].assert_eq(&shown);
}

#[test]
fn names_that_are_not_the_fields_are_refused() {
    let shown = refusals(
        "
        0 0 0 1 JANUARY ?
        0 0 0 1 MON ?
        0 0 0 ? * FEB
        0 0 0 1 5-NOV ?
        0 0 0 ? * MON-5
        0 0 0 ? * MON-FRI/2
        0 0 0 ? * MON/2
        MON * * * *
        ",
    );
    expect![[r#"
        0 0 0 1 JANUARY ?
            month, byte 8: `JANUARY` is no name here; write JAN to DEC, or a number
        0 0 0 1 MON ?
            month, byte 8: `MON` is no name here; write JAN to DEC, or a number
        0 0 0 ? * FEB
            day-of-week, byte 10: `FEB` is no name here; write SUN to SAT, or a number
        0 0 0 1 5-NOV ?
            month, byte 10: a range mixes a name and a number; write both ends in one way
        0 0 0 ? * MON-5
            day-of-week, byte 14: a range mixes a name and a number; write both ends in one way
        0 0 0 ? * MON-FRI/2
            day-of-week, byte 17: a step after names is not read by Quartz; write the range in numbers
        0 0 0 ? * MON/2
            day-of-week, byte 13: a step after names is not read by Quartz; write the range in numbers
        MON * * * *
            minute, byte 0: unexpected `M`; write `*`, a number, or a range such as 1-5
    "#]].assert_eq(&shown);
}

#[test]
fn day_fields_that_clash_or_marks_out_of_place_are_refused() {
    let shown = refusals(
        "
        0 0 12 ? * ?
        0 0 0 * * *
        0 0 0 13 * 6
        0 0 0 ? * 15W
        0 0 0 6#3 * ?
        0 0 L * * ?
        0 ? 0 * * ?
        ",
    );
    expect![[r#"
        0 0 12 ? * ?
            day-of-week, byte 11: both day fields are `?`; write `*` in one of them for every day
        0 0 0 * * *
            day-of-week, byte 10: both day fields are set; with seconds, one of them must be `?`
        0 0 0 13 * 6
            day-of-week, byte 11: both day fields are set; with seconds, one of them must be `?`
        0 0 0 ? * 15W
            day-of-week, byte 10: 15 is out of range; write 1 to 7
        0 0 0 6#3 * ?
            day-of-month, byte 7: `#` has no meaning in this field; it belongs to day-of-week, as in 6#3
        0 0 L * * ?
            hour, byte 4: `L` has no meaning in this field; it belongs to day-of-month and day-of-week, as in L or 6L
        0 ? 0 * * ?
            minute, byte 2: `?` has no meaning in this field; it belongs to day-of-month and day-of-week, alone
    "#]].assert_eq(&shown);
}

#[test]
fn days_of_the_month_that_quartz_does_not_read_are_refused() {
    let shown = refusals(
        "
        0 0 0 1,15,L * ?
        0 0 0 1W,15W * ?
        0 0 0 L-31 * ?
        0 0 0 L- * ?
        0 0 0 32W * ?
        0 0 0 W * ?
        0 0 0 10-15W * ?
        0 0 0 LL * ?
        0 0 0 ?5 * MON
        ",
    );
    expect![[r#"
        0 0 0 1,15,L * ?
            day-of-month, byte 11: `L` stands alone in its field; give each such rule a cron of its own
        0 0 0 1W,15W * ?
            day-of-month, byte 7: `W` stands alone in its field; give each such rule a cron of its own
        0 0 0 L-31 * ?
            day-of-month, byte 8: `L-31` is ahead of every month; write L-0 to L-30
        0 0 0 L- * ?
            day-of-month, byte 8: the value is missing; write a number of days, as in L-3
        0 0 0 32W * ?
            day-of-month, byte 6: 32 is out of range; write 1 to 31
        0 0 0 W * ?
            day-of-month, byte 6: unexpected `W`; write days such as 1,15 or 10-20, or one of L, L-3, LW, L-3W, 15W, `?`
        0 0 0 10-15W * ?
            day-of-month, byte 8: unexpected `-`; write days such as 1,15 or 10-20, or one of L, L-3, LW, L-3W, 15W, `?`
        0 0 0 LL * ?
            day-of-month, byte 7: unexpected `L`; write days such as 1,15 or 10-20, or one of L, L-3, LW, L-3W, 15W, `?`
        0 0 0 ?5 * MON
            day-of-month, byte 6: unexpected `?`; write days such as 1,15 or 10-20, or one of L, L-3, LW, L-3W, 15W, `?`
    "#]].assert_eq(&shown);
}

#[test]
fn days_of_the_week_that_quartz_does_not_read_are_refused() {
    let shown = refusals(
        "
        0 0 0 ? * 2#6
        0 0 0 ? * 2#0
        0 0 0 ? * 2#
        0 0 0 ? * 2#1,3
        0 0 0 ? * MON#1,FRI#1
        0 0 0 ? * 2,L
        0 0 0 ? * MON-FRIL
        ",
    );
    expect![[r#"
        0 0 0 ? * 2#6
            day-of-week, byte 12: a month has no weekday number 6; write #1 to #5
        0 0 0 ? * 2#0
            day-of-week, byte 12: a month has no weekday number 0; write #1 to #5
        0 0 0 ? * 2#
            day-of-week, byte 12: the value is missing; write a number from 1 to 5, as in 6#3
        0 0 0 ? * 2#1,3
            day-of-week, byte 11: `#` stands alone in its field; give each such rule a cron of its own
        0 0 0 ? * MON#1,FRI#1
            day-of-week, byte 13: `#` stands alone in its field; give each such rule a cron of its own
        0 0 0 ? * 2,L
            day-of-week, byte 12: `L` stands alone in its field; give each such rule a cron of its own
        0 0 0 ? * MON-FRIL
            day-of-week, byte 13: unexpected `-`; write days such as MON-FRI, or one of L, 6L, FRIL, 6#3, FRI#3, `?`
    "#]].assert_eq(&shown);
}

#[test]
fn nothing_is_no_cron() {
    let refused = Cron::parse(" \t\n").expect_err("nothing");
    assert_eq!((refused.field, refused.position), (None, 0));
    assert_eq!(refused.fault, CronFault::FieldCount { found: 0 });
}

#[test]
fn a_schedule_is_refused_by_the_name_of_its_field() {
    let refused = |crons: &[&str], zone: &str| {
        let refused = Schedule::new(crons, zone, DstPolicy::default()).expect_err("refused");
        [refused.field(), ": ", &refused.to_string()].concat()
    };
    let shown = [
        refused(&[], "UTC"),
        refused(&["0 25 * * *"], "UTC"),
        refused(&["0 3 * * *", "0 25 * * *"], "UTC"),
        refused(&["0 3 * * *"], "Asia/Peking"),
        refused(&["0 3 * * *"], "+08:00"),
        refused(&["0 3 * * *"], "Etc/Unknown"),
        refused(&["0 3 * * *"], ""),
    ];
    expect![[r#"
        cron: there is no rule; write a cron, `every` or `at`, or leave the schedule off
        cron: `0 25 * * *`: hour, byte 2: 25 is out of range; write 0 to 23
        cron[1]: `0 25 * * *`: hour, byte 2: 25 is out of range; write 0 to 23
        zone: `Asia/Peking` is no time zone; write an IANA name such as Asia/Shanghai or UTC
        zone: `+08:00` is no time zone; write an IANA name such as Asia/Shanghai or UTC
        zone: `Etc/Unknown` is no time zone; write an IANA name such as Asia/Shanghai or UTC
        zone: `` is no time zone; write an IANA name such as Asia/Shanghai or UTC"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn a_cron_that_never_fires_is_refused_at_its_birth() {
    let birth = version("2026-11-30T04:00:00Z");
    let check = |crons: &[&str], zone: &str| {
        let schedule = Schedule::new(crons, zone, DstPolicy::default()).expect("well-formed");
        schedule.check_fires_from(birth).map_err(|refused| refused.to_string())
    };
    let mut shown = String::new();
    for cron in [
        "0 0 30 2 *",
        "0 0 31 2 *",
        "0 0 31 4,6,9,11 *",
        "0 0 0 ? 2 6#5 2027",
        "0 0 0 L-30 11 ?",
        "0 20 9 11 8 ? 2021",
        "0 0 0 30 11 ? 2026",
    ] {
        shown.push_str(&check(&[cron], "UTC").expect_err(cron));
        shown.push('\n');
    }
    shown
        .push_str(&check(&["0 3 * * *", "0 0 30 2 *"], "UTC").expect_err("the second never fires"));
    expect![[r#"
        `0 0 30 2 *`: day-of-month, byte 4: it never fires: no date from 1970 to 2199 matches; write days and months that meet
        `0 0 31 2 *`: day-of-month, byte 4: it never fires: no date from 1970 to 2199 matches; write days and months that meet
        `0 0 31 4,6,9,11 *`: day-of-month, byte 4: it never fires: no date from 1970 to 2199 matches; write days and months that meet
        `0 0 0 ? 2 6#5 2027`: day-of-week, byte 10: it never fires: no date from 1970 to 2199 matches; write days and months that meet
        `0 0 0 L-30 11 ?`: day-of-month, byte 6: it never fires: no date from 1970 to 2199 matches; write days and months that meet
        `0 20 9 11 8 ? 2021` never fires: it has no slot at or after 2026-11-30T04:00:00Z; write a date to come
        `0 0 0 30 11 ? 2026` never fires: it has no slot at or after 2026-11-30T04:00:00Z; write a date to come
        `0 0 30 2 *`: day-of-month, byte 4: it never fires: no date from 1970 to 2199 matches; write days and months that meet"#]].assert_eq(&shown);
    // Its last slot is still to come where the clock is behind.
    assert_eq!(check(&["0 0 0 30 11 ? 2026"], "America/New_York"), Ok(()));
    assert_eq!(check(&["0 0 13 30 11 ? 2026", "0 0 0 29 2 ?"], "UTC"), Ok(()));
}

#[test]
fn zones_are_found_in_any_case_and_keep_their_name() {
    let zone = schedule("0 3 * * *", "asia/shanghai").zone().clone();
    assert_eq!(zone.iana_name(), Some("Asia/Shanghai"));
}
