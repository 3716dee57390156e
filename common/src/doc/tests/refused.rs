//! Files that are refused, with the exact text of every error.

use expect_test::expect;

use super::{Stored, apply, check, check_jobs, lines};
use crate::doc::Contents;

#[test]
fn every_error_of_a_file_is_told_with_its_place() {
    check(
        &[r#"
ownr: me
group: a//b
zone: Mars/Base
secrets: { PW: env:PW }
config: { yesterday: 1, "a b": 2, list: [1], secret.x: 1, zdt: 1, none: }
defaults: { retires: { times: 2 }, lease: 5m, name: x }
jobs:
  - name: a/b
    shedule: { cron: "0 2 * * *" }
    script: x
  - nme: c
    type: python
    state: paused
  - name: d@e
    script: { fil: x }
    files: [/etc/passwd, ../x, "a//b", ".", "lib/"]
  - just text
"#],
        &expect![[r#"
            a.yaml:2:1: ownr: there is no field `ownr`, did you mean `owner`?
            a.yaml:3:8: group: `a//b` is no path: a name is empty
            a.yaml:4:7: zone: there is no time zone `Mars/Base`: write an IANA name such as Europe/Berlin
            a.yaml:5:1: secrets: `secrets` is not built yet
            a.yaml:6:11: config.yesterday: `${yesterday}` is a date in scripts: choose another key
            a.yaml:6:25: config.a b: the key holds ` `: letters, digits, `_`, `-` and `.` are allowed
            a.yaml:6:41: config.list: is one value, not a list
            a.yaml:6:46: config.secret.x: secrets are not built yet
            a.yaml:6:59: config.zdt: `${zdt}` is a date in scripts: choose another key
            a.yaml:6:71: config.none: has no value
            a.yaml:7:13: defaults.retires: there is no field `retires`, did you mean `retries`?
            a.yaml:7:43: defaults.lease: `5m` could be minutes or months: write 5min (or days, such as 30d)
            a.yaml:7:47: defaults.name: there is no field `name`
            a.yaml:9:11: jobs[0].name: `a/b` is a path: write the last name, the rest is the group
            a.yaml:10:5: jobs[0].shedule: there is no field `shedule`, did you mean `schedule`?
            a.yaml:12:5: jobs[1].name: is missing
            a.yaml:12:5: jobs[1].nme: there is no field `nme`, did you mean `name`?
            a.yaml:13:11: jobs[1].type: `type: python` is not built yet: use shell or noop
            a.yaml:14:12: jobs[1].state: `paused` is unknown: use open or closed
            a.yaml:15:11: jobs[2].name: `d@e` is no name: the name `d@e` holds `@`: letters, digits, `_`, `-` and `.` are allowed
            a.yaml:16:13: jobs[2].script: has no `file`
            a.yaml:16:15: jobs[2].script.fil: there is no field `fil`, did you mean `file`?
            a.yaml:17:13: jobs[2].files[0]: `/etc/passwd` is absolute: write it relative to the job file
            a.yaml:17:26: jobs[2].files[1]: `../x` holds `..`: it must lie beside the job file
            a.yaml:17:32: jobs[2].files[2]: `a//b` has an empty name in it
            a.yaml:17:40: jobs[2].files[3]: `.` holds `.`: it must lie beside the job file
            a.yaml:18:5: jobs[3]: is not a mapping: write { key: value }
        "#]],
    );
}

#[test]
fn what_is_not_built_yet_is_refused_by_name() {
    check_jobs(
        &[
            "expected_by: \"07:00\"\nmax_duration: 1h\nwait_for: {}\npool: x\nsecrets: {}",
            "type: python",
            "type: sql\nscript: select 1",
            "takeover: newest\noverlap: queue_newest\ngive_up_after: 1d",
            "overlap: cancel_running",
        ],
        &expect![[r#"
            expected_by: "07:00"; max_duration: 1h; wait_for: {}; pool: x; secrets: {}
              5:5: jobs[0].expected_by: `expected_by` is not built yet
              6:5: jobs[0].max_duration: `max_duration` is not built yet
              7:5: jobs[0].wait_for: `wait_for` is not built yet
              8:5: jobs[0].pool: `pool` is not built yet
              9:5: jobs[0].secrets: `secrets` is not built yet
            type: python
              4:11: jobs[0].type: `type: python` is not built yet: use shell or noop
            type: sql; script: select 1
              4:11: jobs[0].type: `type: sql` is not built yet: use shell or noop
            takeover: newest; overlap: queue_newest; give_up_after: 1d
              5:15: jobs[0].takeover: `takeover: newest` is not built yet: only always is
              6:14: jobs[0].overlap: `overlap: queue_newest` is not built yet: use queue or allow
              7:5: jobs[0].give_up_after: `give_up_after` is not built yet
            overlap: cancel_running
              5:14: jobs[0].overlap: `overlap: cancel_running` is not built yet: use queue or allow
        "#]],
    );
}

#[test]
fn bad_policies_are_refused_with_the_reason() {
    check_jobs(
        &[
            "lease: 0s",
            "lease: 500d",
            "timeout: 0s\nstart_within: soon\nmax_lateness: 1mo",
            "urgency: 6",
            "urgency: high",
            "at_most_once: maybe",
            "retries: 3",
            "retries: { times: 60 }",
            "retries: { times: 49 }",
            "retries: { delay: 5m, not_on: [0, 1, x], max_delay: 1h }",
            "retries: { max_delay: 1h }",
            "retries: { backoff: exponential, delay: 2h, max_delay: 1h }",
            "data: { offset: -1 }",
            "data: { period: dya, offset: yesterday }",
            "catch_up: al",
        ],
        &expect![[r#"
            lease: 0s
              5:12: jobs[0].lease: `0s` is too short: at least 1s
            lease: 500d
              5:12: jobs[0].lease: `500d` is longer than 400d
            timeout: 0s; start_within: soon; max_lateness: 1mo
              5:14: jobs[0].timeout: `0s` is too short: at least 1s
              6:19: jobs[0].start_within: `soon` is no duration: a whole number and s, min, h or d
              7:19: jobs[0].max_lateness: `1mo`: months differ in length, write days, such as 30d
            urgency: 6
              5:14: jobs[0].urgency: 6 is not between 1 and 5
            urgency: high
              5:14: jobs[0].urgency: `high` is no whole number between 1 and 5
            at_most_once: maybe
              5:19: jobs[0].at_most_once: `maybe` is neither true nor false
            retries: 3
              5:14: jobs[0].retries: is not a mapping: write { key: value }
            retries: { times: 60 }
              5:23: jobs[0].retries.times: 60 is not between 0 and 50
            retries: { times: 49 }
              5:23: jobs[0].retries.times: 49 with restarts of 2 make 52 attempts, more than 50
            retries: { delay: 5m, not_on: [0, 1, x], max_delay: 1h }
              5:23: jobs[0].retries.delay: `5m` could be minutes or months: write 5min (or days, such as 30d)
              5:36: jobs[0].retries.not_on[0]: 0 is not between 1 and 255
              5:42: jobs[0].retries.not_on[2]: `x` is no whole number between 1 and 255
            retries: { max_delay: 1h }
              5:27: jobs[0].retries.max_delay: caps a delay that grows: it wants `backoff: exponential`
            retries: { backoff: exponential, delay: 2h, max_delay: 1h }
              5:60: jobs[0].retries.max_delay: 1h is less than the delay of 2h
            data: { offset: -1 }
              5:11: jobs[0].data: has no `period`: hour, day, week or month
            data: { period: dya, offset: yesterday }
              5:21: jobs[0].data.period: `dya` is unknown, did you mean `day`?
              5:34: jobs[0].data.offset: `yesterday` is no whole number between -10000 and 10000
            catch_up: al
              5:15: jobs[0].catch_up: `al` is unknown, did you mean `all`?
        "#]],
    );
}

#[test]
fn bad_schedules_and_scripts_are_refused_with_the_reason() {
    check_jobs(
        &[
            "zone: Europe/Berln",
            "schedule: 0 2 * * *",
            "schedule: { zone: UTC }",
            "schedule: { cron: [], zone: Nowhere }",
            "schedule: { cron: [0 2 * * *, [x]] }",
            "schedule:",
            "host_group: a/b",
            "owner: \"\"\ndescription:",
            "owner: \"a\\nb\"",
            "script: \"\"",
            "script: \"a\\0b\"",
            "script: { file: lib/ }",
            "type: noop\nscript: echo",
            "type: shell",
            "files: x.sh",
            "renamed_from: j",
        ],
        &expect![[r#"
            zone: Europe/Berln
              5:11: jobs[0].zone: there is no time zone `Europe/Berln`: write an IANA name such as Europe/Berlin
            schedule: 0 2 * * *
              5:15: jobs[0].schedule: is a mapping: write schedule: { cron: "0 2 * * *" }
            schedule: { zone: UTC }
              5:15: jobs[0].schedule: has no `cron`, `every` or `at`
            schedule: { cron: [], zone: Nowhere }
              5:23: jobs[0].schedule.cron: is an empty list
              5:33: jobs[0].schedule.zone: there is no time zone `Nowhere`: write an IANA name such as Europe/Berlin
            schedule: { cron: [0 2 * * *, [x]] }
              5:35: jobs[0].schedule.cron[1]: is one value, not a list
            schedule:
              5:13: jobs[0].schedule: has no `cron`, `every` or `at`
            host_group: a/b
              5:17: jobs[0].host_group: `a/b` is a path, and a name is wanted
            owner: ""; description:
              5:12: jobs[0].owner: is empty
              6:16: jobs[0].description: has no value
            owner: "a\nb"
              5:12: jobs[0].owner: holds the character '\n', which is not seen
            script: ""
              4:13: jobs[0].script: is empty
            script: "a\0b"
              4:13: jobs[0].script: holds a NUL character
            script: { file: lib/ }
              4:21: jobs[0].script.file: `lib/` is a folder
            type: noop; script: echo
              5:13: jobs[0].script: would never run: a noop has no process
            type: shell
              3:5: jobs[0].script: is missing, and a shell job runs one
            files: x.sh
              5:12: jobs[0].files: is not a list: write [a, b] or one item a line
            renamed_from: j
              5:19: jobs[0].renamed_from: `g/j` is the present name
        "#]],
    );
}

#[test]
fn edges_are_checked() {
    check_jobs(
        &[
            "depends_on: u",
            "depends_on: [u, ../v, /w/x, { bind: same }]",
            "depends_on: [u, /w/x]",
            "depends_on: [j]",
            "depends_on: [{ job: j, bind: previous, n: 1, empty: skip }]",
            "depends_on: [{ job: /g/j, bind: previous }, { job: /g/j, bind: previous, n: 1001 }]",
            "depends_on: [{ job: j, bind: previous, n: 0 }]",
            "depends_on: [{ job: j, bind: same, n: 1 }]",
            "depends_on: [{ job: u, bind: previous, from: -1d }, { job: u, of: day, to: 1h }]",
            "depends_on: [{ job: u, bind: last }, { job: u, bind: first, of: hour }]",
            "depends_on: [{ job: u, offset: 1 }, { job: u, bind: latest }]",
            "depends_on: [{ job: u, on: sucess, empty: no }]",
            "baseline: u",
            "baseline: j",
            "schedule: { cron: 0 2 * * * }\nbaseline: u",
        ],
        &expect![[r#"
            depends_on: u
              5:17: jobs[0].depends_on: is not a list: write [a, b] or one item a line
            depends_on: [u, ../v, /w/x, { bind: same }]
              5:21: jobs[0].depends_on[1]: `../v` is no path: a name is empty
              5:33: jobs[0].depends_on[3]: has no `job`: the name of an upstream job
            depends_on: [u, /w/x]
              5:18: jobs[0].depends_on[0]: there is no job `g/u`
              5:21: jobs[0].depends_on[1]: there is no job `w/x`
            depends_on: [j]
              5:18: jobs[0].depends_on[0]: `g/j` is the job itself: write `bind: previous` with `n`
            depends_on: [{ job: j, bind: previous, n: 1, empty: skip }]
              5:18: jobs[0].depends_on[0]: an edge to the job itself is always `empty: ignore`
            depends_on: [{ job: /g/j, bind: previous }, { job: /g/j, bind: previous, n: 1001 }]
              5:81: jobs[0].depends_on[1].n: 1001 is not between 1 and 1000
            depends_on: [{ job: j, bind: previous, n: 0 }]
              5:47: jobs[0].depends_on[0].n: 0 is not between 1 and 1000
            depends_on: [{ job: j, bind: same, n: 1 }]
              5:43: jobs[0].depends_on[0].n: belongs to `bind: previous`
            depends_on: [{ job: u, bind: previous, from: -1d }, { job: u, of: day, to: 1h }]
              5:50: jobs[0].depends_on[0].from: belongs to `bind: window`
              5:71: jobs[0].depends_on[1].of: belongs to `bind: first`, `last` or `all`
              5:80: jobs[0].depends_on[1].to: belongs to `bind: window`
            depends_on: [{ job: u, bind: last }, { job: u, bind: first, of: hour }]
              5:34: jobs[0].depends_on[0].bind: `last` wants `of`: day, week or month
              5:69: jobs[0].depends_on[1].of: `of: hour` is too short: use day, week or month
            depends_on: [{ job: u, offset: 1 }, { job: u, bind: latest }]
              5:36: jobs[0].depends_on[0].offset: "1" is not a number and a unit (s, min, h, d, bd, mo, slots), such as -1d
              5:57: jobs[0].depends_on[1].bind: `latest` is unknown, did you mean `last`?
            depends_on: [{ job: u, on: sucess, empty: no }]
              5:32: jobs[0].depends_on[0].on: `sucess` is unknown, did you mean `success`?
              5:47: jobs[0].depends_on[0].empty: `no` is unknown: use skip or ignore
            baseline: u
              5:15: jobs[0].baseline: `g/u` is not in `depends_on`
            baseline: j
              5:15: jobs[0].baseline: the job itself cannot be its baseline
            schedule: { cron: 0 2 * * * }; baseline: u
              6:15: jobs[0].baseline: a job with a schedule has its versions from there
        "#]],
    );
}

#[test]
fn windows_are_checked() {
    check_jobs(
        &[
            "depends_on: [{ job: u, bind: window, from: -1d }, { job: u, bind: window }]",
            "depends_on: [{ job: u, bind: window, from: -1d, to: -1d }]",
            "depends_on: [{ job: u, bind: window, from: 0s, to: -1mo }]",
            "depends_on: [{ job: u, bind: window, from: 1mo, to: -1d }]",
            "depends_on: [{ job: u, bind: window, from: -2slots, to: 5m }]",
            "depends_on: [{ job: u, bind: window, from: -2slots, to: 0s }]",
        ],
        &expect![[r#"
            depends_on: [{ job: u, bind: window, from: -1d }, { job: u, bind: window }]
              5:34: jobs[0].depends_on[0].bind: `window` wants `from` and `to`, such as from: -1d, to: 0s
              5:71: jobs[0].depends_on[1].bind: `window` wants `from` and `to`, such as from: -1d, to: 0s
            depends_on: [{ job: u, bind: window, from: -1d, to: -1d }]
              5:57: jobs[0].depends_on[0].to: the window from -1d to -1d holds no instant
            depends_on: [{ job: u, bind: window, from: 0s, to: -1mo }]
              5:56: jobs[0].depends_on[0].to: the window from 0s to -1mo holds no instant
            depends_on: [{ job: u, bind: window, from: 1mo, to: -1d }]
              5:57: jobs[0].depends_on[0].to: the window from 1mo to -1d holds no instant
            depends_on: [{ job: u, bind: window, from: -2slots, to: 5m }]
              5:61: jobs[0].depends_on[0].to: "5m" has the unit m, which could be minutes or months: write min or mo
            depends_on: [{ job: u, bind: window, from: -2slots, to: 0s }]
              5:48: jobs[0].depends_on[0].from: a window is of time: write s, min, h, d, bd or mo
        "#]],
    );
}

#[test]
fn a_job_must_have_its_versions_from_somewhere() {
    let placing = |edge: &str| {
        format!(
            "group: g\njobs:\n  - {{ name: u, type: noop, data: {{ period: week }} }}\n  - name: j\n    type: noop\n    depends_on: [{edge}]\n"
        )
    };
    let nothing = [
        "{ job: u, bind: at_or_before }",
        "{ job: u, empty: ignore }",
        "{ job: u, offset: -1d }",
        "{ job: u, bind: data }",
        "{ job: u, bind: last, of: week }",
    ];
    let answers = nothing.map(|edge| {
        let answer = apply(&[&placing(edge)], &Contents::default(), &Stored::default());
        answer.map_or_else(|errors| lines(&errors), |_applied| "good\n".to_owned())
    });
    expect![[r#"
        a.yaml:6:17: jobs[1].depends_on: nothing gives the job its versions: it wants a schedule, a `baseline`, or an edge without offset and with `empty: skip` by nearest, by same, by data (of a period not longer than its own), or by first, last or all with `of` its period
        a.yaml:6:17: jobs[1].depends_on: nothing gives the job its versions: it wants a schedule, a `baseline`, or an edge without offset and with `empty: skip` by nearest, by same, by data (of a period not longer than its own), or by first, last or all with `of` its period
        a.yaml:6:17: jobs[1].depends_on: nothing gives the job its versions: it wants a schedule, a `baseline`, or an edge without offset and with `empty: skip` by nearest, by same, by data (of a period not longer than its own), or by first, last or all with `of` its period
        a.yaml:6:17: jobs[1].depends_on: nothing gives the job its versions: it wants a schedule, a `baseline`, or an edge without offset and with `empty: skip` by nearest, by same, by data (of a period not longer than its own), or by first, last or all with `of` its period
        a.yaml:6:17: jobs[1].depends_on: nothing gives the job its versions: it wants a schedule, a `baseline`, or an edge without offset and with `empty: skip` by nearest, by same, by data (of a period not longer than its own), or by first, last or all with `of` its period
    "#]].assert_eq(&answers.concat());
    for good in ["u", "{ job: u, bind: same }", "{ job: u, bind: all, of: day }"] {
        assert!(apply(&[&placing(good)], &Contents::default(), &Stored::default()).is_ok());
    }
}

#[test]
fn bad_calendars_are_refused_with_the_reason() {
    check(
        &[
            "calendars:\n  - name: empty\n  - name: a/b\n    weekly: [SUN, Sunday, 7]\n  - days: [2026-02-29, 2026-10-02..2026-10-01, soon]\n  - { name: both, of: we, days: [2026-10-01], remove: [2026-10-01] }\n  - { name: we, weekly: [SAT, SUN] }\n  - { name: ends, days: [2026-10-01], valid_until: 2026-09-30 }\n  - { name: nothing, days: [2026-10-01], remove: [2026-10-02] }\n  - { name: odd, of: [we], hollidays: [] }\n",
            "calendars:\n  - { name: x, of: [y] }\n  - { name: y, of: x }\n  - { name: x, weekly: [SUN] }\n  - { name: z, of: gone }\nowner: me\n",
        ],
        &expect![[r#"
            a.yaml:2:5: calendars[0]: holds no day: write `weekly`, `days`, `add`, or `of` another calendar
            a.yaml:3:11: calendars[1].name: `a/b` is a path, and a name is wanted
            a.yaml:4:19: calendars[1].weekly[1]: `Sunday` is unknown: use MON, TUE, WED, THU, FRI, SAT or SUN
            a.yaml:4:27: calendars[1].weekly[2]: `7` is unknown: use MON, TUE, WED, THU, FRI, SAT or SUN
            a.yaml:5:5: calendars[2].name: is missing
            a.yaml:5:12: calendars[2].days[0]: `2026-02-29` is no date: write 2026-12-24
            a.yaml:5:24: calendars[2].days[1]: `2026-10-02..2026-10-01` ends before it begins
            a.yaml:5:48: calendars[2].days[2]: `soon` is no date: write 2026-12-24
            a.yaml:6:55: calendars[3].remove: takes 2026-10-01 away, which is named itself: leave one of them off
            a.yaml:8:52: calendars[5].valid_until: is before 2026-10-01, which is named
            a.yaml:9:50: calendars[6].remove: takes away from nothing: it has no such day
            a.yaml:10:28: calendars[7].hollidays: there is no field `hollidays`
        "#]],
    );
    check(
        &[
            "calendars:\n  - { name: x, of: [y] }\n  - { name: y, of: x }\n  - { name: x, weekly: [SUN] }\n  - { name: z, of: gone }\n",
            "group: g\ncalendars: [{ name: z, weekly: [SUN] }]\n",
        ],
        &expect![[r#"
            a.yaml:2:20: calendars[0].of: the calendars are made of one another: x -> y -> x
            a.yaml:3:20: calendars[1].of: the calendars are made of one another: y -> x -> y
            a.yaml:4:5: calendars[2].of: the calendars are made of one another: x -> y -> x
            a.yaml:4:13: calendars[2].name: calendar `x` is also in a.yaml:2:13
            a.yaml:5:20: calendars[3].of: there is no calendar `gone`
            b.yaml:2:13: calendars[0].of: there is no calendar `gone`
            b.yaml:2:21: calendars[0].name: calendar `z` is also in a.yaml:5:13
        "#]],
    );
}

#[test]
fn business_days_are_those_of_the_calendar_of_the_job_or_its_group() {
    check(
        &[
            "group: g\ndefaults: { calendar: { exclude: off }, data: { period: business_day, offset: -1 } }\njobs:\n  - { name: j, type: noop, schedule: { cron: 0 2 * * *, dst: { overlap: both } }, depends_on: [{ job: u, offset: -1bd }] }\n  - { name: u, type: noop, calendar: none, data: { period: day } }\n",
            "calendars:\n  - name: off\n    weekly: [SUN, SAT]\n    add: [2026-12-25, 2026-01-01..2026-01-02]\n    valid_until: 2026-12-31\n    description: x\n",
        ],
        &expect![[r#"
            {"at_most_once":false,"calendar":{"exclude":"off"},"catch_up":"all","config":{},"data":{"offset":-1,"period":"business_day"},"depends_on":[{"bind":"data","empty":"ignore","job":"g/u","offset":"-1bd","on":"success"}],"description":"","dst":{"overlap":"both"},"files":[],"lease":"5min","overlap":"queue","own":{"config":{},"depends_on":[{}],"settings":{}},"owner":"","path":"g/j","restarts":2,"retries":{"backoff":"constant","delay":"5min","not_on":[],"times":0},"schedule":{"cron":["0 2 * * *"],"dst":{"overlap":"both"}},"script":"","type":"noop","urgency":3,"zone":"UTC"}
            {"at_most_once":false,"catch_up":"all","config":{},"data":{"offset":0,"period":"day"},"depends_on":[],"description":"","files":[],"lease":"5min","overlap":"queue","own":{"config":{},"depends_on":[],"settings":{"calendar":"none","data":{"offset":0,"period":"day"}}},"owner":"","path":"g/u","restarts":2,"retries":{"backoff":"constant","delay":"5min","not_on":[],"times":0},"script":"","type":"noop","urgency":3,"zone":"UTC"}
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of inputs, and of what is said to them")]
fn bad_rules_of_schedules_are_refused_with_the_reason() {
    check_jobs(
        &[
            "schedule: { anchor: 2026-01-01 }",
            "schedule: { cron: 0 2 * * *, anchor: 2026-01-01 }",
            "schedule: { every: 25h }\nurgency: 9",
            "schedule: { every: 0s, anchor: noon }",
            "schedule: { every: 1mo }",
            "schedule: { every: [1h, 2h] }",
            "schedule: { every: 5m, at: [] }",
            "schedule: { at: [2026-01-01, 2026-01-01T00:00:00.5Z, soon] }",
            "schedule: { at: 2026-01-01T00:00Z, start: tomorrow, end: 2026-02-30 }",
            "schedule: { at: 2026-01-01T00:00Z, jitter: 2d }",
            "schedule: { at: 2026-01-01T00:00Z, jitter: 0s }",
            "schedule: { cron: 0 2 * * *, dst: { gap: both, overlap: none, fold: 1 } }",
            "schedule: { cron: 0 2 * * *, dst: skip }",
            "schedule: { cron: 0 2 * * *, calendar: cn }",
            "schedule: { cron: 0 2 * * *, calendar: {} }",
            "schedule: { cron: 0 2 * * *, calendar: { include: a, exclude: b, roll: nearest } }",
            "schedule: { cron: 0 2 * * *, calendar: { exclude: a/b } }",
            "schedule: { cron: 0 2 * * *, calendar: { exclude: cn } }",
            "data: { period: business_day }",
            "depends_on: [{ job: u, offset: -1bd }, { job: u, bind: last, of: business_day }]",
            "depends_on: [{ job: u, offset: -1bd }, { job: u, bind: window, from: -2bd, to: 0s }]",
            "schedule: { cron: 0 2 * * *, calendar: none }\ncalendar: { include: cn }",
            "calendar: { include: cn, roll: next }",
            "dst: { gap: skip }",
        ],
        &expect![[r#"
            schedule: { anchor: 2026-01-01 }
              5:15: jobs[0].schedule: has no `cron`, `every` or `at`
            schedule: { cron: 0 2 * * *, anchor: 2026-01-01 }
              5:42: jobs[0].schedule.anchor: counts nothing: it belongs to `every`
            schedule: { every: 25h }; urgency: 9
              5:24: jobs[0].schedule.every: `25h`: an interval is less than a day, or whole days; write 12h or 2d
              6:14: jobs[0].urgency: 9 is not between 1 and 5
            schedule: { every: 0s, anchor: noon }
              5:24: jobs[0].schedule.every: `0s`: an interval goes forward; write 1s or more
              5:36: jobs[0].schedule.anchor: `noon` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            schedule: { every: 1mo }
              5:24: jobs[0].schedule.every: `1mo`: an interval is counted in s, min, h or d; write a cron for months, a calendar for business days
            schedule: { every: [1h, 2h] }
              5:24: jobs[0].schedule.every: is one value, not a list
            schedule: { every: 5m, at: [] }
              5:24: jobs[0].schedule.every: "5m" has the unit m, which could be minutes or months: write min or mo
              5:32: jobs[0].schedule.at: is an empty list
            schedule: { at: [2026-01-01, 2026-01-01T00:00:00.5Z, soon] }
              5:22: jobs[0].schedule.at[0]: `2026-01-01` has no time of day: write 2026-01-01T00:00
              5:34: jobs[0].schedule.at[1]: `2026-01-01T00:00:00.5Z` has a fraction of a second: slots are whole seconds
              5:58: jobs[0].schedule.at[2]: `soon` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            schedule: { at: 2026-01-01T00:00Z, start: tomorrow, end: 2026-02-30 }
              5:47: jobs[0].schedule.start: `tomorrow` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
              5:62: jobs[0].schedule.end: `2026-02-30` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            schedule: { at: 2026-01-01T00:00Z, jitter: 2d }
              5:48: jobs[0].schedule.jitter: `2d` is longer than 1d
            schedule: { at: 2026-01-01T00:00Z, jitter: 0s }
              5:48: jobs[0].schedule.jitter: `0s` is too short: at least 1s
            schedule: { cron: 0 2 * * *, dst: { gap: both, overlap: none, fold: 1 } }
              5:46: jobs[0].schedule.dst.gap: `both` is unknown: use shift or skip
              5:61: jobs[0].schedule.dst.overlap: `none` is unknown: use first, second or both
              5:67: jobs[0].schedule.dst.fold: there is no field `fold`
            schedule: { cron: 0 2 * * *, dst: skip }
              5:39: jobs[0].schedule.dst: is not a mapping: write { key: value }
            schedule: { cron: 0 2 * * *, calendar: cn }
              5:44: jobs[0].schedule.calendar: is a mapping: write calendar: { exclude: cn }, or none
            schedule: { cron: 0 2 * * *, calendar: {} }
              5:44: jobs[0].schedule.calendar: has neither `include` nor `exclude`
            schedule: { cron: 0 2 * * *, calendar: { include: a, exclude: b, roll: nearest } }
              5:44: jobs[0].schedule.calendar: has both `include` and `exclude`: one of them says which days are business days
              5:76: jobs[0].schedule.calendar.roll: `nearest` is unknown: use skip, next or previous
            schedule: { cron: 0 2 * * *, calendar: { exclude: a/b } }
              5:55: jobs[0].schedule.calendar.exclude: `a/b` is a path, and a name is wanted
            schedule: { cron: 0 2 * * *, calendar: { exclude: cn } }
              5:55: jobs[0].schedule.calendar.exclude: there is no calendar `cn`
            data: { period: business_day }
              5:21: jobs[0].data.period: `business_day` wants to know the business days: write `calendar: { exclude: NAME }` (or include) in the job or its group's defaults, and the calendar NAME under `calendars`
            depends_on: [{ job: u, offset: -1bd }, { job: u, bind: last, of: business_day }]
              5:70: jobs[0].depends_on[1].of: `of: business_day` is a period of data only: use day, week or month
            depends_on: [{ job: u, offset: -1bd }, { job: u, bind: window, from: -2bd, to: 0s }]
              5:18: jobs[0].depends_on[0]: there is no job `g/u`
              5:36: jobs[0].depends_on[0].offset: `-1bd` wants to know the business days: write `calendar: { exclude: NAME }` (or include) in the job or its group's defaults, and the calendar NAME under `calendars`
              5:44: jobs[0].depends_on[1]: there is no job `g/u`
              5:74: jobs[0].depends_on[1].from: `-2bd` wants to know the business days: write `calendar: { exclude: NAME }` (or include) in the job or its group's defaults, and the calendar NAME under `calendars`
            schedule: { cron: 0 2 * * *, calendar: none }; calendar: { include: cn }
              6:15: jobs[0].calendar: is written for the schedule too: write it once
            calendar: { include: cn, roll: next }
              5:15: jobs[0].calendar: is read by nothing: the job has no schedule, no data by business days, and no offset in business days
              5:26: jobs[0].calendar.include: there is no calendar `cn`
              5:36: jobs[0].calendar.roll: moves slots, and the job has no schedule
            dst: { gap: skip }
              5:5: jobs[0].dst: there is no field `dst`
        "#]],
    );
}
