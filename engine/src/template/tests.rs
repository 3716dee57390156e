//! Tables of scripts, dates and patterns, with what they become or why they are refused.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use hera_common::limits::SCRIPT_BYTES_MAX;
use hera_common::time::Version;

use super::render;

/// Sunday, 2026-03-29 at 01:30 in Berlin: half an hour before the clocks go forward.
const BEFORE_GAP: &str = "2026-03-29T00:30:00Z";
/// Sunday, 2026-10-25 at 02:30 in Berlin, for the first time.
const FIRST_PASS: &str = "2026-10-25T00:30:00Z";

fn at(instant: &str) -> Version {
    Version::from_timestamp(instant.parse().unwrap())
}

fn rendered(text: &str, config: &[(&str, &str)], instant: &str, zone: &str) -> String {
    let config: BTreeMap<String, String> =
        config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    render(text, &config, at(instant), zone).unwrap_or_else(|error| error.to_string())
}

/// Each expression, without its braces, at an instant in Berlin.
#[track_caller]
fn check_dates(instant: &str, expressions: &[&str], expected: &Expect) {
    let lines = expressions.iter().map(|expression| {
        let text = rendered(&format!("${{{expression}}}"), &[], instant, "Europe/Berlin");
        format!("{expression} = {text}\n")
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn what_is_not_ours_stays_as_it_is() {
    for text in [
        "",
        "$",
        "${",
        "${}",
        "${VAR}",
        "${VAR:-x}",
        "${#a[@]}",
        "${a[@]:1:2}",
        "$${x}",
        "${PIPESTATUS[0]}",
        "${zdt",
        "${zdt.format(\"yyyy\")",
        "${zdt_dir}",
        "${zdt:-x}",
        "${zdtable}",
        "${yesterday",
        "${ db }",
        "$db {db} $(db) `db`",
        "é ${é} 年\r\n\t\0",
        "${a${b}",
    ] {
        assert_eq!(rendered(text, &[("db", "x")], BEFORE_GAP, "UTC"), text);
    }
}

#[test]
fn keys_and_dates_are_replaced_wherever_they_stand() {
    let config = [
        ("db", "retail"),
        ("dt", "${zdt.addDay(-1).format(\"yyyy-MM-dd\")}"),
        ("path", "/data/${db}/${dt}/${HOME}"),
        ("n", "-2"),
        ("empty", ""),
        ("odd", "a=b'c\"d$e\\f\n"),
        ("a.b-c_d", "dotted"),
    ];
    let cases = [
        "${db}",
        "$${db}$${x}",
        "${path}",
        "${empty}|${odd}|${a.b-c_d}",
        "${VAR:-${zdt.addDay(-1).format(\"yyyy-MM-dd\")}}",
        "${VAR:-${db}}",
        "${zdt.addDay(${n}).format('yyyyMMdd')} ${yesterday}",
        "${db}${db}}${",
    ];
    let lines = cases.map(|text| {
        format!("{text} = {:?}\n", rendered(text, &config, BEFORE_GAP, "Europe/Berlin"))
    });
    expect![[r#"
        ${db} = "retail"
        $${db}$${x} = "$retail$${x}"
        ${path} = "/data/retail/2026-03-28/${HOME}"
        ${empty}|${odd}|${a.b-c_d} = "|a=b'c\"d$e\\f\n|dotted"
        ${VAR:-${zdt.addDay(-1).format("yyyy-MM-dd")}} = "${VAR:-2026-03-28}"
        ${VAR:-${db}} = "${VAR:-retail}"
        ${zdt.addDay(${n}).format('yyyyMMdd')} ${yesterday} = "20260327 20260328"
        ${db}${db}}${ = "retailretail}${"
    "#]]
    .assert_eq(&lines.concat());
}

/// Why each script is refused.
#[track_caller]
fn check_faults(cases: &[&str], config: &[(&str, &str)], expected: &Expect) {
    let lines = cases.iter().map(|text| rendered(text, config, BEFORE_GAP, "Europe/Berlin") + "\n");
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn faults_have_their_place_and_expression() {
    check_faults(
        &[
            "one\ntwo é ${a}",
            "${self}",
            "x ${bad}",
            "echo\n  ${zdt.addDay(-1)}",
            "${zdt.addDay(${none}).getTime()}",
        ],
        &[
            ("a", "x ${b}"),
            ("b", "${c}"),
            ("c", "${a}"),
            ("self", "${self}"),
            ("bad", "so\n${zdt.addDay(x).format(\"yyyy\")}"),
        ],
        &expect![[r#"
            2:7: `${a}`: the values go round: a -> b -> c -> a
            1:1: `${self}`: the values go round: self -> self
            1:3: `${bad}`: in its value `${zdt.addDay(x).format("yyyy")}`: write addDay(days)
            2:3: `${zdt.addDay(-1)}`: is a date and no text yet: end it with .format("yyyy-MM-dd")
            1:1: `${zdt.addDay(${none}).getTime()}`: there is no config key `none`
        "#]],
    );
    expect!["1:1: `${zdt.getTime()}`: there is no time zone `Mars/Base`"].assert_eq(&rendered(
        "${zdt.getTime()}",
        &[],
        BEFORE_GAP,
        "Mars/Base",
    ));
}

#[test]
fn what_is_no_expression_is_refused() {
    check_faults(
        &[
            "${zdt}",
            "${zdt .format(\"yyyy\")}",
            "${zdt.format(yyyy-MM-dd)}",
            "${zdt.format(yyyy)}",
            "${zdt.format(\"yyyy}\")}",
            "${zdt.format(\"yyyy\"}",
            "${zdt.addDay(-1}",
            "${zdt.addDay -1}",
            "${zdt.addDay(1.5).getTime()}",
            "${zdt.addDay(99999999999).getTime()}",
            "${zdt..format(\"yyyy\")}",
            "${zdt.format(\"yyyy\")x}",
        ],
        &[],
        &expect![[r#"
            1:1: `${zdt}`: is a date and no text yet: end it with .format("yyyy-MM-dd")
            1:1: `${zdt .format("yyyy")}`: ` .format("yyyy")` is no call: write .method(arguments), such as .addDay(-1)
            1:1: `${zdt.format(yyyy-MM-dd)}`: `yyyy-MM-dd` is neither a whole number nor a text in quotes
            1:1: `${zdt.format(yyyy)}`: write format("pattern")
            1:1: `${zdt.format("yyyy}`: the text `"yyyy` is not closed (an expression cannot hold a brace)
            1:1: `${zdt.format("yyyy"}`: a `)` is missing
            1:1: `${zdt.addDay(-1}`: a `)` is missing
            1:1: `${zdt.addDay -1}`: `.addDay -1` is no call: write .method(arguments), such as .addDay(-1)
            1:1: `${zdt.addDay(1.5).getTime()}`: `1.5` is neither a whole number nor a text in quotes
            1:1: `${zdt.addDay(99999999999).getTime()}`: `99999999999` is neither a whole number nor a text in quotes
            1:1: `${zdt..format("yyyy")}`: `.format` is no name of a method
            1:1: `${zdt.format("yyyy")x}`: `x` is no call: write .method(arguments), such as .addDay(-1)
        "#]],
    );
}

#[test]
fn what_cannot_be_called_is_refused() {
    check_faults(
        &[
            "${zdt.addDay()}",
            "${zdt.addDay(1, 2)}",
            "${zdt.adday(1)}",
            "${zdt.add(0, 1).getTime()}",
            "${zdt.add(15, 1).getTime()}",
            "${zdt.add(WEEK, 1).getTime()}",
            "${zdt.set(3, 1).getTime()}",
            "${zdt.get(4)}",
            "${zdt.getTime().format(\"yyyy\")}",
            "${zdt.getTime(1)}",
            "${zdt.getNowMillis()}",
            "${zdt.StringToDateStr(\"20260101\", \"yyyyMMdd\", \"yyyy\")}",
            "${zdt.add(1, 9000).format(\"yyyy\")}",
            "${zdt.add(1, -500).format(\"yyyy\")}",
            "${zdt.add(14, 2147483647).add(6, 2147483647).getTime()}",
        ],
        &[],
        &expect![[r#"
            1:1: `${zdt.addDay()}`: write addDay(days)
            1:1: `${zdt.addDay(1, 2)}`: write addDay(days)
            1:1: `${zdt.adday(1)}`: there is no `adday`: addDay, add, set, get, format, getTime, getMillis and getToday are known
            1:1: `${zdt.add(0, 1).getTime()}`: `0` is no field: 1 is YEAR, 2 MONTH, 5 DATE, 11 HOUR_OF_DAY, 12 MINUTE
            1:1: `${zdt.add(15, 1).getTime()}`: `15` is no field: 1 is YEAR, 2 MONTH, 5 DATE, 11 HOUR_OF_DAY, 12 MINUTE
            1:1: `${zdt.add(WEEK, 1).getTime()}`: `WEEK` is no field: 1 is YEAR, 2 MONTH, 5 DATE, 11 HOUR_OF_DAY, 12 MINUTE
            1:1: `${zdt.set(3, 1).getTime()}`: weeks of a year or a month depend on the machine's country
            1:1: `${zdt.get(4)}`: weeks of a year or a month depend on the machine's country
            1:1: `${zdt.getTime().format("yyyy")}`: `.format` comes after the text is made
            1:1: `${zdt.getTime(1)}`: write getTime()
            1:1: `${zdt.getNowMillis()}`: `getNowMillis` would give each attempt another text: getMillis() is the version's time, and `date` the machine's
            1:1: `${zdt.StringToDateStr("20260101", "yyyyMMdd", "yyyy")}`: `StringToDateStr` is not built yet
            1:1: `${zdt.add(1, 9000).format("yyyy")}`: leaves the years 1600 to 9999
            1:1: `${zdt.add(1, -500).format("yyyy")}`: leaves the years 1600 to 9999
            1:1: `${zdt.add(14, 2147483647).add(6, 2147483647).getTime()}`: leaves the years 1600 to 9999
        "#]],
    );
}

#[test]
fn patterns_are_those_of_java() {
    let pattern = |pattern: &str| format!("zdt.format(\"{pattern}\")");
    let patterns = [
        "yyyy-MM-dd HH:mm:ss.SSS",
        "y yy yyy yyyyy",
        "M MM MMM MMMM MMMMM L LLL",
        "d D DDD E EEE EEEE u uu",
        "H k K h hh a aa",
        "Z ZZZ X XX XXX",
        "G '' 'o''clock' ''yyyy'' 'a'''",
        "yyyy年MM月dd日",
        "Y",
        "ww",
        "W",
        "F",
        "z",
        "XXXX",
        "yyyy'T",
        "bad",
        "n",
        "",
    ];
    let expressions: Vec<String> = patterns.iter().map(|p| pattern(p)).collect();
    let expressions: Vec<&str> = expressions.iter().map(String::as_str).collect();
    check_dates(
        BEFORE_GAP,
        &expressions,
        &expect![[r#"
        zdt.format("yyyy-MM-dd HH:mm:ss.SSS") = 2026-03-29 01:30:00.000
        zdt.format("y yy yyy yyyyy") = 2026 26 2026 02026
        zdt.format("M MM MMM MMMM MMMMM L LLL") = 3 03 Mar March March 3 Mar
        zdt.format("d D DDD E EEE EEEE u uu") = 29 88 088 Sun Sun Sunday 7 07
        zdt.format("H k K h hh a aa") = 1 1 1 1 01 AM AM
        zdt.format("Z ZZZ X XX XXX") = +0100 +0100 +01 +0100 +01:00
        zdt.format("G '' 'o''clock' ''yyyy'' 'a'''") = AD ' o'clock '2026' a'
        zdt.format("yyyy年MM月dd日") = 2026年03月29日
        zdt.format("Y") = 1:1: `${zdt.format("Y")}`: `Y` is the year of the week, which depends on the machine's country, and is another year round New Year: the calendar year is `y`
        zdt.format("ww") = 1:1: `${zdt.format("ww")}`: `w` counts weeks, and where a week begins depends on the machine's country
        zdt.format("W") = 1:1: `${zdt.format("W")}`: `W` counts weeks, and where a week begins depends on the machine's country
        zdt.format("F") = 1:1: `${zdt.format("F")}`: `F` is not the day of the week, as often believed: that is `u` or `E`
        zdt.format("z") = 1:1: `${zdt.format("z")}`: `z` is the zone's name, which differs between machines: `Z` and `XXX` are its offset
        zdt.format("XXXX") = 1:1: `${zdt.format("XXXX")}`: `X` stands at most three times in a row
        zdt.format("yyyy'T") = 1:1: `${zdt.format("yyyy'T")}`: the quote in `'T` is not closed
        zdt.format("bad") = 1:1: `${zdt.format("bad")}`: `b` means nothing in a pattern: put text between single quotes
        zdt.format("n") = 1:1: `${zdt.format("n")}`: `n` means nothing in a pattern: put text between single quotes
        zdt.format("") = 
    "#]],
    );
}

#[test]
fn days_keep_the_time_and_hours_are_elapsed() {
    check_dates(
        BEFORE_GAP,
        &[
            "zdt.format(\"MM-dd HH:mm Z\")",
            "zdt.add(11, 1).format(\"MM-dd HH:mm Z\")",
            "zdt.add(HOUR_OF_DAY, 24).format(\"MM-dd HH:mm Z\")",
            "zdt.addDay(1).format(\"MM-dd HH:mm Z\")",
            "zdt.addDay(-1).add(12, 60).addDay(1).format(\"MM-dd HH:mm Z\")",
            "zdt.set(11, 2).format(\"MM-dd HH:mm Z\")",
            "zdt.add(2, 1).format(\"MM-dd HH:mm Z\")",
            "zdt.add(9, 1).format(\"MM-dd HH:mm Z\")",
            "zdt.add(9, -3).format(\"MM-dd HH:mm Z\")",
        ],
        &expect![[r#"
            zdt.format("MM-dd HH:mm Z") = 03-29 01:30 +0100
            zdt.add(11, 1).format("MM-dd HH:mm Z") = 03-29 03:30 +0200
            zdt.add(HOUR_OF_DAY, 24).format("MM-dd HH:mm Z") = 03-30 02:30 +0200
            zdt.addDay(1).format("MM-dd HH:mm Z") = 03-30 01:30 +0200
            zdt.addDay(-1).add(12, 60).addDay(1).format("MM-dd HH:mm Z") = 03-29 01:30 +0100
            zdt.set(11, 2).format("MM-dd HH:mm Z") = 03-29 03:30 +0200
            zdt.add(2, 1).format("MM-dd HH:mm Z") = 04-29 01:30 +0200
            zdt.add(9, 1).format("MM-dd HH:mm Z") = 03-29 13:30 +0200
            zdt.add(9, -3).format("MM-dd HH:mm Z") = 03-27 13:30 +0100
        "#]],
    );
    check_dates(
        FIRST_PASS,
        &[
            "zdt.format(\"MM-dd HH:mm Z\")",
            "zdt.addDay(1).addDay(-1).format(\"MM-dd HH:mm Z\")",
            "zdt.set(12, 30).format(\"MM-dd HH:mm Z\")",
            "zdt.add(11, 1).format(\"MM-dd HH:mm Z\")",
            "zdt.add(1, 1).add(1, -1).format(\"MM-dd HH:mm Z\")",
        ],
        &expect![[r#"
            zdt.format("MM-dd HH:mm Z") = 10-25 02:30 +0200
            zdt.addDay(1).addDay(-1).format("MM-dd HH:mm Z") = 10-25 02:30 +0100
            zdt.set(12, 30).format("MM-dd HH:mm Z") = 10-25 02:30 +0100
            zdt.add(11, 1).format("MM-dd HH:mm Z") = 10-25 02:30 +0100
            zdt.add(1, 1).add(1, -1).format("MM-dd HH:mm Z") = 10-25 02:30 +0100
        "#]],
    );
}

#[test]
fn what_is_set_is_put_together_when_somebody_looks() {
    check_dates(
        "2024-01-31T11:22:33.444Z",
        &[
            "zdt.set(2, 1).format(\"yyyy-MM-dd\")",
            "zdt.set(2, 1).set(5, 29).format(\"yyyy-MM-dd\")",
            "zdt.set(5, 1).add(2, 1).addDay(-1).format(\"yyyy-MM-dd\")",
            "zdt.add(2, 1).format(\"yyyy-MM-dd\")",
            "zdt.add(2, 1).set(5, 1).format(\"yyyy-MM-dd\")",
            "zdt.set(5, 0).format(\"yyyy-MM-dd\")",
            "zdt.set(6, 60).format(\"yyyy-MM-dd\")",
            "zdt.set(7, 2).format(\"yyyy-MM-dd E\")",
            "zdt.set(7, 1).format(\"yyyy-MM-dd E\")",
            "zdt.set(8, 1).set(7, 6).format(\"yyyy-MM-dd E\")",
            "zdt.set(8, -1).format(\"yyyy-MM-dd E\")",
            "zdt.set(11, 0).set(12, 0).set(13, 0).set(14, 0).getMillis()",
            "zdt.set(9, 1).set(10, 3).format(\"HH:mm\")",
            "zdt.set(11, 25).set(12, -1).format(\"MM-dd HH:mm\")",
            "zdt.get(1)",
            "zdt.get(2)",
            "zdt.get(5)",
            "zdt.get(7)",
            "zdt.get(DAY_OF_YEAR)",
            "zdt.get(\"Calendar.HOUR\")",
            "zdt.addDay(-7).getToday()",
            "zdt.getTime()",
        ],
        &expect![[r#"
            zdt.set(2, 1).format("yyyy-MM-dd") = 2024-03-02
            zdt.set(2, 1).set(5, 29).format("yyyy-MM-dd") = 2024-02-29
            zdt.set(5, 1).add(2, 1).addDay(-1).format("yyyy-MM-dd") = 2024-01-31
            zdt.add(2, 1).format("yyyy-MM-dd") = 2024-02-29
            zdt.add(2, 1).set(5, 1).format("yyyy-MM-dd") = 2024-02-01
            zdt.set(5, 0).format("yyyy-MM-dd") = 2023-12-31
            zdt.set(6, 60).format("yyyy-MM-dd") = 2024-02-29
            zdt.set(7, 2).format("yyyy-MM-dd E") = 2024-01-29 Mon
            zdt.set(7, 1).format("yyyy-MM-dd E") = 2024-01-28 Sun
            zdt.set(8, 1).set(7, 6).format("yyyy-MM-dd E") = 2024-01-05 Fri
            zdt.set(8, -1).format("yyyy-MM-dd E") = 2024-01-31 Wed
            zdt.set(11, 0).set(12, 0).set(13, 0).set(14, 0).getMillis() = 1706655600000
            zdt.set(9, 1).set(10, 3).format("HH:mm") = 15:22
            zdt.set(11, 25).set(12, -1).format("MM-dd HH:mm") = 02-01 00:59
            zdt.get(1) = 2024
            zdt.get(2) = 0
            zdt.get(5) = 31
            zdt.get(7) = 4
            zdt.get(DAY_OF_YEAR) = 31
            zdt.get("Calendar.HOUR") = 0
            zdt.addDay(-7).getToday() = 2024-01-31
            zdt.getTime() = 1706700153
        "#]],
    );
}

#[test]
fn what_grows_without_end_is_stopped() {
    let doubling: Vec<(String, String)> = (0..31)
        .map(|i| (format!("k{i}"), format!("${{k{}}}${{k{}}}", i + 1, i + 1)))
        .chain([("k31".to_owned(), String::new())])
        .collect();
    let config: BTreeMap<String, String> = doubling.into_iter().collect();
    let error = render("${k0}", &config, at(BEFORE_GAP), "UTC").unwrap_err();
    assert!(error.problem.ends_with("puts in more than 100000 values"), "{error}");

    let deep: BTreeMap<String, String> =
        (0..40).map(|i| (format!("k{i}"), format!("${{k{}}}", i + 1))).collect();
    let error = render("${k0}", &deep, at(BEFORE_GAP), "UTC").unwrap_err();
    assert!(error.problem.contains("more than 32 deep"), "{error}");

    // Each of these is read a little way, not to the end of the text.
    let open = format!("{}{}", "${".repeat(200_000), "${zdt.".repeat(100_000));
    assert_eq!(render(&open, &BTreeMap::new(), at(BEFORE_GAP), "UTC").unwrap(), open);

    let long = BTreeMap::from([("x".to_owned(), "y".repeat(1_000))]);
    let text = "${x}".repeat(SCRIPT_BYTES_MAX / 1_000 + 1);
    let error = render(&text, &long, at(BEFORE_GAP), "UTC").unwrap_err();
    expect!["1:4193: the script has more than 1048576 bytes"].assert_eq(&error.to_string());
    assert!(render(&"x".repeat(SCRIPT_BYTES_MAX), &long, at(BEFORE_GAP), "UTC").is_ok());
}
