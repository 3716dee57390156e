//! A job's schedule as people write it, checked: rules, zone, what a change of the clocks does, bounds,
//! jitter, calendar. Computes no slot.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use crate::shift::Shift;
use crate::time::Version;

/// When a job is due. Slots of several rules are one series; two on one instant are one slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleSpec {
    /// As written; the engine reads them.
    pub crons: Vec<String>,
    pub every: Option<EverySpec>,
    pub at: Vec<Moment>,
    /// IANA name; the job's zone where the schedule names none.
    pub zone: String,
    pub dst: DstPolicy,
    /// The first instant at which a slot may stand.
    pub start: Option<Moment>,
    /// The last instant at which a slot may stand; of a date its last one.
    pub end: Option<Moment>,
    /// How long a version's firing may be held back, derived from job and version; the version stays.
    pub jitter: Option<Duration>,
    pub calendar: Option<CalendarUse>,
}

/// An interval and where it is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EverySpec {
    pub interval: Interval,
    /// None: midnight of 2000-01-01 in the zone.
    pub anchor: Option<Moment>,
}

/// The distance between two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// Elapsed time below a day, whatever the clocks on the wall do.
    Seconds(u32),
    /// The anchor's time of day, every so many days.
    Days(u32),
}

/// An instant as written. What is local is read in the schedule's zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    Instant(Version),
    Local(DateTime),
    Day(Date),
}

/// What happens to local times that a change of the clocks leaves out or repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DstPolicy {
    pub gap: DstGap,
    pub overlap: DstOverlap,
}

/// A local time that does not exist on that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DstGap {
    /// The first instant after the gap.
    #[default]
    Shift,
    Skip,
}

/// A local time that exists twice on that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DstOverlap {
    #[default]
    First,
    Second,
    Both,
}

/// How a job uses a calendar: its business days are those in it, or those not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarUse {
    pub name: String,
    pub days: CalendarDays,
    pub roll: Roll,
}

/// Which days are business days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarDays {
    /// Those of the calendar.
    Include,
    /// All but those of the calendar.
    Exclude,
}

/// What becomes of a slot on a day that is no business day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Roll {
    /// There is none.
    #[default]
    Skip,
    /// At the same time of the next business day.
    Next,
    /// At the same time of the business day before.
    Previous,
}

/// A refused interval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntervalError {
    #[error("an interval goes forward; write 1s or more")]
    NotForward,
    #[error("an interval is less than a day, or whole days; write 12h or 2d")]
    BrokenDays,
    #[error(
        "an interval is counted in s, min, h or d; write a cron for months, a calendar for business days"
    )]
    NoInterval,
}

/// A refused instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MomentError {
    #[error(
        "`{0}` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24"
    )]
    Form(String),
    #[error("`{0}` has a fraction of a second: slots are whole seconds")]
    Fraction(String),
}

const DAY_MS: i64 = 86_400_000;

impl Interval {
    /// Takes a distance as an interval.
    ///
    /// # Errors
    /// One that is not above zero, is a broken number of days, or has no fixed length.
    pub fn of(distance: Shift) -> Result<Self, IntervalError> {
        let (count, unit): (i64, fn(u32) -> Self) = match distance {
            Shift::Elapsed { ms } if ms < DAY_MS => (ms / 1_000, Self::Seconds),
            Shift::Elapsed { ms } if ms % DAY_MS == 0 => (ms / DAY_MS, Self::Days),
            Shift::Elapsed { .. } => return Err(IntervalError::BrokenDays),
            Shift::Days { n } => (i64::from(n), Self::Days),
            Shift::BusinessDays { .. } | Shift::Months { .. } | Shift::Slots { .. } => {
                return Err(IntervalError::NoInterval);
            }
        };
        match u32::try_from(count) {
            Ok(0) | Err(_) => Err(IntervalError::NotForward),
            Ok(count) => Ok(unit(count)),
        }
    }
}

/// In the largest unit that fits, so that one length has one text.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Seconds(n) => Shift::Elapsed { ms: i64::from(n) * 1_000 }.fmt(f),
            Self::Days(n) => write!(f, "{n}d"),
        }
    }
}

impl Moment {
    /// Reads an RFC 3339 instant, or a local time or a date of a zone that is known later.
    ///
    /// # Errors
    /// Any other text, and one with a fraction of a second.
    pub fn parse(text: &str) -> Result<Self, MomentError> {
        let form = || MomentError::Form(text.to_owned());
        if text.contains(['[', ']']) || !text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(form());
        }
        let moment = if let Ok(instant) = text.parse::<Timestamp>() {
            (instant.subsec_nanosecond() == 0).then(|| {
                let version = Version::from_timestamp(instant);
                Self::Instant(version)
            })
        } else if !text.contains(':') {
            return text.parse::<Date>().map(Self::Day).map_err(|_other| form());
        } else {
            let local = text.parse::<DateTime>().map_err(|_other| form())?;
            (local.subsec_nanosecond() == 0).then_some(Self::Local(local))
        };
        moment.ok_or_else(|| MomentError::Fraction(text.to_owned()))
    }
}

/// [`Moment::parse`] reads it back.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instant(instant) => instant.fmt(f),
            Self::Local(local) => write!(f, "{}", local.strftime("%Y-%m-%dT%H:%M:%S")),
            Self::Day(day) => day.fmt(f),
        }
    }
}

impl DstGap {
    /// The word of job files.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Shift => "shift",
            Self::Skip => "skip",
        }
    }
}

impl DstOverlap {
    /// The word of job files.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
            Self::Both => "both",
        }
    }
}

impl CalendarDays {
    /// The word of job files.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Include => "include",
            Self::Exclude => "exclude",
        }
    }
}

impl Roll {
    /// The word of job files.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Next => "next",
            Self::Previous => "previous",
        }
    }
}

impl fmt::Display for DstGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl fmt::Display for DstOverlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// `exclude holidays, roll next`.
impl fmt::Display for CalendarUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.days.label(), self.name)?;
        match self.roll {
            Roll::Skip => Ok(()),
            Roll::Next | Roll::Previous => write!(f, ", roll {}", self.roll.label()),
        }
    }
}

/// One line for people: the rules, then what differs from the defaults. The zone is shown beside it.
impl fmt::Display for ScheduleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.crons.clone();
        if let Some(EverySpec { interval, anchor }) = &self.every {
            let from = anchor.map(|anchor| format!(" from {anchor}")).unwrap_or_default();
            parts.push(format!("every {interval}{from}"));
        }
        parts.extend(self.at.iter().map(|moment| format!("at {moment}")));
        parts.extend(self.start.map(|start| format!("start {start}")));
        parts.extend(self.end.map(|end| format!("end {end}")));
        if self.dst.gap != DstGap::default() {
            parts.push(format!("gap {}", self.dst.gap));
        }
        if self.dst.overlap != DstOverlap::default() {
            parts.push(format!("overlap {}", self.dst.overlap));
        }
        parts.extend(self.calendar.as_ref().map(ToString::to_string));
        parts.extend(self.jitter.map(|jitter| format!("jitter {}", elapsed(jitter))));
        f.write_str(&parts.join("; "))
    }
}

fn elapsed(span: Duration) -> Shift {
    Shift::Elapsed { ms: crate::time::span_ms(span) }
}

#[cfg(test)]
mod tests {
    use super::{Interval, Moment};
    use crate::shift::Shift;
    use expect_test::expect;

    #[test]
    fn moments_are_read_and_written_in_one_way() {
        let answer = |text: &str| match Moment::parse(text) {
            Ok(moment) => format!("{text} = {moment}\n"),
            Err(problem) => format!("{problem}\n"),
        };
        let answers: String = [
            "2026-12-24T18:00:00Z",
            "2026-12-24T18:00:00+01:00",
            "2026-12-24T18:00",
            "2026-12-24 18:00:30",
            "2026-12-24",
            "2026-12-24T18:00:00.5Z",
            "2026-12-24T18:00:00.5",
            "2026-12-24T18:00+01:00[Europe/Berlin]",
            "2026-02-29",
            "2026-12-24T25:00",
            "20261224",
            "tomorrow",
            "",
            "-002026-12-24",
            "18:00",
        ]
        .map(answer)
        .concat();
        expect![[r#"
            2026-12-24T18:00:00Z = 2026-12-24T18:00:00Z
            2026-12-24T18:00:00+01:00 = 2026-12-24T17:00:00Z
            2026-12-24T18:00 = 2026-12-24T18:00:00
            2026-12-24 18:00:30 = 2026-12-24T18:00:30
            2026-12-24 = 2026-12-24
            `2026-12-24T18:00:00.5Z` has a fraction of a second: slots are whole seconds
            `2026-12-24T18:00:00.5` has a fraction of a second: slots are whole seconds
            `2026-12-24T18:00+01:00[Europe/Berlin]` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            `2026-02-29` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            `2026-12-24T25:00` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            20261224 = 2026-12-24
            `tomorrow` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            `` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            `-002026-12-24` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
            `18:00` is no instant: write 2026-12-24T18:00:00Z, or in the zone 2026-12-24T18:00 or 2026-12-24
        "#]].assert_eq(&answers);
    }

    #[test]
    fn an_interval_has_one_length() {
        let read = |text: &str| Interval::of(Shift::parse(text).unwrap());
        let answer = |text: &str| match read(text) {
            Ok(interval) => format!("{text} = {interval}\n"),
            Err(problem) => format!("{text}: {problem}\n"),
        };
        let answers: String =
            ["15min", "90s", "24h", "48h", "3d", "25h", "0s", "-1h", "0d", "-1d", "1mo", "2slots"]
                .map(answer)
                .concat();
        expect![[r#"
            15min = 15min
            90s = 90s
            24h = 1d
            48h = 2d
            3d = 3d
            25h: an interval is less than a day, or whole days; write 12h or 2d
            0s: an interval goes forward; write 1s or more
            -1h: an interval goes forward; write 1s or more
            0d: an interval goes forward; write 1s or more
            -1d: an interval goes forward; write 1s or more
            1mo: an interval is counted in s, min, h or d; write a cron for months, a calendar for business days
            2slots: an interval is counted in s, min, h or d; write a cron for months, a calendar for business days
        "#]]
        .assert_eq(&answers);
    }
}
