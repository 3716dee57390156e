//! Writes a plan: each kind of row in one statement, each statement told how many rows it must change.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::id::JobId;
use hera_common::job::{GroupRow, JobRow};
use hera_common::run::Run;
use hera_common::time::Wall;
use hera_common::unit::Marks;

use super::ask::{Ask, Bind, Column};
use super::catalog::Catalog;
use super::dialect::{Fault, Session};
use super::row;
use crate::StoreError;
use crate::admit::{Change, Marked, Plan};

/// A transaction in which a plan is written.
pub(crate) struct Writer<'s> {
    pub(crate) session: &'s mut dyn Session,
    pub(crate) catalog: &'static Catalog,
    pub(crate) now: Wall,
}

/// The changes that make rows, and those that change rows.
fn parted<'c, 'a, R: Marked>(
    changes: &'c [Change<'a, R>],
) -> (Vec<&'c Change<'a, R>>, Vec<&'c Change<'a, R>>) {
    changes.iter().partition(|change| change.believed.is_none())
}

impl Writer<'_> {
    /// Writes all of it. `paths` are the jobs' paths as they were read.
    pub(crate) async fn plan(
        &mut self,
        plan: &Plan<'_>,
        paths: &[(JobId, String)],
    ) -> Result<(), Fault> {
        self.groups(&plan.groups).await?;
        let calendars = row::calendar_inserts(&plan.calendars);
        self.put("calendars", self.catalog.calendar_insert, calendars).await?;
        self.jobs(&plan.jobs, paths).await?;
        let catalog = self.catalog;
        self.put("revisions", catalog.revision_insert, row::revision_inserts(&plan.revisions))
            .await?;
        let (made, changed) = parted(&plan.cursors);
        self.put("cursors", catalog.cursor_update, row::cursor_updates(&changed)).await?;
        self.put("cursors", catalog.cursor_insert, row::cursor_inserts(&made)).await?;
        self.put("gaps", catalog.gap_insert, row::gap_inserts(&plan.gaps)).await?;
        self.actions(plan).await?;
        self.runs(&plan.runs).await?;
        self.attempts(plan).await?;
        let (made, changed) = parted(&plan.workers);
        self.put("workers", catalog.worker_update, row::worker_updates(&changed)).await?;
        self.put("workers", catalog.worker_insert, row::worker_inserts(&made)).await?;
        self.put("audit", catalog.audit_insert, row::audit_inserts(&plan.audit)).await
    }

    /// Raises the highest ids in use.
    pub(crate) async fn raise(&mut self, marks: &Marks) -> Result<(), Fault> {
        let Marks { job, group, action, run, fence, worker } = marks;
        let (job, group, action) = (job.raw(), group.raw(), action.raw());
        let ids = [job, group, action, run.raw(), fence.raw(), worker.raw()];
        let ask = ids
            .into_iter()
            .fold(Ask::of(self.catalog.mark_raise), |ask, id| ask.bind(Bind::Int(id)));
        let rows = self.session.execute(ask).await?;
        exactly("marks", rows, 1)
    }

    async fn groups(&mut self, changes: &[Change<'_, GroupRow>]) -> Result<(), Fault> {
        let (made, changed) = parted(changes);
        if changed.len() > 1 {
            let ids = changed.iter().map(|c| c.row.id.raw()).collect();
            self.list("groups", self.catalog.group_unname, ids).await?;
        }
        self.put("groups", self.catalog.group_update, row::group_updates(&changed)).await?;
        self.put("groups", self.catalog.group_insert, row::group_inserts(&made)).await
    }

    /// A path is free for another job as soon as its job is deleted or has moved, in this order.
    async fn jobs(
        &mut self,
        changes: &[Change<'_, JobRow>],
        paths: &[(JobId, String)],
    ) -> Result<(), Fault> {
        let (made, changed) = parted(changes);
        let (deleted, kept): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|change| change.row.deleted_at.is_some());
        self.put("jobs", self.catalog.job_update, row::job_updates(&deleted)).await?;
        let old: BTreeMap<JobId, &str> = paths.iter().map(|(id, p)| (*id, p.as_str())).collect();
        let moved = kept.iter().filter(|c| old.get(&c.row.id) != Some(&c.row.path.as_str()));
        let moved: Vec<i64> = moved.map(|change| change.row.id.raw()).collect();
        if moved.len() > 1 {
            self.list("jobs", self.catalog.job_unname, moved).await?;
        }
        self.put("jobs", self.catalog.job_update, row::job_updates(&kept)).await?;
        self.put("jobs", self.catalog.job_insert, row::job_inserts(&made)).await
    }

    async fn actions(&mut self, plan: &Plan<'_>) -> Result<(), Fault> {
        let catalog = self.catalog;
        let dropped: Vec<i64> = plan.dropped.iter().map(|id| id.raw()).collect();
        let rebound = plan.rebound.iter().map(|id| id.raw());
        let unbound: Vec<i64> = rebound.chain(dropped.iter().copied()).collect();
        if !unbound.is_empty() {
            let ask = Ask::of(catalog.binding_drop).bind(Bind::Ints(unbound));
            self.session.execute(ask).await?;
        }
        if !dropped.is_empty() {
            self.list("planned actions", catalog.action_drop, dropped).await?;
        }
        let (made, changed) = parted(&plan.actions);
        self.put("actions", catalog.action_update, row::action_updates(&changed)).await?;
        self.put("actions", catalog.action_insert, row::action_inserts(&made)).await?;
        let bindings = row::binding_inserts(&plan.bindings);
        self.put("bindings", catalog.binding_insert, bindings).await
    }

    /// Of a job one exclusive run is held, of an action one run is live, after each row that a statement writes:
    /// so runs that leave a place are written before those that take one.
    async fn runs(&mut self, changes: &[Change<'_, Run>]) -> Result<(), Fault> {
        let (made, changed) = parted(changes);
        let (taking, leaving): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|change| change.row.state.hold().is_some());
        let left: BTreeSet<JobId> = leaving.iter().map(|change| change.row.job).collect();
        let meet = taking.iter().any(|change| left.contains(&change.row.job));
        let steps = if meet { vec![leaving, taking] } else { vec![[leaving, taking].concat()] };
        for step in steps {
            let columns = row::run_updates(&step, self.now);
            self.put("runs", self.catalog.run_update, columns).await?;
        }
        let columns = row::run_inserts(&made, self.now);
        self.put("runs", self.catalog.run_insert, columns).await
    }

    async fn attempts(&mut self, plan: &Plan<'_>) -> Result<(), Fault> {
        let catalog = self.catalog;
        if !plan.late_reports.is_empty() {
            let fences = plan.late_reports.iter().map(|(fence, _)| fence.raw());
            let reports = plan.late_reports.iter().map(|(_, report)| *report);
            let columns = vec![Column::ints(fences), Column::texts(reports)];
            let ask = Ask::of(catalog.attempt_report_late).bind(Bind::Rows(columns));
            // A second report changes nothing: how many rows it changes is nobody's to say.
            self.session.execute(ask).await?;
        }
        let (made, changed) = parted(&plan.attempts);
        self.put("attempts", catalog.attempt_update, row::attempt_updates(&changed)).await?;
        self.put("attempts", catalog.attempt_insert, row::attempt_inserts(&made)).await?;
        let fences = plan.outputs.iter().map(|(fence, _)| fence.raw());
        let bytes = plan.outputs.iter().map(|(_, bytes)| *bytes).collect();
        let columns = vec![Column::ints(fences), Column::Bytes(bytes)];
        self.put("outputs", catalog.output_insert, columns).await
    }

    /// One statement for all rows, where there are any; each must be written.
    async fn put(
        &mut self,
        noun: &str,
        statement: &'static str,
        columns: Vec<Column<'_>>,
    ) -> Result<(), Fault> {
        let wanted = columns.first().map_or(0, Column::len);
        if wanted == 0 {
            return Ok(());
        }
        let rows = self.session.execute(Ask::of(statement).bind(Bind::Rows(columns))).await?;
        exactly(noun, rows, wanted)
    }

    /// One statement for the rows with these ids; each must be written.
    async fn list(
        &mut self,
        noun: &str,
        statement: &'static str,
        ids: Vec<i64>,
    ) -> Result<(), Fault> {
        let wanted = ids.len();
        let rows = self.session.execute(Ask::of(statement).bind(Bind::Ints(ids))).await?;
        exactly(noun, rows, wanted)
    }
}

/// The rows were locked, or believed: another number of locked ones is nothing that may be.
fn exactly(noun: &str, rows: u64, wanted: usize) -> Result<(), Fault> {
    if u64::try_from(wanted) == Ok(rows) {
        return Ok(());
    }
    let what = format!("{rows} of {wanted} {noun} were written");
    Err(Fault::Doubted(StoreError::Corrupt { what, source: None }))
}
