//! From the call that asks for a run to the first instruction of its script, one run after another.

use anyhow::{Context, Result};
use hera_testkit::wait_for_async;

use super::{Figure, number, percentile};
use crate::clock::micros;
use crate::cluster::{Cluster, LIMIT};
use crate::jobs::head;

pub(crate) async fn measure(cluster: &Cluster, runs: usize) -> Result<Vec<Figure>> {
    let told = cluster.dir.path().join("told");
    std::fs::create_dir_all(&told)?;
    let file = head();
    // The shell's own clock, before it starts anything.
    let script = format!(
        "echo $EPOCHREALTIME > {}/$HERA_RUN_ID.new; mv {0}/$HERA_RUN_ID.new {0}/$HERA_RUN_ID",
        told.display()
    );
    cluster.apply(format!("{file}  - {{ name: hand, script: '{script}' }}\n")).await?;
    let mut spans = Vec::with_capacity(runs);
    // The first runs warm connections and caches up.
    for round in 0..runs + 10 {
        let before = micros();
        let run = cluster.run("bench/hand").await?;
        let path = told.join(run.id.to_string());
        let text =
            wait_for_async("the script", LIMIT, || async { std::fs::read_to_string(&path).ok() })
                .await?;
        let first: i64 = text.trim().replace('.', "").parse().context("$EPOCHREALTIME")?;
        if round >= 10 {
            spans.push(number(first - before) / 1_000.0);
        }
        cluster.idle().await?;
    }
    Ok(vec![
        Figure { value: percentile(&spans, 0.5), unit: "ms p50" },
        Figure { value: percentile(&spans, 0.99), unit: "ms p99" },
    ])
}
