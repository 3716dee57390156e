//! Two masters on one store: who answers, who names the other, and who takes over.

use hera_proto::{LEADER_KEY, v1};
use hera_store::MemoryStore;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::world::{LIMIT, World};

/// What a master that stands by says of the leader.
async fn leader_named_by(standby: &World) -> Option<String> {
    let status = standby.cluster().get_cluster(v1::GetClusterRequest {}).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition, "{status}");
    let leader = status.metadata().get(LEADER_KEY).unwrap().to_str().unwrap().to_owned();
    (!leader.is_empty()).then_some(leader)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_names_the_leader_and_takes_over_when_it_goes() {
    let store = MemoryStore::new("pair");
    let first = World::start_on(&store).await;
    first.until_it_leads().await;
    let second = World::start_on(&store).await;
    let named = async {
        loop {
            if let Some(leader) = leader_named_by(&second).await {
                return leader;
            }
            tokio::task::yield_now().await;
        }
    };
    assert_eq!(tokio::time::timeout(LIMIT, named).await.unwrap(), first.url);
    let mut health = HealthClient::new(second.channel());
    let whole = HealthCheckRequest { service: String::new() };
    let workers = HealthCheckRequest { service: "hera.v1.WorkerService".to_owned() };
    let status = health.check(whole).await.unwrap().into_inner().status();
    assert_eq!(status, ServingStatus::Serving);
    let status = health.check(workers).await.unwrap().into_inner().status();
    assert_eq!(status, ServingStatus::NotServing);

    first.stop().await;
    second.until_it_leads().await;
    let cluster = second.cluster().get_cluster(v1::GetClusterRequest {}).await.unwrap();
    assert_eq!(cluster.into_inner().epoch, 2);
    second.stop().await;
}
