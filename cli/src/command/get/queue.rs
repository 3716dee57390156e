//! `hera get queue`.

use clap::Args;
use hera_proto::v1;

use super::{Limit, pages};
use crate::client::Repeat;
use crate::command::wire;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// List queued runs, the next to be granted first
#[derive(Debug, Args)]
pub(crate) struct Queue {
    #[command(flatten)]
    limit: Limit,
}

impl Queue {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let client = &client;
        pages(session.out, self.limit, async move |page| {
            let request = v1::ListQueueRequest { page: Some(page) };
            let answer = client
                .ask(Repeat::Safe, request, async |channel, request| {
                    wire::cluster(channel).list_queue(request).await
                })
                .await?;
            let v1::ListQueueResponse { queued, next } = answer;
            let rows = queued.into_iter().map(wire::queued).collect::<Result<_, _>>()?;
            Ok((rows, next))
        })
        .await
    }
}
