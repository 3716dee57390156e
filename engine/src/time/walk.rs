//! One cron in one zone: the next and the previous real instant that it means, stretch by stretch of
//! equal UTC offset. Knows no other rule of the schedule.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::cron::Cron;
use super::schedule::{DstGap, DstOverlap, DstPolicy};
use super::zone::{SECOND, Stretch};

/// More than the distance between two local times of one instant (26 hours): that far from a local
/// time, read as UTC, no zone can show it.
const MARGIN: SignedDuration = SignedDuration::from_hours(48);

/// A place in the series of one cron's slots. Asked in order it looks up each stretch once.
#[derive(Debug, Clone)]
pub(super) struct Walk<'a> {
    cron: &'a Cron,
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
    pub(super) fn new(cron: &'a Cron, zone: &'a TimeZone, dst: DstPolicy, at: Timestamp) -> Self {
        let stretch = Stretch::holding(zone, at);
        let window = Window::of(&stretch, cron, dst);
        Self { cron, zone, dst, stretch, window }
    }

    fn go_to(&mut self, at: Timestamp) {
        if !self.stretch.holds(at) {
            *self = Self::new(self.cron, self.zone, self.dst, at);
        }
    }

    /// The first slot at or after `from`, which is a whole second.
    pub(super) fn next(&mut self, from: Timestamp) -> Option<Timestamp> {
        let mut at = from;
        loop {
            self.go_to(at);
            let Stretch { offset, start, end, after, .. } = self.stretch;
            if start == Some(at) && self.named_in_gap().is_some() {
                return Some(at);
            }
            let searched = offset.to_datetime(at).max(self.window.from);
            let found = self.cron.next_local(searched);
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

    /// The last slot at or before `to`, which is a whole second.
    pub(super) fn prev(&mut self, to: Timestamp) -> Option<Timestamp> {
        let mut at = to;
        loop {
            self.go_to(at);
            let Stretch { offset, start, before, .. } = self.stretch;
            let last = self.window.to.checked_sub(SECOND).ok()?;
            let searched = offset.to_datetime(at).min(last);
            let found = self.cron.prev_local(searched);
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
    pub(super) fn named_in_gap(&self) -> Option<DateTime> {
        if self.dst.gap == DstGap::Skip || self.cron.fires_every_instant() {
            return None;
        }
        let (from, to) = self.stretch.gap()?;
        self.cron.next_local(from).filter(|local| *local < to)
    }
}

impl Window {
    fn of(stretch: &Stretch, cron: &Cron, dst: DstPolicy) -> Self {
        let offset = stretch.offset;
        let mut window = Self {
            from: stretch.start.map_or(DateTime::MIN, |start| offset.to_datetime(start)),
            to: stretch.end.map_or(DateTime::MAX, |end| offset.to_datetime(end)),
        };
        if cron.fires_every_instant() {
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
