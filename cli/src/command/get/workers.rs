//! `hera get workers`.

use clap::Args;
use hera_proto::v1;

use super::{Limit, pages};
use crate::client::Repeat;
use crate::command::wire;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// List workers
#[derive(Debug, Args)]
pub(crate) struct Workers {
    #[command(flatten)]
    limit: Limit,
}

impl Workers {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let client = &client;
        pages(session.out, self.limit, async move |page| {
            let request = v1::ListWorkersRequest { page: Some(page) };
            let answer = client
                .ask(Repeat::Safe, request, async |channel, request| {
                    wire::cluster(channel).list_workers(request).await
                })
                .await?;
            let v1::ListWorkersResponse { workers, next } = answer;
            Ok((workers.into_iter().map(wire::worker).collect(), next))
        })
        .await
    }
}
