//! What the port answers beside our services, and what workers are refused.

use hera_proto::v1;
use hera_testkit::temp_dir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::worker::Worker;
use crate::world::World;

async fn page(world: &World, path: &str) -> String {
    let address = world.url.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_port_answers_probes_and_unknown_methods() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    assert!(page(&world, "/healthz").await.starts_with("HTTP/1.1 200"));
    let ready = page(&world, "/readyz").await;
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains("leads"), "{ready}");
    assert!(page(&world, "/nothing").await.starts_with("HTTP/1.1 404"));

    let mut unknown = tonic::client::Grpc::new(world.channel());
    unknown.ready().await.unwrap();
    let codec = tonic_prost::ProstCodec::<v1::GetClusterRequest, v1::GetClusterResponse>::default();
    for path in ["/no.Such/Method", "/hera.v1.ClusterService/NoSuch"] {
        let path = path.parse().unwrap();
        let request = tonic::Request::new(v1::GetClusterRequest {});
        let status = unknown.unary(request, path, codec.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::Unimplemented);
        unknown.ready().await.unwrap();
    }
    let health = |service: &str| {
        let request = HealthCheckRequest { service: service.to_owned() };
        let mut client = HealthClient::new(world.channel());
        async move { client.check(request).await.unwrap().into_inner().status() }
    };
    assert_eq!(health("").await, ServingStatus::Serving);
    assert_eq!(health("hera.v1.WorkerService").await, ServingStatus::Serving);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_master_on_the_same_folder_is_refused() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    let config = crate::world::config(folder.path());
    let second = hera_master::run(config, tokio_util::sync::CancellationToken::new(), |_| {});
    let error = second.await.unwrap_err();
    assert!(matches!(error, hera_master::RunError::Open(_)), "{error:?}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_is_not_the_present_one_must_register_again() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    let mut first = Worker::register(&world, "w1", "i1").await;
    assert!(first.poll().await.unwrap().is_empty());
    let mut second = Worker::register(&world, "w1", "i2").await;
    let status = first.poll().await.unwrap_err();
    assert_eq!(status.code(), Code::Aborted);
    assert!(status.message().contains("registered as incarnation"), "{}", status.message());
    assert!(second.poll().await.unwrap().is_empty());

    let right = std::mem::replace(&mut second.header.store_id_seen, "another".to_owned());
    assert_eq!(second.poll().await.unwrap_err().code(), Code::Aborted);
    second.header.store_id_seen = right;
    let short = second.poll_with(vec![vec![1; 3]]).await.unwrap_err();
    assert_eq!(short.code(), Code::InvalidArgument);
    let many = second.poll_with(vec![vec![1; 16]; 65]).await.unwrap_err();
    assert_eq!(many.message(), "tokens: has 65 entries, at most 64 are allowed");

    // What no store knows of is not held, and was never ended by that token.
    let unknown = v1::Assignment { run_id: 77, token: vec![9; 16], ..Default::default() };
    assert_eq!(second.start(&unknown).await, v1::VerdictKind::Lost);
    assert_eq!(second.heartbeat(&unknown).await, v1::VerdictKind::Lost);
    let end = second.finish(&unknown, v1::End::Succeeded, Some(0)).await;
    assert_eq!(end, v1::VerdictKind::Fenced);

    let workers = world.cluster().list_workers(v1::ListWorkersRequest { page: None }).await;
    let workers = workers.unwrap().into_inner().workers;
    assert_eq!((workers.len(), workers[0].state.as_str()), (1, "online"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prometheus_reads_what_the_leader_did() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    let jobs = "group: t\njobs:\n  - { name: a, schedule: { cron: '0 * * * *' }, script: x }\n";
    world.apply(jobs).await.unwrap();
    let mut worker = Worker::register(&world, "w1", "i1").await;
    let taken = worker.take().await;
    worker.start(&taken).await;
    let text = page(&world, "/metrics").await;
    assert!(text.contains("content-type: application/openmetrics-text"), "{text}");
    let count = |text: &str, name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is not in\n{text}")).parse().unwrap()
    };
    for (name, least) in [
        ("hera_leader", 1.0),
        ("hera_leader_epoch", 1.0),
        ("hera_actions{state=\"planned\"}", 49.0),
        ("hera_runs{state=\"held\"}", 1.0),
        ("hera_attempts_live", 1.0),
        ("hera_workers{state=\"online\"}", 1.0),
        ("hera_polls_total", 1.0),
        ("hera_grants_total", 1.0),
        ("hera_commits_total{outcome=\"done\"}", 3.0),
        ("hera_units_total{outcome=\"done\"}", 3.0),
        ("hera_commit_seconds_count", 3.0),
    ] {
        let found = count(&text, name);
        assert!(found >= least, "{name} is {found}, not at least {least}");
    }
    worker.finish(&taken, v1::End::FailedExit, Some(3)).await;
    let text = page(&world, "/metrics").await;
    assert_eq!(count(&text, "hera_attempts_ended_total{outcome=\"failed\"}"), 1.0);
    assert_eq!(count(&text, "hera_runs_ended_total{outcome=\"failed\"}"), 1.0);
    assert_eq!(count(&text, "hera_attempts_live"), 0.0);
    world.stop().await;
}
