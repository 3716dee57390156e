//! The service of runs and their logs.

use std::pin::Pin;

use futures::Stream;
use hera_proto::v1;
use tonic::{Request, Response, Status};
use v1::run_service_server::RunService;

use super::status::status;
use super::{Rpc, from_wire, to_wire};
use crate::service::filter::JobsWanted;
use crate::service::log::{Followed, Follower};
use crate::service::run::RunWanted;

fn runs_wanted(wire: v1::ListRunsRequest) -> (RunWanted, Option<v1::PageRequest>) {
    let v1::ListRunsRequest { job, group, action, states, triggers, page, owner, day, reasons } =
        wire;
    let jobs = JobsWanted { job, group, owner };
    (RunWanted { jobs, action, states, reasons, day, triggers }, page)
}

type Follow = Pin<Box<dyn Stream<Item = Result<v1::FollowLogResponse, Status>> + Send>>;

#[tonic::async_trait]
impl RunService for Rpc {
    async fn list_runs(
        &self,
        request: Request<v1::ListRunsRequest>,
    ) -> Result<Response<v1::ListRunsResponse>, Status> {
        let (wanted, page) = runs_wanted(request.into_inner());
        let page = from_wire::page(page).map_err(status)?;
        let piece = self.service.list_runs(&wanted, &page).await.map_err(status)?;
        let runs = piece.rows.into_iter().map(to_wire::run).collect();
        Ok(Response::new(v1::ListRunsResponse { runs, next: piece.next }))
    }

    async fn get_run(
        &self,
        request: Request<v1::GetRunRequest>,
    ) -> Result<Response<v1::GetRunResponse>, Status> {
        let v1::GetRunRequest { run, outputs } = request.into_inner();
        let (run, attempts) = self.service.get_run(&run, outputs).await.map_err(status)?;
        let attempts = attempts.into_iter().map(to_wire::attempt).collect();
        Ok(Response::new(v1::GetRunResponse { run: Some(to_wire::run(run)), attempts }))
    }

    async fn read_log(
        &self,
        request: Request<v1::ReadLogRequest>,
    ) -> Result<Response<v1::ReadLogResponse>, Status> {
        let v1::ReadLogRequest { run, attempt, offset, max } = request.into_inner();
        let piece = self.service.read_log(&run, attempt, offset, max).await.map_err(status)?;
        Ok(Response::new(v1::ReadLogResponse {
            bytes: piece.bytes.into(),
            offset: piece.offset,
            size: piece.size,
            attempt: piece.attempt,
            ended: piece.ended,
        }))
    }

    type FollowLogStream = Follow;

    async fn follow_log(
        &self,
        request: Request<v1::FollowLogRequest>,
    ) -> Result<Response<Follow>, Status> {
        let v1::FollowLogRequest { run, attempt, offset } = request.into_inner();
        let follower = self.service.follow_log(&run, attempt, offset).await.map_err(status)?;
        Ok(Response::new(Box::pin(futures::stream::unfold(Some(follower), follow))))
    }
}

/// One message, and the follower for the next; after an error there is none.
async fn follow(
    follower: Option<Follower>,
) -> Option<(Result<v1::FollowLogResponse, Status>, Option<Follower>)> {
    let mut follower = follower?;
    match follower.next().await {
        Ok(followed) => Some((Ok(followed_to_wire(followed?)), Some(follower))),
        Err(fault) => Some((Err(status(fault)), None)),
    }
}

fn followed_to_wire(followed: Followed) -> v1::FollowLogResponse {
    match followed {
        Followed::Piece(piece) => v1::FollowLogResponse {
            bytes: piece.bytes.into(),
            offset: piece.offset,
            attempt: piece.attempt,
            run_state: None,
        },
        Followed::End { words, attempt, offset } => v1::FollowLogResponse {
            bytes: bytes::Bytes::new(),
            offset,
            attempt,
            run_state: Some(to_wire::state(words)),
        },
    }
}
