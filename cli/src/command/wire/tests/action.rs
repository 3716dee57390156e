//! Actions, and why they wait.

use expect_test::expect;
use hera_proto::v1;

use super::super::{action, binding, run, why};
use super::{FORMATS, NOW, check_list, check_one, state, wire_action, wire_binding, wire_run};
use crate::output::WholeAction;

#[test]
fn actions() {
    let waiting = || v1::Action {
        id: 8,
        job: "weather/ready".to_owned(),
        state: state("skipped", "upstream"),
        held_by: "hold of ann@host".to_owned(),
        live_run: None,
        bindings: Vec::new(),
        ..wire_action()
    };
    check_list(
        || vec![action(wire_action()), action(waiting())],
        &expect![[r#"
            ID  JOB                   VERSION                  DATA        STATE                RUNS  REVISION  HELD BY
            7   weather/ingest/check  2026-11-30 03:00 -05:00  2026-11-30  active(running 11m)  1     3
            8   weather/ready         2026-11-30 03:00 -05:00  2026-11-30  skipped(upstream)    1     3         hold of ann@host

            [
            {"id":7,"job":"weather/ingest/check","version":"2026-11-30T08:00:00Z","local":"2026-11-30T03:00:00-05:00","data_date":"2026-11-30","state":"active","reason":"running","held_by":null,"revision":3,"runs":1,"bindings":[{"job":"weather/ingest/read","version":"2026-11-30T08:00:00Z","state":"succeeded"}]},
            {"id":8,"job":"weather/ready","version":"2026-11-30T08:00:00Z","local":"2026-11-30T03:00:00-05:00","data_date":"2026-11-30","state":"skipped","reason":"upstream","held_by":"hold of ann@host","revision":3,"runs":1,"bindings":[]}
            ]

            - id: 7
              job: weather/ingest/check
              version: "2026-11-30T08:00:00Z"
              local: "2026-11-30T03:00:00-05:00"
              data_date: "2026-11-30"
              state: active
              reason: running
              held_by: null
              revision: 3
              runs: 1
              bindings:
              - job: weather/ingest/read
                version: "2026-11-30T08:00:00Z"
                state: succeeded
            - id: 8
              job: weather/ready
              version: "2026-11-30T08:00:00Z"
              local: "2026-11-30T03:00:00-05:00"
              data_date: "2026-11-30"
              state: skipped
              reason: upstream
              held_by: hold of ann@host
              revision: 3
              runs: 1
              bindings: []

            weather/ingest/check@2026-11-30T08:00:00Z
            weather/ready@2026-11-30T08:00:00Z
        "#]],
    );
}

#[test]
fn one_action() {
    let whole = WholeAction {
        action: action(wire_action()),
        runs: vec![run(wire_run())],
        downstream: vec![binding(wire_binding("weather/clean", "none", ""))],
        more_downstream: true,
    };
    check_one(
        &whole,
        &FORMATS,
        &expect![[r#"
        action:    7
        job:       weather/ingest/check
        version:   2026-11-30 03:00 -05:00 (2026-11-30T08:00:00Z, America/New_York)
        data:      2026-11-30 (2026-11-30 00:00 -05:00 to 2026-12-01 00:00 -05:00)
        state:     active(running 11m)
        worker:    w1
        revision:  3

        waits for
        JOB                  VERSION                  STATE
        weather/ingest/read  2026-11-30 03:00 -05:00  succeeded

        is waited for by
        JOB            VERSION                  STATE
        weather/clean  2026-11-30 03:00 -05:00  none
        and more

        runs
        RUN  JOB                   VERSION                  TRIGGER   STATE    ATTEMPTS  ACTOR   STARTED                  TOOK
        r42  weather/ingest/check  2026-11-30 03:00 -05:00  schedule  running  1         system  2026-11-30 03:00 -05:00  11m

        {
          "id": 7,
          "job": "weather/ingest/check",
          "version": "2026-11-30T08:00:00Z",
          "local": "2026-11-30T03:00:00-05:00",
          "data_date": "2026-11-30",
          "state": "active",
          "reason": "running",
          "held_by": null,
          "revision": 3,
          "runs": 1,
          "bindings": [
            {
              "job": "weather/ingest/read",
              "version": "2026-11-30T08:00:00Z",
              "state": "succeeded"
            }
          ]
        }

        id: 7
        job: weather/ingest/check
        version: "2026-11-30T08:00:00Z"
        local: "2026-11-30T03:00:00-05:00"
        data_date: "2026-11-30"
        state: active
        reason: running
        held_by: null
        revision: 3
        runs: 1
        bindings:
        - job: weather/ingest/read
          version: "2026-11-30T08:00:00Z"
          state: succeeded

        weather/ingest/check@2026-11-30T08:00:00Z
    "#]],
    );
}

#[test]
fn why_it_waits() {
    let answer = v1::WhyActionResponse {
        action: Some(v1::Action { state: state("waiting", ""), ..wire_action() }),
        code: "upstream_failed".to_owned(),
        text: "waits for weather/ingest/read, which failed".to_owned(),
        root: "weather/ingest/read@2026-11-30T08:00:00Z".to_owned(),
        path: vec![
            "weather/ingest/check@2026-11-30T08:00:00Z".to_owned(),
            "weather/ingest/read@2026-11-30T08:00:00Z".to_owned(),
        ],
        expected_start_ms: Some(NOW + 60_000),
    };
    check_one(
        &why(answer.clone()).unwrap(),
        &FORMATS,
        &expect![[r#"
        action:    weather/ingest/check@2026-11-30T08:00:00Z
        state:     waiting
        code:      upstream_failed
        why:       waits for weather/ingest/read, which failed
        root:      weather/ingest/read@2026-11-30T08:00:00Z
        expected:  2026-11-30 03:13 -05:00 (in 1m)

        path to the root
          weather/ingest/check@2026-11-30T08:00:00Z
          weather/ingest/read@2026-11-30T08:00:00Z

        {
          "action": "weather/ingest/check@2026-11-30T08:00:00Z",
          "code": "upstream_failed",
          "text": "waits for weather/ingest/read, which failed",
          "root": "weather/ingest/read@2026-11-30T08:00:00Z",
          "path": [
            "weather/ingest/check@2026-11-30T08:00:00Z",
            "weather/ingest/read@2026-11-30T08:00:00Z"
          ],
          "expected_start": "2026-11-30T08:13:00Z"
        }

        action: weather/ingest/check@2026-11-30T08:00:00Z
        code: upstream_failed
        text: waits for weather/ingest/read, which failed
        root: weather/ingest/read@2026-11-30T08:00:00Z
        path:
        - weather/ingest/check@2026-11-30T08:00:00Z
        - weather/ingest/read@2026-11-30T08:00:00Z
        expected_start: "2026-11-30T08:13:00Z"

        weather/ingest/check@2026-11-30T08:00:00Z
    "#]],
    );
    let itself = why(v1::WhyActionResponse { root: String::new(), ..answer }).unwrap();
    assert_eq!(itself.root, itself.action);
}
