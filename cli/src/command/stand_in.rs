//! A master for tests: answers what a test says, on a port of this machine. Knows no rule of the product.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::Stream;
use hera_proto::v1;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use v1::cluster_service_server::{ClusterService, ClusterServiceServer};
use v1::run_service_server::{RunService, RunServiceServer};

/// What the n-th stream of a log brings, from 0.
pub(super) type Pieces = fn(usize) -> Vec<Result<v1::FollowLogResponse, Status>>;

/// What it answers.
#[derive(Clone)]
pub(super) struct Answers {
    pub cluster: Result<v1::GetClusterResponse, Status>,
    pub run: v1::GetRunResponse,
    pub log: Pieces,
    /// How many streams have been asked for.
    pub streams: Arc<AtomicUsize>,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            cluster: Ok(v1::GetClusterResponse::default()),
            run: v1::GetRunResponse::default(),
            log: |_stream| Vec::new(),
            streams: Arc::default(),
        }
    }
}

impl Answers {
    /// Serves until the guard is dropped.
    pub(super) async fn serve(self) -> (SocketAddr, DropGuard) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let serving = tonic::transport::Server::builder()
            .add_service(ClusterServiceServer::new(self.clone()))
            .add_service(RunServiceServer::new(self))
            .serve_with_incoming_shutdown(
                TcpIncoming::from(listener),
                stop.clone().cancelled_owned(),
            );
        TaskTracker::new().spawn(serving);
        (address, stop.drop_guard())
    }
}

fn not_asked<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("no test asks this"))
}

#[tonic::async_trait]
impl ClusterService for Answers {
    async fn get_cluster(
        &self,
        _request: Request<v1::GetClusterRequest>,
    ) -> Result<Response<v1::GetClusterResponse>, Status> {
        self.cluster.clone().map(Response::new)
    }

    async fn list_workers(
        &self,
        _request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        not_asked()
    }

    async fn list_queue(
        &self,
        _request: Request<v1::ListQueueRequest>,
    ) -> Result<Response<v1::ListQueueResponse>, Status> {
        not_asked()
    }

    async fn list_audit(
        &self,
        _request: Request<v1::ListAuditRequest>,
    ) -> Result<Response<v1::ListAuditResponse>, Status> {
        not_asked()
    }
}

#[tonic::async_trait]
impl RunService for Answers {
    type FollowLogStream =
        Pin<Box<dyn Stream<Item = Result<v1::FollowLogResponse, Status>> + Send>>;

    async fn list_runs(
        &self,
        _request: Request<v1::ListRunsRequest>,
    ) -> Result<Response<v1::ListRunsResponse>, Status> {
        not_asked()
    }

    async fn get_run(
        &self,
        _request: Request<v1::GetRunRequest>,
    ) -> Result<Response<v1::GetRunResponse>, Status> {
        let mut answer = self.run.clone();
        // The run has ended once its log has been followed to the end.
        if self.streams.load(Ordering::SeqCst) < 2
            && let Some(run) = &mut answer.run
        {
            run.state = Some(v1::State { word: "running".to_owned(), reason: String::new() });
        }
        Ok(Response::new(answer))
    }

    async fn read_log(
        &self,
        _request: Request<v1::ReadLogRequest>,
    ) -> Result<Response<v1::ReadLogResponse>, Status> {
        not_asked()
    }

    async fn follow_log(
        &self,
        _request: Request<v1::FollowLogRequest>,
    ) -> Result<Response<Self::FollowLogStream>, Status> {
        let pieces = (self.log)(self.streams.fetch_add(1, Ordering::SeqCst));
        Ok(Response::new(Box::pin(futures::stream::iter(pieces))))
    }
}
