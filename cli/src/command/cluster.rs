//! `hera cluster`: who leads, on which store, and how much there is to do.

use clap::Args;
use hera_proto::v1;

use super::wire;
use crate::client::{Client, Repeat};
use crate::exit::{Exit, Failure};
use crate::output::keys;
use crate::session::Session;

/// Tell about the leader, the store and the queue
#[derive(Debug, Args)]
pub(crate) struct Cluster {}

impl Cluster {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let whole = cluster(&client).await?;
        session.out.one(&whole)?;
        Ok(Exit::Done)
    }
}

pub(super) async fn cluster(client: &Client) -> Result<keys::Cluster, Failure> {
    let answer = client
        .ask(Repeat::Safe, v1::GetClusterRequest {}, async |channel, request| {
            wire::cluster(channel).get_cluster(request).await
        })
        .await?;
    Ok(wire::whole_cluster(answer))
}
