//! One rule in one zone: the next and the previous real instant that it means; local times are taken
//! stretch by stretch of equal UTC offset. Knows no other rule of the schedule.

use hera_common::schedule::{DstGap, DstOverlap, DstPolicy, Interval};
use hera_common::time::Version;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::roll::OnDays;
use super::rule::{LocalTimes, Rule};
use super::schedule::Schedule;
use super::zone::{SECOND, Stretch, first_at, last_at};

/// Two days ahead of 1970: no zone shows that year earlier.
pub(super) const FIRST: Timestamp = Timestamp::constant(-172_800, 0);

/// 2200-01-03: all zones have left the last year, 2199.
pub(super) const LAST: Timestamp = Timestamp::constant(7_258_291_200, 0);

/// More than the distance between two local times of one instant (26 hours): that far from a local
/// time, read as UTC, no zone can show it.
const MARGIN: SignedDuration = SignedDuration::from_hours(48);

/// A place in the series of one rule's slots.
#[derive(Debug, Clone)]
pub(super) enum Walk<'a> {
    Local(LocalWalk<'a>),
    Elapsed { anchor: i64, step: i64, on: OnZone<'a> },
    Listed(&'a [Version], OnZone<'a>),
}

/// Which instants a calendar leaves of those that are no local times.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnZone<'a> {
    zone: &'a TimeZone,
    on_days: Option<&'a OnDays>,
}

/// A place among local times. Asked in order it looks up each stretch once.
#[derive(Debug, Clone)]
pub(super) struct LocalWalk<'a> {
    times: LocalTimes<'a>,
    on_days: Option<&'a OnDays>,
    zone: &'a TimeZone,
    dst: DstPolicy,
    stretch: Stretch,
    window: Window,
}

/// The local times of a stretch in which the cron fires: `[from, to)`.
#[derive(Debug, Clone, Copy)]
struct Window {
    from: DateTime,
    to: DateTime,
}

impl<'a> Walk<'a> {
    pub(super) fn new(rule: &'a Rule, schedule: &'a Schedule, at: Timestamp) -> Self {
        let on = OnZone { zone: schedule.zone(), on_days: schedule.on_days() };
        let local = |times| Self::Local(LocalWalk::new(times, on, schedule.dst(), at));
        match rule {
            Rule::Cron(cron) => local(LocalTimes::Cron(cron)),
            Rule::Every(every) => match every.interval() {
                Interval::Seconds(step) => Self::Elapsed {
                    anchor: every.anchor().ms().div_euclid(1000),
                    step: i64::from(step),
                    on,
                },
                Interval::Days(step) => local(LocalTimes::Days { first: every.local(), step }),
            },
            Rule::At(instants) => Self::Listed(instants.instants(), on),
            Rule::AtLocal(times) => local(LocalTimes::Listed(times.times())),
        }
    }

    /// The first slot at or after `from`, which is a whole second.
    pub(super) fn next(&mut self, from: Timestamp) -> Option<Timestamp> {
        let mut from = from;
        loop {
            let (found, on) = match self {
                Self::Local(walk) => return walk.next(from),
                Self::Elapsed { anchor, step, on } => {
                    let ahead = from.as_second().saturating_sub(*anchor).max(0);
                    let steps = ahead.div_euclid(*step) + i64::from(ahead.rem_euclid(*step) != 0);
                    (at_second(anchor.checked_add(steps.checked_mul(*step)?)?)?, *on)
                }
                Self::Listed(instants, on) => {
                    let version = Version::from_timestamp(from);
                    let index = instants.partition_point(|instant| *instant < version);
                    (at_second(instants.get(index)?.ms().div_euclid(1000))?, *on)
                }
            };
            if on.takes(found)? {
                return Some(found);
            }
            from = on.next_day(found)?;
        }
    }

    /// The last slot at or before `to`, which is a whole second.
    pub(super) fn prev(&mut self, to: Timestamp) -> Option<Timestamp> {
        let mut to = to;
        loop {
            let (found, on) = match self {
                Self::Local(walk) => return walk.prev(to),
                Self::Elapsed { anchor, step, on } => {
                    let ahead = to.as_second().checked_sub(*anchor).filter(|ahead| *ahead >= 0)?;
                    (at_second(*anchor + ahead / *step * *step)?, *on)
                }
                Self::Listed(instants, on) => {
                    let version = Version::from_timestamp(to);
                    let count = instants.partition_point(|instant| *instant <= version);
                    (at_second(instants.get(count.checked_sub(1)?)?.ms().div_euclid(1000))?, *on)
                }
            };
            if on.takes(found) == Some(true) {
                return Some(found);
            }
            to = on.day_before(found)?;
        }
    }

    /// The first local time in the gap that ends at the present instant, if it is due there.
    pub(super) fn named_in_gap(&self) -> Option<DateTime> {
        match self {
            Self::Local(walk) => walk.named_in_gap(),
            Self::Elapsed { .. } | Self::Listed(..) => None,
        }
    }
}

/// None outside of the years in which there are slots.
fn at_second(second: i64) -> Option<Timestamp> {
    Timestamp::from_second(second).ok().filter(|at| (FIRST..LAST).contains(at))
}

impl OnZone<'_> {
    /// Whether the calendar leaves an instant; None: nobody knows.
    fn takes(&self, at: Timestamp) -> Option<bool> {
        let Some(on_days) = self.on_days else { return Some(true) };
        on_days.days.holds(self.zone.to_datetime(at).date())
    }

    /// The first instant of the next business day after an instant on another day.
    fn next_day(&self, at: Timestamp) -> Option<Timestamp> {
        let day = self.on_days?.days.at_or_after(self.zone.to_datetime(at).date())?;
        let start = first_at(self.zone, day.at(0, 0, 0, 0)).timestamp();
        // A day that the clocks show twice: never back.
        Some(start.max(at.checked_add(SECOND).ok()?))
    }

    /// The last instant of the business day before an instant on another day.
    fn day_before(&self, at: Timestamp) -> Option<Timestamp> {
        let day = self.on_days?.days.at_or_before(self.zone.to_datetime(at).date())?;
        let end = last_at(self.zone, day.at(23, 59, 59, 0)).timestamp();
        Some(end.min(at.checked_sub(SECOND).ok()?))
    }
}

impl<'a> LocalWalk<'a> {
    fn new(times: LocalTimes<'a>, on: OnZone<'a>, dst: DstPolicy, at: Timestamp) -> Self {
        let OnZone { zone, on_days } = on;
        let stretch = Stretch::holding(zone, at);
        let window = Window::of(&stretch, times, dst);
        Self { times, on_days, zone, dst, stretch, window }
    }

    fn go_to(&mut self, at: Timestamp) {
        if !self.stretch.holds(at) {
            let on = OnZone { zone: self.zone, on_days: self.on_days };
            *self = Self::new(self.times, on, self.dst, at);
        }
    }

    /// The first local time at or after `from` that the calendar leaves, or moves there.
    fn local_next(&self, from: DateTime) -> Option<DateTime> {
        match self.on_days {
            Some(on_days) => on_days.next(&self.times, from),
            None => self.times.next(from),
        }
    }

    fn local_prev(&self, to: DateTime) -> Option<DateTime> {
        match self.on_days {
            Some(on_days) => on_days.prev(&self.times, to),
            None => self.times.prev(to),
        }
    }

    fn next(&mut self, from: Timestamp) -> Option<Timestamp> {
        let mut at = from;
        loop {
            self.go_to(at);
            let Stretch { offset, start, end, after, .. } = self.stretch;
            if start == Some(at) && self.named_in_gap().is_some() {
                return Some(at);
            }
            let searched = offset.to_datetime(at).max(self.window.from);
            let found = self.local_next(searched);
            if let Some(local) = found.filter(|local| *local < self.window.to) {
                return offset.to_timestamp(local).ok();
            }
            let end = end?;
            at = end;
            // From `searched` to `found` no local time matches; unless the clocks go back behind
            // `searched`, the years between them need no look.
            if after.to_datetime(end) >= searched {
                let reach = utc(found?)?.checked_sub(MARGIN).ok()?;
                at = at.max(reach);
            }
        }
    }

    fn prev(&mut self, to: Timestamp) -> Option<Timestamp> {
        let mut at = to;
        loop {
            self.go_to(at);
            let Stretch { offset, start, before, .. } = self.stretch;
            let last = self.window.to.checked_sub(SECOND).ok()?;
            let searched = offset.to_datetime(at).min(last);
            let found = self.local_prev(searched);
            if let Some(local) = found.filter(|local| *local >= self.window.from) {
                return offset.to_timestamp(local).ok();
            }
            let start = start?;
            if self.named_in_gap().is_some() {
                return Some(start);
            }
            at = start.checked_sub(SECOND).ok()?;
            if before.to_datetime(at) <= searched {
                let reach = utc(found?)?.checked_add(MARGIN).ok()?;
                at = at.min(reach);
            }
        }
    }

    /// The first local time in the gap at the stretch's start that is due at that start instead.
    fn named_in_gap(&self) -> Option<DateTime> {
        if self.dst.gap == DstGap::Skip || self.times.fires_every_instant() {
            return None;
        }
        let (from, to) = self.stretch.gap()?;
        self.local_next(from).filter(|local| *local < to)
    }
}

impl Window {
    fn of(stretch: &Stretch, times: LocalTimes<'_>, dst: DstPolicy) -> Self {
        let offset = stretch.offset;
        let mut window = Self {
            from: stretch.start.map_or(DateTime::MIN, |start| offset.to_datetime(start)),
            to: stretch.end.map_or(DateTime::MAX, |end| offset.to_datetime(end)),
        };
        if times.fires_every_instant() {
            return window;
        }
        match dst.overlap {
            DstOverlap::First => {
                window.from = stretch.repeated_until().map_or(window.from, |t| t.max(window.from));
            }
            DstOverlap::Second => {
                window.to = stretch.repeats_from().map_or(window.to, |t| t.min(window.to));
            }
            DstOverlap::Both => {}
        }
        window
    }
}

fn utc(local: DateTime) -> Option<Timestamp> {
    jiff::tz::Offset::UTC.to_timestamp(local).ok()
}
