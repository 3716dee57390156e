//! Fixed messages in every format: what scripts and people get.

mod action;
mod cluster;
mod job;
mod run;

use expect_test::Expect;
use hera_common::time::Wall;
use hera_proto::v1;

use crate::exit::Failure;
use crate::output::{Described, Format, Listed, Out, Sink};

/// 2026-11-30T08:00:00Z.
const THREE_IN_NEW_YORK: i64 = 1_796_025_600_000;
const NOW: i64 = THREE_IN_NEW_YORK + 720_000;

fn printed(format: Format, print: impl FnOnce(&mut Out) -> Result<(), Failure>) -> String {
    let sink = Sink::default();
    let mut out = Out::captured(format, Wall::from_ms(NOW), Box::new(sink.clone()));
    print(&mut out).unwrap();
    String::from_utf8(sink.bytes()).unwrap()
}

const FORMATS: [Format; 4] = [Format::Table, Format::Json, Format::Yaml, Format::Name];

#[track_caller]
fn check_list<T: Listed>(rows: impl Fn() -> Vec<T>, expected: &Expect) {
    let all = FORMATS.map(|format| printed(format, |out| out.all(&rows())));
    expected.assert_eq(&all.join("\n"));
}

#[track_caller]
fn check_one<T: Described>(thing: &T, formats: &[Format], expected: &Expect) {
    let all: Vec<_> = formats.iter().map(|format| printed(*format, |out| out.one(thing))).collect();
    expected.assert_eq(&all.join("\n"));
}

fn state(word: &str, reason: &str) -> Option<v1::State> {
    Some(v1::State { word: word.to_owned(), reason: reason.to_owned() })
}

fn wire_run() -> v1::Run {
    v1::Run {
        id: 42,
        action_id: 7,
        job: "weather/ingest/check".to_owned(),
        version_ms: THREE_IN_NEW_YORK,
        number: 1,
        trigger: "schedule".to_owned(),
        state: state("running", ""),
        revision: 3,
        attempts: 1,
        actor: "system".to_owned(),
        why: String::new(),
        queued_at_ms: Some(THREE_IN_NEW_YORK),
        started_at_ms: Some(THREE_IN_NEW_YORK + 250),
        ended_at_ms: None,
        not_before_ms: None,
        worker: "w1".to_owned(),
        counts: true,
        cancel_asked: false,
        local: "2026-11-30T03:00:00-05:00".to_owned(),
        zone: "America/New_York".to_owned(),
    }
}

fn wire_binding(job: &str, word: &str, reason: &str) -> v1::Binding {
    v1::Binding {
        job: job.to_owned(),
        version_ms: THREE_IN_NEW_YORK,
        state: state(word, reason),
        on: "success".to_owned(),
    }
}

fn wire_action() -> v1::Action {
    v1::Action {
        id: 7,
        job: "weather/ingest/check".to_owned(),
        version_ms: THREE_IN_NEW_YORK,
        local: "2026-11-30T03:00:00-05:00".to_owned(),
        zone: "America/New_York".to_owned(),
        data_date: "2026-11-30".to_owned(),
        state: state("active", "running"),
        held_by: String::new(),
        revision: 3,
        runs: 1,
        outcome: None,
        data_from_ms: 1_796_014_800_000,
        data_to_ms: 1_796_101_200_000,
        live_run: Some(wire_run()),
        ended_at_ms: None,
        bindings: vec![wire_binding("weather/ingest/read", "succeeded", "")],
    }
}
