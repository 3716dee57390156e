//! `hera get calendars`.

use clap::Args;
use hera_proto::v1;

use super::{Limit, pages};
use crate::client::Repeat;
use crate::command::wire;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// List calendars
#[derive(Debug, Args)]
pub(crate) struct Calendars {
    #[command(flatten)]
    limit: Limit,
}

impl Calendars {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let client = &client;
        pages(session.out, self.limit, async move |page| {
            let request = v1::ListCalendarsRequest { page: Some(page) };
            let answer = client
                .ask(Repeat::Safe, request, async |channel, request| {
                    wire::calendars(channel).list_calendars(request).await
                })
                .await?;
            let v1::ListCalendarsResponse { calendars, next } = answer;
            Ok((calendars.into_iter().map(wire::calendar).collect(), next))
        })
        .await
    }
}
