//! A calendar that counts as `java.util.Calendar` does: lenient, and what is set is put together
//! only when somebody looks. Knows no pattern and no script.

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Before it Java's calendar is Julian (until 1582), after it patterns have no digits for a year.
const YEARS: std::ops::RangeInclusive<i16> = 1600..=9999;

/// The fields of a calendar, by the numbers that scripts use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Year,
    Month,
    WeekOfYear,
    WeekOfMonth,
    Day,
    DayOfYear,
    DayOfWeek,
    DayOfWeekInMonth,
    AmPm,
    Hour,
    HourOfDay,
    Minute,
    Second,
    Millisecond,
}

impl Field {
    /// Number, name, field. Java knows `DAY_OF_MONTH` under two names.
    const TABLE: [(i32, &'static str, Self); 15] = [
        (1, "YEAR", Self::Year),
        (2, "MONTH", Self::Month),
        (3, "WEEK_OF_YEAR", Self::WeekOfYear),
        (4, "WEEK_OF_MONTH", Self::WeekOfMonth),
        (5, "DATE", Self::Day),
        (5, "DAY_OF_MONTH", Self::Day),
        (6, "DAY_OF_YEAR", Self::DayOfYear),
        (7, "DAY_OF_WEEK", Self::DayOfWeek),
        (8, "DAY_OF_WEEK_IN_MONTH", Self::DayOfWeekInMonth),
        (9, "AM_PM", Self::AmPm),
        (10, "HOUR", Self::Hour),
        (11, "HOUR_OF_DAY", Self::HourOfDay),
        (12, "MINUTE", Self::Minute),
        (13, "SECOND", Self::Second),
        (14, "MILLISECOND", Self::Millisecond),
    ];

    /// By number.
    pub(super) fn numbered(number: i32) -> Option<Self> {
        Self::TABLE.iter().find(|(n, _name, _field)| *n == number).map(|(.., field)| *field)
    }

    /// By Java's name, in any case of letters.
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut table = Self::TABLE.iter();
        table.find(|(_n, known, _field)| known.eq_ignore_ascii_case(name)).map(|(.., field)| *field)
    }
}

/// The date has left the years that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfRange;

/// A week of a year or of a month: where it begins depends on the machine's country.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByCountry;

/// A date that scripts move.
#[derive(Debug, Clone)]
pub(super) struct Calendar {
    zone: TimeZone,
    /// The instant as of the last time that the fields were put together.
    ms: i64,
    /// What has been set since then, oldest first.
    set: Vec<(Field, i32)>,
}

impl Calendar {
    /// At an instant, milliseconds since 1970.
    pub(super) fn new(zone: TimeZone, ms: i64) -> Result<Self, OutOfRange> {
        let calendar = Self { zone, ms, set: Vec::new() };
        calendar.local()?;
        Ok(calendar)
    }

    /// The instant, milliseconds since 1970.
    pub(super) fn millis(&self) -> Result<i64, OutOfRange> {
        let mut whole = self.clone();
        whole.complete()?;
        Ok(whole.ms)
    }

    /// Local date and time, and the offset from UTC.
    pub(super) fn shown(&self) -> Result<(DateTime, Offset), OutOfRange> {
        let mut whole = self.clone();
        whole.complete()?;
        let (local, offset) = whole.local()?;
        Ok((local, offset))
    }

    /// Sets a field; others are kept until somebody looks.
    pub(super) fn set(&mut self, field: Field, value: i32) -> Result<(), ByCountry> {
        if matches!(field, Field::WeekOfYear | Field::WeekOfMonth) {
            return Err(ByCountry);
        }
        self.set.push((field, value));
        Ok(())
    }

    /// Reads a field; months count from 0, Sunday is 1.
    pub(super) fn get(&self, field: Field) -> Result<Result<i32, ByCountry>, OutOfRange> {
        let (local, _offset) = self.shown()?;
        Ok(value(local, field).ok_or(ByCountry))
    }

    /// Moves by `amount`. Years and months keep the day of the month where it exists, and else take
    /// the month's last; days and weeks keep the time of day; hours and less are elapsed time.
    pub(super) fn add(&mut self, field: Field, amount: i32) -> Result<(), OutOfRange> {
        if amount == 0 {
            return Ok(());
        }
        self.complete()?;
        let amount = i64::from(amount);
        match field {
            Field::Year => self.add_months(amount * 12),
            Field::Month => self.add_months(amount),
            Field::WeekOfYear | Field::WeekOfMonth | Field::DayOfWeekInMonth => {
                self.add_days(amount * 7, 0)
            }
            Field::Day | Field::DayOfYear | Field::DayOfWeek => self.add_days(amount, 0),
            // Half days: the odd one moves the time of day.
            Field::AmPm => self.add_days(amount / 2, amount % 2 * 12 * HOUR_MS),
            Field::Hour | Field::HourOfDay => self.add_elapsed(amount * HOUR_MS),
            Field::Minute => self.add_elapsed(amount * MINUTE_MS),
            Field::Second => self.add_elapsed(amount * 1_000),
            Field::Millisecond => self.add_elapsed(amount),
        }
    }

    fn add_elapsed(&mut self, ms: i64) -> Result<(), OutOfRange> {
        self.ms = self.ms.checked_add(ms).ok_or(OutOfRange)?;
        self.local().map(|_shown| ())
    }

    fn add_months(&mut self, months: i64) -> Result<(), OutOfRange> {
        let (local, _offset) = self.local()?;
        let month = i64::from(local.year()) * 12 + i64::from(local.month()) - 1 + months;
        let first = month_start(month.div_euclid(12), month.rem_euclid(12))?;
        let day = local.day().min(first.days_in_month());
        // Set, not moved to: what is set next is put together with these.
        self.set.push((Field::Year, i32::from(first.year())));
        self.set.push((Field::Month, i32::from(first.month()) - 1));
        if day != local.day() {
            self.set.push((Field::Day, i32::from(day)));
        }
        Ok(())
    }

    /// Moves by days with the offset of before; where that has changed on the new day, the time of
    /// day is kept instead, unless that would be another day.
    fn add_days(&mut self, days: i64, ms: i64) -> Result<(), OutOfRange> {
        let (before, offset) = self.local()?;
        let shift = days.checked_mul(DAY_MS).and_then(|days| days.checked_add(ms));
        let target = self.ms.checked_add(shift.ok_or(OutOfRange)?).ok_or(OutOfRange)?;
        let wanted = before
            .date()
            .checked_add(SignedDuration::from_millis(day_shift(before, ms) + days * DAY_MS))
            .map_err(|_far| OutOfRange)?;
        self.ms = target;
        let (_local, there) = self.local()?;
        let moved = i64::from(offset.seconds() - there.seconds()) * 1_000;
        if moved != 0 {
            self.ms = target + moved;
            if self.local()?.0.date() != wanted {
                self.ms = target;
            }
        }
        Ok(())
    }

    /// Puts together what was set.
    fn complete(&mut self) -> Result<(), OutOfRange> {
        if self.set.is_empty() {
            return Ok(());
        }
        let (local, _offset) = self.local()?;
        let set = std::mem::take(&mut self.set);
        let date = date(local, &set)?;
        let time = time_ms(local, &set);
        let midnight = date.to_datetime(jiff::civil::Time::midnight());
        let wall = midnight.checked_add(SignedDuration::from_millis(time));
        self.ms = self.instant(wall.map_err(|_far| OutOfRange)?)?;
        self.local().map(|_shown| ())
    }

    /// In a gap the time after it, as long after as the gap is wide; in a repeated hour the second.
    fn instant(&self, wall: DateTime) -> Result<i64, OutOfRange> {
        let offset = match self.zone.to_ambiguous_timestamp(wall).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, after: _ } => before,
            AmbiguousOffset::Fold { before: _, after } => after,
        };
        let instant = offset.to_timestamp(wall).map_err(|_far| OutOfRange)?;
        Ok(instant.as_millisecond())
    }

    fn local(&self) -> Result<(DateTime, Offset), OutOfRange> {
        let instant = Timestamp::from_millisecond(self.ms).map_err(|_far| OutOfRange)?;
        let offset = self.zone.to_offset(instant);
        let local = offset.to_datetime(instant);
        if YEARS.contains(&local.year()) { Ok((local, offset)) } else { Err(OutOfRange) }
    }
}

/// How far the day moves when the time of day moves by `ms`, in milliseconds of whole days.
fn day_shift(local: DateTime, ms: i64) -> i64 {
    (time_of_day(local) + ms).div_euclid(DAY_MS) * DAY_MS
}

fn time_of_day(local: DateTime) -> i64 {
    let fields = [(local.hour(), HOUR_MS), (local.minute(), MINUTE_MS), (local.second(), 1_000)];
    let whole: i64 = fields.iter().map(|(value, unit)| i64::from(*value) * unit).sum();
    whole + i64::from(local.millisecond())
}

/// The first day of a month; months from 0.
fn month_start(year: i64, month: i64) -> Result<Date, OutOfRange> {
    let year = i16::try_from(year).map_err(|_far| OutOfRange)?;
    let month = i8::try_from(month + 1).map_err(|_far| OutOfRange)?;
    Date::new(year, month, 1).map_err(|_far| OutOfRange)
}

/// What was set last of a field, and when: 0 means never.
fn last_set(set: &[(Field, i32)], field: Field) -> (usize, Option<i32>) {
    let found = set.iter().enumerate().rev().find(|(_when, (set, _value))| *set == field);
    found.map_or((0, None), |(when, (_field, value))| (when + 1, Some(*value)))
}

/// The date of what was set: the way to name a day whose part was set last decides.
fn date(local: DateTime, set: &[(Field, i32)]) -> Result<Date, OutOfRange> {
    let now = |field| last_set(set, field).1.or_else(|| value(local, field)).unwrap_or(0);
    let when = |field| last_set(set, field).0;
    let weekday = when(Field::DayOfWeek);
    let in_month = when(Field::DayOfWeekInMonth);
    let (year, month) = (i64::from(now(Field::Year)), i64::from(now(Field::Month)));
    let by_weekday = weekday.max(in_month);
    let start = || month_start(year + month.div_euclid(12), month.rem_euclid(12));
    if when(Field::DayOfYear) > when(Field::Day).max(by_weekday) {
        return forward(month_start(year, 0)?, i64::from(now(Field::DayOfYear)) - 1);
    }
    if by_weekday <= when(Field::Day) {
        return forward(start()?, i64::from(now(Field::Day)) - 1);
    }
    let start = start()?;
    let day = now(Field::DayOfWeek);
    if in_month == 0 {
        // The same week of the month as before; weeks begin on Sunday, the first may be short.
        let first = i64::from(local.first_of_month().weekday().to_sunday_zero_offset());
        let week = (i64::from(local.day()) - 1 + first).div_euclid(7);
        let sunday = forward(start, -i64::from(start.weekday().to_sunday_zero_offset()))?;
        return forward(sunday, 7 * week + i64::from(day - 1).rem_euclid(7));
    }
    let nth = i64::from(now(Field::DayOfWeekInMonth));
    // The n-th of the month; counted from its end where n is below 0.
    let last = if nth >= 0 { 7 * nth } else { i64::from(start.days_in_month()) + 7 * (nth + 1) };
    on_or_before(forward(start, last - 1)?, day)
}

fn forward(date: Date, days: i64) -> Result<Date, OutOfRange> {
    let hours = days.checked_mul(24).ok_or(OutOfRange)?;
    date.checked_add(SignedDuration::from_hours(hours)).map_err(|_far| OutOfRange)
}

/// The last day with that number (Sunday is 1) at or before a date.
fn on_or_before(date: Date, day: i32) -> Result<Date, OutOfRange> {
    let today = i64::from(date.weekday().to_sunday_zero_offset());
    forward(date, -(today - i64::from(day - 1)).rem_euclid(7))
}

/// The time of day of what was set, milliseconds; it may lie outside of the day.
fn time_ms(local: DateTime, set: &[(Field, i32)]) -> i64 {
    let now =
        |field| i64::from(last_set(set, field).1.or_else(|| value(local, field)).unwrap_or(0));
    let when = |field| last_set(set, field).0;
    let half = when(Field::Hour).max(when(Field::AmPm));
    let hours = if half > when(Field::HourOfDay) {
        now(Field::Hour) + 12 * now(Field::AmPm)
    } else {
        now(Field::HourOfDay)
    };
    hours * HOUR_MS
        + now(Field::Minute) * MINUTE_MS
        + now(Field::Second) * 1_000
        + now(Field::Millisecond)
}

/// A field as Java numbers it; None for weeks, which depend on the country.
fn value(local: DateTime, field: Field) -> Option<i32> {
    let hour = i32::from(local.hour());
    Some(match field {
        Field::Year => i32::from(local.year()),
        Field::Month => i32::from(local.month()) - 1,
        Field::WeekOfYear | Field::WeekOfMonth => return None,
        Field::Day => i32::from(local.day()),
        Field::DayOfYear => i32::from(local.day_of_year()),
        Field::DayOfWeek => i32::from(local.weekday().to_sunday_one_offset()),
        Field::DayOfWeekInMonth => (i32::from(local.day()) - 1) / 7 + 1,
        Field::AmPm => hour / 12,
        Field::Hour => hour % 12,
        Field::HourOfDay => hour,
        Field::Minute => i32::from(local.minute()),
        Field::Second => i32::from(local.second()),
        Field::Millisecond => i32::from(local.millisecond()),
    })
}
