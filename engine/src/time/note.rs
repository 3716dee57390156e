//! What a change of the clocks did to a slot, for people who read lists of slots. Knows no output.

use std::fmt;

use hera_common::time::Version;
use jiff::civil::DateTime;

use super::schedule::Schedule;
use super::walk::Walk;
use super::zone::Stretch;

/// Why a slot stands at its instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotNote {
    /// A rule names `named`, which that day has not; the slot is the first instant after.
    Shifted { named: DateTime },
    /// Its local time comes again later that day.
    FirstOfTwo,
    /// Its local time has been before that day.
    SecondOfTwo,
}

/// What there is to say of a slot of that schedule; mostly nothing.
#[must_use]
pub fn note(schedule: &Schedule, slot: Version) -> Option<SlotNote> {
    let at = slot.timestamp();
    let stretch = Stretch::holding(schedule.zone(), at);
    let local = stretch.offset.to_datetime(at);
    if stretch.start == Some(at) {
        let named = |rule| Walk::new(rule, schedule, at).named_in_gap();
        if let Some(named) = schedule.rules().iter().filter_map(named).min() {
            return Some(SlotNote::Shifted { named });
        }
    }
    if stretch.repeated_until().is_some_and(|until| local < until) {
        return Some(SlotNote::SecondOfTwo);
    }
    stretch.repeats_from().filter(|from| *from <= local).map(|_| SlotNote::FirstOfTwo)
}

impl fmt::Display for SlotNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shifted { named } => {
                write!(f, "{} does not exist: first instant after", named.strftime("%m-%d %H:%M"))
            }
            Self::FirstOfTwo => f.write_str("first of two"),
            Self::SecondOfTwo => f.write_str("second of two"),
        }
    }
}
