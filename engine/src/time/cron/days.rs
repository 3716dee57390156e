//! Which days of one month an expression means, as a mask. Knows nothing of times of day.

use jiff::civil::Date;

use super::bits::Bits;

/// The day-of-month and day-of-week fields together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Days {
    Month(MonthDays),
    Week(WeekDays),
    /// Both fields bind: one of them starts with `*` in the Unix form.
    Both(MonthDays, WeekDays),
    /// Either field is enough: both are set in the Unix form.
    Either(MonthDays, WeekDays),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MonthDays {
    /// Days 1 to 31; a month leaves out those that it has not.
    Listed(Bits),
    /// `L`, `L-n`: the last day, or `before` days ahead of it.
    Last { before: u8 },
    /// `LW`, `L-nW`: the weekday (Monday to Friday) nearest to that day.
    LastWeekday { before: u8 },
    /// `15W`: the weekday nearest to that day.
    NearestWeekday(u8),
}

/// Weekdays are counted from Sunday, 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WeekDays {
    Listed(Bits),
    /// `6#3`: the `nth` one of the month, from 1.
    Nth {
        weekday: u8,
        nth: u8,
    },
    /// `6L`: the last one of the month.
    Last {
        weekday: u8,
    },
}

const SUNDAY: u8 = 0;
const SATURDAY: u8 = 6;

impl Days {
    /// The days of the month that holds `date`, 1 to 31.
    pub(super) fn of_month(&self, date: Date) -> Bits {
        let month = Month::holding(date);
        match self {
            Self::Month(days) => days.of(month),
            Self::Week(days) => days.of(month),
            Self::Both(by_month, by_week) => by_month.of(month).and(by_week.of(month)),
            Self::Either(by_month, by_week) => by_month.of(month).or(by_week.of(month)),
        }
    }
}

/// What a month's calendar page shows.
#[derive(Clone, Copy)]
struct Month {
    first_weekday: u8,
    length: u8,
}

impl Month {
    fn holding(date: Date) -> Self {
        Self {
            first_weekday: date.first_of_month().weekday().to_sunday_zero_offset().unsigned_abs(),
            length: date.days_in_month().unsigned_abs(),
        }
    }

    fn weekday(self, day: u8) -> u8 {
        (self.first_weekday + day - 1) % 7
    }

    fn first(self, weekday: u8) -> u8 {
        (weekday + 7 - self.first_weekday) % 7 + 1
    }

    fn all(self) -> Bits {
        Bits::span(1, self.length)
    }

    /// Never leaves the month: from Saturday the 1st it goes to Monday the 3rd, from a Sunday at
    /// the end to the Friday before.
    fn nearest_working(self, day: u8) -> u8 {
        match self.weekday(day) {
            SATURDAY if day == 1 => 3,
            SATURDAY => day - 1,
            SUNDAY if day == self.length => day - 2,
            SUNDAY => day + 1,
            _ => day,
        }
    }
}

impl MonthDays {
    fn of(&self, month: Month) -> Bits {
        let counted_back = |before: u8| month.length.checked_sub(before).filter(|day| *day > 0);
        let day = match self {
            Self::Listed(days) => return days.and(month.all()),
            Self::Last { before } => counted_back(*before),
            Self::LastWeekday { before } => {
                counted_back(*before).map(|day| month.nearest_working(day))
            }
            // A month without a 31st has no `31W`, as it has no `31`.
            Self::NearestWeekday(day) => {
                (*day <= month.length).then(|| month.nearest_working(*day))
            }
        };
        single(day)
    }
}

impl WeekDays {
    fn of(&self, month: Month) -> Bits {
        match self {
            Self::Listed(weekdays) => month.all().and(weekdays.weeks_from(month.first_weekday)),
            Self::Nth { weekday, nth } => {
                let day = month.first(*weekday) + 7 * (nth - 1);
                single((day <= month.length).then_some(day))
            }
            Self::Last { weekday } => {
                let back = (month.weekday(month.length) + 7 - weekday) % 7;
                single(Some(month.length - back))
            }
        }
    }
}

fn single(day: Option<u8>) -> Bits {
    let mut days = Bits::EMPTY;
    if let Some(day) = day {
        days.insert(day);
    }
    days
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::{Days, MonthDays, WeekDays};

    fn days(days: &Days, year: i16, month: i8) -> Vec<u8> {
        let mask = days.of_month(date(year, month, 10));
        (0..64).filter(|day| mask.has(*day)).collect()
    }

    #[test]
    fn the_nearest_weekday_stays_in_its_month() {
        // 2026-08-01 is a Saturday, 2026-05-31 a Sunday.
        assert_eq!(days(&Days::Month(MonthDays::NearestWeekday(1)), 2026, 8), [3]);
        assert_eq!(days(&Days::Month(MonthDays::NearestWeekday(31)), 2026, 5), [29]);
        assert_eq!(days(&Days::Month(MonthDays::NearestWeekday(31)), 2026, 4), [0u8; 0]);
        assert_eq!(days(&Days::Month(MonthDays::LastWeekday { before: 0 }), 2026, 5), [29]);
        assert_eq!(days(&Days::Month(MonthDays::LastWeekday { before: 30 }), 2026, 8), [3]);
        assert_eq!(days(&Days::Month(MonthDays::Last { before: 28 }), 2026, 2), [0u8; 0]);
    }

    #[test]
    fn counts_weekdays_from_both_ends_of_the_month() {
        let nth = |weekday, nth| Days::Week(WeekDays::Nth { weekday, nth });
        assert_eq!(days(&nth(5, 3), 2026, 1), [16]);
        assert_eq!(days(&nth(1, 5), 2026, 2), [0u8; 0]);
        assert_eq!(days(&Days::Week(WeekDays::Last { weekday: 5 }), 2026, 1), [30]);
        assert_eq!(days(&Days::Week(WeekDays::Last { weekday: 6 }), 2026, 2), [28]);
    }
}
