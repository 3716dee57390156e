//! No-op actions that are due at one instant: timer, decision, queue, grant, start, finish.

use anyhow::Result;

use super::{Figure, number, until_last};
use crate::clock::millis;
use crate::cluster::Cluster;
use crate::jobs::{at, head, soon};

pub(crate) async fn measure(cluster: &Cluster, count: usize) -> Result<Vec<Figure>> {
    let due = soon(millis(), count);
    let mut file = head();
    for number in 0..count {
        at(&mut file, &format!("n{number}"), due, "type: noop");
    }
    let before = millis();
    cluster.apply(file).await?;
    let applied = number(millis() - before);
    cluster.due(due).await?;
    cluster.idle().await?;
    let span = until_last(&cluster.actions("succeeded").await?, count, due.max(before))?;
    Ok(vec![
        Figure { value: number(count) / span * 1_000.0, unit: "actions/s" },
        Figure { value: applied, unit: "ms to apply" },
    ])
}
