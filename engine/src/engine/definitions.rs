//! Event UpdateJob: definitions that change. The edit, the rows that it plans anew and what it binds anew are one unit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hera_common::action::ActionState;
use hera_common::audit::{Asked, AuditRow};
use hera_common::doc::CalendarDoc;
use hera_common::id::{JobId, Seq};
use hera_common::job::Cursor;
use hera_common::limits::{PLAN_AHEAD, PLAN_AHEAD_ROWS_MAX};
use hera_common::time::{Version, Wall};
use hera_common::unit::{Put, Write};

use super::calendars::audit;
use super::generate::{after, ahead};
use super::missed::{Missed, missed, span};
use super::{At, Engine};
use crate::apply::{ApplySet, Draft, draft};
use crate::catalog::{Catalog, Job};
use crate::handler::{Handler, Replan, Span, Want};
use crate::input::{Applied, Refusal, RefusalKind, Reply, Tag};
use crate::plan::{Node, Plan, PlanError, PlannedVersion};

/// What is planned for one job: what becomes of its rows, versions that are due, and to where rows reach.
struct Planned {
    job: JobId,
    replan: Replan,
    far: Option<Span>,
    due: Vec<Want>,
    planned_to: Version,
}

impl Engine {
    pub(super) fn apply(&mut self, at: &mut At<'_>, tag: Tag, set: &ApplySet) {
        let told = self.try_apply(at, set);
        let (after, reply) = match told {
            Ok((unit, applied)) => (unit, Ok(applied)),
            Err(refusals) => (None, Err(refusals)),
        };
        at.stage.answer(tag, after, Reply::Applied(reply));
    }

    fn try_apply(
        &mut self,
        at: &mut At<'_>,
        set: &ApplySet,
    ) -> Result<(Option<usize>, Applied), Vec<Refusal>> {
        if set.edition != self.catalog.edition {
            return Err(vec![Refusal::changed()]);
        }
        let drafted = draft(&self.catalog, self.marks, set, at.now.wall)?;
        for &job in &drafted.deleted {
            self.refuse_live(job).map_err(|refusal| vec![refusal])?;
        }
        let applied = Applied {
            changes: drafted.changes.clone(),
            groups: drafted.group_changes.clone(),
            calendars: drafted.calendar_changes.clone(),
            unchanged: drafted.unchanged,
            warnings: drafted.warnings.clone(),
        };
        let nothing = drafted.catalog.edition == self.catalog.edition;
        if nothing {
            return Ok((None, applied));
        }
        // Before anything is written: what cannot be planned is refused, as a dry run tells it.
        let planned = self
            .plan_anew(at, set, &drafted)
            .map_err(|(job, fault)| vec![drafted.unplannable(set, job, fault)])?;
        if set.dry_run {
            return Ok((None, applied));
        }
        let unit = at.stage.unit(None);
        self.write_draft(at, unit, set, (drafted, planned));
        Ok((Some(unit), applied))
    }

    fn write_draft(
        &mut self,
        at: &mut At<'_>,
        unit: usize,
        set: &ApplySet,
        (mut drafted, planned): (Draft, Vec<Planned>),
    ) {
        // First, since what waits may get a run, with an id of its own.
        self.marks = drafted.marks;
        self.write_rows(at, unit, set, &mut drafted);
        let deleted: Vec<Arc<Job>> =
            drafted.deleted.iter().filter_map(|id| self.catalog.jobs.get(id).cloned()).collect();
        drafted.catalog.jobs.extend(deleted.into_iter().map(|job| (job.row.id, job)));
        let before = std::mem::replace(&mut self.catalog, Arc::new(drafted.catalog));
        self.turn_by_hand(&before, drafted.jobs.iter().map(|job| job.id));
        for mut planned in planned {
            self.judge_again(&mut planned);
            set.asked.actor.clone_into(&mut planned.replan.actor);
            if self.is_closed(planned.job) {
                // What comes due of it is looked for by the next step.
                self.to_extend.push_back(planned.job);
            }
            self.with_handler(at, planned.job, Some(unit), |handler, ctx| {
                handler.on_replan(ctx, unit, planned.replan, planned.planned_to);
                if let Some(far) = planned.far {
                    handler.on_missed_far(ctx, far);
                }
                handler.on_due(ctx, planned.due);
            });
        }
        // Last: what has lost its edge to a deleted job in this edit is freed, not skipped with it.
        for job in drafted.deleted {
            self.remove_job(at, unit, job, &set.asked);
        }
    }

    /// What the edges say may have changed since it was planned: by what this edit made of jobs before this one.
    fn judge_again(&self, planned: &mut Planned) {
        let Replan { ahead, rebound, newest, before: _, actor: _ } = &mut planned.replan;
        let wants = ahead.iter_mut().chain(newest).chain(&mut planned.due);
        let edges = wants.flat_map(|want| &mut want.edges).chain(rebound.values_mut().flatten());
        for (binding, state) in edges {
            *state = self.edge_state(binding);
        }
    }

    /// The rows of groups, jobs, revisions and audit.
    fn write_rows(&mut self, at: &mut At<'_>, unit: usize, set: &ApplySet, drafted: &mut Draft) {
        for group in &drafted.groups {
            let put = if group.new { Put::Insert } else { Put::Update };
            at.stage.write(unit, Write::Group(put, Box::new(group.row.clone())));
        }
        for row in &drafted.calendars {
            let old = self.catalog.calendars.get(&row.name).map(CalendarDoc::to_json);
            at.stage.write(unit, Write::Audit(Box::new(audit(row, "apply", old))));
            at.stage.write(unit, Write::Calendar(Box::new(row.clone())));
        }
        for &job in &drafted.recounted {
            at.stage.touch(unit, job);
        }
        for job in &drafted.jobs {
            let Some(stored) = drafted.catalog.jobs.get_mut(&job.id) else { continue };
            let stored = Arc::make_mut(stored);
            at.stage.touch(unit, job.id);
            if job.new {
                at.stage.write(unit, Write::Job(Put::Insert, Box::new(stored.row.clone())));
                let cursor = first_cursor(stored, at.now.wall);
                at.stage.insert_cursor(unit, cursor);
                self.handlers.insert(job.id, Handler::new(cursor));
            } else {
                at.stage.update_job(unit, &mut stored.row);
            }
            if let Some(revision) = &job.revision {
                at.stage.write(unit, Write::Revision(Box::new(revision.clone())));
            }
            if job.seen {
                continue;
            }
            let row = AuditRow {
                at: at.now.wall,
                asked: set.asked.clone(),
                verb: "apply".to_owned(),
                subject: stored.row.path.to_string(),
                old: job.was.clone(),
                new: job.revision.as_ref().map(|revision| revision.spec.clone()),
            };
            at.stage.write(unit, Write::Audit(Box::new(row)));
        }
    }

    /// What becomes of the rows of all jobs that the edit can reach. Changes nothing.
    fn plan_anew(
        &self,
        at: &At<'_>,
        set: &ApplySet,
        drafted: &Draft,
    ) -> Result<Vec<Planned>, (JobId, PlanError)> {
        let catalog = &drafted.catalog;
        let mut plan = Plan::new(&catalog.nodes);
        let now = Version::at(at.now.wall);
        let newest = if set.first_load_newest {
            let created = drafted.jobs.iter().filter(|job| job.new).map(|job| job.id);
            newest_of(&mut plan, created, now)?
        } else {
            BTreeMap::new()
        };
        let changed = drafted.jobs.iter().filter(|job| job.revision.is_some()).map(|job| job.id);
        let mut affected = catalog.closure(changed.chain(drafted.recounted.iter().copied()));
        // What a closed job has ahead is taken away; opened, it is planned again.
        affected.extend(drafted.jobs.iter().map(|job| job.id).filter(|&id| {
            let open = |catalog: &Catalog| catalog.jobs.get(&id).map(|job| job.row.open);
            open(&self.catalog) != open(catalog)
        }));
        let mut all = Vec::with_capacity(affected.len());
        for job in affected {
            let Some(node) = catalog.nodes.get(&job) else { continue };
            let Some(definition) = catalog.jobs.get(&job) else { continue };
            let of = (node, definition.as_ref());
            let planned = match self.handlers.get(&job) {
                Some(handler) => self.plan_job(at, &mut plan, of, handler, newest.get(&job)),
                None => {
                    let new = Handler::new(first_cursor(definition, at.now.wall));
                    self.plan_job(at, &mut plan, of, &new, newest.get(&job))
                }
            };
            let edited =
                |id| drafted.jobs.iter().any(|job| job.id == id) || drafted.recounted.contains(&id);
            match planned {
                Ok(planned) => all.push(planned),
                // What was wrong before stops nobody who does not touch it; its rows stay as they are.
                Err(fault) if !edited(job) && !edited(fault.job()) => {}
                Err(fault) => return Err((job, fault)),
            }
        }
        Ok(all)
    }

    fn plan_job(
        &self,
        at: &At<'_>,
        plan: &mut Plan<'_>,
        (node, definition): (&Node, &Job),
        handler: &Handler,
        newest: Option<&BTreeSet<Version>>,
    ) -> Result<Planned, PlanError> {
        let now = Version::at(at.now.wall);
        let to = Version::at(at.now.wall.plus(PLAN_AHEAD));
        let ahead_of = (after(now), to);
        let (mut coming, mut planned_to) = ahead(plan, node.id, ahead_of, PLAN_AHEAD_ROWS_MAX)?;
        let closed = !definition.row.open;
        if closed {
            // A version of a closed job gets its row when it comes due; one that was run by hand has it.
            let run = |version| handler.entry(version).is_some_and(|entry| entry.action.runs > 0);
            coming.retain(|planned| run(planned.version));
            planned_to = after(now);
        }
        let mut replan = Replan { ahead: self.wants(plan, node, coming)?, ..Replan::default() };
        // An edit makes no version before its own moment; what is planned and due stays.
        let rows = versions_among(plan, node.id, handler.planned_until(now))?;
        replan.ahead.extend(self.wants(plan, node, rows)?);
        // What nobody has planned so far is no version of the edit's.
        let from = handler.cursor.planned_to.max(after(handler.cursor.decided_to));
        let mut past = Missed::default();
        match newest {
            Some(newest) => {
                let newest = newest.iter().copied().filter(|_version| !closed);
                let run = versions_among(plan, node.id, newest)?;
                replan.before = span(plan, definition, from, after(now))?.and_then(|mut all| {
                    let run = u64::try_from(run.len()).unwrap_or(u64::MAX);
                    all.count = all.count.saturating_sub(run);
                    (all.count > 0).then_some(all)
                });
                replan.newest = self.wants(plan, node, run)?;
            }
            None => past = missed(plan, definition, from, at.now.wall)?,
        }
        let due = self.wants(plan, node, past.recent)?;
        for entry in handler.entries().filter(|e| e.action.state == ActionState::Waiting) {
            let version = entry.action.version;
            replan.rebound.insert(version, self.bound(plan, node, version)?);
        }
        Ok(Planned { job: node.id, replan, far: past.far, due, planned_to })
    }

    pub(super) fn delete_job(&mut self, at: &mut At<'_>, tag: Tag, asked: &Asked, job: JobId) {
        let told = self.try_delete(at, asked, job);
        let (after, reply) = match told {
            Ok(unit) => (Some(unit), Ok(())),
            Err(refusal) => (None, Err(refusal)),
        };
        at.stage.answer(tag, after, Reply::Deleted(reply));
    }

    fn try_delete(&mut self, at: &mut At<'_>, asked: &Asked, job: JobId) -> Result<usize, Refusal> {
        let Some(stored) = self.catalog.jobs.get(&job) else {
            return Err(Refusal::of(RefusalKind::NotFound, "path", "there is no such job"));
        };
        let below: Vec<String> = self
            .catalog
            .downstream
            .get(&job)
            .into_iter()
            .flatten()
            .filter(|&&id| id != job)
            .map(|&id| self.catalog.name(id))
            .collect();
        if !below.is_empty() {
            let problem = format!("{} is needed by {}", stored.row.path, below.join(", "));
            return Err(Refusal::conflict("path", problem));
        }
        self.refuse_live(job)?;
        let unit = at.stage.unit(None);
        self.remove_job(at, unit, job, asked);
        Ok(unit)
    }

    fn refuse_live(&self, job: JobId) -> Result<(), Refusal> {
        let live = self.handlers.get(&job).map_or(0, |handler| handler.lives().count());
        if live == 0 {
            return Ok(());
        }
        let name = self.catalog.name(job);
        let problem = format!("{name} has {live} live runs: cancel them or wait for their end");
        Err(Refusal::conflict("path", problem))
    }

    /// Takes a job away: its row stays for its history.
    fn remove_job(&mut self, at: &mut At<'_>, unit: usize, job: JobId, asked: &Asked) {
        self.with_handler(at, job, Some(unit), |handler, ctx| {
            handler.on_delete(ctx, unit, &asked.actor);
        });
        self.unindex(at.now.boot, job);
        let catalog = Arc::make_mut(&mut self.catalog);
        let Some(stored) = catalog.jobs.get(&job).cloned() else { return };
        catalog.remove(job);
        catalog.edition += 1;
        let mut row = stored.row.clone();
        row.deleted_at = Some(at.now.wall);
        at.stage.update_job(unit, &mut row);
        let audit = AuditRow {
            at: at.now.wall,
            asked: asked.clone(),
            verb: "delete".to_owned(),
            subject: row.path.to_string(),
            old: Some(stored.spec_json.clone()),
            new: None,
        };
        at.stage.write(unit, Write::Audit(Box::new(audit)));
    }
}

/// Those of some instants that are versions of the job.
fn versions_among(
    plan: &mut Plan<'_>,
    job: JobId,
    instants: impl IntoIterator<Item = Version>,
) -> Result<Vec<PlannedVersion>, PlanError> {
    let mut found = Vec::new();
    for instant in instants {
        found.extend(plan.newest_between(job, instant, after(instant))?);
    }
    Ok(found)
}

/// Where a new job begins.
fn first_cursor(job: &Job, now: Wall) -> Cursor {
    let since = job.pieces.first().map_or(Version::at(now), |piece| piece.0);
    let decided_to = Version::from_ms(since.ms().saturating_sub(1));
    Cursor { job: job.row.id, decided_to, planned_to: since, seq: Seq::FIRST }
}

/// Of each new job its newest due version, and the upstream versions of new jobs that it binds to, recursively.
fn newest_of(
    plan: &mut Plan<'_>,
    created: impl IntoIterator<Item = JobId>,
    now: Version,
) -> Result<BTreeMap<JobId, BTreeSet<Version>>, (JobId, PlanError)> {
    let mut found: BTreeMap<JobId, BTreeSet<Version>> = BTreeMap::new();
    let mut open = Vec::new();
    for job in created {
        found.insert(job, BTreeSet::new());
        let before = Version::from_ms(now.ms().saturating_add(1));
        let newest = plan.newest_before(job, before).map_err(|fault| (job, fault))?;
        open.extend(newest.map(|planned| (job, planned.version)));
    }
    while let Some((job, version)) = open.pop() {
        let new = found.get_mut(&job).is_some_and(|versions| versions.insert(version));
        if new {
            let bound = plan.bindings(job, version).map_err(|fault| (job, fault))?;
            open.extend(bound.into_iter().map(|bound| (bound.upstream, bound.version)));
        }
    }
    Ok(found)
}
