//! `hera render`: the script as attempts get it, or any text at any instant.

use clap::Args;
use hera_proto::v1;
use v1::render_request::{Of, Text};

use super::when::{self, When};
use super::wire;
use crate::client::Repeat;
use crate::exit::{Exit, Failure};
use crate::output::keys::Rendered;
use crate::session::Session;

/// Print a script with all that is filled in
#[derive(Debug, Args)]
pub(crate) struct Render {
    /// JOB, JOB@VERSION, or its number
    #[arg(required_unless_present = "text", conflicts_with_all = ["text", "at", "zone"])]
    action: Option<String>,
    /// A text to try
    #[arg(long, value_name = "T", requires = "at")]
    text: Option<String>,
    /// The version's instant, or its local time in the zone
    #[arg(long, value_name = "INSTANT", requires = "text")]
    at: Option<When>,
    /// The zone in which dates are reckoned
    #[arg(long, value_name = "ZONE", requires = "text", default_value = "UTC")]
    zone: String,
}

impl Render {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { action, text, at, zone } = self;
        let client = session.client()?;
        let of = match (action, text, at) {
            (None, Some(text), Some(at)) => {
                when::zone(&zone)?;
                Some(Of::Text(Text { text, at_ms: at.ms(&zone)?, zone }))
            }
            (action, ..) => action.map(Of::Action),
        };
        let answer = client
            .ask(Repeat::Safe, v1::RenderRequest { of }, async |channel, request| {
                wire::actions(channel).render(request).await
            })
            .await?;
        let v1::RenderResponse { text } = answer;
        session.out.one(&Rendered { text })?;
        Ok(Exit::Done)
    }
}
