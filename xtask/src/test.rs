//! `cargo xtask test`: all tests, on both databases, with one command. Knows no test.

use std::process::{Command, ExitCode};

use anyhow::Result;
use hera_testkit::postgres::{self, Flavour, ThrowAwayPostgres};

use crate::{cargo, packages};

/// The crate whose tests start the programs of the other crates.
const END_TO_END: &str = "hera-tests";

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Passed on to cargo nextest or cargo test, as in `cargo xtask test -- -p hera-engine`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Runs the tests; the exit code is theirs.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    packages::install_missing()?;
    let chosen = packages_in(&arguments.arguments);
    if let Some(build) = build(&chosen) {
        let built = cargo::run(&mut cargo::cargo(build))?;
        if built != ExitCode::SUCCESS {
            return Ok(built);
        }
    }
    // The server stops when the value is dropped, and seconds after this process dies in any other way.
    let server = ThrowAwayPostgres::start(Flavour::Quick)?;
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let mut command = runner(cargo::has("nextest"), ci, chosen.is_empty());
    command.args(&arguments.arguments);
    command.env(postgres::ENV, server.server().url()).env("HERA_BIN_DIR", cargo::bin_dir()?);
    cargo::run(&mut command)
}

/// The packages that the arguments choose; none means all.
fn packages_in(arguments: &[String]) -> Vec<&str> {
    let mut chosen = Vec::new();
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let glued = word.strip_prefix("--package=").or_else(|| word.strip_prefix("-p"));
        match (word, glued) {
            ("-p" | "--package", _) => chosen.extend(words.next()),
            (_, Some(name)) if !name.is_empty() => chosen.push(name),
            _ => {}
        }
    }
    chosen
}

/// What to build before the tests run: the programs that end-to-end tests start.
fn build(chosen: &[&str]) -> Option<&'static [&'static str]> {
    if chosen.is_empty() {
        // With the tests in the same call, so that both share one set of features and nothing is built twice.
        Some(&["build", "--workspace", "--bins", "--tests"])
    } else if chosen.contains(&END_TO_END) {
        Some(&["build", "--workspace", "--bins"])
    } else {
        None
    }
}

fn runner(nextest: bool, ci: bool, all: bool) -> Command {
    let mut command = cargo::cargo(if nextest { &["nextest", "run"] } else { &["test"] });
    if nextest && ci {
        command.args(["--profile", "ci"]);
    } else if !nextest {
        // One failed crate must not hide the others.
        command.arg("--no-fail-fast");
    }
    if all {
        command.arg("--workspace");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &str, chosen: &[&str], build_words: Option<usize>) {
        let arguments: Vec<String> = arguments.split_whitespace().map(Into::into).collect();
        let found = packages_in(&arguments);
        assert_eq!(found, chosen);
        assert_eq!(build(&found).map(<[&str]>::len), build_words);
    }

    #[test]
    fn programs_are_built_for_all_tests_and_for_end_to_end_tests() {
        check("", &[], Some(4));
        check("--no-capture binding", &[], Some(4));
        check("-p hera-engine", &["hera-engine"], None);
        check("-phera-engine --package=hera-store x", &["hera-engine", "hera-store"], None);
        check("--package hera-tests -p hera-store", &["hera-tests", "hera-store"], Some(3));
    }

    #[test]
    fn the_runner_fits_the_machine() {
        let words = |nextest, ci, all| {
            let command = runner(nextest, ci, all);
            command
                .get_args()
                .map(|a| a.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(words(true, true, true), "nextest run --profile ci --workspace");
        assert_eq!(words(true, false, false), "nextest run");
        assert_eq!(words(false, true, true), "test --no-fail-fast --workspace");
    }
}
