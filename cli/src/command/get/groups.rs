//! `hera get groups`.

use clap::Args;
use hera_proto::v1;

use super::{Limit, pages};
use crate::client::Repeat;
use crate::command::wire;
use crate::exit::{Exit, Failure};
use crate::session::Session;

/// List groups
#[derive(Debug, Args)]
pub(crate) struct Groups {
    /// This group; `GROUP/**`: and all below it
    #[arg(long, value_name = "GROUP[/**]", default_value = "", hide_default_value = true)]
    group: String,
    #[command(flatten)]
    limit: Limit,
}

impl Groups {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        let (client, group) = (&client, &self.group);
        pages(session.out, self.limit, async move |page| {
            let request = v1::ListGroupsRequest { group: group.clone(), page: Some(page) };
            let answer = client
                .ask(Repeat::Safe, request, async |channel, request| {
                    wire::groups(channel).list_groups(request).await
                })
                .await?;
            let v1::ListGroupsResponse { groups, next } = answer;
            Ok((groups.into_iter().map(wire::group).collect(), next))
        })
        .await
    }
}
