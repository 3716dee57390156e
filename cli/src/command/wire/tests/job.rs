//! Jobs, slots, scripts, and what an apply changes.

use expect_test::expect;
use hera_proto::v1;

use super::super::{change, group_change, job, revision, slot, whole_job};
use super::{THREE_IN_NEW_YORK, check_list, check_one};
use crate::output::Format;
use crate::output::keys::Rendered;

fn wire_job() -> v1::Job {
    v1::Job {
        id: 5,
        path: "weather/report/publish".to_owned(),
        owner: "weather-team".to_owned(),
        state: "open".to_owned(),
        parked: String::new(),
        revision: 2,
        spec_json: r#"{"script":"bash publish.sh\necho"}"#.to_owned(),
        upstream: vec!["weather/report/table".to_owned()],
        downstream: vec!["weather/ready".to_owned()],
        next_slots_ms: vec![THREE_IN_NEW_YORK, THREE_IN_NEW_YORK + 86_400_000],
        zone: "America/New_York".to_owned(),
        schedule: "30 7 * * *".to_owned(),
        kind: "shell".to_owned(),
        description: "Puts the page together.".to_owned(),
        warnings: Vec::new(),
    }
}

#[test]
fn jobs() {
    let after = || v1::Job { schedule: String::new(), next_slots_ms: Vec::new(), ..wire_job() };
    check_list(
        || vec![job(wire_job()).0, job(after()).0],
        &expect![[r#"
            JOB                     STATE  TYPE   SCHEDULE     NEXT                     REVISION  OWNER
            weather/report/publish  open   shell  30 7 * * *   2026-11-30 03:00 -05:00  2         weather-team
            weather/report/publish  open   shell  after 1 job                           2         weather-team

            [
            {"id":5,"job":"weather/report/publish","state":"open","reason":null,"owner":"weather-team","revision":2,"type":"shell","schedule":"30 7 * * *","zone":"America/New_York","description":"Puts the page together.","upstream":["weather/report/table"],"downstream":["weather/ready"],"next_slots":["2026-11-30T08:00:00Z","2026-12-01T08:00:00Z"],"warnings":[]},
            {"id":5,"job":"weather/report/publish","state":"open","reason":null,"owner":"weather-team","revision":2,"type":"shell","schedule":null,"zone":"America/New_York","description":"Puts the page together.","upstream":["weather/report/table"],"downstream":["weather/ready"],"next_slots":[],"warnings":[]}
            ]

            - id: 5
              job: weather/report/publish
              state: open
              reason: null
              owner: weather-team
              revision: 2
              type: shell
              schedule: 30 7 * * *
              zone: America/New_York
              description: Puts the page together.
              upstream:
              - weather/report/table
              downstream:
              - weather/ready
              next_slots:
              - "2026-11-30T08:00:00Z"
              - "2026-12-01T08:00:00Z"
              warnings: []
            - id: 5
              job: weather/report/publish
              state: open
              reason: null
              owner: weather-team
              revision: 2
              type: shell
              schedule: null
              zone: America/New_York
              description: Puts the page together.
              upstream:
              - weather/report/table
              downstream:
              - weather/ready
              next_slots: []
              warnings: []

            weather/report/publish
            weather/report/publish
        "#]],
    );
}

#[test]
fn one_job() {
    let whole = whole_job(wire_job()).unwrap();
    check_one(
        &whole,
        &[Format::Table, Format::Json],
        &expect![[r#"
        job:          weather/report/publish
        description:  Puts the page together.
        owner:        weather-team
        state:        open
        revision:     2
        type:         shell
        schedule:     30 7 * * *
        zone:         America/New_York
        next:         2026-11-30 03:00 -05:00
                      2026-12-01 03:00 -05:00
        upstream:     weather/report/table
        downstream:   weather/ready

        script
          bash publish.sh
          echo

        {
          "id": 5,
          "job": "weather/report/publish",
          "state": "open",
          "reason": null,
          "owner": "weather-team",
          "revision": 2,
          "type": "shell",
          "schedule": "30 7 * * *",
          "zone": "America/New_York",
          "description": "Puts the page together.",
          "upstream": [
            "weather/report/table"
          ],
          "downstream": [
            "weather/ready"
          ],
          "next_slots": [
            "2026-11-30T08:00:00Z",
            "2026-12-01T08:00:00Z"
          ],
          "warnings": [],
          "spec": {
            "script": "bash publish.sh\necho"
          }
        }
    "#]],
    );
    let broken = v1::Job { spec_json: "{".to_owned(), ..wire_job() };
    assert!(whole_job(broken).is_err(), "a definition that is no JSON");
}

#[test]
fn slots_and_rendered_text() {
    let at = |note: &str| v1::Slot {
        utc_ms: 1_774_746_000_000,
        local: "2026-03-29T03:00:00+02:00".to_owned(),
        note: note.to_owned(),
    };
    check_list(
        || vec![slot(at("moved out of the gap")), slot(at(""))],
        &expect![[r#"
        LOCAL                    UTC                   NOTE
        2026-03-29 03:00 +02:00  2026-03-29T01:00:00Z  moved out of the gap
        2026-03-29 03:00 +02:00  2026-03-29T01:00:00Z

        [
        {"utc":"2026-03-29T01:00:00Z","local":"2026-03-29T03:00:00+02:00","note":"moved out of the gap"},
        {"utc":"2026-03-29T01:00:00Z","local":"2026-03-29T03:00:00+02:00","note":null}
        ]

        - utc: "2026-03-29T01:00:00Z"
          local: "2026-03-29T03:00:00+02:00"
          note: moved out of the gap
        - utc: "2026-03-29T01:00:00Z"
          local: "2026-03-29T03:00:00+02:00"
          note: null

        2026-03-29T01:00:00Z
        2026-03-29T01:00:00Z
    "#]],
    );
    let rendered = Rendered { text: "echo ${x}".to_owned() };
    check_one(
        &rendered,
        &[Format::Table, Format::Json],
        &expect![[r#"
        echo ${x}

        {
          "text": "echo ${x}"
        }
    "#]],
    );
}

#[test]
fn what_an_apply_changes() {
    let wire = |kind: v1::ChangeKind| v1::Change {
        kind: kind.into(),
        job: "a/b".to_owned(),
        was: if kind == v1::ChangeKind::Renamed { "a/c".to_owned() } else { String::new() },
        revision: 2,
        details: vec!["schedule".to_owned()],
    };
    check_list(
        || {
            let group = v1::GroupChange {
                group: "a".to_owned(),
                created: false,
                details: vec!["config: 1 -> 2".to_owned()],
            };
            let jobs = [v1::ChangeKind::Created, v1::ChangeKind::Renamed];
            let jobs = jobs.map(|kind| change(wire(kind)).unwrap());
            std::iter::once(group_change(group)).chain(jobs).collect()
        },
        &expect![[r#"
            CHANGE   JOB      REVISION  WHAT
            revised  group a            config: 1 -> 2
            created  a/b      2         schedule
            renamed  a/b      2         was a/c; schedule

            [
            {"kind":"revised","job":null,"group":"a","calendar":null,"was":null,"revision":null,"details":["config: 1 -> 2"]},
            {"kind":"created","job":"a/b","group":null,"calendar":null,"was":null,"revision":2,"details":["schedule"]},
            {"kind":"renamed","job":"a/b","group":null,"calendar":null,"was":"a/c","revision":2,"details":["schedule"]}
            ]

            - kind: revised
              job: null
              group: a
              calendar: null
              was: null
              revision: null
              details:
              - "config: 1 -> 2"
            - kind: created
              job: a/b
              group: null
              calendar: null
              was: null
              revision: 2
              details:
              - schedule
            - kind: renamed
              job: a/b
              group: null
              calendar: null
              was: a/c
              revision: 2
              details:
              - schedule

            a
            a/b
            a/b
        "#]],
    );
    assert!(change(wire(v1::ChangeKind::Unspecified)).is_err(), "a kind that is not known");
}

#[test]
fn the_history_of_a_job() {
    let made = |number: i64, details: &[&str]| v1::Revision {
        number,
        since_ms: THREE_IN_NEW_YORK,
        created_at_ms: THREE_IN_NEW_YORK,
        actor: "ann@host".to_owned(),
        why: if number == 1 { String::new() } else { "it was late".to_owned() },
        details: details.iter().map(|text| (*text).to_owned()).collect(),
    };
    check_list(
        || {
            let both = [made(2, &["script changed", "zone: UTC -> Asia/Tokyo"]), made(1, &[])];
            both.into_iter().map(|one| revision(one, "weather/day")).collect()
        },
        &expect![[r#"
            REVISION  MADE                  ACTOR     WHAT                                     REASON
            2         2026-11-30T08:00:00Z  ann@host  script changed; zone: UTC -> Asia/Tokyo  it was late
            1         2026-11-30T08:00:00Z  ann@host

            [
            {"job":"weather/day","revision":2,"created_at":"2026-11-30T08:00:00Z","since":"2026-11-30T08:00:00Z","actor":"ann@host","why":"it was late","details":["script changed","zone: UTC -> Asia/Tokyo"]},
            {"job":"weather/day","revision":1,"created_at":"2026-11-30T08:00:00Z","since":"2026-11-30T08:00:00Z","actor":"ann@host","why":null,"details":[]}
            ]

            - job: weather/day
              revision: 2
              created_at: "2026-11-30T08:00:00Z"
              since: "2026-11-30T08:00:00Z"
              actor: ann@host
              why: it was late
              details:
              - script changed
              - "zone: UTC -> Asia/Tokyo"
            - job: weather/day
              revision: 1
              created_at: "2026-11-30T08:00:00Z"
              since: "2026-11-30T08:00:00Z"
              actor: ann@host
              why: null
              details: []

            2
            1
        "#]],
    );
}
