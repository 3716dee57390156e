//! Which versions a job has, and which upstream versions each of them waits for. A pure function of
//! the jobs' definitions: it knows no row, no state and no clock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hera_common::id::JobId;
use hera_common::limits::BINDINGS_MAX;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, DataSpec, Empty, On};
use hera_common::time::Version;
use jiff::tz::TimeZone;
use thiserror::Error;

mod bind;
mod interval;
mod memo;
mod period;
mod search;
#[cfg(test)]
pub(crate) mod sketch;
mod source;
#[cfg(test)]
mod tables;
mod versions;
mod zone;

pub use interval::{DataInterval, data_interval};
pub use memo::Memo;
pub use source::{Source, source};

use crate::time::{BusinessDays, Piecewise};
use memo::{Job, Need, Stop};
use zone::{MS_MAX, MS_MIN};

/// A job, as far as its versions and bindings go. Edges and policies have all that they inherit and
/// every default filled in.
#[derive(Debug, Clone)]
pub struct Node<S = Piecewise> {
    pub id: JobId,
    /// Days, periods and offsets of the job are read in it.
    pub zone: TimeZone,
    /// None: the job has no schedule in its newest revision.
    pub schedule: Option<S>,
    /// Which days are business days for its data and offsets.
    pub calendar: Option<Arc<BusinessDays>>,
    pub edges: Vec<Edge>,
    /// The upstream whose versions are this job's; for a job without a schedule, and one of its edges.
    pub baseline: Option<JobId>,
    pub data: DataSpec,
    /// Its file or its groups' defaults say `data`; the built-in default does not count.
    pub data_declared: bool,
    /// There are no versions before it.
    pub birth: Version,
    /// Of a job that runs by hand or event only: the versions of its actions, in order. Else empty.
    pub existing: Vec<Version>,
}

/// An edge of a job to one of its upstream jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub upstream: JobId,
    pub bind: Bind,
    pub offset: Shift,
    pub on: On,
    /// Of an edge to the job itself it means nothing: that one is always `ignore`.
    pub empty: Empty,
}

/// What a schedule must answer. Instants are strictly increasing, and the same for the same question.
pub trait Slots {
    /// The slots in `[from, to)`, oldest first.
    fn between(&self, from: Version, to: Version) -> impl Iterator<Item = Version>;

    /// The newest slot before an instant.
    fn newest_before(&self, before: Version) -> Option<Version>;

    /// The oldest slot after an instant.
    fn oldest_after(&self, after: Version) -> Option<Version>;

    /// Whether there may be slots in `[from, to)` that nobody knows, since a calendar ends before.
    fn unknown_between(&self, _from: Version, _to: Version) -> bool {
        false
    }
}

impl Slots for Piecewise {
    fn between(&self, from: Version, to: Version) -> impl Iterator<Item = Version> {
        self.slots(from, to)
    }

    fn newest_before(&self, before: Version) -> Option<Version> {
        self.prev_before(before)
    }

    fn oldest_after(&self, after: Version) -> Option<Version> {
        self.next_after(after)
    }

    fn unknown_between(&self, from: Version, to: Version) -> bool {
        self.unknown_between(from, to)
    }
}

/// A version that a job has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedVersion {
    pub version: Version,
    pub interval: DataInterval,
}

/// An upstream version that a version waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound {
    /// Which of the job's edges binds it, from 0. Where several do, the first with `on: success`,
    /// else the first: its `on` is the one that counts.
    pub edge: usize,
    pub upstream: JobId,
    pub version: Version,
}

/// Why a job has no versions or bindings. Others are not touched, but for those whose own versions
/// follow from this job's: they have its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PlanError {
    #[error("job {job} is not known")]
    Unknown { job: JobId },
    #[error("job {job} has an edge to job {upstream}, which is not there or is parked")]
    Missing { job: JobId, upstream: JobId },
    #[error("job {job} has neither a schedule nor an upstream whose versions it could take")]
    NoSource { job: JobId },
    #[error("the versions of job {job} follow from its own")]
    Circle { job: JobId },
    #[error("the versions of job {job} lie too far apart to be found")]
    TooFar { job: JobId },
    #[error("the calendar of job {job} ends before a day that it has to know")]
    PastCalendar { job: JobId },
    #[error("edge {edge} of job {job} binds more than {max} versions", max = BINDINGS_MAX)]
    TooMany { job: JobId, edge: usize },
}

impl PlanError {
    /// The job at fault.
    pub const fn job(self) -> JobId {
        match self {
            Self::Unknown { job }
            | Self::Missing { job, .. }
            | Self::NoSource { job }
            | Self::Circle { job }
            | Self::TooFar { job }
            | Self::PastCalendar { job }
            | Self::TooMany { job, .. } => job,
        }
    }
}

/// Versions and bindings of a set of jobs, computed as they are asked for. It remembers what it has
/// computed.
pub struct Plan<'a, S = Piecewise> {
    nodes: &'a BTreeMap<JobId, Node<S>>,
    memo: Memo,
    /// How many questions are open, one inside the other.
    depth: usize,
}

/// True for a job that is there, and of which neither time nor another job makes versions: people and events run it.
pub fn runs_by_hand<S>(nodes: &BTreeMap<JobId, Node<S>>, job: JobId) -> bool {
    let node = nodes.get(&job);
    node.is_some_and(|node| node.schedule.is_none() && node.edges.is_empty())
}

impl<'a, S: Slots> Plan<'a, S> {
    /// Costs nothing: jobs are looked at when they are asked for.
    pub fn new(nodes: &'a BTreeMap<JobId, Node<S>>) -> Self {
        Self::with(nodes, Memo::default())
    }

    /// Goes on from what another plan of the same jobs has computed; see [`Memo::forget`].
    pub const fn with(nodes: &'a BTreeMap<JobId, Node<S>>, memo: Memo) -> Self {
        Self { nodes, memo, depth: 0 }
    }

    /// The jobs that it plans.
    pub const fn nodes(&self) -> &'a BTreeMap<JobId, Node<S>> {
        self.nodes
    }

    /// What it has computed, for the next plan.
    pub fn into_memo(self) -> Memo {
        self.memo
    }

    /// The versions of a job in `[from, to)`, oldest first: the only source of versions. Those of a
    /// job that runs by hand or event only are the ones of its actions.
    ///
    /// # Errors
    /// The job's own fault, or that of a job from which its versions follow.
    pub fn versions(
        &mut self,
        job: JobId,
        from: Version,
        to: Version,
    ) -> Result<Vec<PlannedVersion>, PlanError> {
        self.versions_cut(job, from, to, usize::MAX)
    }

    /// The same, oldest first, given up soon after `max` of them.
    ///
    /// # Errors
    /// As [`Plan::versions`].
    pub fn versions_cut(
        &mut self,
        job: JobId,
        from: Version,
        to: Version,
        max: usize,
    ) -> Result<Vec<PlannedVersion>, PlanError> {
        let (from, to) = (from.ms().max(MS_MIN), to.ms().min(MS_MAX));
        self.settled(|plan| {
            let job = plan.job(job)?;
            let found = plan.range_cut(job.seat, from, to, max)?;
            let found: Result<Vec<_>, Stop> =
                found.into_iter().map(|planned| plan.planned_version(job, planned)).collect();
            plan.known(job, found?)
        })
    }

    /// The oldest version of a job in `[from, to)`, and how many there are; no more than `max` are counted.
    ///
    /// # Errors
    /// As [`Plan::versions`].
    pub fn count_cut(
        &mut self,
        job: JobId,
        from: Version,
        to: Version,
        max: usize,
    ) -> Result<(Option<Version>, usize), PlanError> {
        let (from, to) = (from.ms().max(MS_MIN), to.ms().min(MS_MAX));
        self.settled(|plan| {
            let job = plan.job(job)?;
            let found = plan.range_cut(job.seat, from, to, max)?;
            let first = found.first().map(|planned| Version::from_ms(planned.at));
            Ok((first, found.len().min(max)))
        })
    }

    /// The upstream versions that a version waits for, in the order of the edges and in time; two
    /// edges that bind one version make one binding. The version need not be one of the job's: so
    /// an action that an edit has left behind is bound, too.
    ///
    /// # Errors
    /// The job's own fault, or that of one of its upstream jobs.
    pub fn bindings(&mut self, job: JobId, version: Version) -> Result<Vec<Bound>, PlanError> {
        let at = version.ms().clamp(MS_MIN, MS_MAX);
        self.settled(|plan| {
            let job = plan.job(job)?;
            let bound = plan.bind_all(job, at)?;
            plan.known(job, bound)
        })
    }

    /// The newest version of a job before an instant.
    ///
    /// # Errors
    /// As [`Plan::versions`]; and where it lies too far back to be found.
    pub fn newest_before(
        &mut self,
        job: JobId,
        before: Version,
    ) -> Result<Option<PlannedVersion>, PlanError> {
        let before = before.ms().clamp(MS_MIN, MS_MAX);
        self.settled(|plan| {
            let job = plan.job(job)?;
            let newest = plan.last_before(job.seat, before, MS_MIN)?;
            let newest = newest.map(|planned| plan.planned_version(job, planned)).transpose()?;
            plan.known(job, newest)
        })
    }

    /// The newest version of a job in `[from, before)`.
    ///
    /// # Errors
    /// As [`Plan::versions`].
    pub fn newest_between(
        &mut self,
        job: JobId,
        from: Version,
        before: Version,
    ) -> Result<Option<PlannedVersion>, PlanError> {
        let (from, before) = (from.ms().max(MS_MIN), before.ms().clamp(MS_MIN, MS_MAX));
        self.settled(|plan| {
            let job = plan.job(job)?;
            let newest = plan.last_in(job.seat, from, before)?;
            newest.map(|planned| plan.planned_version(job, planned)).transpose()
        })
    }

    fn planned_version(
        &mut self,
        job: Job<'a, S>,
        planned: memo::Planned,
    ) -> Result<PlannedVersion, Stop> {
        let facts = self.facts(job.seat)?;
        let zone = self.zone(&facts);
        let index = interval::index_of(zone, job.node.data, planned);
        let interval = interval::shown(zone, job.node.data.period, index);
        Ok(PlannedVersion { version: Version::from_ms(planned.at), interval })
    }

    /// Asks a question until nothing below it is open. Questions deeper than the stack may go are
    /// put on a list and answered first; so chains of any length end.
    fn settled<T>(
        &mut self,
        mut ask: impl FnMut(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, PlanError> {
        loop {
            self.depth = 0;
            match ask(self) {
                Ok(answer) => return Ok(answer),
                Err(Stop::Fault(fault)) => return Err(fault),
                Err(Stop::Deep(need)) => self.settle(need)?,
            }
        }
    }

    /// Answers a question that lies deep, and those below it, from the bottom up. The answers, faults
    /// too, are remembered where they belong.
    fn settle(&mut self, need: Need) -> Result<(), PlanError> {
        let mut open = vec![need];
        let mut waiting = BTreeSet::from([need.seat()]);
        while let Some(need) = open.last().copied() {
            self.depth = 0;
            let Err(Stop::Deep(below)) = self.fulfil(need) else {
                waiting.remove(&need.seat());
                open.pop();
                continue;
            };
            // Each question on the list waits for the one after it.
            if !waiting.insert(below.seat()) {
                return Err(PlanError::Circle { job: self.id_of(below.seat()) });
            }
            open.push(below);
        }
        Ok(())
    }
}
