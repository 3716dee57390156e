//! `hera-sim`: tells the histories of many seeds, or of one. Prints the seed and the end of a history in which something
//! was wrong.
#![expect(clippy::print_stdout, reason = "a command line talks to its user")]

use std::process::ExitCode;

use clap::Parser;
use hera_tests::sim::{History, Options, run};

/// Lines of a bad history that are printed.
const TAIL: usize = 80;

/// Simulates the cluster: one seed is one history.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many seeds.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Only this one, told whole.
    #[arg(long, conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,
    /// Without faults.
    #[arg(long)]
    calm: bool,
    /// Nobody acts or edits.
    #[arg(long)]
    alone: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let options = Options { faults: !arguments.calm, people: !arguments.alone, without: None };
    if let Some(seed) = arguments.seed {
        let history = run(seed, options);
        println!("{}", history.log);
        return told(&history);
    }
    let mut bad = 0_u64;
    for seed in arguments.from..arguments.from.saturating_add(arguments.seeds) {
        let history = run(seed, options);
        if let Some(wrong) = &history.wrong {
            bad += 1;
            println!("seed {seed}: {wrong}");
            if bad == 1 {
                println!("{}\n", history.tail(TAIL));
            }
        }
    }
    println!("{} seeds, {bad} with something wrong", arguments.seeds);
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn told(history: &History) -> ExitCode {
    let counts = history.counts;
    println!(
        "seed {}: {} commits, {} processes, memory compared {} times",
        history.seed, counts.commits, counts.processes, counts.comparisons
    );
    match &history.wrong {
        None => ExitCode::SUCCESS,
        Some(wrong) => {
            println!("wrong: {wrong}");
            ExitCode::FAILURE
        }
    }
}
