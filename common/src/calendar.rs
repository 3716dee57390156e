//! Calendars: named sets of days. Knows no job, no zone and no store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::civil::{Date, Weekday};

use crate::id::Revision;
use crate::time::{Version, Wall};

/// The longest run of days written as one: two leap years.
const SPAN_DAYS_MAX: i32 = 732;

/// One edit of a calendar. Never changed and never deleted: what was computed by it stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarRow {
    pub name: String,
    pub revision: Revision,
    /// Slots from here on go by it, until the next revision; the first one holds before it, too.
    pub since: Version,
    /// The definition as a document in JSON; None: the calendar was deleted.
    pub spec: Option<String>,
    pub actor: String,
    pub why: String,
    pub created_at: Wall,
}

/// What a calendar itself says: its days are those of `weekly`, `days`, `add` and all calendars of
/// `of`, but not those of `remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CalendarSpec {
    pub weekly: BTreeSet<WeekDay>,
    pub of: BTreeSet<String>,
    pub days: BTreeSet<DaySpan>,
    pub add: BTreeSet<DaySpan>,
    pub remove: BTreeSet<DaySpan>,
    /// The last day of which it knows anything; None: it holds for ever.
    pub valid_until: Option<Date>,
}

/// A day of the week; Monday is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WeekDay {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// One day, or all from a first to a last one: `2026-10-01`, `2026-10-01..2026-10-07`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DaySpan {
    pub first: Date,
    pub last: Date,
}

/// The days of a calendar with all that it takes from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaySet {
    weekly: BTreeSet<WeekDay>,
    of: Vec<Arc<DaySet>>,
    listed: BTreeSet<Date>,
    removed: BTreeSet<Date>,
    valid_until: Option<Date>,
}

/// Why a name leads to no days.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalendarError {
    #[error("there is no calendar `{0}`")]
    Unknown(String),
    #[error("the calendars are made of one another: {}", .0.join(" -> "))]
    Circle(Vec<String>),
}

impl WeekDay {
    /// The day of the week of a date.
    #[must_use]
    pub fn of(date: Date) -> Self {
        match date.weekday() {
            Weekday::Monday => Self::Mon,
            Weekday::Tuesday => Self::Tue,
            Weekday::Wednesday => Self::Wed,
            Weekday::Thursday => Self::Thu,
            Weekday::Friday => Self::Fri,
            Weekday::Saturday => Self::Sat,
            Weekday::Sunday => Self::Sun,
        }
    }
}

impl DaySpan {
    /// Reads a date, or two with `..` between them.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let date = |part: &str| {
            let plain = part.len() == 10 && part.starts_with(|c: char| c.is_ascii_digit());
            let read = part.parse::<Date>().ok().filter(|_date| plain);
            read.ok_or_else(|| format!("`{part}` is no date: write 2026-12-24"))
        };
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let (first, last) = (date(first.trim())?, date(last.trim())?);
        if last < first {
            return Err(format!("`{text}` ends before it begins"));
        }
        if first.until(last).map_or(i32::MAX, |span| span.get_days()) >= SPAN_DAYS_MAX {
            return Err(format!("`{text}` is longer than {SPAN_DAYS_MAX} days: use `weekly`"));
        }
        Ok(Self { first, last })
    }

    /// Its days.
    pub fn dates(self) -> impl Iterator<Item = Date> {
        std::iter::successors(Some(self.first), |date| date.tomorrow().ok())
            .take_while(move |date| *date <= self.last)
    }
}

impl fmt::Display for DaySpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            return self.first.fmt(f);
        }
        write!(f, "{}..{}", self.first, self.last)
    }
}

impl DaySet {
    /// Puts together what a calendar and those that it is made of say.
    ///
    /// # Errors
    /// A calendar that is not there, or is made of itself.
    pub fn resolve(
        name: &str,
        find: &dyn Fn(&str) -> Option<CalendarSpec>,
    ) -> Result<Arc<Self>, CalendarError> {
        let mut known = BTreeMap::new();
        resolve(name, find, &mut Vec::new(), &mut known)
    }

    /// Whether a day is in it; what lies past [`DaySet::valid_until`] is for the caller to ask.
    #[must_use]
    pub fn holds(&self, date: Date) -> bool {
        if self.removed.contains(&date) {
            return false;
        }
        self.listed.contains(&date)
            || self.weekly.contains(&WeekDay::of(date))
            || self.of.iter().any(|other| other.holds(date))
    }

    /// The last day that it knows, and those that it is made of know.
    #[must_use]
    pub const fn valid_until(&self) -> Option<Date> {
        self.valid_until
    }
}

fn resolve(
    name: &str,
    find: &dyn Fn(&str) -> Option<CalendarSpec>,
    open: &mut Vec<String>,
    known: &mut BTreeMap<String, Arc<DaySet>>,
) -> Result<Arc<DaySet>, CalendarError> {
    if let Some(set) = known.get(name) {
        return Ok(Arc::clone(set));
    }
    if let Some(at) = open.iter().position(|outer| outer == name) {
        let mut circle = open.split_off(at);
        circle.push(name.to_owned());
        return Err(CalendarError::Circle(circle));
    }
    let spec = find(name).ok_or_else(|| CalendarError::Unknown(name.to_owned()))?;
    open.push(name.to_owned());
    let mut of = Vec::with_capacity(spec.of.len());
    for other in &spec.of {
        of.push(resolve(other, find, open, known)?);
    }
    open.pop();
    let dates = |spans: &BTreeSet<DaySpan>| spans.iter().flat_map(|span| span.dates()).collect();
    let mut listed: BTreeSet<Date> = dates(&spec.days);
    listed.extend::<BTreeSet<Date>>(dates(&spec.add));
    let ends = of.iter().filter_map(|other| other.valid_until).chain(spec.valid_until);
    let set = Arc::new(DaySet {
        weekly: spec.weekly,
        valid_until: ends.min(),
        of,
        listed,
        removed: dates(&spec.remove),
    });
    known.insert(name.to_owned(), Arc::clone(&set));
    Ok(set)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{CalendarError, CalendarSpec, DaySet, DaySpan, WeekDay};

    fn spans(texts: &[&str]) -> BTreeSet<DaySpan> {
        texts.iter().map(|text| DaySpan::parse(text).unwrap()).collect()
    }

    fn find(name: &str) -> Option<CalendarSpec> {
        let of = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let spec = match name {
            "weekend" => {
                CalendarSpec { weekly: [WeekDay::Sat, WeekDay::Sun].into(), ..<_>::default() }
            }
            "cn" => CalendarSpec {
                of: of(&["weekend"]),
                days: spans(&["2026-10-01..2026-10-07"]),
                remove: spans(&["2026-10-10"]),
                valid_until: Some(jiff::civil::date(2026, 12, 31)),
                ..<_>::default()
            },
            "plant" => CalendarSpec {
                of: of(&["cn"]),
                add: spans(&["2026-10-12"]),
                remove: spans(&["2026-10-07"]),
                ..<_>::default()
            },
            "a" => CalendarSpec { of: of(&["b"]), ..<_>::default() },
            "b" => CalendarSpec { of: of(&["c"]), ..<_>::default() },
            "c" => CalendarSpec { of: of(&["b"]), ..<_>::default() },
            "d" => CalendarSpec { of: of(&["weekend", "gone"]), ..<_>::default() },
            _other => return None,
        };
        Some(spec)
    }

    #[test]
    fn a_calendar_has_its_own_days_and_those_of_others_less_what_it_removes() {
        let plant = DaySet::resolve("plant", &find).unwrap();
        let october = DaySpan::parse("2026-10-01..2026-10-18").unwrap();
        let days: Vec<i8> =
            october.dates().filter(|date| plant.holds(*date)).map(|date| date.day()).collect();
        // The 10th is a Saturday that is worked; the 7th is taken away again by the plant.
        assert_eq!(days, [1, 2, 3, 4, 5, 6, 11, 12, 17, 18]);
        assert_eq!(plant.valid_until(), Some(jiff::civil::date(2026, 12, 31)));
    }

    #[test]
    fn circles_and_unknown_names_are_told() {
        let refused = |name: &str| DaySet::resolve(name, &find).unwrap_err().to_string();
        assert_eq!(refused("a"), "the calendars are made of one another: b -> c -> b");
        assert_eq!(refused("d"), "there is no calendar `gone`");
        assert_eq!(
            DaySet::resolve("e", &find).unwrap_err(),
            CalendarError::Unknown("e".to_owned())
        );
    }

    #[test]
    fn days_are_dates_or_runs_of_dates() {
        let read = |text: &str| DaySpan::parse(text).map(|span| span.to_string());
        assert_eq!(read("2026-10-01"), Ok("2026-10-01".to_owned()));
        assert_eq!(read("2026-10-01 .. 2026-10-03"), Ok("2026-10-01..2026-10-03".to_owned()));
        for bad in ["", "2026-02-29", "2026-10-03..2026-10-01", "1..2", "2026-10", "20261001"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read("2026-01-01..2029-01-01").is_err());
    }
}
