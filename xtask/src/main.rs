//! The commands of the workspace: `cargo xtask …`. They call cargo and the kit of the tests, and must work on
//! a machine where only Rust is installed.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line talks to its user")]

mod cargo;
mod ci;
mod packages;
mod pg;
mod sim;
mod test;
mod tidy;
mod zones;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The commands of the workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs all tests on both databases.
    ///
    /// Installs what is missing of PostgreSQL (Debian; as root or by sudo), starts a throw-away server,
    /// builds the programs, runs cargo nextest or, where that is not installed, cargo test, and stops the
    /// server. With CI=true the profile `ci` of nextest is used.
    Test(test::Arguments),
    /// Does what a change must pass: the format, the lints as errors, the rules of the tree, all tests.
    Ci,
    /// Checks the rules of the tree that no compiler knows: who may import whom, names, sizes, places.
    Tidy,
    /// Tells histories of the simulated cluster, and stops at what is wrong in them.
    ///
    /// One seed is one history, and tells the same each time: `--seed K` tells it whole.
    Sim(sim::Arguments),
    /// Tries slots round every change of the clocks of every zone from 1970 to 2100; the tests take a part of them.
    Zones,
    /// Starts, stops and finds the PostgreSQL server that tests share when they are run by hand.
    #[command(subcommand)]
    Pg(pg::Command),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Test(arguments) => test::run(&arguments),
        Command::Ci => ci::run(),
        Command::Tidy => tidy::run(),
        Command::Sim(arguments) => sim::run(&arguments),
        Command::Zones => zones::run(),
        Command::Pg(command) => pg::run(&command),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
