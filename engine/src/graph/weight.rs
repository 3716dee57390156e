//! How late in time an edge can bind, against its job's version. Knows one edge.

use hera_common::shift::Shift;
use hera_common::spec::Bind;

use crate::plan::Edge;

const DAY: i64 = 24 * 3600;
/// A day of a zone is longer or shorter by an hour or two where the clocks change, and a time in a
/// gap moves on to its end.
const CLOCKS: i64 = 2 * 3600;
/// Longer than slots of a schedule are apart that fires each year.
const SLOT_MAX: i64 = 366 * DAY;

/// The latest that an edge binds, in seconds after its job's version: 0, or less with offsets,
/// windows and `previous`; more only where an offset or a window points ahead. Versions of jobs with
/// slots are whole seconds, so "before" means a second at least.
pub fn weight_seconds(edge: &Edge) -> i64 {
    let bind = match edge.bind {
        Bind::Previous { n } => -i64::from(n.max(1)),
        Bind::Window { to, .. } => latest(to) - 1,
        Bind::Nearest
        | Bind::AtOrBefore
        | Bind::Same
        | Bind::Data
        | Bind::First { .. }
        | Bind::Last { .. }
        | Bind::All { .. } => 0,
    };
    latest(edge.offset).saturating_add(bind)
}

/// The latest that a shift can lead to, in seconds.
fn latest(shift: Shift) -> i64 {
    if shift.is_none() {
        return 0;
    }
    match shift {
        // What is below a second rounds up to the later one.
        Shift::Elapsed { ms } => ms.div_euclid(1_000) + i64::from(ms.rem_euclid(1_000) != 0),
        Shift::Days { n } => i64::from(n) * DAY + CLOCKS,
        // A day at least; and no run of days off is longer than a year.
        Shift::BusinessDays { n } if n < 0 => i64::from(n) * DAY + CLOCKS,
        Shift::BusinessDays { n } => i64::from(n) * SLOT_MAX,
        Shift::Months { n } if n < 0 => i64::from(n) * 28 * DAY + CLOCKS,
        Shift::Months { n } => i64::from(n) * 31 * DAY + CLOCKS,
        Shift::Slots { n } if n < 0 => i64::from(n),
        Shift::Slots { n } => i64::from(n) * SLOT_MAX,
    }
}
