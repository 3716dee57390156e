//! `cargo xtask ci`: what a change must pass, in the order of what fails fastest. Adds no rule of its own.

use std::process::ExitCode;

use anyhow::Result;

use crate::{cargo, test, tidy};

/// Runs all steps until one fails.
pub(crate) fn run() -> Result<ExitCode> {
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    let steps: [&dyn Fn() -> Result<ExitCode>; 4] = [
        &|| cargo::run(&mut cargo::cargo(&["fmt", "--check"])),
        &tidy::run,
        &|| cargo::run(&mut cargo::cargo(&clippy)),
        &|| test::run(&test::Arguments::default()),
    ];
    for step in steps {
        let code = step()?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}
