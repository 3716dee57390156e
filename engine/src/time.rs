//! When a job is due: cron expressions, zones, and the one function that turns a schedule into slots.
//! Knows no clock, no job and no store: every instant is an argument.

mod business;
pub mod cron;
pub mod note;
pub mod piecewise;
mod roll;
pub mod rule;
pub mod schedule;
pub mod slots;
mod walk;
pub mod zone;

pub use business::BusinessDays;
pub(crate) use business::number as day_number;
pub use cron::{Cron, CronError, CronField, CronForm};
pub use hera_common::schedule::{DstGap, DstOverlap, DstPolicy};
pub use note::{SlotNote, note};
pub use piecewise::{Piece, Piecewise, PiecewiseError};
pub use rule::{At, AtLocal, Every, Rule, RuleError};
pub use schedule::{Schedule, ScheduleError};
pub use slots::{Slots, next_after, prev_before, slots};
