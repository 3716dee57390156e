//! `cargo xtask zones`: the property tests of time over every zone, not a part of them. Knows none of them.

use std::process::ExitCode;

use anyhow::Result;

use crate::cargo;

/// Runs them; the exit code says whether all was well.
pub(crate) fn run() -> Result<ExitCode> {
    let words = ["test", "--release", "-p", "hera-engine", "--test", "time", "--", "zones"];
    cargo::run(cargo::cargo(&words).env("HERA_ZONES", "all"))
}
