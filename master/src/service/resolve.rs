//! Finds the action or run that a person named, or says which ones the name could mean. It must not change anything.

use std::sync::Arc;

use hera_common::action::Action;
use hera_common::id::ActionId;
use hera_common::snapshot::BoundAction;
use hera_common::time::Version;
use hera_engine::catalog::{Catalog, Job};
use hera_engine::time::zone;
use hera_store::{ActionFilter, ActionStates, Page, RunFilter, RunView};
use jiff::Span;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::Service;
use super::fault::Fault;
use super::reference::{self, ActionName, At, RunName};
use super::shown::{digits, local, local_text};

/// Rows that are read at once while looking for a version by its digits.
const ROWS: u32 = 1_000;
/// How many rows at most: a name that is so vague is told as ambiguous long before.
const ROWS_MAX: usize = 100_000;
/// Candidates that are told.
const TOLD_MAX: usize = 5;
/// Two zones differ by at most this: an action's zone is the one in which it was made.
const ZONES_APART_MS: i64 = 26 * 3_600_000;
/// Four digits of a version are its year.
const DIGITS_OF_YEAR: usize = 4;
const FAR: Version = Version::from_ms(i64::MAX);

impl Service {
    /// The action that `text` names, with its bindings.
    ///
    /// # Errors
    /// INVALID of `field` where the text is bad or means several; NOT FOUND.
    pub(crate) async fn find_action(
        &self,
        catalog: &Catalog,
        field: &str,
        text: &str,
    ) -> Result<BoundAction, Fault> {
        let name = reference::action(text).map_err(|problem| Fault::invalid(field, problem))?;
        self.action_of(catalog, field, &name).await
    }

    /// The run that `text` names.
    ///
    /// # Errors
    /// As [`Service::find_action`]; NOT FOUND where the action has no run yet.
    pub(crate) async fn find_run(
        &self,
        catalog: &Catalog,
        field: &str,
        text: &str,
    ) -> Result<RunView, Fault> {
        let name = reference::run(text).map_err(|problem| Fault::invalid(field, problem))?;
        let action = match name {
            RunName::Number(id) => {
                let none = || Fault::NotFound(format!("run r{id} does not exist"));
                return self.store().run(id).await?.ok_or_else(none);
            }
            RunName::NewestOf(name) => self.action_of(catalog, field, &name).await?.action,
        };
        let filter = RunFilter { action: Some(action.id), ..RunFilter::default() };
        let runs = self.store().list_runs(&filter, &Page { limit: 1, after: None }).await?;
        let none = || Fault::NotFound(format!("{text} has no run yet"));
        runs.runs.into_iter().next().ok_or_else(none)
    }

    /// The job at a path.
    pub(crate) fn find_job(
        &self,
        catalog: &Catalog,
        path: &hera_common::path::Path,
    ) -> Result<Arc<Job>, Fault> {
        let none = || Fault::NotFound(format!("job {path} does not exist"));
        catalog.job(path).cloned().ok_or_else(none)
    }

    pub(crate) async fn action_of(
        &self,
        catalog: &Catalog,
        field: &str,
        name: &ActionName,
    ) -> Result<BoundAction, Fault> {
        let (path, at) = match name {
            ActionName::Number(id) => return self.bound(*id).await,
            ActionName::Of { job, at } => (job, at),
        };
        let job = self.find_job(catalog, path)?;
        let found = match at {
            At::Unsaid | At::Latest => self.latest(&job).await?,
            At::Next => self.next(&job).await?,
            At::Failed => self.newest_ended(&job, ActionStates::Failed(None)).await?,
            At::Succeeded => self.newest_ended(&job, ActionStates::Succeeded).await?,
            At::Version(version) => self.at_version(&job, *version).await?,
            At::Digits { prefix, offset } => {
                let found = self.by_digits(&job, prefix, *offset).await?;
                one_of(field, &job, prefix, found)?
            }
        };
        let id = found.ok_or_else(|| none(&job, at))?.id;
        self.bound(id).await
    }

    async fn bound(&self, id: ActionId) -> Result<BoundAction, Fault> {
        let none = || Fault::NotFound(format!("action {id} does not exist"));
        self.store().action(id).await?.ok_or_else(none)
    }

    /// The newest one that has been decided; before the first the newest that is due.
    async fn latest(&self, job: &Job) -> Result<Option<Action>, Fault> {
        let now = Version::at(self.now().wall);
        let decided = self.store().newest_action(job.row.id, now, true).await?;
        if decided.is_some() {
            return Ok(decided);
        }
        Ok(self.store().newest_action(job.row.id, now, false).await?)
    }

    async fn next(&self, job: &Job) -> Result<Option<Action>, Fault> {
        let from = Version::from_ms(self.now().wall.ms().saturating_add(1));
        Ok(self.store().actions_between(job.row.id, from, FAR, 1).await?.into_iter().next())
    }

    async fn newest_ended(&self, job: &Job, ended: ActionStates) -> Result<Option<Action>, Fault> {
        let filter = ActionFilter {
            jobs: Some(vec![job.row.id]),
            states: vec![ended],
            ..ActionFilter::default()
        };
        let page = self.store().list_actions(&filter, &Page { limit: 1, after: None }).await?;
        Ok(page.actions.into_iter().next().map(|(action, _live)| action))
    }

    pub(crate) async fn at_version(
        &self,
        job: &Job,
        version: Version,
    ) -> Result<Option<Action>, Fault> {
        let to = Version::from_ms(version.ms().saturating_add(1));
        Ok(self.store().actions_between(job.row.id, version, to, 1).await?.into_iter().next())
    }

    /// First where the job's present zone has these digits; an action of another zone lies near.
    async fn by_digits(
        &self,
        job: &Job,
        prefix: &str,
        offset: Option<i32>,
    ) -> Result<Vec<Action>, Fault> {
        let Some((from, to)) = range(prefix, job.zone()) else { return Ok(Vec::new()) };
        let found = self.scan(job, (from, to), prefix, offset).await?;
        if !found.is_empty() {
            return Ok(found);
        }
        let from = Version::from_ms(from.ms().saturating_sub(ZONES_APART_MS));
        let to = Version::from_ms(to.ms().saturating_add(ZONES_APART_MS));
        self.scan(job, (from, to), prefix, offset).await
    }

    async fn scan(
        &self,
        job: &Job,
        (mut from, to): (Version, Version),
        prefix: &str,
        offset: Option<i32>,
    ) -> Result<Vec<Action>, Fault> {
        let (mut found, mut read) = (Vec::new(), 0);
        loop {
            let rows = self.store().actions_between(job.row.id, from, to, ROWS).await?;
            let last = rows.last().map(|row| row.version);
            read += rows.len();
            let full = rows.len() == usize::try_from(ROWS).unwrap_or(usize::MAX);
            found.extend(rows.into_iter().filter(|row| has_digits(row, prefix, offset)));
            match last {
                Some(last) if full && found.len() <= TOLD_MAX && read < ROWS_MAX => {
                    from = Version::from_ms(last.ms().saturating_add(1));
                }
                Some(_) | None => return Ok(found),
            }
        }
    }
}

fn has_digits(action: &Action, prefix: &str, offset: Option<i32>) -> bool {
    let minutes = || local(action.version, &action.zone).offset().seconds() / 60;
    digits(action.version, &action.zone).starts_with(prefix)
        && offset.is_none_or(|offset| offset == minutes())
}

/// The instants of the year, month, … or second that the digits give in full; None: there is no such time.
fn range(prefix: &str, zone: &str) -> Option<(Version, Version)> {
    let field = |from: usize| prefix.get(from..from + 2).map(str::parse::<i8>);
    let year = prefix.get(..DIGITS_OF_YEAR)?.parse::<i16>().ok()?;
    let fields =
        [4, 6, 8, 10, 12].into_iter().map_while(field).collect::<Result<Vec<i8>, _>>().ok()?;
    let at = |place: usize, least: i8| fields.get(place).copied().unwrap_or(least);
    let from = DateTime::new(year, at(0, 1), at(1, 1), at(2, 0), at(3, 0), at(4, 0), 0).ok()?;
    let one = match fields.len() {
        0 => Span::new().years(1),
        1 => Span::new().months(1),
        2 => Span::new().days(1),
        3 => Span::new().hours(1),
        4 => Span::new().minutes(1),
        _ => Span::new().seconds(1),
    };
    let to = from.checked_add(one).ok()?;
    let zone = zone::find(zone).unwrap_or(TimeZone::UTC);
    // Wide at both ends: in a repeated hour both passes belong, in a gap nothing is left out.
    let first = zone.to_ambiguous_timestamp(from).earlier().ok()?;
    let last = zone.to_ambiguous_timestamp(to).later().ok()?;
    Some((Version::from_timestamp(first), Version::from_timestamp(last)))
}

fn one_of(
    field: &str,
    job: &Job,
    prefix: &str,
    found: Vec<Action>,
) -> Result<Option<Action>, Fault> {
    if found.len() <= 1 {
        return Ok(found.into_iter().next());
    }
    let told = found.iter().take(TOLD_MAX).map(|a| local_text(a.version, &a.zone));
    let told = told.collect::<Vec<_>>().join(", ");
    let more = if found.len() > TOLD_MAX { ", …" } else { "" };
    let path = &job.row.path;
    Err(Fault::invalid(field, format!("{path}@{prefix} could be any of {told}{more}")))
}

fn none(job: &Job, at: &At) -> Fault {
    let path = &job.row.path;
    Fault::NotFound(match at {
        At::Unsaid | At::Latest => format!("job {path} has no action yet"),
        At::Next => format!("job {path} has no action ahead"),
        At::Failed => format!("no action of job {path} is failed"),
        At::Succeeded => format!("no action of job {path} is succeeded"),
        At::Version(version) => format!("job {path} has no action at {version}"),
        At::Digits { prefix, offset: None } => {
            format!("job {path} has no action whose version begins with {prefix}")
        }
        At::Digits { prefix, offset: Some(minutes) } => {
            let (hours, rest) = (minutes / 60, (minutes % 60).abs());
            format!(
                "job {path} has no action whose version begins with {prefix} at {hours:+03}:{rest:02}"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn digits_give_the_range_in_which_to_look() {
        for (prefix, zone, expected) in [
            ("2026", "UTC", "2026-01-01T00:00:00Z 2027-01-01T00:00:00Z"),
            ("20261", "UTC", "2026-01-01T00:00:00Z 2027-01-01T00:00:00Z"),
            ("202612", "Asia/Shanghai", "2026-11-30T16:00:00Z 2026-12-31T16:00:00Z"),
            ("20260329", "Europe/Berlin", "2026-03-28T23:00:00Z 2026-03-29T22:00:00Z"),
            // The hour that the clocks pass twice, and the one that they jump over.
            ("2026102502", "Europe/Berlin", "2026-10-25T00:00:00Z 2026-10-25T02:00:00Z"),
            ("20260329023000", "Europe/Berlin", "2026-03-29T00:30:00Z 2026-03-29T01:30:01Z"),
            ("20261231235959", "UTC", "2026-12-31T23:59:59Z 2027-01-01T00:00:00Z"),
        ] {
            let (from, to) = range(prefix, zone).unwrap();
            assert_eq!(format!("{from} {to}"), expected, "{prefix}");
        }
        assert!(range("202613", "UTC").is_none());
        assert!(range("20260230", "UTC").is_none());
    }
}
