//! The ways in which a schedule names instants: crons, intervals, single instants. Knows no zone's
//! changes.

use std::fmt;

use hera_common::schedule::{Interval, Moment};
use hera_common::time::Version;
use jiff::SignedDuration;
use jiff::civil::{DateTime, date};
use jiff::tz::TimeZone;
use thiserror::Error;

use super::cron::{Cron, LAST_YEAR};
use super::zone::first_at;

/// One way to name instants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    Cron(Cron),
    Every(Every),
    At(At),
    AtLocal(AtLocal),
}

/// An interval, counted from an anchor on. The anchor is the first slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every {
    interval: Interval,
    anchor: Version,
    /// What the clocks show, or would show, at the anchor.
    local: DateTime,
}

/// Single instants, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At(Vec<Version>);

/// Single local times, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtLocal(Vec<DateTime>);

/// A refused interval or list of instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RuleError {
    #[error("{0} is no whole second; leave the fraction off")]
    BrokenSecond(Version),
    #[error("the list of instants is empty; write one, or leave it off")]
    NoInstant,
}

/// Where intervals are counted from if nobody says: a midnight of the zone's present offset.
const ANCHOR: DateTime = date(2000, 1, 1).at(0, 0, 0, 0);

impl Every {
    /// Under a day the interval is elapsed time; whole days keep the anchor's time of day in the
    /// zone. A local anchor in a repeated hour is the first of the two, in a gap the first instant
    /// after it.
    ///
    /// # Errors
    /// An anchor with a fraction.
    pub fn new(
        interval: Interval,
        anchor: Option<Moment>,
        zone: &TimeZone,
    ) -> Result<Self, RuleError> {
        let (anchor, local) = match anchor {
            Some(Moment::Instant(instant)) => (instant, zone.to_datetime(instant.timestamp())),
            Some(Moment::Local(local)) => (first_at(zone, local), local),
            Some(Moment::Day(day)) => (first_at(zone, day.at(0, 0, 0, 0)), day.at(0, 0, 0, 0)),
            None => (first_at(zone, ANCHOR), ANCHOR),
        };
        whole_second(anchor)?;
        Ok(Self { interval, anchor, local })
    }

    pub(super) fn interval(&self) -> Interval {
        self.interval
    }

    pub(super) fn anchor(&self) -> Version {
        self.anchor
    }

    pub(super) fn local(&self) -> DateTime {
        self.local
    }
}

impl At {
    /// Takes instants in any order; one that is there twice is one slot.
    ///
    /// # Errors
    /// An empty list, or an instant with a fraction.
    pub fn new(mut instants: Vec<Version>) -> Result<Self, RuleError> {
        if instants.is_empty() {
            return Err(RuleError::NoInstant);
        }
        for instant in &instants {
            whole_second(*instant)?;
        }
        instants.sort_unstable();
        instants.dedup();
        Ok(Self(instants))
    }

    pub(super) fn instants(&self) -> &[Version] {
        &self.0
    }
}

impl AtLocal {
    /// Takes local times in any order.
    ///
    /// # Errors
    /// An empty list.
    pub fn new(mut times: Vec<DateTime>) -> Result<Self, RuleError> {
        if times.is_empty() {
            return Err(RuleError::NoInstant);
        }
        times.sort_unstable();
        times.dedup();
        Ok(Self(times))
    }

    pub(super) fn times(&self) -> &[DateTime] {
        &self.0
    }
}

fn whole_second(instant: Version) -> Result<(), RuleError> {
    if instant.ms() % 1000 == 0 { Ok(()) } else { Err(RuleError::BrokenSecond(instant)) }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron(cron) => cron.fmt(f),
            Self::Every(Every { interval, anchor, local: _ }) => {
                write!(f, "every {interval} from {anchor}")
            }
            Self::At(At(instants)) => {
                let shown: Vec<_> = instants.iter().map(ToString::to_string).collect();
                f.write_str(&shown.join(", "))
            }
            Self::AtLocal(AtLocal(times)) => {
                let shown: Vec<_> = times.iter().map(ToString::to_string).collect();
                f.write_str(&shown.join(", "))
            }
        }
    }
}

/// Local times in order: what a rule says before a zone maps it.
#[derive(Debug, Clone, Copy)]
pub(super) enum LocalTimes<'a> {
    Cron(&'a Cron),
    Days { first: DateTime, step: u32 },
    Listed(&'a [DateTime]),
}

impl LocalTimes<'_> {
    /// Whether gaps and repeated hours are taken as they come, by no policy.
    pub(super) fn fires_every_instant(&self) -> bool {
        match self {
            Self::Cron(cron) => cron.fires_every_instant(),
            Self::Days { .. } | Self::Listed(_) => false,
        }
    }

    /// The first local time at or after `from`.
    pub(super) fn next(&self, from: DateTime) -> Option<DateTime> {
        match *self {
            Self::Cron(cron) => cron.next_local(from),
            Self::Days { first, step } => {
                let steps = steps_between(first, from, step);
                let found = plus_days(first, steps, step)?;
                let found = if found < from { plus_days(first, steps + 1, step)? } else { found };
                (found.year() <= LAST_YEAR).then_some(found)
            }
            Self::Listed(times) => times.get(times.partition_point(|time| *time < from)).copied(),
        }
    }

    /// The last local time at or before `to`.
    pub(super) fn prev(&self, to: DateTime) -> Option<DateTime> {
        match *self {
            Self::Cron(cron) => cron.prev_local(to),
            Self::Days { first, .. } if to < first => None,
            Self::Days { first, step } => plus_days(first, steps_between(first, to, step), step),
            Self::Listed(times) => {
                let count = times.partition_point(|time| *time <= to);
                times.get(count.checked_sub(1)?).copied()
            }
        }
    }
}

/// Whole steps of days from `first` that end at or before `to`; 0 where it is not after.
fn steps_between(first: DateTime, to: DateTime, step: u32) -> i64 {
    let days = first.duration_until(to).as_hours().div_euclid(24);
    (days / i64::from(step)).max(0)
}

fn plus_days(first: DateTime, steps: i64, step: u32) -> Option<DateTime> {
    let hours = steps.checked_mul(i64::from(step))?.checked_mul(24)?;
    first.checked_add(SignedDuration::from_hours(hours)).ok()
}
