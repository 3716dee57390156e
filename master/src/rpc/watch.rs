//! The service of changes.

use std::pin::Pin;

use futures::Stream;
use hera_common::time::Wall;
use hera_proto::v1;
use tonic::{Request, Response, Status};
use v1::watch_response::Change;
use v1::watch_service_server::WatchService;

use super::status::status;
use super::{Rpc, to_wire};
use crate::service::watch::{Seen, Watcher};

type Changes = Pin<Box<dyn Stream<Item = Result<v1::WatchResponse, Status>> + Send>>;

#[tonic::async_trait]
impl WatchService for Rpc {
    type WatchStream = Changes;

    async fn watch(&self, request: Request<v1::WatchRequest>) -> Result<Response<Changes>, Status> {
        let watcher = self.service.watch(request.into_inner().job).map_err(status)?;
        Ok(Response::new(Box::pin(futures::stream::unfold(Some(watcher), watch))))
    }
}

/// One message, and the watcher for the next; after an error there is none.
async fn watch(
    watcher: Option<Watcher>,
) -> Option<(Result<v1::WatchResponse, Status>, Option<Watcher>)> {
    let mut watcher = watcher?;
    match watcher.next().await {
        Ok(seen) => Some((Ok(seen_to_wire(seen)), Some(watcher))),
        Err(fault) => Some((Err(status(fault)), None)),
    }
}

fn seen_to_wire((at, seen): (Wall, Seen)) -> v1::WatchResponse {
    let change = match seen {
        Seen::Action(action) => Change::Action(to_wire::action(*action)),
        Seen::Run { run, attempt } => Change::Run(v1::RunChange {
            run: Some(to_wire::run(*run)),
            attempt: attempt.map(|attempt| to_wire::attempt(*attempt)),
        }),
        Seen::Worker { name, state } => {
            Change::Worker(v1::WorkerChange { name, state: state.to_owned() })
        }
        Seen::Missed(count) => Change::Missed(count),
    };
    v1::WatchResponse { at_ms: at.ms(), change: Some(change) }
}
