//! Workers, groups, the cluster, and empty lists.

use expect_test::expect;
use hera_proto::v1;

use super::super::{group, whole_cluster, worker};
use super::{FORMATS, NOW, check_list, check_one};
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
        {"id":1,"name":"w1","state":"online","host_groups":["etl"],"labels":[],"capacity":4,"held":1,"program":"0.1.0","heard_ms_ago":1200}
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
