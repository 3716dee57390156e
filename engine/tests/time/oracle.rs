//! Slots against values from outside: the real Quartz, and the Vixie rule round changes of the
//! clocks. Knows only the public face of the time rooms.

use hera_common::time::Version;
use hera_engine::time::{DstPolicy, Schedule, next_after, prev_before, slots};

use super::version;

const QUARTZ: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracle/cron_quartz.tsv"));
const DST: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracle/cron_dst.tsv"));

struct Row {
    id: &'static str,
    cron: &'static str,
    zone: &'static str,
    after: Version,
    expected: &'static str,
}

impl Row {
    fn expected(&self) -> Vec<Version> {
        match self.expected {
            "NONE" => Vec::new(),
            times => times.split(',').map(version).collect(),
        }
    }
}

fn rows(file: &'static str) -> Vec<Row> {
    let row = |line: &'static str| {
        let columns: Vec<_> = line.split('\t').collect();
        let [id, cron, zone, after, expected] = columns.try_into().expect("five columns");
        Row { id, cron, zone, after: version(after), expected }
    };
    file.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// Six slots by the iterator, by repeated steps forward, and by repeated steps back.
fn check(row: &Row) -> Result<(), String> {
    let schedule = Schedule::new(&[row.cron], row.zone, DstPolicy::default())
        .map_err(|refused| refused.to_string())?;
    let expected = row.expected();
    let by = |way: &str, found: &[Version]| {
        (found == expected).then_some(()).ok_or(format!("{way}: {found:?}, not {expected:?}"))
    };

    let from = Version::from_ms(row.after.ms() + 1);
    let walked: Vec<_> =
        slots(&schedule, from, Version::from_ms(i64::MAX)).take(expected.len().max(1)).collect();
    by("iterator", &walked)?;

    let mut stepped = Vec::new();
    while stepped.len() < expected.len() {
        let last = stepped.last().copied().unwrap_or(row.after);
        stepped.push(next_after(&schedule, last).ok_or("came to its end")?);
    }
    by("forward", &stepped)?;

    let mut back: Vec<Version> = Vec::new();
    if let Some(last) = expected.last() {
        let mut edge = Version::from_ms(last.ms() + 1);
        while back.len() < expected.len() {
            edge = prev_before(&schedule, edge).ok_or("came to its start")?;
            back.push(edge);
        }
    }
    back.reverse();
    by("back", &back)
}

fn faults(rows: &[Row]) -> String {
    let fault = |row: &Row| {
        let Row { id, cron, zone, .. } = row;
        check(row).err().map(|fault| format!("{id} `{cron}` {zone} {fault}"))
    };
    rows.iter().filter_map(fault).collect::<Vec<_>>().join("\n")
}

#[test]
fn quartz_expressions_fire_when_quartz_fires() {
    let rows = rows(QUARTZ);
    assert_eq!(rows.len(), 600, "rows of the file");
    assert_eq!(faults(&rows), "");
}

#[test]
fn unix_expressions_keep_to_the_vixie_rule_round_changes_of_the_clocks() {
    let rows = rows(DST);
    assert_eq!(rows.len(), 300, "rows of the file");
    assert_eq!(faults(&rows), "");
}
