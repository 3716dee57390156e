//! The seven fields of an expression: their names, ranges and words. Knows nothing of how they are
//! written or searched.

use std::fmt;

use super::{FIRST_YEAR, LAST_YEAR};

/// How an expression is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronForm {
    /// Five fields, minute first; Sunday is 0 or 7; with both day fields set either matches.
    Unix,
    /// Six fields, second first, or seven with a year; Sunday is 1; one day field must be `?`.
    Quartz,
}

/// A field, in the order in which Quartz writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CronField {
    Second,
    Minute,
    Hour,
    DayOfMonth,
    Month,
    DayOfWeek,
    Year,
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl CronField {
    /// The name that messages use.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day-of-month",
            Self::Month => "month",
            Self::DayOfWeek => "day-of-week",
            Self::Year => "year",
        }
    }

    /// The least and the greatest number that may be written.
    pub(super) fn range(self, form: CronForm) -> (u16, u16) {
        match self {
            Self::Second | Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => match form {
                CronForm::Unix => (0, 7),
                CronForm::Quartz => (1, 7),
            },
            Self::Year => (FIRST_YEAR.unsigned_abs(), LAST_YEAR.unsigned_abs()),
        }
    }

    /// Where `a/n` and `*/n` end. A Unix week ends on Saturday, 6: with 7 as well `1/3` would add
    /// a Sunday to Monday and Thursday.
    pub(super) fn step_end(self, form: CronForm) -> u16 {
        match (self, form) {
            (Self::DayOfWeek, CronForm::Unix) => 6,
            _ => self.range(form).1,
        }
    }

    /// The greatest step of `*/n` and `a/n`, as in Quartz; a year's has no limit there.
    pub(super) fn step_limit(self) -> Option<u16> {
        match self {
            Self::Second | Self::Minute => Some(59),
            Self::Hour => Some(23),
            Self::DayOfMonth => Some(31),
            Self::Month => Some(12),
            Self::DayOfWeek => Some(7),
            Self::Year => None,
        }
    }

    /// After how many values the field starts again; a range such as `22-2` runs over this seam.
    pub(super) fn cycle(self) -> Option<u16> {
        match self {
            Self::Second | Self::Minute => Some(60),
            Self::Hour => Some(24),
            Self::DayOfMonth => Some(31),
            Self::Month => Some(12),
            Self::DayOfWeek => Some(7),
            Self::Year => None,
        }
    }

    /// The number of a three-letter name in upper case.
    pub(super) fn number_of(self, name: &str, form: CronForm) -> Option<u16> {
        let (names, first): (&[&str], u16) = match self {
            Self::Month => (&MONTHS, 1),
            Self::DayOfWeek => (&WEEKDAYS, self.range(form).0),
            Self::Second | Self::Minute | Self::Hour | Self::DayOfMonth | Self::Year => {
                return None;
            }
        };
        let index = names.iter().position(|known| *known == name)?;
        Some(first + u16::try_from(index).ok()?)
    }

    /// The names that the field knows, for messages.
    pub(super) fn names(self) -> Option<&'static str> {
        match self {
            Self::Month => Some("JAN to DEC"),
            Self::DayOfWeek => Some("SUN to SAT"),
            Self::Second | Self::Minute | Self::Hour | Self::DayOfMonth | Self::Year => None,
        }
    }
}

impl fmt::Display for CronField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}
