//! The next and the previous local time that an expression means: by day, then by hour, minute and
//! second, never second by second. Knows no zone.

use jiff::civil::{Date, DateTime, Time};

use super::{Cron, FIRST_YEAR, LAST_YEAR};

impl Cron {
    /// The least matching local time at or after `from` (whole seconds), to [`LAST_YEAR`].
    pub(crate) fn next_local(&self, from: DateTime) -> Option<DateTime> {
        if self.has_day(from.date())
            && let Some(time) = self.next_time(from.time())
        {
            return Some(from.date().to_datetime(time));
        }
        let date = self.next_date(from.date().tomorrow().ok()?)?;
        Some(date.to_datetime(self.next_time(Time::MIN)?))
    }

    /// The greatest matching local time at or before `from`, down to [`FIRST_YEAR`].
    pub(crate) fn prev_local(&self, from: DateTime) -> Option<DateTime> {
        if self.has_day(from.date())
            && let Some(time) = self.prev_time(from.time())
        {
            return Some(from.date().to_datetime(time));
        }
        let date = self.prev_date(from.date().yesterday().ok()?)?;
        Some(date.to_datetime(self.prev_time(Time::MAX)?))
    }

    fn has_month(&self, date: Date) -> bool {
        self.months.has(date.month().unsigned_abs())
    }

    fn has_day(&self, date: Date) -> bool {
        let year = date.year();
        (FIRST_YEAR..=LAST_YEAR).contains(&year)
            && self.years.as_ref().is_none_or(|years| years.contains(&year))
            && self.has_month(date)
            && self.days.of_month(date).has(date.day().unsigned_abs())
    }

    fn next_year(&self, from: i16) -> Option<i16> {
        let from = from.max(FIRST_YEAR);
        match &self.years {
            Some(years) => years.range(from..).next().copied(),
            None => (from <= LAST_YEAR).then_some(from),
        }
    }

    fn prev_year(&self, from: i16) -> Option<i16> {
        let from = from.min(LAST_YEAR);
        match &self.years {
            Some(years) => years.range(..=from).next_back().copied(),
            None => (from >= FIRST_YEAR).then_some(from),
        }
    }

    fn next_date(&self, from: Date) -> Option<Date> {
        let mut from = from;
        loop {
            let year = self.next_year(from.year())?;
            if year > from.year() {
                from = Date::new(year, 1, 1).ok()?;
            }
            if self.has_month(from)
                && let Some(day) = self.days.of_month(from).at_or_after(from.day().unsigned_abs())
            {
                return day_in_month(from, day);
            }
            from = from.last_of_month().tomorrow().ok()?;
        }
    }

    fn prev_date(&self, from: Date) -> Option<Date> {
        let mut from = from;
        loop {
            let year = self.prev_year(from.year())?;
            if year < from.year() {
                from = Date::new(year, 12, 31).ok()?;
            }
            if self.has_month(from)
                && let Some(day) = self.days.of_month(from).at_or_before(from.day().unsigned_abs())
            {
                return day_in_month(from, day);
            }
            from = from.first_of_month().yesterday().ok()?;
        }
    }

    fn next_time(&self, from: Time) -> Option<Time> {
        let [hour, minute, second] = parts(from);
        let in_hour = || {
            let in_minute = || Some((minute, self.seconds.at_or_after(second)?));
            let in_later_minute = || Some((self.minutes.after(minute)?, self.seconds.first()?));
            self.minutes.has(minute).then(in_minute).flatten().or_else(in_later_minute)
        };
        let later =
            || Some(time(self.hours.after(hour)?, self.minutes.first()?, self.seconds.first()?));
        let now = self.hours.has(hour).then(in_hour).flatten();
        now.map(|(minute, second)| time(hour, minute, second)).or_else(later)
    }

    fn prev_time(&self, from: Time) -> Option<Time> {
        let [hour, minute, second] = parts(from);
        let in_hour = || {
            let in_minute = || Some((minute, self.seconds.at_or_before(second)?));
            let in_earlier_minute = || Some((self.minutes.before(minute)?, self.seconds.last()?));
            self.minutes.has(minute).then(in_minute).flatten().or_else(in_earlier_minute)
        };
        let earlier =
            || Some(time(self.hours.before(hour)?, self.minutes.last()?, self.seconds.last()?));
        let now = self.hours.has(hour).then(in_hour).flatten();
        now.map(|(minute, second)| time(hour, minute, second)).or_else(earlier)
    }
}

fn parts(time: Time) -> [u8; 3] {
    [time.hour(), time.minute(), time.second()].map(i8::unsigned_abs)
}

fn time(hour: u8, minute: u8, second: u8) -> Time {
    let [hour, minute, second] = [hour, minute, second].map(u8::cast_signed);
    Time::new(hour, minute, second, 0).expect("the fields hold numbers of a clock")
}

fn day_in_month(month: Date, day: u8) -> Option<Date> {
    Date::new(month.year(), month.month(), day.cast_signed()).ok()
}
