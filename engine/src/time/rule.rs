//! The ways in which a schedule names instants: crons, intervals, single instants. Knows no zone's
//! changes.

use std::fmt;

use hera_common::shift::Shift;
use hera_common::time::Version;
use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use thiserror::Error;

use super::cron::{Cron, LAST_YEAR};

/// One way to name instants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    Cron(Cron),
    Every(Every),
    At(At),
}

/// An interval, counted from an anchor on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every {
    interval: Interval,
    anchor: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interval {
    /// Elapsed time, whatever the clocks on the wall do.
    Seconds(i64),
    /// The anchor's time of day, every so many days.
    Days(i32),
}

/// Single instants, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At(Vec<Version>);

/// A refused interval or list of instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RuleError {
    #[error("an interval goes forward; write 1s or more")]
    NotForward,
    #[error("an interval is less than a day, or whole days; write 12h or 2d")]
    BrokenDays,
    #[error("an interval is counted in s, min, h or d; write a cron for months")]
    NoInterval,
    #[error("{0} is no whole second; leave the fraction off")]
    BrokenSecond(Version),
    #[error("the list of instants is empty; write one, or leave it off")]
    NoInstant,
}

const DAY_MS: i64 = 86_400_000;

impl Every {
    /// Under a day the interval is elapsed time; whole days keep the anchor's time of day in the
    /// schedule's zone. The anchor is the first slot.
    ///
    /// # Errors
    /// An interval of any other length, or that is not above zero; an anchor with a fraction.
    pub fn new(interval: Shift, anchor: Version) -> Result<Self, RuleError> {
        let interval = match interval {
            Shift::Elapsed { ms } if ms <= 0 => return Err(RuleError::NotForward),
            Shift::Elapsed { ms } if ms < DAY_MS => Interval::Seconds(ms / 1000),
            Shift::Elapsed { ms } if ms % DAY_MS == 0 => Interval::Days(
                i32::try_from(ms / DAY_MS).map_err(|_too_long| RuleError::NoInterval)?,
            ),
            Shift::Elapsed { .. } => return Err(RuleError::BrokenDays),
            Shift::Days { n } if n <= 0 => return Err(RuleError::NotForward),
            Shift::Days { n } => Interval::Days(n),
            Shift::Months { .. } | Shift::Slots { .. } => return Err(RuleError::NoInterval),
        };
        if interval == Interval::Seconds(0) {
            return Err(RuleError::NotForward);
        }
        whole_second(anchor)?;
        Ok(Self { interval, anchor })
    }

    pub(super) fn interval(&self) -> Interval {
        self.interval
    }

    pub(super) fn anchor(&self) -> Version {
        self.anchor
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

fn whole_second(instant: Version) -> Result<(), RuleError> {
    if instant.ms() % 1000 == 0 { Ok(()) } else { Err(RuleError::BrokenSecond(instant)) }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron(cron) => cron.fmt(f),
            Self::Every(Every { interval: Interval::Seconds(n), anchor }) => {
                write!(f, "{n}s from {anchor}")
            }
            Self::Every(Every { interval: Interval::Days(n), anchor }) => {
                write!(f, "{n}d from {anchor}")
            }
            Self::At(At(instants)) => {
                let shown: Vec<_> = instants.iter().map(ToString::to_string).collect();
                f.write_str(&shown.join(", "))
            }
        }
    }
}

/// Local times in order: what a rule says before a zone maps it.
#[derive(Debug, Clone, Copy)]
pub(super) enum LocalTimes<'a> {
    Cron(&'a Cron),
    Days { first: DateTime, step: i32 },
}

impl LocalTimes<'_> {
    pub(super) fn days(step: i32, anchor: Version, zone: &TimeZone) -> Self {
        Self::Days { first: zone.to_datetime(anchor.timestamp()), step }
    }

    /// Whether gaps and repeated hours are taken as they come, by no policy.
    pub(super) fn fires_every_instant(&self) -> bool {
        match self {
            Self::Cron(cron) => cron.fires_every_instant(),
            Self::Days { .. } => false,
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
        }
    }

    /// The last local time at or before `to`.
    pub(super) fn prev(&self, to: DateTime) -> Option<DateTime> {
        match *self {
            Self::Cron(cron) => cron.prev_local(to),
            Self::Days { first, .. } if to < first => None,
            Self::Days { first, step } => plus_days(first, steps_between(first, to, step), step),
        }
    }
}

/// Whole steps of days from `first` that end at or before `to`; 0 where it is not after.
fn steps_between(first: DateTime, to: DateTime, step: i32) -> i64 {
    let days = first.duration_until(to).as_hours().div_euclid(24);
    (days / i64::from(step)).max(0)
}

fn plus_days(first: DateTime, steps: i64, step: i32) -> Option<DateTime> {
    let hours = steps.checked_mul(i64::from(step))?.checked_mul(24)?;
    first.checked_add(SignedDuration::from_hours(hours)).ok()
}
