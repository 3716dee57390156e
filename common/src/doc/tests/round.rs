//! Any good file: its documents are read back as they were written, and say the same again.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::Stored;
use crate::doc::{
    Applied, Around, CalendarThere, Contents, GroupDoc, JobDoc, Upstream, apply_set, read_file,
};
use crate::doc::{resolve_again, spec_from_json};
use crate::path::Path;

/// Settings for a job or for `defaults`; each line is good by itself and with all others.
const SETTINGS: [&str; 15] = [
    "at_most_once: true",
    "catch_up: last",
    "data: { period: week, offset: -1 }",
    "host_group: big-1",
    "lease: 90s",
    "max_lateness: 2d",
    "overlap: allow",
    "restarts: 0",
    "retries: { times: 3, backoff: exponential, max_delay: 60min, not_on: [1, 2] }",
    "start_within: none",
    "takeover: always",
    "timeout: 120min",
    "urgency: 5",
    "zone: asia/tokyo",
    "calendar: none",
];
/// Fields of a job only.
const OWN: [&str; 7] = [
    "owner: \"it's \\\"us\\\"\"",
    "description: \"a\\nb\\u00e9\\t\"",
    "config: { a.b: 010, c: \"${d}\", d: 1e3 }",
    "schedule: { cron: [0 2 * * *, 0 3 * * *], zone: Europe/Berlin }",
    "schedule: { cron: 0 2 * * * }",
    "schedule: { every: 90min, anchor: 2026-01-01, at: [2026-01-01T00:00Z, 2026-01-01 03:00], dst: { gap: skip, overlap: first }, start: 2025-12-31, end: 2027-01-01T00:00, jitter: 300s }",
    "script: \"x\\r\\ny\"",
];
const EDGES: [&str; 9] = [
    "u",
    "{ job: u, on: failed }",
    "{ job: /g/u, bind: same }",
    "{ job: u, bind: at_or_before, offset: -1d }",
    "{ job: u, bind: last, of: week, empty: ignore }",
    "{ job: u, bind: window, from: -1mo, to: 0d, on: finished }",
    "{ job: u, bind: previous, empty: skip }",
    "{ job: j, bind: previous, n: 7 }",
    "{ job: u, bind: data, offset: -120min }",
];

fn file(defaults: &[&str], own: &[&str], settings: &[&str], edges: &[&str]) -> String {
    let lines = |lines: &[&str], before: &str| -> String {
        lines.iter().map(|line| format!("{before}{line}\n")).collect()
    };
    let mut own = own.to_vec();
    if !own.iter().any(|line| line.starts_with("script")) {
        own.push("script: x");
    }
    // One schedule is enough.
    let mut schedules = 0;
    own.retain(|line| {
        schedules += usize::from(line.starts_with("schedule"));
        !line.starts_with("schedule") || schedules == 1
    });
    format!(
        "group: g\ndefaults:\n{}jobs:\n  - {{ name: u, type: noop }}\n  - name: j\n{}{}    depends_on:\n{}",
        lines(defaults, "  "),
        lines(&own, "    "),
        lines(settings, "    "),
        lines(edges, "      - "),
    )
}

fn applied(text: &str) -> Result<Applied, String> {
    let read = read_file("f.yaml", text);
    let set =
        read.and_then(|file| apply_set(&[file], &Contents::default(), &Stored::default(), false));
    set.map_err(|errors| super::lines(&errors))
}

proptest! {
    #[test]
    fn documents_are_read_back_and_filled_in_again(
        defaults in subsequence(SETTINGS.to_vec(), 0..=14),
        own in subsequence(OWN.to_vec(), 0..=6),
        settings in subsequence(SETTINGS.to_vec(), 0..=14),
        edges in prop::collection::vec(select(EDGES.to_vec()), 0..5),
    ) {
        let text = file(&defaults, &own, &settings, &edges);
        let applied = match applied(&text) {
            Ok(applied) => applied,
            // The only rule that these lines can break together.
            Err(errors) => {
                prop_assert!(errors.contains("nothing gives the job its versions"), "{text}{errors}");
                return Ok(());
            }
        };
        let group = applied.groups.values().next().map(|group| group.doc.clone());
        let group = group.unwrap_or_default();
        prop_assert_eq!(&GroupDoc::from_json(&group.to_json()).unwrap(), &group);
        let data = |path: &Path| {
            let job = applied.jobs.iter().find(|job| job.doc.path == *path);
            Upstream::There { data: job.and_then(|job| job.doc.data) }
        };
        let calendar = |_name: &str| CalendarThere::Missing;
        let around = Around { chain: &[group], upstream: &data, calendar: &calendar };
        for job in &applied.jobs {
            let json = job.doc.to_json();
            let sorted: serde_json::Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(sorted.to_string(), json.as_str());
            prop_assert_eq!(&JobDoc::from_json(&json).unwrap(), &job.doc);
            prop_assert_eq!(&spec_from_json(&json).unwrap(), &job.spec);
            prop_assert_eq!(resolve_again(&job.doc, &around).unwrap().to_json(), json);
        }
    }
}
