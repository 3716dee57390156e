//! Workers, groups, the cluster, and empty lists.

use expect_test::expect;
use hera_proto::v1;

use super::super::{audit_entry, group, whole_cluster, whole_group, worker};
use super::{FORMATS, NOW, THREE_IN_NEW_YORK, check_list, check_one};
use crate::output::keys::Worker;

#[test]
fn no_rows() {
    check_list(
        Vec::<Worker>::new,
        &expect![[r#"

        []

        []

    "#]],
    );
}

#[test]
fn workers_and_groups() {
    check_list(
        || vec![worker(wire_worker())],
        &expect![[r#"
        WORKER  STATE   HELD  CAPACITY  HOST GROUPS  LABELS  PROGRAM  HEARD
        w1      online  1     4         etl                  0.1.0    1.2s ago

        [
        {"id":1,"name":"w1","state":"online","host_groups":["etl"],"labels":[],"capacity":4,"held":1,"program":"0.1.0","heard_ms_ago":1200,"takes_nothing":null}
        ]

        - id: 1
          name: w1
          state: online
          host_groups:
          - etl
          labels: []
          capacity: 4
          held: 1
          program: "0.1.0"
          heard_ms_ago: 1200
          takes_nothing: null

        w1
    "#]],
    );
    check_list(
        || vec![group(wire_group())],
        &expect![[r#"
        GROUP    JOBS  OWNER  CONFIG
        weather  5            wet_day_mm=1.0

        [
        {"id":1,"group":"weather","owner":null,"config":{"wet_day_mm":"1.0"},"jobs":5}
        ]

        - id: 1
          group: weather
          owner: null
          config:
            wet_day_mm: "1.0"
          jobs: 5

        weather
    "#]],
    );
}

#[test]
fn the_cluster() {
    let cluster = whole_cluster(v1::GetClusterResponse {
        leader_address: "http://127.0.0.1:9887".to_owned(),
        epoch: 1,
        store_id: "abc".to_owned(),
        store: "sqlite".to_owned(),
        program: "0.1.0".to_owned(),
        store_now_ms: NOW,
        jobs: 14,
        workers: 1,
        queued: 0,
        held: 1,
        planned: 30,
        waiting: 2,
        warnings: vec!["job a is parked".to_owned()],
        idle: false,
    });
    check_one(
        &cluster,
        &FORMATS,
        &expect![[r#"
        leader:   127.0.0.1:9887 (epoch 1, 0.1.0)
        store:    sqlite (abc)
        time:     2026-11-30T08:12:00Z
        workers:  1
        jobs:     14
        held:     1
        queued:   0
        waiting:  2
        planned:  30
        warning:  job a is parked

        {
          "leader": "127.0.0.1:9887",
          "epoch": 1,
          "store": "sqlite",
          "store_id": "abc",
          "program": "0.1.0",
          "now": "2026-11-30T08:12:00Z",
          "jobs": 14,
          "workers": 1,
          "queued": 0,
          "held": 1,
          "planned": 30,
          "waiting": 2,
          "idle": false,
          "warnings": [
            "job a is parked"
          ]
        }

        leader: 127.0.0.1:9887
        epoch: 1
        store: sqlite
        store_id: abc
        program: "0.1.0"
        now: "2026-11-30T08:12:00Z"
        jobs: 14
        workers: 1
        queued: 0
        held: 1
        planned: 30
        waiting: 2
        idle: false
        warnings:
        - job a is parked

        127.0.0.1:9887
    "#]],
    );
}

fn wire_worker() -> v1::Worker {
    v1::Worker {
        id: 1,
        name: "w1".to_owned(),
        incarnation: 2,
        host_groups: vec!["etl".to_owned()],
        labels: Vec::new(),
        capacity: 4,
        held: 1,
        state: "online".to_owned(),
        program: "0.1.0".to_owned(),
        heard_ms_ago: Some(1_200),
        takes_nothing: String::new(),
    }
}

fn wire_group() -> v1::Group {
    v1::Group {
        id: 1,
        path: "weather".to_owned(),
        owner: String::new(),
        config: [("wet_day_mm".to_owned(), "1.0".to_owned())].into(),
        spec_json: String::new(),
        jobs: 5,
    }
}

#[test]
fn one_group() {
    let spec_json = r#"{"owner":null,"config":{"wet_day_mm":"1.0"},"defaults":{"zone":"UTC"}}"#;
    let whole = whole_group(v1::Group { spec_json: spec_json.to_owned(), ..wire_group() }).unwrap();
    check_one(
        &whole,
        &FORMATS,
        &expect![[r#"
        group:     weather
        jobs:      5
        config:    wet_day_mm=1.0
        defaults:  zone: UTC

        {
          "id": 1,
          "group": "weather",
          "owner": null,
          "config": {
            "wet_day_mm": "1.0"
          },
          "jobs": 5,
          "spec": {
            "config": {
              "wet_day_mm": "1.0"
            },
            "defaults": {
              "zone": "UTC"
            },
            "owner": null
          }
        }

        id: 1
        group: weather
        owner: null
        config:
          wet_day_mm: "1.0"
        jobs: 5
        spec:
          config:
            wet_day_mm: "1.0"
          defaults:
            zone: UTC
          owner: null

        weather
    "#]],
    );
    let broken = v1::Group { spec_json: "{".to_owned(), ..wire_group() };
    assert!(whole_group(broken).is_err(), "a document that is none");
}

#[test]
fn the_audit() {
    let entry = || v1::AuditEntry {
        at_ms: THREE_IN_NEW_YORK,
        actor: "ann@host".to_owned(),
        why: "the data is repaired".to_owned(),
        verb: "recover".to_owned(),
        subject: "weather/ingest/check@2026-11-30T08:00:00Z".to_owned(),
        old_json: Some(r#"{"state":"failed"}"#.to_owned()),
        new_json: None,
    };
    check_list(
        || vec![audit_entry(entry()).unwrap()],
        &expect![[r#"
        AT                    ACTOR     VERB     SUBJECT                                    REASON
        2026-11-30T08:00:00Z  ann@host  recover  weather/ingest/check@2026-11-30T08:00:00Z  the data is repaired

        [
        {"at":"2026-11-30T08:00:00Z","actor":"ann@host","verb":"recover","subject":"weather/ingest/check@2026-11-30T08:00:00Z","why":"the data is repaired","old":{"state":"failed"},"new":null}
        ]

        - at: "2026-11-30T08:00:00Z"
          actor: ann@host
          verb: recover
          subject: weather/ingest/check@2026-11-30T08:00:00Z
          why: the data is repaired
          old:
            state: failed
          new: null

        weather/ingest/check@2026-11-30T08:00:00Z
    "#]],
    );
    let broken = v1::AuditEntry { old_json: Some("{".to_owned()), ..entry() };
    assert!(audit_entry(broken).is_err());
}
