//! Runs, attempts and the queue.

use expect_test::expect;
use hera_proto::v1;

use super::super::{attempt, queued, run};
use super::{FORMATS, NOW, THREE_IN_NEW_YORK, check_list, check_one, state, wire_run};
use crate::output::WholeRun;

#[test]
fn runs_and_the_queue() {
    check_list(
        || vec![run(wire_run())],
        &expect![[r#"
        RUN  JOB                   VERSION                  TRIGGER   STATE    ATTEMPTS  ACTOR   STARTED                  TOOK
        r42  weather/ingest/check  2026-11-30 03:00 -05:00  schedule  running  1         system  2026-11-30 03:00 -05:00  11m

        [
        {"id":"r42","job":"weather/ingest/check","version":"2026-11-30T08:00:00Z","trigger":"schedule","state":"running","reason":null,"revision":3,"attempts":1,"actor":"system","started_at":"2026-11-30T08:00:00.250Z","ended_at":null}
        ]

        - id: r42
          job: weather/ingest/check
          version: "2026-11-30T08:00:00Z"
          trigger: schedule
          state: running
          reason: null
          revision: 3
          attempts: 1
          actor: system
          started_at: "2026-11-30T08:00:00.250Z"
          ended_at: null

        r42
    "#]],
    );
    let in_queue = || v1::Queued {
        run: Some(v1::Run {
            state: state("queued", "retry"),
            not_before_ms: Some(NOW + 240_000),
            started_at_ms: None,
            local: String::new(),
            ..wire_run()
        }),
        code: "retry_wait".to_owned(),
    };
    check_list(
        || vec![queued(in_queue()).unwrap()],
        &expect![[r#"
        RUN  JOB                   VERSION                  TRIGGER   STATE                WHY NOT NOW  ACTOR
        r42  weather/ingest/check  2026-11-30 03:00 -05:00  schedule  queued(retry in 4m)  retry_wait   system

        [
        {"id":"r42","job":"weather/ingest/check","version":"2026-11-30T08:00:00Z","trigger":"schedule","state":"queued","reason":"retry","revision":3,"attempts":1,"actor":"system","started_at":null,"ended_at":null,"code":"retry_wait"}
        ]

        - id: r42
          job: weather/ingest/check
          version: "2026-11-30T08:00:00Z"
          trigger: schedule
          state: queued
          reason: retry
          revision: 3
          attempts: 1
          actor: system
          started_at: null
          ended_at: null
          code: retry_wait

        r42
    "#]],
    );
    assert!(queued(v1::Queued::default()).is_err(), "a queued run without a run");
}

#[test]
fn attempts() {
    let of = failed_run();
    check_list(
        || vec![attempt(wire_attempt(), &of)],
        &expect![[r#"
        RUN  JOB                   VERSION                  ATTEMPT  WORKER  STATE         EXIT  STARTED                  TOOK  LOG      DETAIL
        r42  weather/ingest/check  2026-11-30 03:00 -05:00  1        w1      failed(exit)  3     2026-11-30 03:00 -05:00  1.2s  1.4 KiB

        [
        {"run":"r42","job":"weather/ingest/check","version":"2026-11-30T08:00:00Z","number":1,"worker":"w1","state":"failed","reason":"exit","exit_code":3,"signal":null,"detail":null,"fence":99,"leased_at":"2026-11-30T08:00:00Z","started_at":"2026-11-30T08:00:00.250Z","ended_at":"2026-11-30T08:00:01.500Z","log_bytes":1500,"late_report":null}
        ]

        - run: r42
          job: weather/ingest/check
          version: "2026-11-30T08:00:00Z"
          number: 1
          worker: w1
          state: failed
          reason: exit
          exit_code: 3
          signal: null
          detail: null
          fence: 99
          leased_at: "2026-11-30T08:00:00Z"
          started_at: "2026-11-30T08:00:00.250Z"
          ended_at: "2026-11-30T08:00:01.500Z"
          log_bytes: 1500
          late_report: null

        r42
    "#]],
    );
}

#[test]
fn one_run() {
    let of = failed_run();
    let attempts = vec![attempt(wire_attempt(), &of)];
    let whole = WholeRun::new(of, attempts);
    check_one(
        &whole,
        &FORMATS,
        &expect![[r#"
            run:       r42
            job:       weather/ingest/check
            version:   2026-11-30 03:00 -05:00 (2026-11-30T08:00:00Z)
            trigger:   schedule (does not count)
            state:     failed(exit)
            worker:    w1
            revision:  3
            actor:     system
            reason:    the data is repaired
            queued:    2026-11-30 03:00 -05:00
            started:   2026-11-30 03:00 -05:00
            ended:     2026-11-30 03:00:01 -05:00

            attempts
            ATTEMPT  WORKER  STATE         EXIT  STARTED                  TOOK  LOG      DETAIL
            1        w1      failed(exit)  3     2026-11-30 03:00 -05:00  1.2s  1.4 KiB

            output of attempt 1
              rows=7

            {
              "id": "r42",
              "job": "weather/ingest/check",
              "version": "2026-11-30T08:00:00Z",
              "trigger": "schedule",
              "state": "failed",
              "reason": "exit",
              "revision": 3,
              "attempts": 1,
              "actor": "system",
              "started_at": "2026-11-30T08:00:00.250Z",
              "ended_at": "2026-11-30T08:00:01.500Z",
              "output": "rows=7\n"
            }

            id: r42
            job: weather/ingest/check
            version: "2026-11-30T08:00:00Z"
            trigger: schedule
            state: failed
            reason: exit
            revision: 3
            attempts: 1
            actor: system
            started_at: "2026-11-30T08:00:00.250Z"
            ended_at: "2026-11-30T08:00:01.500Z"
            output: |
              rows=7

            r42
        "#]],
    );
}

fn failed_run() -> crate::output::keys::Run {
    run(v1::Run {
        state: state("failed", "exit"),
        ended_at_ms: Some(THREE_IN_NEW_YORK + 1_500),
        why: "the data is repaired".to_owned(),
        counts: false,
        ..wire_run()
    })
}

fn wire_attempt() -> v1::Attempt {
    v1::Attempt {
        fence: 99,
        number: 1,
        worker: "w1".to_owned(),
        state: "ended".to_owned(),
        outcome: state("failed", "exit"),
        exit_code: Some(3),
        signal: None,
        detail: String::new(),
        leased_at_ms: THREE_IN_NEW_YORK,
        started_at_ms: Some(THREE_IN_NEW_YORK + 250),
        ended_at_ms: Some(THREE_IN_NEW_YORK + 1_500),
        log_bytes: 1_500,
        late_report: String::new(),
        output: Some(b"rows=7\n".to_vec()),
    }
}
