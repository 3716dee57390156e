//! Days and offsets of one time zone, in milliseconds. Knows no job and no data interval.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hera_common::shift::Shift;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::time::{BusinessDays, day_number};

/// Milliseconds of an hour and of a day without a change of the clocks.
pub(super) const HOUR_MS: i64 = 3_600_000;
pub(super) const DAY_MS: i64 = 24 * HOUR_MS;

/// No slot lies outside: two days before 1970, and 2200-01-03. What is moved farther stands still
/// there, so that calendar arithmetic never leaves the years that zones know.
pub(super) const MS_MIN: i64 = -2 * DAY_MS;
pub(super) const MS_MAX: i64 = 7_258_291_200_000;
/// How far beyond these ends periods may begin or end: data intervals of the far past are dates, too.
const REACH_MS: i64 = 1 << 46;

/// A zone whose days are remembered: a day is asked for once for each job that is due in it.
#[derive(Debug)]
pub(super) struct Zone {
    zone: TimeZone,
    starts: BTreeMap<i64, i64>,
    business_days: Option<Arc<BusinessDays>>,
    /// Set where business days past the end of the calendar were asked for.
    past: Arc<AtomicBool>,
}

impl Zone {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self::with(zone, None, Arc::default())
    }

    /// With a calendar; `past` is told when it does not know enough.
    pub(super) const fn with(
        zone: TimeZone,
        business_days: Option<Arc<BusinessDays>>,
        past: Arc<AtomicBool>,
    ) -> Self {
        Self { zone, starts: BTreeMap::new(), business_days, past }
    }

    /// Whether it counts the business days of this very calendar.
    pub(super) fn counts(&self, days: Option<&Arc<BusinessDays>>) -> bool {
        match (&self.business_days, days) {
            (Some(mine), Some(other)) => Arc::ptr_eq(mine, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// The number of the last business day at or before a day, in their order. Without a calendar,
    /// which is refused when a job is saved, every day is one.
    pub(super) fn business_day_of(&self, day: i64) -> i64 {
        let Some(days) = &self.business_days else { return day };
        self.note_past(days, day);
        let count = days.table().partition_point(|other| *other <= day);
        i64::try_from(count).unwrap_or(i64::MAX) - 1
    }

    /// The day of a business day by its number.
    pub(super) fn business_day(&self, number: i64) -> i64 {
        let Some(days) = &self.business_days else { return number };
        let table = days.table();
        let (Some(first), Some(last)) = (table.first(), table.last()) else {
            self.past.store(true, Ordering::Relaxed);
            return number;
        };
        match usize::try_from(number) {
            Err(_before_all) => *first,
            Ok(place) => table.get(place).copied().unwrap_or_else(|| {
                self.past.store(true, Ordering::Relaxed);
                last.saturating_add(1)
            }),
        }
    }

    /// The day that lies `n` business days after a day, or before it.
    fn business_days_later(&self, day: i64, n: i32) -> i64 {
        let Some(days) = &self.business_days else { return day.saturating_add(i64::from(n)) };
        self.note_past(days, day);
        let table = days.table();
        let place = if n < 0 {
            table.partition_point(|other| *other < day)
        } else {
            table.partition_point(|other| *other <= day)
        };
        let back = i64::from(n) - i64::from(n > 0);
        self.business_day(i64::try_from(place).unwrap_or(i64::MAX).saturating_add(back))
    }

    fn note_past(&self, days: &BusinessDays, day: i64) {
        if days.valid_until().is_some_and(|until| day > day_number(until)) {
            self.past.store(true, Ordering::Relaxed);
        }
    }

    pub(super) const fn time_zone(&self) -> &TimeZone {
        &self.zone
    }

    /// What the zone adds to UTC then, milliseconds.
    pub(super) fn offset_ms(&self, at: i64) -> i64 {
        i64::from(self.zone.to_offset(instant(at)).seconds()) * 1_000
    }

    /// The day that holds an instant, counted from 1970-01-01: the days are cut at their first
    /// instants, so a date that a change of the clocks shows twice is not torn.
    pub(super) fn day_of(&mut self, at: i64) -> i64 {
        let shown = (at.clamp(-REACH_MS, REACH_MS) + self.offset_ms(at)).div_euclid(DAY_MS);
        // Only a change across midnight moves an instant out of the day that clocks show.
        if at < self.day_start(shown) {
            shown - 1
        } else if at >= self.day_start(shown + 1) {
            shown + 1
        } else {
            shown
        }
    }

    /// The first instant of a day; of a date that the zone leaves out, the first one after it.
    pub(super) fn day_start(&mut self, day: i64) -> i64 {
        if let Some(start) = self.starts.get(&day) {
            return *start;
        }
        let start = self.resolve(day.saturating_mul(DAY_MS));
        self.starts.insert(day, start);
        start
    }

    /// The instant of a local time (milliseconds as if the zone were UTC): in a repeated hour the
    /// first one, in a gap the first instant after it.
    fn resolve(&self, local: i64) -> i64 {
        let local = local.clamp(-REACH_MS, REACH_MS);
        match self.zone.to_ambiguous_timestamp(datetime(local)).offset() {
            AmbiguousOffset::Unambiguous { offset } => local - offset_of(offset),
            AmbiguousOffset::Fold { before, .. } => local - offset_of(before),
            AmbiguousOffset::Gap { after, .. } => {
                // Read with the offset after the gap, the time lies before the change.
                let before_change = local - offset_of(after);
                let change = self.zone.following(instant(before_change)).next();
                change.map_or(before_change, |change| change.timestamp().as_millisecond())
            }
        }
    }

    /// The change of the UTC offset that is the newest at or before an instant.
    pub(super) fn change_at_or_before(&self, at: i64) -> Option<i64> {
        self.zone
            .preceding(instant(at.saturating_add(1)))
            .map(|change| change.timestamp().as_millisecond())
            .find(|change| self.offset_ms(*change) != self.offset_ms(change - 1))
    }

    /// The first change of the UTC offset after an instant and up to `limit`.
    pub(super) fn change_after(&self, at: i64, limit: i64) -> Option<i64> {
        self.zone
            .following(instant(at))
            .map(|change| change.timestamp().as_millisecond())
            .take_while(|change| *change <= limit)
            .find(|change| self.offset_ms(*change) != self.offset_ms(change - 1))
    }

    /// An instant moved by elapsed time, or by days, business days or months of this zone. Slots are a job's own
    /// matter: by them nothing moves here.
    pub(super) fn shifted(&self, at: i64, shift: Shift) -> i64 {
        if shift.is_none() {
            return at;
        }
        let moved = match shift {
            Shift::Elapsed { ms } => at.saturating_add(ms),
            Shift::Days { n } => {
                let local = at.saturating_add(self.offset_ms(at));
                self.resolve(local.saturating_add(i64::from(n) * DAY_MS))
            }
            Shift::BusinessDays { n } => {
                let local = at.saturating_add(self.offset_ms(at));
                let (day, time) = (local.div_euclid(DAY_MS), local.rem_euclid(DAY_MS));
                self.resolve(self.business_days_later(day, n).saturating_mul(DAY_MS) + time)
            }
            Shift::Months { n } => {
                let local = at.saturating_add(self.offset_ms(at));
                let (day, time) = (local.div_euclid(DAY_MS), local.rem_euclid(DAY_MS));
                self.resolve(months_later(day, n) * DAY_MS + time)
            }
            Shift::Slots { .. } => at,
        };
        moved.clamp(MS_MIN, MS_MAX)
    }
}

/// The day `n` months later, or the last one of that month where it is shorter.
fn months_later(day: i64, n: i32) -> i64 {
    let month = month_of(day).saturating_add(i64::from(n));
    let in_month = day - month_start(month_of(day));
    (month_start(month) + in_month).min(month_start(month + 1) - 1)
}

/// The month that holds a day, counted from year 0.
pub(super) fn month_of(day: i64) -> i64 {
    let date = date(day);
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

/// The first day of a month.
pub(super) fn month_start(month: i64) -> i64 {
    let year = i16::try_from(month.div_euclid(12)).unwrap_or(i16::MAX);
    let of_year = i8::try_from(month.rem_euclid(12) + 1).unwrap_or(1);
    // Years are kept far inside of jiff's by `REACH_MS`; a month beyond them begins with the last day.
    let first = Date::new(year, of_year, 1).unwrap_or(Date::MAX);
    Offset::UTC
        .to_timestamp(first.at(0, 0, 0, 0))
        .map_or(REACH_MS / DAY_MS, |start| start.as_millisecond().div_euclid(DAY_MS))
}

/// The date of a day counted from 1970-01-01.
pub(super) fn date(day: i64) -> Date {
    datetime(day.saturating_mul(DAY_MS).clamp(-REACH_MS, REACH_MS)).date()
}

fn datetime(local: i64) -> DateTime {
    Offset::UTC.to_datetime(instant(local))
}

fn offset_of(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * 1_000
}

fn instant(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms.clamp(-REACH_MS, REACH_MS)).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use hera_common::shift::Shift;
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::{DAY_MS, Zone, date};

    fn zone(name: &str) -> Zone {
        Zone::new(TimeZone::get(name).unwrap())
    }

    fn ms(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    fn shown(at: i64) -> String {
        Timestamp::from_millisecond(at).unwrap().to_string()
    }

    /// The date that holds an instant, and the span of that day.
    fn day(name: &str, at: &str) -> String {
        let mut zone = zone(name);
        let day = zone.day_of(ms(at));
        let (start, end) = (zone.day_start(day), zone.day_start(day + 1));
        format!("{} [{}, {})", date(day), shown(start), shown(end))
    }

    #[test]
    fn a_day_begins_with_the_first_instant_of_its_date() {
        let cases = [
            (
                "UTC",
                "2024-02-29T23:59:59Z",
                "2024-02-29 [2024-02-29T00:00:00Z, 2024-03-01T00:00:00Z)",
            ),
            // The clocks jump from 00:00 to 01:00.
            (
                "Asia/Beirut",
                "2026-03-28T22:00:00Z",
                "2026-03-29 [2026-03-28T22:00:00Z, 2026-03-29T21:00:00Z)",
            ),
            // The hour before midnight comes twice: both belong to the old date.
            (
                "Asia/Beirut",
                "2026-10-24T21:30:00Z",
                "2026-10-24 [2026-10-23T21:00:00Z, 2026-10-24T22:00:00Z)",
            ),
            // One minute of the new date is shown, then the clocks go back into the old one.
            (
                "America/St_Johns",
                "2010-11-07T02:45:00Z",
                "2010-11-07 [2010-11-07T02:30:00Z, 2010-11-08T03:30:00Z)",
            ),
            // The date before is left out.
            (
                "Pacific/Apia",
                "2011-12-30T10:00:00Z",
                "2011-12-31 [2011-12-30T10:00:00Z, 2011-12-31T10:00:00Z)",
            ),
        ];
        for (name, at, expected) in cases {
            assert_eq!(day(name, at), expected, "{name} {at}");
        }
    }

    #[test]
    fn a_date_that_a_zone_leaves_out_is_empty() {
        let mut apia = zone("Pacific/Apia");
        let left_out = ms("2011-12-30T00:00:00Z") / DAY_MS;
        assert_eq!(apia.day_start(left_out), apia.day_start(left_out + 1));
    }

    #[test]
    fn a_shift_keeps_the_time_of_day_where_it_exists() {
        let moved = |name: &str, at: &str, by: &str| {
            shown(zone(name).shifted(ms(at), Shift::parse(by).unwrap()))
        };
        // 02:30 is in the gap of the day before.
        assert_eq!(moved("Europe/Berlin", "2026-03-30T00:30:00Z", "-1d"), "2026-03-29T01:00:00Z");
        assert_eq!(moved("Europe/Berlin", "2026-03-30T00:30:00Z", "-24h"), "2026-03-29T00:30:00Z");
        // 02:30 comes twice on the day before: the first one.
        assert_eq!(moved("Europe/Berlin", "2026-10-26T01:30:00Z", "-1d"), "2026-10-25T00:30:00Z");
        assert_eq!(moved("UTC", "2024-03-31T10:00:00Z", "-1mo"), "2024-02-29T10:00:00Z");
        assert_eq!(moved("UTC", "2025-01-31T10:00:00Z", "+13mo"), "2026-02-28T10:00:00Z");
        assert_eq!(moved("UTC", "2024-03-31T10:00:00Z", "-100000mo"), "1969-12-30T00:00:00Z");
    }

    #[test]
    fn the_ends_of_the_range_are_no_panic() {
        let mut berlin = zone("Europe/Berlin");
        for at in [i64::MIN, -1, 0, i64::MAX] {
            let _day = berlin.day_of(at);
            let _start = berlin.day_start(at);
            let _moved = berlin.shifted(at, Shift::Months { n: i32::MIN });
        }
    }
}
