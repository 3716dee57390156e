//! The worker: takes attempts from the master, executes them, reports their ends. No SQL, no schedule.

pub mod attempt;
pub mod clock;
pub mod contract;
pub mod process;
