//! Planning ahead: rows for the next fifty hours, moved hourly, from the one pure source of versions and bindings.

use std::sync::Arc;
use std::time::Duration;

use hera_common::action::{Binding, DataInterval};
use hera_common::id::JobId;
use hera_common::limits::{PLAN_AHEAD, PLAN_AHEAD_ROWS_MAX};
use hera_common::time::Version;

use super::by_hand::Edges;
use super::missed::{Missed, missed};
use super::{At, Engine};
use crate::edge::EdgeState;
use crate::handler::Want;
use crate::plan::{Memo, Node, Plan, PlanError, PlannedVersion};

/// How often rows are made further ahead.
pub(super) const EXTEND_EVERY: Duration = Duration::from_secs(3600);
/// How many jobs are looked at in one step: a step must not hold the others up for long.
const EXTEND_JOBS_MAX: usize = 500;

impl Engine {
    /// Looks at some of the jobs whose rows are to reach further: events UpdateActions.
    pub(super) fn extend_some(&mut self, at: &mut At<'_>) {
        if at.now.wall >= self.extend_at {
            self.extend_at = at.now.wall.plus(EXTEND_EVERY);
            self.to_extend = self.catalog.nodes.keys().copied().collect();
        }
        let count = self.to_extend.len().min(EXTEND_JOBS_MAX);
        let jobs: Vec<JobId> = self.to_extend.drain(..count).collect();
        let catalog = Arc::clone(&self.catalog);
        let (edition, known) = std::mem::take(&mut self.planned);
        let known = if edition == catalog.edition { known } else { Memo::default() };
        let mut plan = Plan::with(&catalog.nodes, known);
        for job in jobs {
            if let Err(fault) = self.extend(at, &mut plan, job) {
                self.park_unplannable(at, job, fault);
            }
        }
        // The jobs of one pass share their upstream; between passes it would only lie in memory.
        if !self.to_extend.is_empty() {
            self.planned = (catalog.edition, plan.into_memo());
        }
    }

    fn extend(
        &mut self,
        at: &mut At<'_>,
        plan: &mut Plan<'_>,
        job: JobId,
    ) -> Result<(), PlanError> {
        let Some(handler) = self.handlers.get(&job) else { return Ok(()) };
        let catalog = Arc::clone(&self.catalog);
        let Some(node) = catalog.nodes.get(&job) else { return Ok(()) };
        let now = Version::at(at.now.wall);
        let planned_to = handler.cursor.planned_to;
        let closed = self.is_closed(job);
        let to = if closed { after(now) } else { Version::at(at.now.wall.plus(PLAN_AHEAD)) };
        if !closed && planned_to > now.max(Version::at(at.now.wall.plus(PLAN_AHEAD - EXTEND_EVERY)))
        {
            return Ok(());
        }
        let past = match catalog.jobs.get(&job) {
            Some(definition) if planned_to <= now => {
                missed(plan, definition, planned_to, at.now.wall)?
            }
            Some(_) | None => Missed::default(),
        };
        if let Some(far) = past.far {
            // Before the rows are planned, so that their edges are judged after it.
            self.with_handler(at, job, None, |handler, ctx| handler.on_missed_far(ctx, far));
        }
        let absent = self.wants(plan, node, past.recent)?;
        let rebound = self.due_by_hand(job, now);
        self.with_handler(at, job, None, |handler, ctx| {
            handler.on_rebound(ctx, rebound);
            handler.on_due(ctx, absent);
        });
        let planned = self.handlers.get(&job).map_or(0, |handler| handler.counts().0);
        let room = PLAN_AHEAD_ROWS_MAX.saturating_sub(planned);
        let from = planned_to.max(after(now));
        let (found, reach) = ahead(plan, job, (from, to.max(from)), room)?;
        let idle = self.handlers.get(&job).is_none_or(|handler| handler.next_due().is_none());
        if found.is_empty() && idle && reach < to {
            // Nothing that is known is left to do: what comes next is told as the reason why the job stands still.
            plan.versions_cut(job, reach, to, room)?;
        }
        let planned_to = reach;
        let ahead = self.wants(plan, node, found)?;
        let armed = if closed { self.comes_next(plan, job, now)? } else { None };
        self.with_handler(at, job, None, |handler, ctx| {
            handler.on_extend(ctx, ahead, planned_to);
            handler.arm(armed);
        });
        Ok(())
    }

    /// Looks at jobs at once: closed ones whose versions have come due get their rows, skipped(closed); of others all that
    /// came due must be known before any of it is decided.
    pub(super) fn extend_now(&mut self, at: &mut At<'_>, jobs: Vec<JobId>) {
        let catalog = Arc::clone(&self.catalog);
        let mut plan = Plan::new(&catalog.nodes);
        for job in jobs {
            if let Err(fault) = self.extend(at, &mut plan, job) {
                self.park_unplannable(at, job, fault);
            }
        }
    }

    pub(super) fn is_closed(&self, job: JobId) -> bool {
        self.catalog.jobs.get(&job).is_some_and(|job| !job.row.open)
    }

    /// The next version that comes due before the job is looked at again.
    fn comes_next(
        &self,
        plan: &mut Plan<'_>,
        job: JobId,
        now: Version,
    ) -> Result<Option<Version>, PlanError> {
        Ok(plan.count_cut(job, after(now), now.plus(EXTEND_EVERY * 2), 1)?.0)
    }

    /// What each of these versions is about and waits for.
    pub(super) fn wants(
        &self,
        plan: &mut Plan<'_>,
        node: &Node,
        found: Vec<PlannedVersion>,
    ) -> Result<Vec<Want>, PlanError> {
        found
            .into_iter()
            .map(|planned| {
                let edges = self.bound(plan, node, planned.version)?;
                Ok(Want { version: planned.version, data: stored(&planned.interval), edges })
            })
            .collect()
    }

    /// The upstream versions that a version waits for, each with what memory knows of it.
    pub(super) fn bound(
        &self,
        plan: &mut Plan<'_>,
        node: &Node,
        version: Version,
    ) -> Result<Vec<(Binding, EdgeState)>, PlanError> {
        let mut edges = Edges::new();
        for bound in plan.bindings(node.id, version)? {
            let Some(edge) = node.edges.get(bound.edge) else { continue };
            let binding = Binding { upstream: bound.upstream, version: bound.version, on: edge.on };
            edges.insert((bound.upstream, bound.version), (binding, self.edge_state(&binding)));
        }
        self.bind_by_hand(plan.nodes(), node, version, &mut edges);
        Ok(edges.into_values().collect())
    }

    fn park_unplannable(&mut self, at: &mut At<'_>, job: JobId, fault: PlanError) {
        let told = self.catalog.explain(fault);
        let whose = match fault.job() {
            own if own == job => String::new(),
            upstream => format!("{}: ", self.catalog.name(upstream)),
        };
        self.park(at, job, &format!("{whose}{}: {}", told.field, told.problem));
    }

    /// Stops one job with a reason that people see; the others go on.
    pub(super) fn park(&mut self, at: &mut At<'_>, job: JobId, why: &str) {
        let catalog = Arc::make_mut(&mut self.catalog);
        let Some(stored) = catalog.jobs.get_mut(&job) else { return };
        let stored = Arc::make_mut(stored);
        if stored.parked.is_some() {
            return;
        }
        stored.parked = Some(why.to_owned());
        stored.row.parked = Some(why.to_owned());
        catalog.edition += 1;
        let unit = at.stage.unit(None);
        at.stage.update_job(unit, &mut stored.row);
        self.set_due(job, None);
    }
}

/// The versions in `[from, to)`, cut off after `room` of them, and where a calendar ends; and to where the rows then
/// reach.
pub(super) fn ahead(
    plan: &mut Plan<'_>,
    job: JobId,
    (from, to): (Version, Version),
    room: usize,
) -> Result<(Vec<PlannedVersion>, Version), PlanError> {
    let mut found = match plan.versions_cut(job, from, to, room) {
        Err(PlanError::PastCalendar { .. }) => return known_ahead(plan, job, (from, to), room),
        found => found?,
    };
    if found.len() <= room {
        return Ok((found, to));
    }
    found.truncate(room);
    let reach = found.last().map_or(from, |last| after(last.version));
    Ok((found, reach))
}

/// As [`ahead`], of a job whose calendar does not know all days up to `to`: what is known.
fn known_ahead(
    plan: &mut Plan<'_>,
    job: JobId,
    (from, to): (Version, Version),
    room: usize,
) -> Result<(Vec<PlannedVersion>, Version), PlanError> {
    let (mut known, mut unknown) = (from, to);
    while unknown.ms().saturating_sub(known.ms()) > 1 {
        let middle = Version::from_ms(known.ms() + (unknown.ms() - known.ms()) / 2);
        match plan.versions_cut(job, known, middle, room) {
            Ok(_found) => known = middle,
            Err(PlanError::PastCalendar { .. }) => unknown = middle,
            Err(other) => return Err(other),
        }
    }
    let mut found = plan.versions_cut(job, from, known, room)?;
    if found.len() > room {
        found.truncate(room);
        known = found.last().map_or(from, |last| after(last.version));
    }
    Ok((found, known))
}

/// The instant after.
pub(super) const fn after(version: Version) -> Version {
    Version::from_ms(version.ms().saturating_add(1))
}

/// The interval as it is stored.
pub(super) fn stored(interval: &crate::plan::DataInterval) -> DataInterval {
    DataInterval { from: interval.from, to: interval.to, date: interval.first.to_string() }
}
