//! Processes of attempts: who starts them, who watches their deadline, who ends them. Knows nothing
//! of masters, leases or jobs.
//!
//! Three kinds of processes take part. The **agent** is the worker itself. The **spawner** is one
//! small process with one thread, made by executing the agent's own file again when the agent
//! starts; it forks. The **shim** is what it forks: one for each attempt, with a session of its own.
//! The shim starts the job, reaps it, and enforces the deadline even when the agent sleeps. A fork
//! of a small process costs a fifth of what executing even a tiny file costs, and an attempt's
//! start is the hot path.

mod ask;
mod failed;
pub(crate) mod holders;
pub mod launcher;
pub mod order;
mod shim;
mod spawner;
mod stopper;
mod sweep;
mod sys;

use std::ffi::OsStr;
use std::process::ExitCode;

/// The first argument that makes the program a spawner.
pub const SPAWNER_ARG: &str = "--hera-shim";

/// What a program that may start workers does first in `main`, before it has made any thread or
/// read any argument: where it was executed to be the spawner, it is that to its end.
pub fn become_spawner_if_asked() -> Option<ExitCode> {
    let asked = std::env::args_os().nth(1).is_some_and(|arg| arg == OsStr::new(SPAWNER_ARG));
    asked.then(spawner::main)
}
