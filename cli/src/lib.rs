//! The command line `hera`: parse, ask the master, print. No rule of the product is decided here.

mod args;
mod client;
mod clock;
mod command;
mod dev;
mod exit;
mod output;
mod session;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use tokio::runtime::Builder;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::output::Out;
use crate::session::Session;

/// Runs the command that this process was started with, to its end.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = Out::standard(cli.global.output, clock::wall());
    let ended = run(cli, &mut out);
    if let Err(failure) = &ended {
        out.failure(failure);
    }
    ended.unwrap_or_else(|failure| failure.exit).into()
}

/// The definition of the whole command line, for completions and manual pages.
pub fn definition() -> clap::Command {
    Cli::command()
}

fn run(cli: Cli, out: &mut Out) -> Result<Exit, Failure> {
    // A master, a worker and their jobs want all processors; a question wants to be quick.
    let mut builder = if cli.command.serves() {
        Builder::new_multi_thread()
    } else {
        Builder::new_current_thread()
    };
    let runtime = builder
        .enable_all()
        .build()
        .map_err(|error| Failure::machine("the runtime could not be started", &error))?;
    let mut session = Session::new(cli.global, out);
    runtime.block_on(cli.command.execute(&mut session))
}
