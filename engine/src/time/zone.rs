//! Time zones by IANA name, and the stretches of one UTC offset that they are made of. Knows no
//! schedule.

use hera_common::time::Version;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// The zone of that name, in any case of letters. It comes from the data that is built in, so that
/// all masters, and a machine without zone files, compute the same slots.
#[must_use]
pub fn find(name: &str) -> Option<TimeZone> {
    let zone = TimeZoneDatabase::bundled().get(name).ok()?;
    (!zone.is_unknown()).then_some(zone)
}

/// The instant of a local time: in a repeated hour the first one, in a gap the first one after it.
pub(super) fn first_at(zone: &TimeZone, local: DateTime) -> Version {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    let ends = |instant: Result<Timestamp, jiff::Error>| match instant {
        Ok(instant) => Version::from_timestamp(instant),
        Err(_beyond_all_years) => {
            Version::from_ms(if local.year() < 0 { i64::MIN } else { i64::MAX })
        }
    };
    match ambiguous.offset() {
        AmbiguousOffset::Gap { after, .. } => {
            // Read with the offset after the gap, the time lies before the change.
            let before_change = after.to_timestamp(local);
            let change = before_change.as_ref().ok().and_then(|at| zone.following(*at).next());
            change.map_or_else(|| ends(before_change), |change| ends(Ok(change.timestamp())))
        }
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
            ends(ambiguous.compatible())
        }
    }
}

/// The second instant of a local time where it comes twice, else as [`first_at`].
pub(super) fn last_at(zone: &TimeZone, local: DateTime) -> Version {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    match (ambiguous.offset(), ambiguous.later()) {
        (AmbiguousOffset::Fold { .. }, Ok(later)) => Version::from_timestamp(later),
        (AmbiguousOffset::Fold { .. }, Err(_))
        | (AmbiguousOffset::Gap { .. } | AmbiguousOffset::Unambiguous { .. }, _) => {
            first_at(zone, local)
        }
    }
}

/// A second: the grain of all slots.
pub(super) const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// The longest stretch of time with one offset round some instant: `start` included, `end` not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
    pub(super) offset: Offset,
    /// The offset in force before `start`.
    pub(super) before: Offset,
    /// The offset in force from `end` on.
    pub(super) after: Offset,
}

impl Stretch {
    pub(super) fn holding(zone: &TimeZone, at: Timestamp) -> Self {
        let offset = zone.to_offset(at);
        let before_of = |start: Timestamp| match start.checked_sub(SECOND) {
            Ok(earlier) => zone.to_offset(earlier),
            Err(_the_first_instant) => offset,
        };
        // A transition may change only the zone's abbreviation: the stretch goes on over it.
        let start = zone
            .preceding(at.checked_add(SECOND).unwrap_or(at))
            .map(|transition| transition.timestamp())
            .find(|start| before_of(*start) != offset);
        let next = zone.following(at).find(|transition| transition.offset() != offset);
        Self {
            start,
            end: next.as_ref().map(|transition| transition.timestamp()),
            offset,
            before: start.map_or(offset, before_of),
            after: next.map_or(offset, |transition| transition.offset()),
        }
    }

    pub(super) fn holds(&self, at: Timestamp) -> bool {
        self.start.is_none_or(|start| start <= at) && self.end.is_none_or(|end| at < end)
    }

    /// Local times that the clocks jump over at its start: `[from, to)`.
    pub(super) fn gap(&self) -> Option<(DateTime, DateTime)> {
        let start = self.start.filter(|_| self.offset > self.before)?;
        Some((self.before.to_datetime(start), self.offset.to_datetime(start)))
    }

    /// The end of the local times at its start that the stretch before has shown already.
    pub(super) fn repeated_until(&self) -> Option<DateTime> {
        let start = self.start.filter(|_| self.offset < self.before)?;
        Some(self.before.to_datetime(start))
    }

    /// The first of the local times at its end that the stretch after will show again.
    pub(super) fn repeats_from(&self) -> Option<DateTime> {
        let end = self.end.filter(|_| self.after < self.offset)?;
        Some(self.after.to_datetime(end))
    }
}
