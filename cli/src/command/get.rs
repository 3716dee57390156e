//! `hera get`: lists, filtered and paged by the master.

mod actions;
mod attempts;
mod calendars;
mod groups;
mod jobs;
mod queue;
mod runs;
mod workers;

use clap::{Args, Subcommand};
use hera_common::limits::{PAGE_DEFAULT, PAGE_MAX};
use hera_proto::v1;

use crate::exit::{Exit, Failure};
use crate::output::{Format, Listed, Out};
use crate::session::Session;

/// List jobs, groups, calendars, actions, runs, attempts, workers or the queue
#[derive(Debug, Subcommand)]
pub(crate) enum Get {
    #[command(visible_alias = "job")]
    Jobs(jobs::Jobs),
    #[command(visible_alias = "group")]
    Groups(groups::Groups),
    #[command(visible_alias = "calendar")]
    Calendars(calendars::Calendars),
    #[command(visible_alias = "action")]
    Actions(actions::Actions),
    #[command(visible_alias = "run")]
    Runs(runs::Runs),
    #[command(visible_alias = "attempt")]
    Attempts(attempts::Attempts),
    #[command(visible_alias = "worker")]
    Workers(workers::Workers),
    Queue(queue::Queue),
}

impl Get {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        match self {
            Self::Jobs(command) => command.execute(session).await,
            Self::Groups(command) => command.execute(session).await,
            Self::Calendars(command) => command.execute(session).await,
            Self::Actions(command) => command.execute(session).await,
            Self::Runs(command) => command.execute(session).await,
            Self::Attempts(command) => command.execute(session).await,
            Self::Workers(command) => command.execute(session).await,
            Self::Queue(command) => command.execute(session).await,
        }
    }
}

/// Which jobs a list is about.
#[derive(Debug, Clone, Default, Args)]
struct OfJobs {
    /// Jobs whose path matches: `*` within a name, `**` across names
    #[arg(long, value_name = "GLOB", default_value = "", hide_default_value = true)]
    job: String,
    /// Jobs of this group; `GROUP/**`: and of all below it
    #[arg(long, value_name = "GROUP[/**]", default_value = "", hide_default_value = true)]
    group: String,
}

/// How much of a list.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Limit {
    /// At most so many rows [default: 100 in a table, else all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
}

/// One page, and the mark of the next.
pub(super) type Page<T> = (Vec<T>, String);

/// Asks for page after page and prints them, up to the limit.
pub(super) async fn pages<T: Listed>(
    out: &mut Out,
    limit: Limit,
    ask: impl AsyncFn(v1::PageRequest) -> Result<Page<T>, Failure>,
) -> Result<Exit, Failure> {
    let limit = limit.limit.or((out.format() == Format::Table).then_some(PAGE_DEFAULT));
    let mut left = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut after = String::new();
    let mut list = out.list();
    let more = loop {
        let size = u32::try_from(left).unwrap_or(PAGE_MAX).min(PAGE_MAX);
        let (mut rows, next) = ask(v1::PageRequest { limit: size, after }).await?;
        let cut = rows.len() > left;
        rows.truncate(left);
        left -= rows.len();
        list.page(&rows)?;
        if next.is_empty() || left == 0 {
            break cut || !next.is_empty();
        }
        after = next;
    };
    let shown = list.rows();
    list.end()?;
    if more {
        out.note(&format!("the first {shown}; there are more: --limit N"));
    }
    Ok(Exit::Done)
}
