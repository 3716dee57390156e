//! The shell round the engine: leads, commits, serves. All decisions are the engine's.

pub mod app;
mod chance;
mod changes;
mod clock;
mod commit;
pub mod config;
mod desk;
mod http;
mod lead;
mod metrics;
mod role;
mod rpc;
mod service;
mod tasks;

pub use app::{Ready, RunError, run, run_on};
pub use config::{Args, Config, ConfigError};
