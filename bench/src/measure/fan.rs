//! One job, then many side by side, then one that waits for them all; each runs `/bin/true`.

use anyhow::Result;

use super::{Figure, number, until_last};
use crate::clock::millis;
use crate::cluster::Cluster;
use crate::jobs::{after, at, head, soon};

pub(crate) async fn measure(cluster: &Cluster, width: usize) -> Result<Vec<Figure>> {
    let due = soon(millis(), width);
    let mut file = head();
    at(&mut file, "first", due, "script: exec /bin/true");
    let names: Vec<String> = (0..width).map(|number| format!("m{number}")).collect();
    for name in &names {
        after(&mut file, name, &["first".to_owned()], "script: exec /bin/true");
    }
    after(&mut file, "last", &names, "script: exec /bin/true");
    cluster.apply(file).await?;
    cluster.due(due).await?;
    cluster.idle().await?;
    let span = until_last(&cluster.actions("succeeded").await?, width + 2, due)?;
    Ok(vec![Figure { value: number(width + 2) / span * 1_000.0, unit: "tasks/s" }])
}
