//! `cargo xtask ci`: all that a change must pass. Adds no rule of its own: each step is a command that one may run alone.

use std::process::ExitCode;

use anyhow::Result;

use crate::{cargo, test, tidy};

/// One step, and what it is called in the summary.
type Step = (&'static str, fn() -> Result<ExitCode>);

/// What is cheap comes first; the lints last, since they build all again. One fault does not hide the next.
const STEPS: &[Step] = &[
    ("format", || with("fmt", &["--check"])),
    ("rules of the tree", tidy::run),
    ("tests", || test::run(&test::Arguments::default())),
    ("lints", || {
        with("clippy", &["--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    ("dependencies", dependencies),
];

/// Runs all steps, and fails where one did.
pub(crate) fn run() -> Result<ExitCode> {
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        match step() {
            Ok(code) if code == ExitCode::SUCCESS => {}
            Ok(_failed) => failed.push(*name),
            Err(error) => {
                eprintln!("error: {error:#}");
                failed.push(*name);
            }
        }
    }
    Ok(conclude(&failed))
}

fn conclude(failed: &[&str]) -> ExitCode {
    if failed.is_empty() {
        eprintln!("ci: all steps passed");
        return ExitCode::SUCCESS;
    }
    eprintln!("ci: failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// A part of cargo that a change must pass. Where it is missing, nobody knows whether it does: that is a failure.
fn with(subcommand: &str, arguments: &[&str]) -> Result<ExitCode> {
    anyhow::ensure!(
        cargo::has(subcommand),
        "cargo {subcommand} is not installed here, and a change must pass it: rustup component add rustfmt clippy"
    );
    cargo::run(&mut cargo::cargo(&[&[subcommand], arguments].concat()))
}

/// What a change may bring in from outside, by deny.toml. Advisories are no fault of a change, and not asked for here.
fn dependencies() -> Result<ExitCode> {
    if !cargo::has("deny") {
        eprintln!("ci: cargo deny is not installed here: deny.toml was not checked");
        return Ok(ExitCode::SUCCESS);
    }
    cargo::run(&mut cargo::cargo(&["deny", "check", "bans", "licenses", "sources"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_missing_is_told_and_no_success() {
        let told = with("no-such-part", &[]).unwrap_err().to_string();
        assert!(told.starts_with("cargo no-such-part is not installed here"), "{told}");
        assert_eq!(conclude(&[]), ExitCode::SUCCESS);
        assert_eq!(conclude(&["lints"]), ExitCode::FAILURE);
    }
}
