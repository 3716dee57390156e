//! The worker: takes attempts from the leader, executes them, reports their ends. No SQL, no schedule.

mod agent;
mod app;
pub mod attempt;
pub mod attempt_dir;
mod batch;
mod beat;
pub mod clock;
pub mod config;
pub mod contract;
mod execute;
pub mod executor;
mod files;
mod health;
pub mod link;
mod pause;
mod plain_file;
mod poll;
pub mod process;
mod recover;
mod register;
mod ship;
pub mod spool;
pub mod state_dir;
mod tasks;

pub use app::{RunError, Stop, run};
pub use config::Config;
pub use process::become_spawner_if_asked;
