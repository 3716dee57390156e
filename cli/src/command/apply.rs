//! `hera apply`: a file or a folder of jobs, with the files that they name, whole or not at all.

mod collect;

use std::path::{Path, PathBuf};

use clap::Args;
use hera_proto::v1;

use super::when::When;
use super::wire;
use crate::args::Because;
use crate::client::{Client, Repeat};
use crate::exit::{Exit, Failure};
use crate::output::keys::Change;
use crate::session::Session;
use collect::{Collected, collect};

/// Apply job files, whole or not at all
#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// A job file, or a folder whose *.yaml and *.yml are read, also in the folders below; - is the standard input
    #[arg(short, long = "file", value_name = "PATH")]
    file: PathBuf,
    /// Delete the jobs that stand in the groups that the files name, and not in the files
    #[arg(long)]
    prune: bool,
    /// Tell what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// New jobs hold from this instant on (a day or a local time: of UTC), not from now
    #[arg(long, value_name = "T")]
    since: Option<When>,
    /// Replace what another hand has changed since this source was last applied
    #[arg(long)]
    overwrite: bool,
    /// Where the files come from, if not from this folder: a name that is the same on all machines that apply them
    #[arg(long, value_name = "NAME", env = "HERA_SOURCE")]
    source: Option<String>,
    #[command(flatten)]
    because: Because,
}

/// What an apply did, or would do.
pub(super) struct Applied {
    pub changes: Vec<Change>,
    pub warnings: Vec<String>,
    pub unchanged: u32,
}

impl Apply {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { file, prune, dry_run, since, overwrite, source, because } = self;
        let client = session.client()?;
        let wish = v1::ApplyRequest {
            asked: Some(v1::Asked { actor: session.actor(), why: because.why }),
            dry_run,
            prune,
            since_ms: since.map(|since| since.ms("UTC")).transpose()?,
            overwrite,
            source: source.unwrap_or_default(),
            ..v1::ApplyRequest::default()
        };
        let Applied { changes, warnings, unchanged } = apply(&client, &file, wish).await?;
        let summary = summary(&changes, unchanged);
        for warning in &warnings {
            session.out.note(&format!("warning: {warning}"));
        }
        if !changes.is_empty() || session.out.format() != crate::output::Format::Table {
            session.out.all(&changes)?;
        }
        let dry = if dry_run { " (dry run: nothing was changed)" } else { "" };
        session.out.note(&format!("{summary}{dry}"));
        Ok(Exit::Done)
    }
}

/// Reads what lies at `path` and has it applied; `wish` says how.
pub(super) async fn apply(
    client: &Client,
    path: &Path,
    wish: v1::ApplyRequest,
) -> Result<Applied, Failure> {
    let Collected { files, attachments, source } = collect(path)?;
    let source = if wish.source.is_empty() { source } else { wish.source.clone() };
    let request = v1::ApplyRequest { files, attachments, source, ..wish };
    let answer = client
        .ask(Repeat::Unsafe, request, async |channel, request| {
            wire::jobs(channel).apply(request).await
        })
        .await?;
    let v1::ApplyResponse { changes, warnings, unchanged, groups, calendars } = answer;
    let groups = groups.into_iter().map(wire::group_change).map(Ok);
    let calendars = calendars.into_iter().map(wire::calendar_change).map(Ok);
    let changes = calendars
        .chain(groups)
        .chain(changes.into_iter().map(wire::change))
        .collect::<Result<_, _>>()?;
    Ok(Applied { changes, warnings, unchanged })
}

/// `groups: 1 revised; jobs: 2 created, 1 deleted, 9 unchanged`.
pub(super) fn summary(changes: &[Change], unchanged: u32) -> String {
    let (calendars, others): (Vec<_>, Vec<_>) =
        changes.iter().partition(|change| change.calendar.is_some());
    let (groups, jobs): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|change| change.group.is_some());
    let (calendars, groups, mut jobs) = (counts(&calendars), counts(&groups), counts(&jobs));
    if unchanged > 0 || jobs.is_empty() {
        jobs.push(format!("{unchanged} unchanged"));
    }
    let said = |noun: &str, counts: &[String]| match counts {
        [] => String::new(),
        counts => format!("{noun}: {}; ", counts.join(", ")),
    };
    let (calendars, groups) = (said("calendars", &calendars), said("groups", &groups));
    format!("{calendars}{groups}jobs: {}", jobs.join(", "))
}

fn counts(changes: &[&Change]) -> Vec<String> {
    let count = |kind: &str| changes.iter().filter(|change| change.kind == kind).count();
    ["created", "revised", "renamed", "deleted", "opened", "closed"]
        .into_iter()
        .map(|kind| (kind, count(kind)))
        .filter(|(_kind, n)| *n > 0)
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::summary;
    use crate::output::keys::Change;

    #[test]
    fn a_summary_counts_each_kind() {
        let change = |kind, group: Option<&str>| Change {
            kind,
            job: group.is_none().then(|| "a/b".to_owned()),
            group: group.map(str::to_owned),
            calendar: None,
            was: None,
            revision: None,
            details: Vec::new(),
        };
        let changes =
            [change("revised", Some("a")), change("deleted", None), change("created", None)];
        let told = "groups: 1 revised; jobs: 1 created, 1 deleted, 9 unchanged";
        assert_eq!(summary(&changes, 9), told);
        assert_eq!(summary(&changes[1..], 0), "jobs: 1 created, 1 deleted");
        assert_eq!(summary(&[], 0), "jobs: 0 unchanged");
    }
}
