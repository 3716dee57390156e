//! Measurements of the whole path: real masters and workers on a real database. Figures are told, never judged.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tells its figures")]

mod clock;
mod cluster;
mod jobs;
mod measure;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::cluster::{Cluster, Shape};

/// Measures Hera on this machine. Build the programs first: `cargo build --release --bins`.
#[derive(Debug, Parser)]
#[command(name = "hera-bench")]
struct Arguments {
    /// What to measure; all where none is named.
    #[arg(value_enum)]
    what: Vec<What>,
    /// The databases; both where none is named.
    #[arg(long, value_enum)]
    store: Vec<StoreKind>,
    /// Workers.
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// Places of each worker.
    #[arg(long, default_value_t = 64)]
    capacity: u32,
    /// No-op actions that are due at one instant.
    #[arg(long, default_value_t = 20_000)]
    noops: usize,
    /// Jobs of the chain.
    #[arg(long, default_value_t = 100)]
    hops: usize,
    /// Jobs in the middle of the fan.
    #[arg(long, default_value_t = 1_000)]
    fan: usize,
    /// Runs whose first instruction is timed.
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// How often each measurement is made; the median is told, too.
    #[arg(long, default_value_t = 3)]
    times: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// No-op actions per second through the whole path.
    Noop,
    /// Time per hop of a chain of `/bin/true`.
    Chain,
    /// Tasks per second of 1 + N + 1 jobs of `/bin/true`.
    Fan,
    /// From the call of a run to the first instruction of its script.
    Latency,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreKind {
    /// PostgreSQL, with fsync.
    Postgres,
    /// SQLite, with synchronous=FULL.
    Sqlite,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let all = [What::Noop, What::Chain, What::Fan, What::Latency];
    let both = [StoreKind::Postgres, StoreKind::Sqlite];
    let what = if arguments.what.is_empty() { &all[..] } else { &arguments.what };
    let stores = if arguments.store.is_empty() { &both[..] } else { &arguments.store };
    println!("{:<9} {:<9} {:>12} {:<12} each", "store", "what", "median", "unit");
    for &store in stores {
        for &what in what {
            let mut figures = Vec::new();
            for _time in 0..arguments.times {
                figures.push(once(arguments, store, what).await?);
            }
            tell(store, what, &figures);
        }
    }
    Ok(())
}

/// Each measurement has a cluster of its own, so that none pays for another's rows.
async fn once(
    arguments: &Arguments,
    store: StoreKind,
    what: What,
) -> anyhow::Result<Vec<measure::Figure>> {
    let shape = Shape {
        postgres: store == StoreKind::Postgres,
        workers: arguments.workers,
        capacity: arguments.capacity,
    };
    let cluster = Cluster::start(&shape).await?;
    let figures = match what {
        What::Noop => measure::noop::measure(&cluster, arguments.noops).await,
        What::Chain => measure::chain::measure(&cluster, arguments.hops).await,
        What::Fan => measure::fan::measure(&cluster, arguments.fan).await,
        What::Latency => measure::latency::measure(&cluster, arguments.runs).await,
    };
    figures.map_err(|error| error.context(cluster.last_words()))
}

fn tell(store: StoreKind, what: What, runs: &[Vec<measure::Figure>]) {
    let Some(first) = runs.first() else { return };
    for (place, figure) in first.iter().enumerate() {
        let values: Vec<f64> =
            runs.iter().filter_map(|run| run.get(place)).map(|f| f.value).collect();
        let each: Vec<String> = values.iter().map(|value| format!("{value:.1}")).collect();
        println!(
            "{:<9} {:<9} {:>12.1} {:<12} {}",
            format!("{store:?}").to_lowercase(),
            format!("{what:?}").to_lowercase(),
            measure::median(&values),
            figure.unit,
            each.join(" ")
        );
    }
}
