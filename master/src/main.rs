//! The program `hera-master`: reads the command line, sets up logs and signals, and runs a master.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use hera_common::chain::Chain;
use hera_master::config::{Args, LogFormat};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{error, info};
use tracing_subscriber::EnvFilter;

/// A setting that cannot be.
const BAD_SETTINGS: u8 = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    let format = args.log_format;
    let filter = args.log.clone();
    let config = match args.check() {
        Ok(config) => config,
        Err(error) => return refuse(&error.to_string()),
    };
    if let Err(error) = log(format, &filter) {
        return refuse(&format!("{error:#}"));
    }
    match serve(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!(error = %Chain(error.as_ref()), "the master ends");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "there is no log yet")]
fn refuse(problem: &str) -> ExitCode {
    eprintln!("hera-master: {problem}");
    ExitCode::from(BAD_SETTINGS)
}

fn log(format: LogFormat, filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter).context("--log is no filter")?;
    let plain = std::env::var_os("NO_COLOR").is_some() || !std::io::stderr().is_terminal();
    let to_stderr = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(!plain)
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => to_stderr.init(),
        LogFormat::Json => to_stderr.json().flatten_event(true).init(),
    }
    Ok(())
}

#[tokio::main]
async fn serve(config: hera_master::Config) -> anyhow::Result<()> {
    let shutdown = CancellationToken::new();
    let told = shutdown.clone();
    let mut term = signal(SignalKind::terminate()).context("could not listen for TERM")?;
    let mut int = signal(SignalKind::interrupt()).context("could not listen for INT")?;
    let running = hera_master::run(config, shutdown, |ready| {
        info!(address = %ready.address, "listens");
    });
    let mut running = std::pin::pin!(running);
    tokio::select! {
        ended = &mut running => return Ok(ended?),
        _ = term.recv() => info!("got TERM, stops"),
        _ = int.recv() => info!("got INT, stops"),
    }
    told.cancel();
    Ok(running.await?)
}
