//! What holds for every schedule: order, agreement of the ways to ask, and agreement with a slow scan
//! that asks the zone about every minute round changes of the clocks.

use std::collections::BTreeSet;
use std::iter::successors;

use hera_common::time::Version;
use hera_engine::time::{DstGap, DstOverlap, DstPolicy, Schedule, next_after, prev_before, slots};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq, proptest};

/// Zones with something odd, and an instant near it.
const CHANGES: [(&str, &str); 20] = [
    ("Europe/Berlin", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2027-03-14T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    // Half an hour.
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    // No midnight, and midnight twice.
    ("Asia/Beirut", "2026-03-28T22:00:00Z"),
    ("Asia/Beirut", "2026-10-24T21:00:00Z"),
    ("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
    ("America/Sao_Paulo", "2019-02-17T02:00:00Z"),
    // No 30 December 2011; no 21 August 1993.
    ("Pacific/Apia", "2011-12-30T10:00:00Z"),
    ("Pacific/Kwajalein", "1993-08-21T12:00:00Z"),
    // Two hours.
    ("Antarctica/Troll", "2026-03-29T01:00:00Z"),
    ("Antarctica/Troll", "2026-10-25T01:00:00Z"),
    // Changes at a quarter to, and at a minute past midnight.
    ("Pacific/Chatham", "2026-04-04T14:00:00Z"),
    ("America/St_Johns", "2010-11-07T02:31:00Z"),
    ("America/St_Johns", "2010-03-14T03:31:00Z"),
    // A change of the standard time itself.
    ("Asia/Pyongyang", "2015-08-14T15:00:00Z"),
    ("America/Caracas", "2016-05-01T07:00:00Z"),
    ("Asia/Kathmandu", "1985-12-31T18:30:00Z"),
];

/// A five-field expression together with the sets that it means.
#[derive(Debug, Clone)]
struct Plain {
    minutes: BTreeSet<i8>,
    hours: BTreeSet<i8>,
    weekdays: BTreeSet<i8>,
    /// Written as `*` or `*/n`.
    wild: bool,
    text: String,
}

fn field(most: i8) -> impl Strategy<Value = (BTreeSet<i8>, String)> {
    let star = Just(((0..=most).collect(), "*".to_owned()));
    let steps = (1..=most).prop_map(move |step| {
        let set = (0..=most).filter(|n| n % step == 0).collect();
        (set, format!("*/{step}"))
    });
    let list = proptest::collection::btree_set(0..=most, 1..4).prop_map(|set| {
        let text = set.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        (set, text)
    });
    prop_oneof![1 => star, 2 => steps, 5 => list]
}

fn plain() -> impl Strategy<Value = Plain> {
    let hours = prop_oneof![
        2 => field(23),
        // Where the clocks change.
        3 => (0..5i8).prop_map(|hour| (BTreeSet::from([hour]), hour.to_string())),
    ];
    (field(59), hours, field(6)).prop_map(|(minutes, hours, weekdays)| Plain {
        wild: minutes.1.starts_with('*') || hours.1.starts_with('*'),
        text: format!("{} {} * * {}", minutes.1, hours.1, weekdays.1),
        minutes: minutes.0,
        hours: hours.0,
        weekdays: weekdays.0,
    })
}

fn policy() -> impl Strategy<Value = DstPolicy> {
    let gaps = select(vec![DstGap::Shift, DstGap::Skip]);
    let overlaps = select(vec![DstOverlap::First, DstOverlap::Second, DstOverlap::Both]);
    (gaps, overlaps).prop_map(|(gap, overlap)| DstPolicy { gap, overlap })
}

impl Plain {
    fn matches(&self, local: DateTime) -> bool {
        local.second() == 0
            && self.minutes.contains(&local.minute())
            && self.hours.contains(&local.hour())
            && self.weekdays.contains(&local.weekday().to_sunday_zero_offset())
    }

    /// The slots in `[from, to)`: by real minutes for wild crons, else by local minutes, each mapped
    /// as the zone and the policy say.
    fn scan(
        &self,
        zone: &TimeZone,
        dst: DstPolicy,
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Version> {
        let found: BTreeSet<_> = if self.wild {
            let minutes = successors(Some(from), |at| Some(*at + 1.minute()));
            let minutes = minutes.take_while(|at| *at < to);
            minutes.filter(|at| self.matches(zone.to_datetime(*at))).collect()
        } else {
            // Two days more on both sides: a local time may map that far.
            let first = zone.to_datetime(from).checked_sub(2.days()).expect("in range");
            let last = zone.to_datetime(to).checked_add(2.days()).expect("in range");
            let minutes = successors(Some(first), |local| local.checked_add(1.minute()).ok());
            let matching = minutes.take_while(|local| *local < last).filter(|t| self.matches(*t));
            matching.flat_map(|local| mapped(zone, dst, local)).collect()
        };
        let inside = found.into_iter().filter(|at| (from..to).contains(at));
        inside.map(Version::from_timestamp).collect()
    }
}

fn mapped(zone: &TimeZone, dst: DstPolicy, local: DateTime) -> Vec<Timestamp> {
    let at = |offset: jiff::tz::Offset| offset.to_timestamp(local).expect("in range");
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => vec![at(offset)],
        AmbiguousOffset::Gap { before, .. } => match dst.gap {
            DstGap::Skip => vec![],
            // The change is the last one at or before this time, read by the old offset.
            DstGap::Shift => {
                let later = at(before) + SignedDuration::from_secs(1);
                zone.preceding(later).take(1).map(|change| change.timestamp()).collect()
            }
        },
        AmbiguousOffset::Fold { before, after } => match dst.overlap {
            DstOverlap::First => vec![at(before)],
            DstOverlap::Second => vec![at(after)],
            DstOverlap::Both => vec![at(before), at(after)],
        },
    }
}

fn made(texts: &[&str], zone: &str, dst: DstPolicy) -> Schedule {
    Schedule::new(texts, zone, dst).expect("the strategy makes legal schedules")
}

/// Expressions of every kind of field.
fn expression() -> impl Strategy<Value = String> {
    let second = select(vec!["0", "*/20", "7,41"]);
    let minute = select(vec!["0", "*", "*/7", "0/15", "10-50/20", "59"]);
    let hour = select(vec!["0", "*", "2", "1-3", "22-2", "*/5", "23"]);
    let month = select(vec!["*", "2", "JAN-MAR", "3,10,11", "*/5"]);
    let days = select(vec![
        ("*", "?"),
        ("L", "?"),
        ("LW", "?"),
        ("L-3", "?"),
        ("15W", "?"),
        ("29-31", "?"),
        ("1W", "?"),
        ("?", "MON-FRI"),
        ("?", "6L"),
        ("?", "1#5"),
        ("?", "1"),
        ("?", "L"),
        ("30", "?"),
    ]);
    let year = select(vec!["", " *", " 2026/3", " 2027"]);
    (second, minute, hour, days, month, year).prop_map(
        |(second, minute, hour, days, month, year)| {
            format!("{second} {minute} {hour} {} {month} {}{year}", days.0, days.1)
        },
    )
}

fn zone_and_instant() -> impl Strategy<Value = (&'static str, Version)> {
    let near = (select(CHANGES.to_vec()), -200_000_000..200_000_000i64).prop_map(|(change, by)| {
        let at: Timestamp = change.1.parse().expect("an instant of the table");
        (change.0, Version::from_ms(at.as_millisecond() + by))
    });
    let anywhere = (select(CHANGES.to_vec()), any::<i64>())
        .prop_map(|(change, ms)| (change.0, Version::from_ms(ms)));
    prop_oneof![4 => near, 1 => anywhere]
}

fn check_neighbours(schedule: &Schedule, at: Version) -> Result<(), TestCaseError> {
    let next = next_after(schedule, at);
    let prev = prev_before(schedule, at);
    if let Some(next) = next {
        prop_assert!(next > at);
        prop_assert_eq!(next.ms() % 1000, 0);
        let back = prev_before(schedule, next);
        prop_assert!(back.is_none_or(|back| back <= at));
        prop_assert!(back >= prev);
        prop_assert_eq!(prev_before(schedule, Version::from_ms(next.ms() + 1)), Some(next));
    }
    if let Some(prev) = prev {
        prop_assert!(prev < at);
        let forth = next_after(schedule, prev);
        prop_assert!(forth.is_none_or(|forth| forth >= at));
        prop_assert_eq!(next_after(schedule, Version::from_ms(prev.ms() - 1)), Some(prev));
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_slow_scan_round_changes_finds_the_same(
        plain in plain(),
        dst in policy(),
        change in select(CHANGES.to_vec()),
        shift in -1500..1500i64,
    ) {
        let middle: Timestamp = change.1.parse().expect("an instant of the table");
        let middle = middle + SignedDuration::from_mins(shift);
        let (from, to) = (middle - SignedDuration::from_hours(40), middle + SignedDuration::from_hours(40));
        let schedule = made(&[&plain.text], change.0, dst);
        let expected = plain.scan(schedule.zone(), dst, from, to);
        let (from, to) = (Version::from_timestamp(from), Version::from_timestamp(to));
        let found: Vec<_> = slots(&schedule, from, to).collect();
        prop_assert_eq!(&found, &expected);

        let mut back = Vec::new();
        let mut edge = to;
        while let Some(slot) = prev_before(&schedule, edge).filter(|slot| *slot >= from) {
            back.push(slot);
            edge = slot;
        }
        back.reverse();
        prop_assert_eq!(back, expected);
    }

    #[test]
    fn neighbours_keep_order(
        texts in proptest::collection::vec(expression(), 1..4),
        dst in policy(),
        (zone, at) in zone_and_instant(),
    ) {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        check_neighbours(&made(&texts, zone, dst), at)?;
    }

    #[test]
    fn the_iterator_and_repeated_steps_agree(
        texts in proptest::collection::vec(expression(), 1..4),
        dst in policy(),
        (zone, from) in zone_and_instant(),
    ) {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let schedule = made(&texts, zone, dst);
        let walked: Vec<_> = slots(&schedule, from, Version::from_ms(i64::MAX)).take(40).collect();
        prop_assert!(walked.is_sorted_by(|one, other| one < other));
        let mut stepped = Vec::new();
        let mut at = Version::from_ms(from.ms().saturating_sub(1));
        while stepped.len() < 40 && let Some(next) = next_after(&schedule, at) {
            stepped.push(next);
            at = next;
        }
        prop_assert_eq!(&walked, &stepped);
        if let [first, .., last] = walked.as_slice() {
            let between: Vec<_> = slots(&schedule, *first, *last).collect();
            prop_assert_eq!(between.as_slice(), &walked[..walked.len() - 1]);
        }
    }

    #[test]
    fn no_text_makes_the_parser_stumble(text in "[0-9*/,?LW# A-Z-]{0,30}") {
        match hera_engine::time::Cron::parse(&text) {
            Ok(cron) => prop_assert_eq!(cron.text(), text.trim()),
            Err(refused) => prop_assert!(refused.position <= text.len()),
        }
    }
}

#[test]
fn the_ends_of_time_are_instants_like_others() {
    for cron in ["* * * * * ?", "0 0 0 29 2 ?", "0 0 0 30 2 ?"] {
        let schedule = made(&[cron], "Europe/Berlin", DstPolicy::default());
        for ms in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX] {
            check_neighbours(&schedule, Version::from_ms(ms)).expect(cron);
        }
        assert_eq!(next_after(&schedule, Version::from_ms(i64::MAX)), None);
        assert_eq!(prev_before(&schedule, Version::from_ms(i64::MIN)), None);
    }
}
