//! Every zone there is, round every change of its clocks from 1970 to 2100: order, both directions, and no day or
//! hour left out or taken twice. A part of the zones by default; all of them where `HERA_ZONES=all` is set.

use std::collections::BTreeSet;

use hera_common::schedule::{DstGap, DstPolicy};
use hera_common::time::Version;
use hera_engine::time::{Schedule, next_after, prev_before, slots};
use jiff::civil::Date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

use super::version;

/// To each side of a change.
const AROUND: SignedDuration = SignedDuration::from_hours(48);
/// Random instants a zone.
const RANDOM: u64 = 200;
/// Of every so many zones one is looked at where not all are.
const SAMPLE: usize = 40;

const HOUR_MS: i64 = 3_600_000;

/// What is asked of each zone: nightly times in and beside the usual gaps, an hourly and a daily job.
const NIGHTLY: [&str; 4] = ["30 2 * * *", "0 0 * * *", "59 23 * * *", "15,45 0-3 * * *"];

struct Asked {
    hourly: Schedule,
    daily: Schedule,
    nightly: Vec<Schedule>,
    zone: TimeZone,
}

fn made(cron: &str, zone: &str) -> Schedule {
    Schedule::new(&[cron], zone, DstPolicy::default()).expect("a zone of the database")
}

fn zones() -> Vec<String> {
    let mut names: Vec<String> =
        TimeZoneDatabase::bundled().available().map(|name| name.to_string()).collect();
    names.sort_unstable();
    names.retain(|name| hera_engine::time::zone::find(name).is_some());
    let all = std::env::var("HERA_ZONES").is_ok_and(|value| value == "all");
    // Those in which something is odd are always among them.
    let odd = ["Pacific/Apia", "Australia/Lord_Howe", "Africa/Casablanca", "America/St_Johns"];
    let numbered = names.into_iter().enumerate();
    let kept = numbered.filter(|(n, name)| all || n % SAMPLE == 0 || odd.contains(&name.as_str()));
    kept.map(|(_n, name)| name).collect()
}

/// Always the same numbers: a hash of a name and a count.
fn number(name: &str, n: u64) -> u64 {
    let mut mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in name.bytes() {
        mixed = (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    mixed ^ (mixed >> 29)
}

fn check_at(asked: &Asked, at: Timestamp) {
    let name = asked.zone.iana_name().unwrap_or_default();
    let at = Version::from_timestamp(at);
    for schedule in asked.nightly.iter().chain([&asked.hourly, &asked.daily]) {
        let next = next_after(schedule, at).expect("there is always a next one before 2199");
        assert!(next > at, "{name} {at}: next is {next}");
        let back = prev_before(schedule, next);
        assert!(back.is_none_or(|back| back <= at), "{name} {at}: {back:?} lies between");
        let before = prev_before(schedule, at);
        assert!(before.is_none_or(|before| before < at), "{name} {at}: previous is {before:?}");
        let again = before.and_then(|before| next_after(schedule, before));
        assert!(again.is_none_or(|again| again >= at), "{name} {at}: {again:?} was passed over");
    }
}

/// An hourly job has a version for each real hour that begins, and a daily one for each date that there is.
fn check_span(asked: &Asked, from: Timestamp, to: Timestamp) {
    let name = asked.zone.iana_name().unwrap_or_default();
    let (from, to) = (Version::from_timestamp(from), Version::from_timestamp(to));
    let hourly: BTreeSet<Version> = slots(&asked.hourly, from, to).collect();
    let shown = |at: Version| asked.zone.to_datetime(at.timestamp());
    let mut at = from.ms().div_euclid(1_000) * 1_000;
    let mut full_hours = 0;
    while at < to.ms() {
        let instant = Version::from_ms(at);
        let local = shown(instant);
        let full = local.minute() == 0 && local.second() == 0 && instant >= from;
        assert_eq!(full, hourly.contains(&instant), "{name} {instant} is {local}");
        full_hours += usize::from(full);
        // Offsets of seconds were used before 1972; else a quarter of an hour is the grain.
        let seconds = i64::from(local.second() != 0 || local.minute() % 15 != 0);
        at += if seconds == 1 { 1_000 } else { 15 * 60_000 };
    }
    assert_eq!(hourly.len(), full_hours, "{name} from {from}");
    let daily: Vec<Date> = slots(&asked.daily, from, to).map(|slot| shown(slot).date()).collect();
    let dates: BTreeSet<Date> = daily.iter().copied().collect();
    assert_eq!(daily.len(), dates.len(), "{name} from {from}: a date twice in {daily:?}");
    let there: BTreeSet<Date> = hourly.iter().map(|slot| shown(*slot).date()).collect();
    let inner = |date: &Date| Some(date) != there.first() && Some(date) != there.last();
    let missing: Vec<&Date> = there.difference(&dates).filter(|date| inner(date)).collect();
    assert!(missing.is_empty(), "{name} from {from}: no slot on {missing:?}");
}

fn check_zone(name: &str) -> usize {
    let zone = hera_engine::time::zone::find(name).expect("a zone of the database");
    // A date that is left out has no slot, not even one that shifts into the next date.
    let dates_only = DstPolicy { gap: DstGap::Skip, ..DstPolicy::default() };
    let asked = Asked {
        hourly: made("0 * * * *", name),
        daily: Schedule::new(&["0 12 * * *"], name, dates_only).expect("a zone of the database"),
        nightly: NIGHTLY.iter().map(|cron| made(cron, name)).collect(),
        zone: zone.clone(),
    };
    let (first, last) = (version("1970-01-03T00:00:00Z"), version("2100-01-01T00:00:00Z"));
    let mut changes = 0;
    for change in zone.following(first.timestamp()) {
        let at = change.timestamp();
        if at > last.timestamp() {
            break;
        }
        changes += 1;
        let near = |hours: i64| at.checked_add(SignedDuration::from_hours(hours)).expect("near");
        for hours in [-48, -26, -3, -1, 0, 1, 2, 3, 25, 48] {
            check_at(&asked, near(hours));
        }
        check_at(&asked, at.checked_sub(SignedDuration::from_secs(1)).expect("near"));
        let (from, to) = (at.checked_sub(AROUND), at.checked_add(AROUND));
        check_span(&asked, from.expect("near"), to.expect("near"));
    }
    let span = u64::try_from(last.ms() - first.ms()).expect("it is positive");
    for n in 0..RANDOM {
        let offset = i64::try_from(number(name, n) % span).expect("it is less than the span");
        check_at(
            &asked,
            Version::from_ms(first.ms() + offset / HOUR_MS * HOUR_MS + offset % 7_919).timestamp(),
        );
    }
    changes
}

#[test]
fn no_zone_and_no_change_of_its_clocks_loses_or_doubles_a_slot() {
    let zones = zones();
    assert!(zones.len() > 10, "{zones:?}");
    let changes: usize = zones.iter().map(|name| check_zone(name)).sum();
    assert!(changes > 500, "{changes} changes in {} zones", zones.len());
}
