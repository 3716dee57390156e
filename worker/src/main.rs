//! The program `hera-worker`: reads the command line, sets up logs and signals, and runs a worker.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use hera_common::chain::Chain;
use hera_worker::config::{Args, Config, LogFormat};
use hera_worker::{Stop, become_spawner_if_asked};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};
use tracing_subscriber::EnvFilter;

/// A setting that cannot be.
const BAD_SETTINGS: u8 = 2;

fn main() -> ExitCode {
    // Before anything else: the spawner must be small, and have one thread.
    if let Some(code) = become_spawner_if_asked() {
        return code;
    }
    let args = Args::parse();
    let (format, filter) = (args.log_format, args.log.clone());
    let config = match args.check() {
        Ok(config) => config,
        Err(error) => return refuse(&error.to_string()),
    };
    if let Err(error) = log(format, &filter) {
        return refuse(&format!("{error:#}"));
    }
    match work(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!(error = %Chain(error.as_ref()), "the worker ends");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "there is no log yet")]
fn refuse(problem: &str) -> ExitCode {
    eprintln!("hera-worker: {problem}");
    ExitCode::from(BAD_SETTINGS)
}

fn log(format: LogFormat, filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter).context("--log is no filter")?;
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let to_stderr = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colours)
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => to_stderr.init(),
        LogFormat::Json => to_stderr.json().flatten_event(true).init(),
    }
    Ok(())
}

// One thread decides: what it does takes a part of a millisecond for each attempt, and handing it round would
// take longer. Files are read and written by others.
#[tokio::main(flavor = "current_thread")]
async fn work(config: Config) -> anyhow::Result<()> {
    let stop = Stop::default();
    let mut term = signal(SignalKind::terminate()).context("could not listen for TERM")?;
    let mut int = signal(SignalKind::interrupt()).context("could not listen for INT")?;
    let mut running = std::pin::pin!(hera_worker::run(config, stop.clone(), |name| {
        info!(worker.name = name, "works");
    }));
    // The first signal drains, the second one stops.
    for token in [&stop.drain, &stop.now] {
        tokio::select! {
            ended = &mut running => return Ok(ended?),
            _ = term.recv() => info!("got TERM"),
            _ = int.recv() => info!("got INT"),
        }
        token.cancel();
    }
    Ok(running.await?)
}
