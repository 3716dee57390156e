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

#[cfg(test)]
mod tests {
    use hera_proto::{LEADER_KEY, v1};
    use tonic::Status;

    use super::cluster;
    use crate::client::Client;
    use crate::command::stand_in::Answers;

    fn leader() -> Answers {
        let cluster = Ok(v1::GetClusterResponse { epoch: 7, ..v1::GetClusterResponse::default() });
        Answers { cluster, ..Answers::default() }
    }

    fn standby(leader: &str) -> Answers {
        let mut status = Status::failed_precondition("this master does not lead");
        status.metadata_mut().insert(LEADER_KEY, leader.parse().unwrap());
        Answers { cluster: Err(status), ..Answers::default() }
    }

    #[tokio::test]
    async fn the_leader_is_found_past_a_master_that_is_gone_and_through_a_standby() {
        let (at, _leader) = leader().serve().await;
        let (standby_at, _standby) = standby(&format!("http://{at}")).serve().await;
        // Port 1 is reserved; nobody listens there.
        let client = Client::new(&format!("127.0.0.1:1,{standby_at}")).unwrap();
        assert_eq!(cluster(&client).await.unwrap().epoch, 7);
        assert_eq!(cluster(&client).await.unwrap().epoch, 7, "the second time it is known");
    }
}
