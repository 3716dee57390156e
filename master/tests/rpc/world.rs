//! A running master and its clients.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser as _;
use hera_master::config::Place;
use hera_master::{Args, Config, Ready};
use hera_proto::v1;
use hera_store::{MemoryStore, Store};
use hera_testkit::wait_for_async;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;
use tonic::{Code, Status};
use v1::action_service_client::ActionServiceClient;
use v1::cluster_service_client::ClusterServiceClient;
use v1::group_service_client::GroupServiceClient;
use v1::job_service_client::JobServiceClient;
use v1::run_service_client::RunServiceClient;
use v1::watch_service_client::WatchServiceClient;
use v1::worker_service_client::WorkerServiceClient;

/// Longest wait for anything in these tests; a busy machine is slow.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A master that serves.
pub(crate) struct World {
    pub(crate) url: String,
    channel: Channel,
    shutdown: CancellationToken,
    ended: JoinHandle<Result<(), hera_master::RunError>>,
}

/// Settings of a master with quick timings and any port.
pub(crate) fn config(folder: &Path) -> Config {
    let store = format!("sqlite:{}", folder.display());
    let flags =
        "hera-master --listen 127.0.0.1:0 --poll-ms 500 --accept-ms 10000 --grace-ms 100 --store";
    let flags = flags.split(' ').chain(std::iter::once(store.as_str()));
    Args::try_parse_from(flags).unwrap().check().unwrap()
}

pub(crate) fn asked() -> Option<v1::Asked> {
    Some(v1::Asked { actor: "ann".to_owned(), why: "a test".to_owned() })
}

impl World {
    /// Starts a master on a folder and waits until it leads.
    #[expect(clippy::disallowed_methods, reason = "the test's own task, joined by stop")]
    pub(crate) async fn start(folder: &Path) -> Self {
        let shutdown = CancellationToken::new();
        let (told, ready) = tokio::sync::oneshot::channel::<Ready>();
        let running = hera_master::run(config(folder), shutdown.clone(), |ready| {
            told.send(ready).unwrap();
        });
        let world = Self::new(tokio::spawn(running), ready, shutdown).await;
        world.until_it_leads().await;
        world
    }

    /// Starts one of several masters on a store in memory; it may stand by.
    pub(crate) async fn start_on(store: &MemoryStore) -> Self {
        let mut config = config(Path::new("/nowhere"));
        config.store = Place::Postgres("postgres://unused".to_owned());
        Self::run_on(Arc::new(store.another_link()), config).await
    }

    /// Starts a master on the store of a folder, which is open already, and waits until it leads.
    pub(crate) async fn start_with(store: Arc<dyn Store>, folder: &Path) -> Self {
        let world = Self::run_on(store, config(folder)).await;
        world.until_it_leads().await;
        world
    }

    #[expect(clippy::disallowed_methods, reason = "the test's own task, joined by stop")]
    async fn run_on(store: Arc<dyn Store>, config: Config) -> Self {
        let shutdown = CancellationToken::new();
        let (told, ready) = tokio::sync::oneshot::channel::<Ready>();
        let running = hera_master::run_on(store, config, shutdown.clone(), |ready| {
            told.send(ready).unwrap();
        });
        Self::new(tokio::spawn(running), ready, shutdown).await
    }

    async fn new(
        ended: JoinHandle<Result<(), hera_master::RunError>>,
        ready: tokio::sync::oneshot::Receiver<Ready>,
        shutdown: CancellationToken,
    ) -> Self {
        let url = format!("http://{}", ready.await.unwrap().address);
        let channel = Channel::from_shared(url.clone()).unwrap().connect().await.unwrap();
        Self { url, channel, shutdown, ended }
    }

    pub(crate) async fn until_it_leads(&self) {
        let leads = async || match self.cluster().get_cluster(v1::GetClusterRequest {}).await {
            Ok(_answer) => Some(()),
            Err(status) => {
                let not_yet = [Code::Unavailable, Code::FailedPrecondition];
                assert!(not_yet.contains(&status.code()), "{status}");
                None
            }
        };
        wait_for_async("the master to lead", LIMIT, leads).await.unwrap();
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Stops it as TERM does.
    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        drop(self.channel);
        tokio::time::timeout(LIMIT, self.ended).await.unwrap().unwrap().unwrap();
    }

    pub(crate) fn jobs(&self) -> JobServiceClient<Channel> {
        JobServiceClient::new(self.channel.clone())
    }

    pub(crate) fn groups(&self) -> GroupServiceClient<Channel> {
        GroupServiceClient::new(self.channel.clone())
    }

    pub(crate) fn actions(&self) -> ActionServiceClient<Channel> {
        ActionServiceClient::new(self.channel.clone())
    }

    pub(crate) fn runs(&self) -> RunServiceClient<Channel> {
        RunServiceClient::new(self.channel.clone())
    }

    pub(crate) fn cluster(&self) -> ClusterServiceClient<Channel> {
        ClusterServiceClient::new(self.channel.clone())
    }

    pub(crate) fn watch(&self) -> WatchServiceClient<Channel> {
        WatchServiceClient::new(self.channel.clone())
    }

    pub(crate) fn workers(&self) -> WorkerServiceClient<Channel> {
        WorkerServiceClient::new(self.channel.clone())
    }

    /// Applies one file as `hera dev` does: of each job the newest due version runs.
    pub(crate) async fn apply(&self, text: &str) -> Result<v1::ApplyResponse, Status> {
        let day_ago = self.now_ms().await - 24 * 3_600_000;
        let request = v1::ApplyRequest {
            asked: asked(),
            files: vec![v1::JobFileText { name: "t.yaml".to_owned(), text: text.to_owned() }],
            since_ms: Some(day_ago),
            source: "test".to_owned(),
            first_load_newest: true,
            ..v1::ApplyRequest::default()
        };
        Ok(self.jobs().apply(request).await?.into_inner())
    }

    pub(crate) async fn now_ms(&self) -> i64 {
        let cluster = self.cluster().get_cluster(v1::GetClusterRequest {}).await.unwrap();
        cluster.into_inner().store_now_ms
    }

    pub(crate) async fn get(&self, action: &str) -> v1::GetActionResponse {
        let request = v1::GetActionRequest { action: action.to_owned() };
        self.actions().get_action(request).await.unwrap().into_inner()
    }

    /// The state of an action, `word(reason)`.
    pub(crate) async fn state(&self, action: &str) -> String {
        words(self.get(action).await.action.unwrap().state)
    }

    /// Waits until an action has this state.
    pub(crate) async fn becomes(&self, action: &str, wanted: &str) {
        let mut last = String::new();
        let is_there = async || {
            last = self.state(action).await;
            (last == wanted).then_some(())
        };
        let waited = wait_for_async(wanted, LIMIT, is_there).await;
        assert!(waited.is_ok(), "{action} is {last}, not {wanted}");
    }

    pub(crate) async fn why(&self, action: &str) -> v1::WhyActionResponse {
        let request = v1::WhyActionRequest { action: action.to_owned() };
        self.actions().why_action(request).await.unwrap().into_inner()
    }
}

/// `word(reason)`.
pub(crate) fn words(state: Option<v1::State>) -> String {
    let v1::State { word, reason } = state.unwrap();
    if reason.is_empty() { word } else { format!("{word}({reason})") }
}
