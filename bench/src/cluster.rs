//! One master, some workers and a database, as real processes on loopback.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use hera_proto::v1;
use hera_proto::v1::action_service_client::ActionServiceClient;
use hera_proto::v1::cluster_service_client::ClusterServiceClient;
use hera_proto::v1::job_service_client::JobServiceClient;
use hera_testkit::postgres::{Database, Flavour, ThrowAwayPostgres};
use hera_testkit::{Port, Process, temp_dir, wait_for_async};
use tempfile::TempDir;
use tonic::transport::Channel;

/// How long anything may take before the measurement is given up.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// How long a program may take to start.
const START_LIMIT: Duration = Duration::from_secs(15);

/// What to start.
pub(crate) struct Shape {
    pub(crate) postgres: bool,
    pub(crate) workers: usize,
    pub(crate) capacity: u32,
}

/// A running cluster. Everything stops when it is dropped.
pub(crate) struct Cluster {
    channel: Channel,
    pub(crate) dir: TempDir,
    workers: Vec<Process>,
    master: Process,
    _port: Port,
    _database: Option<(Database, ThrowAwayPostgres)>,
}

impl Cluster {
    pub(crate) async fn start(shape: &Shape) -> Result<Self> {
        let dir = temp_dir()?;
        let port = Port::free()?;
        let database = if shape.postgres {
            let server = ThrowAwayPostgres::start(Flavour::Durable)?;
            Some((server.fresh_database()?, server))
        } else {
            None
        };
        let store = match &database {
            Some((database, _server)) => database.url().clone(),
            None => format!("sqlite:{}", dir.path().join("store").display()),
        };
        let master = Process::spawn(
            "master",
            Command::new(hera_testkit::binary("hera-master")?)
                .args(["--store", &store, "--listen", &port.address().to_string()])
                .env("HERA_LOG", "warn"),
        )?;
        let endpoint = Channel::from_shared(port.url())?.tcp_nodelay(true);
        let channel =
            wait_for_async("the master", LIMIT, || async { endpoint.connect().await.ok() }).await?;
        let mut workers = Vec::new();
        for number in 0..shape.workers {
            workers.push(Process::spawn(
                "worker",
                Command::new(hera_testkit::binary("hera-worker")?)
                    .args(["--master", &port.url(), "--name", &format!("w{number}")])
                    .args(["--capacity", &shape.capacity.to_string(), "--state-dir"])
                    .arg(dir.path().join(format!("w{number}")))
                    .env("HERA_LOG", "warn"),
            )?);
        }
        let cluster = Self { channel, dir, workers, master, _port: port, _database: database };
        let expected = u32::try_from(shape.workers)?;
        wait_for_async("the workers", START_LIMIT, || async {
            let seen = cluster.cluster().await;
            seen.ok().filter(|seen| seen.workers >= expected)
        })
        .await?;
        Ok(cluster)
    }

    async fn cluster(&self) -> Result<v1::GetClusterResponse> {
        let mut client = ClusterServiceClient::new(self.channel.clone());
        Ok(client.get_cluster(v1::GetClusterRequest {}).await?.into_inner())
    }

    /// Applies one job file.
    pub(crate) async fn apply(&self, text: String) -> Result<()> {
        let mut client = JobServiceClient::new(self.channel.clone())
            .max_encoding_message_size(hera_proto::MESSAGE_BYTES_MAX)
            .max_decoding_message_size(hera_proto::MESSAGE_BYTES_MAX);
        let request = v1::ApplyRequest {
            asked: Some(asked()),
            files: vec![v1::JobFileText { name: "bench.yaml".to_owned(), text }],
            ..v1::ApplyRequest::default()
        };
        client.apply(request).await.context("could not apply the jobs")?;
        Ok(())
    }

    /// Runs a job by hand.
    pub(crate) async fn run(&self, action: &str) -> Result<v1::Run> {
        let mut client = ActionServiceClient::new(self.channel.clone());
        let request = v1::RunActionRequest {
            asked: Some(asked()),
            action: action.to_owned(),
            ..v1::RunActionRequest::default()
        };
        let made = client.run_action(request).await?.into_inner();
        made.run.context("the answer has no run")
    }

    /// The actions of the benchmark's group in a state, all pages.
    pub(crate) async fn actions(&self, state: &str) -> Result<Vec<v1::Action>> {
        let mut client = ActionServiceClient::new(self.channel.clone());
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let filter = v1::ActionFilter {
                group: jobs_group().to_owned(),
                states: vec![state.to_owned()],
                ..v1::ActionFilter::default()
            };
            let page = v1::PageRequest { limit: 1_000, after };
            let request = v1::ListActionsRequest {
                filter: Some(filter),
                page: Some(page),
                ..v1::ListActionsRequest::default()
            };
            let answer = client.list_actions(request).await?.into_inner();
            found.extend(answer.actions);
            if answer.next.is_empty() {
                return Ok(found);
            }
            after = answer.next;
        }
    }

    /// Waits until an instant of the wall clock has come.
    pub(crate) async fn due(&self, at_ms: i64) -> Result<()> {
        wait_for_async("the instant", LIMIT, || async {
            (crate::clock::millis() > at_ms).then_some(())
        })
        .await
    }

    /// Waits until nothing runs and nothing is due, once something has run.
    pub(crate) async fn idle(&self) -> Result<()> {
        wait_for_async("the end of all work", LIMIT, || async {
            self.cluster().await.ok().filter(|seen| seen.idle)
        })
        .await?;
        Ok(())
    }

    /// The last lines of all processes, for an error.
    pub(crate) fn last_words(&self) -> String {
        let workers: Vec<String> = self.workers.iter().map(|w| w.stderr().last(5)).collect();
        format!("master: {}\nworkers: {}", self.master.stderr().last(10), workers.join("\n"))
    }
}

fn jobs_group() -> &'static str {
    crate::jobs::GROUP
}

fn asked() -> v1::Asked {
    v1::Asked { actor: "bench".to_owned(), why: String::new() }
}
