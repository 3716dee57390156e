//! Offsets of edges and bounds of windows as people write them: `-1d`, `2h`, `-2slots`. No zone, no arithmetic.

use std::fmt;

/// Milliseconds in the units of elapsed time.
const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// About 270 years in days: beyond it a shift is a slip of the pen, and sums stay far from the end of the range.
const COUNT_MAX: i64 = 100_000;
/// The same for seconds: 100,000 days.
const ELAPSED_MS_MAX: i64 = COUNT_MAX * 24 * HOUR_MS;

/// A signed distance in time. Below zero: into the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shift {
    /// Elapsed time in milliseconds (`s`, `min`, `h`).
    Elapsed { ms: i64 },
    /// Calendar days of the dependent's zone (`d`): the same time of day.
    Days { n: i32 },
    /// Business days of the dependent's calendar (`bd`): the same time of day.
    BusinessDays { n: i32 },
    /// Calendar months of the dependent's zone (`mo`): clamped to the month's last day.
    Months { n: i32 },
    /// Slots of the dependent itself (`slots`).
    Slots { n: i32 },
}

/// Why a text is no shift.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShiftError {
    #[error("{0:?} is not a number and a unit (s, min, h, d, bd, mo, slots), such as -1d")]
    Form(String),
    #[error("{0:?} has the unit m, which could be minutes or months: write min or mo")]
    BareM(String),
    #[error("{0:?} is farther than 100000 days, months or slots")]
    Far(String),
}

impl Shift {
    /// No shift at all.
    pub const NONE: Self = Self::Elapsed { ms: 0 };

    /// Reads `-1d`, `+2h`, `30s`, `-2slots`. One number and one unit, no spaces.
    pub fn parse(text: &str) -> Result<Self, ShiftError> {
        let digits_from = text.find(|c: char| c.is_ascii_digit());
        let form = || ShiftError::Form(text.to_owned());
        let (sign, rest) = match (digits_from, text.as_bytes().first()) {
            (Some(0), _) => (1, text),
            (Some(1), Some(b'-')) => (-1, text.get(1..).ok_or_else(form)?),
            (Some(1), Some(b'+')) => (1, text.get(1..).ok_or_else(form)?),
            _ => return Err(form()),
        };
        let unit_from = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(form)?;
        let (number, unit) = rest.split_at(unit_from);
        let far = || ShiftError::Far(text.to_owned());
        let count = sign * number.parse::<i64>().map_err(|_too_long| far())?;
        let elapsed = |unit_ms: i64| {
            let ms = count.checked_mul(unit_ms).filter(|ms| ms.abs() <= ELAPSED_MS_MAX);
            ms.map(|ms| Self::Elapsed { ms }).ok_or_else(far)
        };
        let n = || {
            let n = Some(count).filter(|count| count.abs() <= COUNT_MAX);
            n.and_then(|n| i32::try_from(n).ok()).ok_or_else(far)
        };
        match unit {
            "s" => elapsed(SECOND_MS),
            "min" => elapsed(MINUTE_MS),
            "h" => elapsed(HOUR_MS),
            "d" => Ok(Self::Days { n: n()? }),
            "mo" => Ok(Self::Months { n: n()? }),
            "slots" | "slot" => Ok(Self::Slots { n: n()? }),
            "m" => Err(ShiftError::BareM(text.to_owned())),
            "bd" => Ok(Self::BusinessDays { n: n()? }),
            _ => Err(form()),
        }
    }

    /// True where nothing moves.
    pub const fn is_none(self) -> bool {
        match self {
            Self::Elapsed { ms } => ms == 0,
            Self::Days { n }
            | Self::BusinessDays { n }
            | Self::Months { n }
            | Self::Slots { n } => n == 0,
        }
    }
}

/// As written in job files; [`Shift::parse`] reads it back.
impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Elapsed { ms } if ms % HOUR_MS == 0 && ms != 0 => write!(f, "{}h", ms / HOUR_MS),
            Self::Elapsed { ms } if ms % MINUTE_MS == 0 && ms != 0 => {
                write!(f, "{}min", ms / MINUTE_MS)
            }
            Self::Elapsed { ms } => write!(f, "{}s", ms / SECOND_MS),
            Self::Days { n } => write!(f, "{n}d"),
            Self::BusinessDays { n } => write!(f, "{n}bd"),
            Self::Months { n } => write!(f, "{n}mo"),
            Self::Slots { n } => write!(f, "{n}slots"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Shift, ShiftError};

    #[test]
    fn a_shift_is_read_and_written_alike() {
        for text in ["0s", "-1d", "-1bd", "-1mo", "-2slots", "90min", "-24h", "30s"] {
            assert_eq!(Shift::parse(text).map(|s| s.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(Shift::parse("+1h"), Ok(Shift::Elapsed { ms: 3_600_000 }));
        assert_eq!(Shift::parse("-0d").map(Shift::is_none), Ok(true));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let refused = |text: &str| Shift::parse(text).unwrap_err();
        assert_eq!(refused("5m"), ShiftError::BareM("5m".to_owned()));
        for text in ["", "-", "d", "1", "1 d", "--1d", "1.5h", "1h30min", "-٣d"] {
            assert_eq!(refused(text), ShiftError::Form(text.to_owned()));
        }
        for text in ["100001d", "99999999999999999999s", "9223372036854775807h"] {
            assert_eq!(refused(text), ShiftError::Far(text.to_owned()));
        }
    }
}
