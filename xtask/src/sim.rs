//! `cargo xtask sim`: histories of the simulator, many or one. Knows none of them.

use std::process::ExitCode;

use anyhow::Result;

use crate::cargo;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many histories are told.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Only this one, told whole.
    #[arg(long, conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,
    /// Compiled for speed: worth its time from some thousands on.
    #[arg(long)]
    release: bool,
    /// No machine, link or store fails.
    #[arg(long)]
    calm: bool,
    /// Nobody acts or edits.
    #[arg(long)]
    alone: bool,
}

/// Runs them; the exit code says whether all was well.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let words = words(arguments);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    cargo::run(&mut cargo::cargo(&words))
}

/// What cargo is told.
fn words(arguments: &Arguments) -> Vec<String> {
    let mut words =
        ["run", "-q", "-p", "hera-tests", "--bin", "hera-sim"].map(str::to_owned).to_vec();
    if arguments.release {
        words.push("--release".to_owned());
    }
    words.push("--".to_owned());
    match arguments.seed {
        Some(seed) => words.extend(["--seed".to_owned(), seed.to_string()]),
        None => {
            words.extend(["--seeds".to_owned(), arguments.seeds.to_string()]);
            words.extend(["--from".to_owned(), arguments.from.to_string()]);
        }
    }
    let flags = [("--calm", arguments.calm), ("--alone", arguments.alone)];
    words.extend(flags.iter().filter(|(_, on)| *on).map(|(flag, _)| (*flag).to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[track_caller]
    fn check(line: &str, tail: &str) {
        let line = Line::parse_from(std::iter::once("sim").chain(line.split_whitespace()));
        let words = words(&line.arguments).join(" ");
        assert_eq!(words, format!("run -q -p hera-tests --bin hera-sim {tail}"));
    }

    #[test]
    fn one_seed_or_many_are_passed_on() {
        check("", "-- --seeds 1000 --from 0");
        check("--seeds 7 --from 3 --calm", "-- --seeds 7 --from 3 --calm");
        check("--seed 42 --release", "--release -- --seed 42");
    }
}
