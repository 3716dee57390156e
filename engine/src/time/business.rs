//! Business days: a calendar as one job uses it, and how far it is known. Knows no zone and no slot.

use std::sync::{Arc, OnceLock};

use hera_common::calendar::DaySet;
use hera_common::schedule::CalendarDays;
use jiff::civil::{Date, date};

/// Days are counted from here; a year before the first slot there can be.
const FIRST: Date = date(1969, 1, 1);
/// The last day that is looked at; no zone shows a slot after it.
const LAST: Date = date(2200, 1, 31);
const EPOCH: Date = date(1970, 1, 1);

/// The business days that a calendar gives.
#[derive(Debug)]
pub struct BusinessDays {
    set: Arc<DaySet>,
    days: CalendarDays,
    /// Their numbers from 1970-01-01 on, in order; counted when they are first asked for.
    table: OnceLock<Vec<i64>>,
}

impl PartialEq for BusinessDays {
    fn eq(&self, other: &Self) -> bool {
        self.days == other.days && self.set == other.set
    }
}

impl BusinessDays {
    /// Those of a calendar, or all others.
    #[must_use]
    pub const fn new(set: Arc<DaySet>, days: CalendarDays) -> Self {
        Self { set, days, table: OnceLock::new() }
    }

    /// The last day of which it is known; None: for ever.
    #[must_use]
    pub fn valid_until(&self) -> Option<Date> {
        self.set.valid_until()
    }

    /// Whether a day is a business day; None: nobody knows.
    #[must_use]
    pub fn holds(&self, day: Date) -> Option<bool> {
        let known = self.valid_until().is_none_or(|until| day <= until);
        known.then(|| self.set.holds(day) == (self.days == CalendarDays::Include))
    }

    /// The first business day at or after a day, as far as is known.
    pub(super) fn at_or_after(&self, day: Date) -> Option<Date> {
        let place = self.table().partition_point(|other| *other < number(day));
        self.at(place)
    }

    /// The last business day at or before a day, as far as is known.
    pub(super) fn at_or_before(&self, day: Date) -> Option<Date> {
        let count = self.table().partition_point(|other| *other <= number(day));
        self.at(count.checked_sub(1)?)
    }

    fn at(&self, place: usize) -> Option<Date> {
        self.table().get(place).map(|day| dated(*day))
    }

    /// All of them, as numbers of days from 1970-01-01 on, in order.
    pub(crate) fn table(&self) -> &[i64] {
        self.table.get_or_init(|| {
            let last = self.valid_until().map_or(LAST, |until| until.min(LAST));
            let days = std::iter::successors(Some(FIRST), |day| day.tomorrow().ok());
            let days = days.take_while(|day| *day <= last);
            days.filter(|day| self.holds(*day) == Some(true)).map(number).collect()
        })
    }
}

/// A day's number, counted from 1970-01-01.
pub(crate) fn number(day: Date) -> i64 {
    day.duration_since(EPOCH).as_hours() / 24
}

fn dated(number: i64) -> Date {
    let span = jiff::SignedDuration::from_hours(number.saturating_mul(24));
    EPOCH.checked_add(span).unwrap_or(Date::MAX)
}
