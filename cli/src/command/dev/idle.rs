//! Whether `hera dev` has nothing more to do, and what of it needs a person.

use hera_common::limits::PAGE_MAX;
use hera_proto::v1;

use crate::client::{Client, Repeat};
use crate::command::wire;
use crate::exit::Failure;
use crate::output::keys::{action_name, shown};

/// A line for each action that is failed, cancelled or blocked; what must be repaired comes first.
pub(super) async fn troubles(client: &Client) -> Result<Vec<String>, Failure> {
    let (mut lines, mut behind) = (Vec::new(), Vec::new());
    let mut after = String::new();
    loop {
        let request = v1::ListActionsRequest {
            filter: Some(v1::ActionFilter {
                states: ["failed", "cancelled", "waiting"].map(str::to_owned).into(),
                ..v1::ActionFilter::default()
            }),
            page: Some(v1::PageRequest { limit: PAGE_MAX, after }),
            with_bindings: false,
        };
        let answer = client
            .ask(Repeat::Safe, request, async |channel, request| {
                wire::actions(channel).list_actions(request).await
            })
            .await?;
        let v1::ListActionsResponse { actions, next } = answer;
        for action in actions.into_iter().map(wire::action) {
            let name = action_name(&action.job, action.version);
            if action.state == "waiting" {
                behind.extend(blocked(client, &name).await?);
            } else {
                lines.push(format!("{name} {}", shown(&action.state, action.reason.as_deref())));
            }
        }
        if next.is_empty() {
            lines.append(&mut behind);
            return Ok(lines);
        }
        after = next;
    }
}

/// Why it is blocked; None: it only waits for what will come.
async fn blocked(client: &Client, name: &str) -> Result<Option<String>, Failure> {
    let request = v1::WhyActionRequest { action: name.to_owned() };
    let answer = client
        .ask(Repeat::Safe, request, async |channel, request| {
            wire::actions(channel).why_action(request).await
        })
        .await?;
    let why = wire::why(answer)?;
    Ok(why.blocked().then(|| format!("{name} blocked by {}", why.root)))
}
