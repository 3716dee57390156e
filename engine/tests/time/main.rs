//! The time rooms from outside: values of other programs, refusals, behaviours, properties.

mod calendars;
mod cases;
mod docs;
mod dst;
mod oracle;
mod properties;
mod refusals;
mod revisions;
mod rules;
mod zones;

use hera_common::time::Version;
use hera_engine::time::{DstGap, DstOverlap, DstPolicy, Schedule, slots};

/// An RFC 3339 instant.
fn version(text: &str) -> Version {
    Version::from_timestamp(text.parse().expect("an instant of a test"))
}

fn schedule(cron: &str, zone: &str) -> Schedule {
    Schedule::new(&[cron], zone, DstPolicy::default()).expect("a schedule of a test")
}

fn with_policy(cron: &str, zone: &str, gap: DstGap, overlap: DstOverlap) -> Schedule {
    Schedule::new(&[cron], zone, DstPolicy { gap, overlap }).expect("a schedule of a test")
}

/// All slots in `[from, to)` as `MM-DD HH:MM` in UTC.
fn shown(schedule: &Schedule, from: &str, to: &str) -> Vec<String> {
    let show = |slot: Version| slot.timestamp().strftime("%m-%d %H:%M").to_string();
    slots(schedule, version(from), version(to)).map(show).collect()
}
