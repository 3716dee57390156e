//! Single values of job files: durations, whole numbers, zones, names. Knows no field.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use jiff::tz::TimeZoneDatabase;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::calendar::LastDay;
use crate::calendar::DaySpan;
use crate::limits::ACTOR_BYTES_MAX;
use crate::path::Path;
use crate::schedule::{Interval, Moment};
use crate::shift::Shift;
use crate::shown::misleading;

/// The longest duration that a field takes: as long as actions are kept.
pub const SPAN_MAX: Duration = Duration::from_secs(400 * 86_400);

/// A duration as written in job files: `30s`, `5min`, `2h`, `1d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(Duration);

impl Span {
    /// From a duration; what is below a second is cut off, since no field is finer.
    pub const fn new(duration: Duration) -> Self {
        Self(Duration::from_secs(duration.as_secs()))
    }

    /// As a duration.
    pub const fn get(self) -> Duration {
        self.0
    }

    /// Reads `30s`, `5min`, `2h` or `1d`.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        if number.is_empty() {
            return Err(format!("`{text}` is no duration: a whole number and s, min, h or d"));
        }
        let seconds = match unit {
            "s" => 1,
            "min" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "" => {
                return Err(format!(
                    "`{text}` has no unit: write {text}s, {text}min, {text}h or {text}d"
                ));
            }
            "m" => {
                return Err(format!(
                    "`{text}` could be minutes or months: write {number}min (or days, such as 30d)"
                ));
            }
            "mo" => {
                return Err(format!("`{text}`: months differ in length, write days, such as 30d"));
            }
            _other => {
                return Err(format!("`{text}` is no duration: a whole number and s, min, h or d"));
            }
        };
        let span = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(seconds))
            .map(Duration::from_secs)
            .filter(|span| *span <= SPAN_MAX);
        span.map(Self).ok_or_else(|| format!("`{text}` is longer than {}", Self(SPAN_MAX)))
    }
}

impl fmt::Display for Span {
    /// In the largest unit that fits, so that one length has one text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
        let fit =
            units.into_iter().find(|(unit, _name)| seconds > 0 && seconds.is_multiple_of(*unit));
        let (unit, name) = fit.unwrap_or((1, "s"));
        write!(f, "{}{name}", seconds / unit)
    }
}

/// A limit that a job may lift again where its group sets one: a duration, or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    None,
    After(Span),
}

impl Limit {
    /// Reads a duration of at least a second, or `none`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::None);
        }
        at_least_a_second(text).map(Self::After)
    }

    /// The duration, if there is a limit.
    pub fn get(self) -> Option<Duration> {
        match self {
            Self::None => None,
            Self::After(span) => Some(span.get()),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::After(span) => span.fmt(f),
        }
    }
}

/// A duration that may not be zero.
pub(super) fn at_least_a_second(text: &str) -> Result<Span, String> {
    let span = Span::parse(text)?;
    if span.get().is_zero() { Err(format!("`{text}` is too short: at least 1s")) } else { Ok(span) }
}

impl fmt::Display for LastDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `Serialize` and `Deserialize` by the text.
macro_rules! by_text {
    ($($name:ty, $parse:expr;)+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                $parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

by_text! {
    Span, Self::parse;
    Limit, Self::parse;
    Path, Self::parse;
    Shift, Self::parse;
    Moment, Self::parse;
    DaySpan, Self::parse;
    LastDay, super::calendar::last_day;
    Interval, super::schedule::interval;
}

/// A whole number within `range`.
pub(super) fn number<N>(text: &str, range: &RangeInclusive<N>) -> Result<N, String>
where
    N: Copy + TryFrom<i64> + Into<i64>,
{
    let (least, most): (i64, i64) = ((*range.start()).into(), (*range.end()).into());
    let number = text
        .parse::<i64>()
        .map_err(|_other| format!("`{text}` is no whole number between {least} and {most}"))?;
    let inside = (least..=most).contains(&number).then(|| N::try_from(number).ok()).flatten();
    inside.ok_or_else(|| format!("{number} is not between {least} and {most}"))
}

/// `true` or `false`.
pub(super) fn truth(text: &str) -> Result<bool, String> {
    match text {
        "true" | "True" | "TRUE" => Ok(true),
        "false" | "False" | "FALSE" => Ok(false),
        _other => Err(format!("`{text}` is neither true nor false")),
    }
}

/// The IANA name of a zone, as the zone data spells it. The data is built in, so that all machines
/// agree.
pub(super) fn zone(text: &str) -> Result<String, String> {
    let found = TimeZoneDatabase::bundled().get(text).ok().filter(|zone| !zone.is_unknown());
    found.and_then(|zone| zone.iana_name().map(str::to_owned)).ok_or_else(|| {
        format!("there is no time zone `{text}`: write an IANA name such as Europe/Berlin")
    })
}

/// How far an edge moves, or where its window ends.
pub(super) fn shift(text: &str) -> Result<Shift, String> {
    Shift::parse(text).map_err(|error| error.to_string())
}

/// Any text.
pub(super) fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Text that says something.
pub(super) fn words(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("is empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// The name of a team.
pub(super) fn owner(text: &str) -> Result<String, String> {
    if text.len() > ACTOR_BYTES_MAX {
        return Err(format!("has more than {ACTOR_BYTES_MAX} bytes"));
    }
    if let Some(odd) = misleading(text) {
        return Err(format!("holds the character {odd:?}, which is not seen"));
    }
    words(text)
}

/// A path in the tree: relative ones in `group`.
pub(super) fn path(text: &str, group: &Path) -> Result<Path, String> {
    let path = if text.starts_with('/') { Path::parse(text) } else { group.join(text) };
    path.map_err(|error| format!("`{text}` is no path: {error}"))
}

/// One name: of a host group or a calendar.
pub(super) fn name(text: &str) -> Result<String, String> {
    match Path::parse(text) {
        Ok(path) if path.as_str() == text && path.parent().is_none() => Ok(text.to_owned()),
        Ok(_path) => Err(format!("`{text}` is a path, and a name is wanted")),
        Err(error) => Err(format!("`{text}` is no name: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, number, zone};
    use expect_test::expect;

    #[test]
    fn durations_are_read_and_written_in_one_way() {
        let answer = |text: &str| match Span::parse(text) {
            Ok(span) => format!("{text} = {span} = {:?}\n", span.get()),
            Err(problem) => format!("{problem}\n"),
        };
        let answers: String = [
            "30s",
            "5min",
            "2h",
            "1d",
            "90s",
            "300s",
            "24h",
            "0s",
            "5m",
            "1mo",
            "30",
            "",
            "h",
            "1.5h",
            "-1h",
            "1h30min",
            "5 min",
            "5MIN",
            "400d",
            "401d",
            "99999999999999999999s",
            "18446744073709551615d",
            "٣h",
        ]
        .map(answer)
        .concat();
        expect![[r#"
            30s = 30s = 30s
            5min = 5min = 300s
            2h = 2h = 7200s
            1d = 1d = 86400s
            90s = 90s = 90s
            300s = 5min = 300s
            24h = 1d = 86400s
            0s = 0s = 0ns
            `5m` could be minutes or months: write 5min (or days, such as 30d)
            `1mo`: months differ in length, write days, such as 30d
            `30` has no unit: write 30s, 30min, 30h or 30d
            `` is no duration: a whole number and s, min, h or d
            `h` is no duration: a whole number and s, min, h or d
            `1.5h` is no duration: a whole number and s, min, h or d
            `-1h` is no duration: a whole number and s, min, h or d
            `1h30min` is no duration: a whole number and s, min, h or d
            `5 min` is no duration: a whole number and s, min, h or d
            `5MIN` is no duration: a whole number and s, min, h or d
            400d = 400d = 34560000s
            `401d` is longer than 400d
            `99999999999999999999s` is longer than 400d
            `18446744073709551615d` is longer than 400d
            `٣h` is no duration: a whole number and s, min, h or d
        "#]]
        .assert_eq(&answers);
    }

    #[test]
    fn zones_have_one_spelling() {
        assert_eq!(zone("europe/berlin"), Ok("Europe/Berlin".to_owned()));
        assert_eq!(zone("UTC"), Ok("UTC".to_owned()));
        assert_eq!(zone("Asia/Calcutta"), Ok("Asia/Calcutta".to_owned()));
        for bad in ["", "Mars/Base", "CST8", "+02:00", "Etc/Unknown", "../etc/passwd"] {
            assert!(zone(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_stay_in_their_range() {
        assert_eq!(number("5", &(1..=5_u8)), Ok(5));
        expect!["6 is not between 1 and 5"].assert_eq(&number("6", &(1..=5_u8)).unwrap_err());
        expect!["`1.0` is no whole number between 1 and 5"]
            .assert_eq(&number("1.0", &(1..=5_u8)).unwrap_err());
        expect!["300 is not between 1 and 5"].assert_eq(&number("300", &(1..=5_u8)).unwrap_err());
    }
}
