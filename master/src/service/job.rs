//! Jobs and groups: looking at them, their slots, and taking a job away. What applies files lies elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hera_common::audit::Asked;
use hera_common::id::{GroupId, JobId};
use hera_common::path::Path;
use hera_common::schedule::DstPolicy;
use hera_common::time::Version;
use hera_engine::calendars::LATEST;
use hera_engine::catalog::{Catalog, Group, Job};
use hera_engine::input::{Input, Reply};
use hera_engine::plan::{Plan, PlanError};
use hera_engine::time::{Schedule, note, slots};

use super::Service;
use super::calendar::warnings;
use super::fault::Fault;
use super::filter::{self, JobsWanted};
use super::page::{List, Piece, Wanted};
use super::shown::local_text;

/// Slots that are shown with a job.
const NEXT_SLOTS: u32 = 5;
/// Slots in one answer, and where the caller does not say.
const SLOTS_MAX: u32 = 1_000;
const SLOTS: u32 = 10;
/// How far ahead the versions of a job with edges are searched, and the first step.
const SEARCH_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
const SEARCH_FIRST: Duration = Duration::from_secs(24 * 3600);
/// A cron that has ended has no slots to show; one that fires at no time at all is a mistake.
const EVER: Version = Version::from_ms(0);
/// Nearer than this to the end of a calendar the search stops.
const SEARCH_LEAST: Duration = Duration::from_secs(3600);
const FAR: Version = Version::from_ms(i64::MAX);

/// A job as shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownJob {
    pub(crate) job: Arc<Job>,
    pub(crate) state: JobState,
    pub(crate) zone: String,
    pub(crate) upstream: Vec<String>,
    pub(crate) downstream: Vec<String>,
    pub(crate) next_slots: Vec<Version>,
    pub(crate) warnings: Vec<String>,
}

/// Whether a job's versions run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobState {
    Open,
    Closed,
    Parked,
}

/// A group as shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownGroup {
    pub(crate) id: GroupId,
    pub(crate) path: Path,
    pub(crate) owner: String,
    /// Its own, not what it inherits.
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) spec_json: String,
    /// Jobs that lie directly in it.
    pub(crate) jobs: u32,
}

/// Whose slots.
#[derive(Debug, Clone)]
pub(crate) enum SlotsOf {
    Job(Path),
    Cron { text: String, zone: String },
}

/// A slot as shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownSlot {
    pub(crate) version: Version,
    pub(crate) local: String,
    /// What the clocks did to it; mostly empty.
    pub(crate) note: String,
}

impl JobState {
    const ALL: [Self; 3] = [Self::Open, Self::Closed, Self::Parked];

    /// As shown and asked for.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Parked => "parked",
        }
    }

    const fn of(job: &Job) -> Self {
        match (job.parked.is_some(), job.row.open) {
            (true, _) => Self::Parked,
            (false, true) => Self::Open,
            (false, false) => Self::Closed,
        }
    }

    fn wanted(text: &str) -> Result<Option<Self>, Fault> {
        if text.is_empty() {
            return Ok(None);
        }
        let found = Self::ALL.into_iter().find(|state| state.label() == text);
        let bad = || {
            let problem = format!("`{text}` is no state of a job: write open, closed or parked");
            Fault::invalid("state", problem)
        };
        found.ok_or_else(bad).map(Some)
    }
}

impl Service {
    /// One job.
    pub(crate) async fn get_job(&self, path: &Path) -> Result<ShownJob, Fault> {
        let catalog = self.catalog()?;
        let job = self.find_job(&catalog, path)?;
        let after = Version::at(self.now().wall);
        let next_slots = next_versions(Arc::clone(&catalog), &job, after, NEXT_SLOTS).await?;
        let warnings = warnings(&catalog, &job, after);
        Ok(ShownJob { next_slots, warnings, ..shown(&catalog, job) })
    }

    /// Jobs by filter, by path; of those with a schedule the next slot by it alone: all would cost a search for each.
    pub(crate) fn list_jobs(
        &self,
        wanted: &JobsWanted,
        state: &str,
        page: &Wanted,
    ) -> Result<Piece<ShownJob>, Fault> {
        let catalog = self.catalog()?;
        let state = JobState::wanted(state)?;
        let takes = |job: &&Arc<Job>| {
            wanted.takes(job) && state.is_none_or(|state| JobState::of(job) == state)
        };
        let jobs = catalog.by_path.values().filter_map(|id| catalog.jobs.get(id)).filter(takes);
        let list = List::new("jobs", &(wanted, state));
        let piece = list.cut(jobs, page, |job| job.row.path.to_string())?;
        let now = Version::at(self.now().wall);
        let with_next = |job: &Arc<Job>| {
            // A job whose schedule cannot be read is parked, and its state says so.
            let schedule = schedule(&catalog, job).ok().flatten();
            let next_slots = schedule.map_or_else(Vec::new, |schedule| take(&schedule, now, 1));
            let warnings = warnings(&catalog, job, now);
            ShownJob { next_slots, warnings, ..shown(&catalog, Arc::clone(job)) }
        };
        let rows = piece.rows.into_iter().map(with_next).collect();
        Ok(Piece { rows, next: piece.next })
    }

    /// Takes a job away; refused while others depend on it.
    pub(crate) async fn delete_job(&self, asked: Asked, path: &Path) -> Result<(), Fault> {
        let lead = self.lead()?;
        let job = self.find_job(&lead.catalog(), path)?;
        let input = Input::DeleteJob { asked, job: job.row.id };
        let Reply::Deleted(deleted) = Self::decide(&lead, input).await? else {
            return Err(Fault::OtherReply);
        };
        Ok(deleted?)
    }

    /// The next slots of a job or of a cron expression, and the zone in which they are shown.
    pub(crate) async fn list_slots(
        &self,
        of: &SlotsOf,
        after: Option<Version>,
        count: u32,
    ) -> Result<(Vec<ShownSlot>, String), Fault> {
        if count > SLOTS_MAX {
            return Err(Fault::invalid("n", format!("must be at most {SLOTS_MAX}")));
        }
        let count = if count == 0 { SLOTS } else { count };
        let after = after.unwrap_or(Version::at(self.now().wall));
        match of {
            SlotsOf::Job(path) => {
                let catalog = self.catalog()?;
                let job = self.find_job(&catalog, path)?;
                let versions = next_versions(Arc::clone(&catalog), &job, after, count).await?;
                let (plan, zone) = (schedule(&catalog, &job)?, job.zone().to_owned());
                let slots = versions.into_iter().map(|v| slot(v, &zone, plan.as_ref()));
                Ok((slots.collect(), zone))
            }
            SlotsOf::Cron { text, zone } => {
                let zone = if zone.is_empty() { "UTC" } else { zone };
                Ok((of_cron(text, zone, after, count)?, zone.to_owned()))
            }
        }
    }

    /// One group.
    pub(crate) fn get_group(&self, path: &Path) -> Result<ShownGroup, Fault> {
        let catalog = self.catalog()?;
        let none = || Fault::NotFound(format!("group {path} does not exist"));
        Ok(group_shown(&catalog, catalog.groups.get(path).ok_or_else(none)?))
    }

    /// Groups by path.
    pub(crate) fn list_groups(
        &self,
        group: &str,
        page: &Wanted,
    ) -> Result<Piece<ShownGroup>, Fault> {
        let catalog = self.catalog()?;
        let wanted = |known: &&Group| filter::in_group(group, known.row.path.as_str());
        let groups = catalog.groups.values().filter(wanted);
        let piece =
            List::new("groups", &group).cut(groups, page, |known| known.row.path.to_string())?;
        let rows = piece.rows.into_iter().map(|known| group_shown(&catalog, known)).collect();
        Ok(Piece { rows, next: piece.next })
    }
}

fn shown(catalog: &Catalog, job: Arc<Job>) -> ShownJob {
    let edges = job.spec.iter().flat_map(|spec| &spec.edges);
    let mut upstream: Vec<String> = edges.map(|edge| edge.upstream.to_string()).collect();
    upstream.dedup();
    let below = catalog.downstream.get(&job.row.id).into_iter().flatten();
    let below = below.filter_map(|id| catalog.jobs.get(id)).map(|job| job.row.path.to_string());
    let mut downstream: Vec<String> = below.collect();
    downstream.sort_unstable();
    let (state, zone) = (JobState::of(&job), job.zone().to_owned());
    ShownJob {
        job,
        state,
        zone,
        upstream,
        downstream,
        next_slots: Vec::new(),
        warnings: Vec::new(),
    }
}

fn group_shown(catalog: &Catalog, known: &Group) -> ShownGroup {
    let Group { row, doc } = known;
    ShownGroup {
        id: row.id,
        path: row.path.clone(),
        owner: doc.owner.clone().unwrap_or_default(),
        config: doc.config.clone(),
        spec_json: row.spec.clone(),
        jobs: jobs_in(catalog, &row.path),
    }
}

fn jobs_in(catalog: &Catalog, group: &Path) -> u32 {
    let inside = |path: &&Path| path.parent().as_ref() == Some(group);
    u32::try_from(catalog.by_path.keys().filter(inside).count()).unwrap_or(u32::MAX)
}

/// The next versions of a job. One without edges has them by its schedule alone; of others a slot may be left out, or
/// come from an upstream, which takes a search.
async fn next_versions(
    catalog: Arc<Catalog>,
    job: &Job,
    after: Version,
    count: u32,
) -> Result<Vec<Version>, Fault> {
    let alone = job.spec.as_ref().is_none_or(|spec| spec.edges.is_empty());
    if alone {
        return Ok(schedule(&catalog, job)?
            .map(|plan| take(&plan, after, count))
            .unwrap_or_default());
    }
    let id = job.row.id;
    let searching = tokio::task::spawn_blocking(move || search(&catalog, id, after, count));
    searching.await.map_err(Fault::Died)?
}

/// Looks in windows that grow, for a year at most.
fn search(
    catalog: &Catalog,
    job: JobId,
    after: Version,
    count: u32,
) -> Result<Vec<Version>, Fault> {
    let wanted = usize::try_from(count).unwrap_or(usize::MAX);
    let end = after.plus(SEARCH_MAX);
    let (mut from, mut window) = (after.plus(Duration::from_millis(1)), SEARCH_FIRST);
    let mut found = Vec::new();
    let mut plan = Plan::new(&catalog.nodes);
    while found.len() < wanted && from < end && catalog.nodes.contains_key(&job) {
        let to = from.plus(window).min(end);
        let versions = plan.versions(job, from, to);
        // Past the end of a calendar nobody knows: what was found so far is all.
        let versions = match versions {
            Err(PlanError::PastCalendar { .. }) if window > SEARCH_LEAST => {
                window = (window / 2).max(SEARCH_LEAST);
                continue;
            }
            Err(PlanError::PastCalendar { .. }) => break,
            versions => versions.map_err(|error| Fault::Conflict(error.to_string()))?,
        };
        found.extend(versions.iter().map(|planned| planned.version));
        (from, window) = (to, window * 2);
    }
    found.truncate(wanted);
    Ok(found)
}

/// The job's schedule as it is now.
fn schedule(catalog: &Catalog, job: &Job) -> Result<Option<Schedule>, Fault> {
    let Some(spec) = job.spec.as_ref().and_then(|spec| spec.schedule.as_ref()) else {
        return Ok(None);
    };
    let schedule = catalog.schedule(spec, LATEST);
    schedule.map(Some).map_err(|error| Fault::Conflict(error.to_string()))
}

fn of_cron(text: &str, zone: &str, after: Version, count: u32) -> Result<Vec<ShownSlot>, Fault> {
    let schedule = Schedule::new(&[text], zone, DstPolicy::default())
        .and_then(|schedule| schedule.check_fires_from(EVER).map(|()| schedule))
        .map_err(|error| Fault::invalid(error.field(), error.to_string()))?;
    let versions = take(&schedule, after, count).into_iter();
    Ok(versions.map(|version| slot(version, zone, Some(&schedule))).collect())
}

fn take(schedule: &Schedule, after: Version, count: u32) -> Vec<Version> {
    let from = Version::from_ms(after.ms().saturating_add(1));
    slots(schedule, from, FAR).take(usize::try_from(count).unwrap_or(usize::MAX)).collect()
}

fn slot(version: Version, zone: &str, schedule: Option<&Schedule>) -> ShownSlot {
    let note = schedule.and_then(|schedule| note(schedule, version));
    let note = note.map(|note| note.to_string()).unwrap_or_default();
    ShownSlot { version, local: local_text(version, zone), note }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{Version, of_cron};

    #[test]
    fn slots_tell_what_is_odd_about_them() {
        let after = |text: &str| {
            Version::from_timestamp(text.parse::<jiff::Timestamp>().expect("an instant"))
        };
        let told = |cron: &str, from: &str| {
            let slots = of_cron(cron, "Europe/Berlin", after(from), 3).unwrap();
            slots
                .iter()
                .map(|slot| format!("{} {}", slot.local, slot.note))
                .collect::<Vec<_>>()
                .join("\n")
        };
        expect![[r#"
            2026-03-29T03:00:00+02:00 03-29 02:30 does not exist: first instant after
            2026-03-30T02:30:00+02:00 
            2026-03-31T02:30:00+02:00 "#]]
        .assert_eq(&told("30 2 * * *", "2026-03-28T12:00:00Z"));
        expect![[r#"
            2026-10-25T02:00:00+02:00 first of two
            2026-10-25T02:00:00+01:00 second of two
            2026-10-25T03:00:00+01:00 "#]]
        .assert_eq(&told("0 * * * *", "2026-10-24T23:30:00Z"));
    }

    const fn after_2026() -> Version {
        Version::from_ms(1_798_761_600_000)
    }

    #[test]
    fn a_bad_cron_is_refused_by_its_field() {
        let fault = of_cron("61 * * * *", "UTC", Version::from_ms(0), 1).unwrap_err();
        assert!(fault.to_string().starts_with("cron: "), "{fault}");
        let fault = of_cron("0 0 30 2 *", "UTC", Version::from_ms(0), 1).unwrap_err();
        expect!["cron: `0 0 30 2 *`: day-of-month, byte 4: it never fires: no date from 1970 to 2199 matches; write days and months that meet"]
            .assert_eq(&fault.to_string());
        let ended = of_cron("0 0 3 1 1 ? 2020", "UTC", after_2026(), 1).unwrap();
        assert!(ended.is_empty(), "it has fired");
        let fault = of_cron("* * * * *", "No/Where", Version::from_ms(0), 1).unwrap_err();
        assert!(fault.to_string().starts_with("zone: "), "{fault}");
    }
}
