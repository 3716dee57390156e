//! `cargo xtask pg …`: the server that tests share when they are run by hand. Stops no other server.

use std::process::ExitCode;

use anyhow::Result;
use hera_testkit::postgres;

use crate::packages;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Starts it unless it runs, and prints its URL.
    ///
    /// Tests do so themselves. It stops by itself ten minutes after nobody is connected any more.
    Start,
    /// Stops it, and removes all that is in it.
    Stop,
    /// Prints its URL; exit code 1 when it does not run.
    Url,
}

pub(crate) fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Start => {
            packages::install_missing()?;
            println!("{}", postgres::shared()?.url());
        }
        Command::Stop => {
            let ran = postgres::stop_shared()?;
            eprintln!("{}", if ran { "stopped" } else { "it did not run" });
        }
        Command::Url => {
            let Some(url) = postgres::shared_url()? else {
                eprintln!("it does not run: cargo xtask pg start");
                return Ok(ExitCode::FAILURE);
            };
            println!("{url}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
