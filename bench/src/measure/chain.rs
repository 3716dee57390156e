//! A chain of `/bin/true`: what one hop costs.

use anyhow::Result;

use super::{Figure, number, until_last};
use crate::clock::millis;
use crate::cluster::Cluster;
use crate::jobs::{after, at, head, soon};

pub(crate) async fn measure(cluster: &Cluster, hops: usize) -> Result<Vec<Figure>> {
    let due = soon(millis(), hops);
    let mut file = head();
    at(&mut file, "j0", due, "script: exec /bin/true");
    for number in 1..hops {
        let upstream = [format!("j{}", number - 1)];
        after(&mut file, &format!("j{number}"), &upstream, "script: exec /bin/true");
    }
    cluster.apply(file).await?;
    cluster.due(due).await?;
    cluster.idle().await?;
    let done = cluster.actions("succeeded").await?;
    let first = done.iter().filter_map(|action| action.ended_at_ms).min().unwrap_or(due);
    let span = until_last(&done, hops, first)?;
    Ok(vec![Figure { value: span / number(hops - 1), unit: "ms/hop" }])
}
