//! The jobs and groups as they are defined now: read by everybody, changed by the engine alone.

mod explain;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use hera_common::doc::{
    DataDoc, FieldError, GroupDoc, JobDoc, Known, KnownCalendar, Upstream, spec_from_json,
};
use hera_common::id::{JobId, Revision};
use hera_common::job::{GroupRow, JobRow, RevisionRow};
use hera_common::path::Path;
use hera_common::run::Run;
use hera_common::schedule::ScheduleSpec;
use hera_common::spec::{CatchUp, Empty, JobSpec, Overlap};
use hera_common::time::Version;

use crate::calendars::{Calendars, LATEST};
use crate::jitter;
use crate::plan::{Edge, Node};
use crate::time::{BusinessDays, Piece, Piecewise, Schedule, zone};

/// All jobs that are not deleted, and all groups.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Grows with every change: what was read from an older edition may no longer hold.
    pub edition: u64,
    pub jobs: BTreeMap<JobId, Arc<Job>>,
    pub by_path: BTreeMap<Path, JobId>,
    pub groups: BTreeMap<Path, Group>,
    pub calendars: Calendars,
    /// The jobs as far as versions and bindings go; a parked one has none.
    pub nodes: BTreeMap<JobId, Node>,
    /// For each job the jobs that have an edge to it.
    pub downstream: BTreeMap<JobId, BTreeSet<JobId>>,
    /// What holds above all groups: `hera dev` sets `hera.dir` and its own defaults there.
    pub base: GroupDoc,
}

/// A group, read.
#[derive(Debug, Clone)]
pub struct Group {
    pub row: GroupRow,
    pub doc: GroupDoc,
}

/// A job, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub row: JobRow,
    /// None: it cannot be read, and the job is parked.
    pub spec: Option<Arc<JobSpec>>,
    /// Every revision's definition: a run keeps the one that it was made with.
    pub specs: BTreeMap<Revision, Arc<JobSpec>>,
    /// The newest revision's document, JSON.
    pub spec_json: String,
    /// Since when which schedule holds, oldest first.
    pub pieces: Vec<(Version, Option<ScheduleSpec>)>,
    /// Why it stands still; None: it does not.
    pub parked: Option<String>,
}

impl Catalog {
    /// The job at `path`.
    pub fn job(&self, path: &Path) -> Option<&Arc<Job>> {
        self.by_path.get(path).and_then(|id| self.jobs.get(id))
    }

    /// A job's path as text, or its number where it is gone.
    pub fn name(&self, id: JobId) -> String {
        self.jobs.get(&id).map_or_else(|| format!("#{id}"), |job| job.row.path.to_string())
    }

    /// The groups above a path, from the root down.
    pub fn chain(&self, path: &Path) -> Vec<&GroupDoc> {
        let mut chain = Vec::new();
        let mut above = path.parent();
        while let Some(group) = above {
            chain.extend(self.groups.get(&group).map(|group| &group.doc));
            above = group.parent();
        }
        chain.push(&self.base);
        chain.reverse();
        chain
    }

    /// Takes in a job, new or changed; its node follows by [`Catalog::link`].
    pub fn put(&mut self, job: Job) {
        self.remove(job.row.id);
        self.by_path.insert(job.row.path.clone(), job.row.id);
        self.jobs.insert(job.row.id, Arc::new(job));
    }

    /// Takes a job out.
    pub fn remove(&mut self, id: JobId) {
        self.unlink(id);
        if let Some(job) = self.jobs.remove(&id)
            && self.by_path.get(&job.row.path) == Some(&id)
        {
            self.by_path.remove(&job.row.path);
        }
    }

    /// Computes the node of a job from its definition, and who depends on whom.
    ///
    /// # Errors
    /// The field that is at fault; the job then has no node.
    pub fn link(&mut self, id: JobId) -> Result<(), FieldError> {
        self.unlink(id);
        let Some(job) = self.jobs.get(&id) else { return Ok(()) };
        if job.parked.is_some() {
            return Ok(());
        }
        let Some(node) = self.node(job)? else { return Ok(()) };
        for edge in &node.edges {
            self.downstream.entry(edge.upstream).or_default().insert(id);
        }
        self.nodes.insert(id, node);
        Ok(())
    }

    fn unlink(&mut self, id: JobId) {
        let Some(node) = self.nodes.remove(&id) else { return };
        for edge in &node.edges {
            if let Some(below) = self.downstream.get_mut(&edge.upstream) {
                below.remove(&id);
            }
        }
    }

    fn node(&self, job: &Job) -> Result<Option<Node>, FieldError> {
        let Some(spec) = &job.spec else { return Ok(None) };
        let mut edges = Vec::with_capacity(spec.edges.len());
        for (place, edge) in spec.edges.iter().enumerate() {
            let upstream = self.by_path.get(&edge.upstream).ok_or_else(|| {
                let problem = format!("there is no job {}", edge.upstream);
                FieldError::new(format!("depends_on[{place}]"), problem)
            })?;
            // A job by hand has no versions to count on: as long as it never ran, nobody waits for it.
            let by_hand = self.jobs.get(upstream).is_some_and(|job| job.by_hand());
            edges.push(Edge {
                upstream: *upstream,
                bind: edge.bind,
                offset: edge.offset,
                on: edge.on,
                empty: if by_hand { Empty::Ignore } else { edge.empty },
            });
        }
        let baseline =
            match &spec.baseline {
                Some(path) => Some(*self.by_path.get(path).ok_or_else(|| {
                    FieldError::new("baseline", format!("there is no job {path}"))
                })?),
                None => None,
            };
        let unknown = || FieldError::new("zone", format!("there is no zone {}", spec.zone));
        let birth = job.pieces.first().map_or(Version::from_ms(i64::MAX), |&(since, _)| since);
        Ok(Some(Node {
            id: job.row.id,
            zone: zone::find(&spec.zone).ok_or_else(unknown)?,
            schedule: if spec.schedule.is_some() { Some(self.piecewise(job)?) } else { None },
            calendar: self.business_days(spec, LATEST)?,
            edges,
            baseline,
            data: spec.data,
            data_declared: job.declared_data().is_some(),
            birth,
            existing: Vec::new(),
        }))
    }

    /// The job and all that depend on it, near or far.
    pub fn closure(&self, from: impl IntoIterator<Item = JobId>) -> BTreeSet<JobId> {
        let mut open: Vec<JobId> = from.into_iter().collect();
        let mut found: BTreeSet<JobId> = open.iter().copied().collect();
        while let Some(job) = open.pop() {
            for &below in self.downstream.get(&job).into_iter().flatten() {
                if found.insert(below) {
                    open.push(below);
                }
            }
        }
        found
    }
}

impl Catalog {
    /// A job's schedule over its revisions, and those of its calendars. Of edits in one millisecond
    /// the last holds.
    fn piecewise(&self, job: &Job) -> Result<Piecewise, FieldError> {
        let mut by_instant: BTreeMap<Version, Option<&ScheduleSpec>> = BTreeMap::new();
        let spans = job.pieces.iter().zip(job.pieces.iter().skip(1).map(Some).chain([None]));
        for ((since, schedule), next) in spans {
            by_instant.insert(*since, schedule.as_ref());
            let used = schedule.as_ref().and_then(|schedule| schedule.calendar.as_ref());
            for cut in used.into_iter().flat_map(|used| self.calendars.cuts(&used.name)) {
                if cut > *since && next.is_none_or(|(until, _schedule)| cut < *until) {
                    by_instant.insert(cut, schedule.as_ref());
                }
            }
        }
        let mut made = Vec::with_capacity(by_instant.len());
        for (since, spec) in by_instant {
            let schedule = spec.map(|spec| self.schedule(spec, since)).transpose()?;
            made.push(Piece { since, schedule });
        }
        Piecewise::new(made).map_err(|fault| FieldError::new("schedule", fault.to_string()))
    }

    /// Reads a schedule, with its calendar as it holds at an instant.
    ///
    /// # Errors
    /// The field that is at fault, such as `schedule.cron`.
    pub fn schedule(&self, spec: &ScheduleSpec, at: Version) -> Result<Schedule, FieldError> {
        let days = spec.calendar.as_ref().and_then(|used| self.calendars.days(used, at));
        Schedule::read(spec, days).map_err(|fault| {
            FieldError::new(format!("schedule.{}", fault.field()), fault.to_string())
        })
    }

    fn business_days(
        &self,
        spec: &JobSpec,
        at: Version,
    ) -> Result<Option<Arc<BusinessDays>>, FieldError> {
        let Some(used) = &spec.calendar else { return Ok(None) };
        let days = self.calendars.days(used, at);
        let unknown = || format!("there is no calendar `{}`", used.name);
        days.map(Some).ok_or_else(|| FieldError::new("calendar", unknown()))
    }

    /// Whether a job uses one of these calendars, by itself or by way of others.
    pub fn uses(&self, job: &Job, calendars: &BTreeSet<String>) -> bool {
        let now = job.spec.as_ref().and_then(|spec| spec.calendar.as_ref());
        let before = job.pieces.iter().filter_map(|(_since, schedule)| schedule.as_ref());
        let all = before.filter_map(|schedule| schedule.calendar.as_ref()).chain(now);
        all.into_iter().any(|used| calendars.contains(&used.name))
    }
}

impl Job {
    /// Reads a job from its rows, revisions oldest first. One that cannot be read is parked.
    pub fn read(row: JobRow, revisions: &[RevisionRow]) -> Self {
        let mut parked = row.parked.clone();
        let mut pieces: Vec<(Version, Option<ScheduleSpec>)> = Vec::new();
        let mut specs = BTreeMap::new();
        for revision in revisions {
            match spec_from_json(&revision.spec) {
                Ok(spec) => {
                    if pieces.last().is_none_or(|(_since, before)| *before != spec.schedule) {
                        pieces.push((revision.since, spec.schedule.clone()));
                    }
                    specs.insert(revision.revision, Arc::new(spec));
                }
                Err(fault) => {
                    let why = format!("revision {} cannot be read: {fault}", revision.revision);
                    parked.get_or_insert(why);
                }
            }
        }
        let newest = specs.get(&row.revision).cloned();
        if newest.is_none() {
            parked.get_or_insert_with(|| format!("revision {} is not there", row.revision));
        }
        // A database may give JSON back in another form: the one text is what applies compare.
        let spec_json = revisions.last().map(|r| r.spec.clone()).unwrap_or_default();
        let spec_json = JobDoc::from_json(&spec_json).map_or(spec_json, |doc| doc.to_json());
        Self { row, spec: newest, specs, spec_json, pieces, parked }
    }

    /// The definition that a run was made with.
    pub fn spec_of(&self, run: &Run) -> Option<&JobSpec> {
        self.specs.get(&run.revision).or(self.spec.as_ref()).map(AsRef::as_ref)
    }

    /// A job that is made now.
    pub fn first(row: JobRow, spec: JobSpec, spec_json: String, since: Version) -> Self {
        let nothing = Self {
            row: row.clone(),
            spec: None,
            specs: BTreeMap::new(),
            spec_json: String::new(),
            pieces: Vec::new(),
            parked: None,
        };
        nothing.revised(row, spec, spec_json, since)
    }

    /// The job with one revision more, which holds from `since` on.
    #[must_use]
    pub fn revised(&self, row: JobRow, spec: JobSpec, spec_json: String, since: Version) -> Self {
        let mut pieces = self.pieces.clone();
        if pieces.last().is_none_or(|(_since, before)| *before != spec.schedule) {
            pieces.push((since, spec.schedule.clone()));
        }
        let spec = Arc::new(spec);
        let mut specs = self.specs.clone();
        specs.insert(row.revision, Arc::clone(&spec));
        Self { row, spec: Some(spec), specs, spec_json, pieces, parked: None }
    }

    /// `path@version`.
    pub fn label(&self, version: Version) -> String {
        format!("{}@{version}", self.row.path)
    }

    /// The zone in which its versions are shown.
    pub fn zone(&self) -> &str {
        self.spec.as_ref().map_or("UTC", |spec| &spec.zone)
    }

    /// True where it has a schedule of its own.
    pub fn has_schedule(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.schedule.is_some())
    }

    /// True where it has neither a schedule nor edges: people run it.
    pub fn by_hand(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.schedule.is_none() && spec.edges.is_empty())
    }

    /// What becomes of versions while another one is live.
    pub fn overlap(&self) -> Overlap {
        self.spec.as_ref().map_or(Overlap::Queue, |spec| spec.policy.overlap)
    }

    /// What becomes of missed versions.
    pub fn catch_up(&self) -> CatchUp {
        self.spec.as_ref().map_or(CatchUp::All, |spec| spec.policy.catch_up)
    }

    /// When a version fires: its instant, held back by what the job's jitter gives it.
    pub fn fires_at(&self, version: Version) -> Version {
        let jitter = self.jitter();
        if jitter.is_zero() {
            return version;
        }
        Version::at(version.due().plus(jitter::of(self.row.id, version, jitter)))
    }

    /// How long a version may be held back.
    pub fn jitter(&self) -> Duration {
        let schedule = self.spec.as_ref().and_then(|spec| spec.schedule.as_ref());
        schedule.and_then(|schedule| schedule.jitter).unwrap_or_default()
    }

    /// How late a version may be decided to run.
    pub fn max_lateness(&self) -> Option<Duration> {
        self.spec.as_ref().and_then(|spec| spec.policy.max_lateness)
    }

    /// The host group that runs it; None: any worker.
    pub fn host_group(&self) -> Option<&str> {
        self.spec.as_ref().and_then(|spec| spec.host_group.as_deref())
    }

    /// The data that the job or its groups' defaults declare.
    fn declared_data(&self) -> Option<DataDoc> {
        JobDoc::from_json(&self.spec_json).ok().and_then(|doc| doc.data)
    }
}

impl Known for Catalog {
    fn base(&self) -> GroupDoc {
        self.base.clone()
    }

    fn group(&self, path: &Path) -> Option<GroupDoc> {
        self.groups.get(path).map(|group| group.doc.clone())
    }

    fn calendar(&self, name: &str) -> KnownCalendar {
        match self.calendars.get(name) {
            Some(doc) => KnownCalendar::There(doc.clone()),
            None => KnownCalendar::Missing,
        }
    }

    fn upstream(&self, path: &Path) -> Upstream {
        match self.job(path) {
            Some(job) => Upstream::There { data: job.declared_data() },
            None => Upstream::Missing,
        }
    }
}
