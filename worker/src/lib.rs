//! The worker: takes attempts from the master, executes them, reports their ends. No SQL, no schedule.

pub mod clock;
pub mod process;
