//! What a calendar does to a rule's local times: those of other days are left out, or moved to a business
//! day at the same time. Knows no zone.

use std::sync::Arc;

use hera_common::schedule::Roll;
use jiff::civil::{Date, DateTime, Time};

use super::business::BusinessDays;
use super::rule::LocalTimes;

/// A calendar on a schedule.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OnDays {
    pub(super) days: Arc<BusinessDays>,
    pub(super) roll: Roll,
}

/// The last second of a day.
const EVENING: Time = Time::constant(23, 59, 59, 0);

impl OnDays {
    /// The first local time at or after `from`.
    pub(super) fn next(&self, times: &LocalTimes<'_>, from: DateTime) -> Option<DateTime> {
        if self.roll == Roll::Skip {
            let mut at = from;
            loop {
                let found = times.next(at)?;
                match self.days.holds(found.date())? {
                    true => return Some(found),
                    false => at = midnight(self.days.at_or_after(found.date())?),
                }
            }
        }
        let mut day = self.days.at_or_after(from.date())?;
        let mut time = if day == from.date() { from.time() } else { Time::midnight() };
        loop {
            let (first, last) = self.sources(day)?;
            let moved = |source: Date| {
                let found = times.next(source.to_datetime(time))?;
                (found.date() == source).then(|| day.to_datetime(found.time()))
            };
            let best = named(times, first, last).filter_map(moved).min();
            if best.is_some() {
                return best;
            }
            // Where the next local time leads, but not back to this day.
            let after = times.next(midnight(last.tomorrow().ok()?))?;
            day = self.target(after.date())?;
            time = Time::midnight();
        }
    }

    /// The last local time at or before `to`.
    pub(super) fn prev(&self, times: &LocalTimes<'_>, to: DateTime) -> Option<DateTime> {
        if self.roll == Roll::Skip {
            let mut at = to;
            loop {
                let found = times.prev(at)?;
                if self.days.holds(found.date()) == Some(true) {
                    return Some(found);
                }
                at = self.days.at_or_before(found.date())?.to_datetime(EVENING);
            }
        }
        let mut day = self.days.at_or_before(to.date())?;
        let mut time = if day == to.date() { to.time() } else { EVENING };
        loop {
            let (first, last) = self.sources(day)?;
            let moved = |source: Date| {
                let found = times.prev(source.to_datetime(time))?;
                (found.date() == source).then(|| day.to_datetime(found.time()))
            };
            let best = named(times, first, last).filter_map(moved).max();
            if best.is_some() {
                return best;
            }
            let before = times.prev(first.yesterday().ok()?.to_datetime(EVENING))?;
            day = self.target(before.date())?;
            time = EVENING;
        }
    }

    /// The business day that a day's local times go to; of a day that nobody knows they go nowhere.
    fn target(&self, day: Date) -> Option<Date> {
        self.days.holds(day)?;
        match self.roll {
            Roll::Next => self.days.at_or_after(day),
            Roll::Skip | Roll::Previous => self.days.at_or_before(day),
        }
    }

    /// The days whose local times go to a business day, the first and the last; it is one of them.
    fn sources(&self, day: Date) -> Option<(Date, Date)> {
        match self.roll {
            Roll::Skip => Some((day, day)),
            Roll::Next => {
                let before = self.days.at_or_before(day.yesterday().ok()?);
                Some((before.map_or(Some(day), |before| before.tomorrow().ok())?, day))
            }
            Roll::Previous => {
                let after = self.days.at_or_after(day.tomorrow().ok()?);
                let last = match (after, self.days.valid_until()) {
                    (Some(after), _) => after.yesterday().ok()?,
                    (None, Some(until)) => until,
                    (None, None) => day,
                };
                Some((day, last))
            }
        }
    }
}

/// The days from `first` to `last` that have local times.
fn named<'t>(
    times: &'t LocalTimes<'t>,
    first: Date,
    last: Date,
) -> impl Iterator<Item = Date> + 't {
    let from = move |day: Date| {
        times.next(midnight(day)).map(|found| found.date()).filter(|found| *found <= last)
    };
    std::iter::successors(from(first), move |day| from(day.tomorrow().ok()?))
}

fn midnight(day: Date) -> DateTime {
    day.to_datetime(Time::midnight())
}
