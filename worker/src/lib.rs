//! The worker: takes attempts from the leader, executes them, reports their ends. No SQL, no schedule.

pub mod attempt;
pub mod attempt_dir;
pub mod clock;
pub mod contract;
pub mod executor;
pub mod link;
pub mod process;
pub mod spool;
pub mod state_dir;
