//! Periods of a zone (hours, days, business days, weeks, months) as numbers that follow one another. Knows no job.

use hera_common::spec::Period;

use super::zone::{HOUR_MS, MS_MAX, Zone, month_of, month_start};

/// 1970-01-01 was a Thursday: the week that holds it began three days before.
const MONDAY: i64 = -3;

/// Which period: of days, weeks and months its number in their order; of an hour its first instant
/// in milliseconds. Together with the kind it names the period.
pub(super) type Index = i64;

impl Zone {
    /// The period of days or more that holds a day.
    pub(super) fn of_day(&self, period: Period, day: i64) -> Index {
        match period {
            Period::Hour | Period::Day => day,
            Period::BusinessDay => self.business_day_of(day),
            Period::Week => (day - MONDAY).div_euclid(7),
            Period::Month => month_of(day),
        }
    }

    /// The first day of a period of days or more; that of the next index is the day after its last.
    pub(super) fn first_day(&self, period: Period, index: Index) -> i64 {
        match period {
            Period::Hour | Period::Day => index,
            Period::BusinessDay => self.business_day(index),
            Period::Week => index.saturating_mul(7).saturating_add(MONDAY),
            Period::Month => month_start(index),
        }
    }

    /// The period that holds an instant.
    pub(super) fn period_of(&mut self, period: Period, at: i64) -> Index {
        match period {
            Period::Hour => self.hour(at).0,
            Period::Day | Period::BusinessDay | Period::Week | Period::Month => {
                let day = self.day_of(at);
                self.of_day(period, day)
            }
        }
    }

    /// Its instants, the first and the one after the last.
    pub(super) fn span(&mut self, period: Period, index: Index) -> (i64, i64) {
        match period {
            Period::Hour => self.hour(index),
            Period::Day | Period::BusinessDay | Period::Week | Period::Month => {
                let first = self.first_day(period, index);
                let until = self.first_day(period, index.saturating_add(1));
                (self.day_start(first), self.day_start(until))
            }
        }
    }

    /// The period `n` periods later.
    pub(super) fn later(&self, period: Period, index: Index, n: i64) -> Index {
        match period {
            Period::Hour if n < 0 => self.hours_back(index, n.saturating_neg()),
            Period::Hour => self.hours_on(index, n),
            Period::Day | Period::BusinessDay | Period::Week | Period::Month => {
                index.saturating_add(n)
            }
        }
    }

    /// The hour that holds an instant: the longest run of instants with one local date, hour and
    /// offset. It is shorter where a change of the clocks cuts it.
    pub(super) fn hour(&self, at: i64) -> (i64, i64) {
        let offset = self.offset_ms(at);
        let local = at.saturating_add(offset);
        let from = local.div_euclid(HOUR_MS).saturating_mul(HOUR_MS).saturating_sub(offset);
        let to = from.saturating_add(HOUR_MS);
        let cut_from = (self.offset_ms(from) != offset).then(|| self.change_at_or_before(at));
        let cut_to = (self.offset_ms(to - 1) != offset).then(|| self.change_after(at, to));
        (cut_from.flatten().unwrap_or(from), cut_to.flatten().unwrap_or(to))
    }

    /// `n` hours before the one that begins at `start`. Hours between two changes of the clocks are
    /// counted at once, so that any number is bounded work.
    fn hours_back(&self, mut start: i64, mut n: i64) -> i64 {
        while n > 0 {
            let whole = match self.change_at_or_before(start) {
                Some(change) => n.min((start - change) / HOUR_MS),
                None => return start.saturating_sub(n.saturating_mul(HOUR_MS)),
            };
            start -= whole * HOUR_MS;
            n -= whole;
            if n > 0 {
                start = self.hour(start.saturating_sub(1)).0;
                n -= 1;
            }
        }
        start
    }

    /// `n` hours after the one that begins at `start`.
    fn hours_on(&self, mut start: i64, mut n: i64) -> i64 {
        while n > 0 {
            let end = self.hour(start).1;
            let Some(change) = self.change_after(start, MS_MAX) else {
                return end.saturating_add((n - 1).saturating_mul(HOUR_MS));
            };
            // Hours that begin at `end` and later, before the change; the change begins one more.
            let whole = (change - end + HOUR_MS - 1) / HOUR_MS;
            if n <= whole {
                return end + (n - 1) * HOUR_MS;
            }
            (start, n) = (change, n - whole - 1);
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use hera_common::spec::Period;
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::super::zone::{HOUR_MS, Zone};

    fn zone(name: &str) -> Zone {
        Zone::new(TimeZone::get(name).unwrap())
    }

    fn ms(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    /// Minutes of each hour of a day, one after another.
    fn hours(name: &str, day_at: &str) -> Vec<i64> {
        let mut zone = zone(name);
        let day = zone.day_of(ms(day_at));
        let (mut at, end) = (zone.day_start(day), zone.day_start(day + 1));
        let mut lengths = Vec::new();
        while at < end {
            let (from, to) = zone.hour(at);
            assert_eq!(from, at, "hours leave no room between them");
            lengths.push((to - from) / 60_000);
            at = to;
        }
        lengths
    }

    #[test]
    fn hours_follow_the_clocks() {
        assert_eq!(hours("Europe/Berlin", "2026-03-29T12:00:00Z"), [60; 23]);
        assert_eq!(hours("Europe/Berlin", "2026-10-25T12:00:00Z"), [60; 25]);
        assert_eq!(hours("Asia/Kolkata", "2026-10-25T12:00:00Z"), [60; 24]);
        // Half an hour forward at 02:00: the hour of 02 has lost its first half.
        let mut forward = [60; 24];
        forward[2] = 30;
        assert_eq!(hours("Australia/Lord_Howe", "2026-10-04T03:00:00Z"), forward);
        // Half an hour back at 02:00: 01:30 to 02:00 comes twice, and is an hour of its own.
        let mut back = [60; 25];
        back[2] = 30;
        assert_eq!(hours("Australia/Lord_Howe", "2026-04-05T03:00:00Z"), back);
    }

    fn check_counting(name: &str, at: &str) {
        let zone = zone(name);
        let (start, _) = zone.hour(ms(at));
        let mut by_one = start;
        for n in 1..4_500 {
            by_one = zone.hour(by_one - 1).0;
            assert_eq!(zone.later(Period::Hour, start, -n), by_one, "{name} -{n}");
            assert_eq!(zone.later(Period::Hour, by_one, n), start, "{name} +{n}");
        }
    }

    #[test]
    fn counting_hours_at_once_is_the_same_as_one_by_one() {
        for name in ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Chatham", "UTC"] {
            check_counting(name, "2026-04-06T01:15:00Z");
            check_counting(name, "2026-10-26T12:40:00Z");
        }
    }

    #[test]
    fn any_number_of_hours_ends() {
        let berlin = zone("Europe/Berlin");
        let start = berlin.hour(0).0;
        assert!(berlin.later(Period::Hour, start, i64::from(i32::MIN)) < start);
        assert!(berlin.later(Period::Hour, start, i64::from(i32::MAX)) > start + HOUR_MS);
    }
}
