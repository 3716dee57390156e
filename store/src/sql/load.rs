//! What is active, read in one transaction with one statement for each table.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::{Action, ActionEnd, Binding, SkipReason};
use hera_common::attempt::Attempt;
use hera_common::id::{ActionId, JobId};
use hera_common::limits::BY_HAND_MAX;
use hera_common::run::Run;
use hera_common::snapshot::{BadRow, BoundAction, Snapshot};
use hera_common::time::{Version, Wall};

use super::ask::{Ask, Bind, ListForm};
use super::catalog::{self, Catalog};
use super::cells::{Reader, Unreadable};
use super::commit::marks;
use super::dialect::{Fault, Session};
use super::row;
use crate::StoreError;
use crate::load::Scope;

/// Of a group's or a worker's row, which belong to no job.
const NO_JOB: JobId = JobId::from_raw(0);

/// What is read, with what could not be.
pub(crate) struct Load<'s> {
    session: &'s mut dyn Session,
    scope: &'s Scope,
    form: ListForm,
    bad: Vec<BadRow>,
}

impl<'s> Load<'s> {
    pub(crate) fn new(session: &'s mut dyn Session, scope: &'s Scope, form: ListForm) -> Self {
        Self { session, scope, form, bad: Vec::new() }
    }

    /// Reads all tables.
    pub(crate) async fn snapshot(mut self, catalog: &Catalog) -> Result<Snapshot, Fault> {
        let mut snapshot = Snapshot::default();
        let mut first = None;
        self.session
            .each(Ask::of(catalog.mark_read), &mut |mut row| {
                first = Some((Wall::from_ms(row.int()?), marks(&mut row)?));
                Ok(())
            })
            .await?;
        (snapshot.store_now, snapshot.marks) = first.ok_or_else(|| StoreError::Corrupt {
            what: "the row of id marks is missing".to_owned(),
            source: None,
        })?;
        self.definitions(&mut snapshot).await?;
        self.active(&mut snapshot).await?;
        self.outcomes(&mut snapshot).await?;
        self.leave_out_bad(&mut snapshot);
        Ok(snapshot)
    }

    async fn definitions(&mut self, snapshot: &mut Snapshot) -> Result<(), Fault> {
        snapshot.groups =
            self.rows("group", Ask::of(catalog::GROUP_LOAD), no_job, row::group).await?;
        snapshot.calendars =
            self.rows("calendar", Ask::of(catalog::CALENDAR_LOAD), no_job, row::calendar).await?;
        let jobs = self.of_jobs(catalog::JOB_LOAD, " ORDER BY j.job_id");
        snapshot.jobs = self.rows("job", jobs, first_is_job, row::job).await?;
        let cursors = self.of_jobs(catalog::CURSOR_LOAD, " ORDER BY c.job_id");
        snapshot.cursors = self.rows("cursor", cursors, first_is_job, row::cursor).await?;
        let order = " ORDER BY v.job_id, v.revision";
        let revisions = self.of_jobs(catalog::REVISION_LOAD, order);
        snapshot.revisions = self.rows("revision", revisions, first_is_job, row::revision).await?;
        snapshot.workers =
            self.rows("worker", Ask::of(catalog::WORKER_LOAD), no_job, row::worker).await?;
        Ok(())
    }

    async fn active(&mut self, snapshot: &mut Snapshot) -> Result<(), Fault> {
        let actions = self.scoped(catalog::ACTION_LOAD, " AND a.job_id", " ORDER BY a.action_id");
        let actions: Vec<Action> = self.rows("action", actions, second_is_job, row::action).await?;
        let mut bindings = self.bindings().await?;
        let bound = |action: Action| {
            let bindings = bindings.remove(&action.id).unwrap_or_default();
            BoundAction { action, bindings }
        };
        snapshot.actions = actions.into_iter().map(bound).collect();
        let runs = self.scoped(catalog::RUN_LOAD, " AND r.job_id", " ORDER BY r.run_id");
        snapshot.runs = self.rows("run", runs, third_is_job, row::run).await?;
        let attempts = self.scoped(catalog::ATTEMPT_LOAD, " AND r.job_id", " ORDER BY t.fence");
        snapshot.attempts = self.rows("attempt", attempts, last_is_job, row::attempt).await?;
        let pairs = self.by_hand();
        let pairs: Vec<(JobId, Version)> =
            self.rows("version", pairs, first_is_job, upstream).await?;
        for (job, version) in pairs {
            snapshot.by_hand.entry(job).or_default().push(version);
        }
        Ok(())
    }

    fn by_hand(&self) -> Ask<'static> {
        let most = i64::try_from(BY_HAND_MAX).unwrap_or(i64::MAX);
        let mut ask = Ask::of(catalog::ACTION_LOAD_BY_HAND).bind(Bind::Int(most));
        if let Scope::Jobs(jobs) = self.scope {
            ask.push_in(" AND x.job_id", ints(jobs), self.form);
        }
        ask.push(" ORDER BY x.job_id, x.version");
        ask
    }

    async fn bindings(&mut self) -> Result<BTreeMap<ActionId, Vec<Binding>>, Fault> {
        let order = " ORDER BY b.action_id, b.upstream_job, b.upstream_version";
        let ask = self.scoped(catalog::BINDING_LOAD, " AND a.job_id", order);
        let read = |reader: &mut Reader<'_>| {
            Ok((ActionId::from_raw(reader.int()?), row::binding(reader)?))
        };
        // An action that lacked a binding might start too early: all that its job has open is left out.
        let pairs: Vec<(ActionId, Binding)> = self.rows("binding", ask, fifth_is_job, read).await?;
        let mut lists: BTreeMap<ActionId, Vec<Binding>> = BTreeMap::new();
        for (action, binding) in pairs {
            lists.entry(action).or_default().push(binding);
        }
        Ok(lists)
    }

    async fn outcomes(&mut self, snapshot: &mut Snapshot) -> Result<(), Fault> {
        let ends = self.scoped(catalog::OUTCOME_LOAD, " AND a.job_id", "");
        let ends: Vec<((JobId, Version), ActionEnd)> =
            self.rows("outcome", ends, first_is_job, upstream_end).await?;
        let gaps = self.scoped(catalog::OUTCOME_LOAD_GAPS, " AND a.job_id", "");
        let gaps: Vec<(JobId, Version)> = self.rows("gap", gaps, first_is_job, upstream).await?;
        let late = ActionEnd::Skipped(SkipReason::Late);
        snapshot.outcomes = ends.into_iter().chain(gaps.into_iter().map(|at| (at, late))).collect();
        Ok(())
    }

    /// Jobs that are not deleted, or have something open; those of the scope, whatever they are.
    fn of_jobs(&self, file: &'static str, order: &'static str) -> Ask<'static> {
        let mut ask = Ask::of(file);
        match self.scope {
            Scope::All => ask.push(
                " AND (j.deleted_at IS NULL OR EXISTS \
                 (SELECT 1 FROM action a WHERE a.job_id = j.job_id AND a.pending))",
            ),
            Scope::Jobs(jobs) => ask.push_in(" AND j.job_id", ints(jobs), self.form),
        }
        ask.push(order);
        ask
    }

    fn scoped(
        &self,
        file: &'static str,
        column: &'static str,
        order: &'static str,
    ) -> Ask<'static> {
        let mut ask = Ask::of(file);
        if let Scope::Jobs(jobs) = self.scope {
            ask.push_in(column, ints(jobs), self.form);
        }
        if !order.is_empty() {
            ask.push(order);
        }
        ask
    }

    /// The rows that can be read; the others are noted.
    async fn rows<T: Send>(
        &mut self,
        noun: &'static str,
        ask: Ask<'_>,
        whose: fn(&mut Reader<'_>) -> Result<JobId, Unreadable>,
        read: fn(&mut Reader<'_>) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, Fault> {
        let mut rows = Vec::new();
        let bad = &mut self.bad;
        self.session
            .each(ask, &mut |mut reader| {
                match read(&mut reader) {
                    Ok(row) => rows.push(row),
                    Err(why) => {
                        let mut again = reader.again();
                        let id = again.maybe_int().ok().flatten().unwrap_or_default();
                        let job = whose(&mut reader.again()).unwrap_or(NO_JOB);
                        bad.push(BadRow { job, what: format!("{noun} {id}: {why}") });
                    }
                }
                Ok(())
            })
            .await?;
        Ok(rows)
    }

    /// Of a job with a row that cannot be read only its definition stays, for whoever parks it.
    fn leave_out_bad(self, snapshot: &mut Snapshot) {
        let jobs: BTreeSet<JobId> = self.bad.iter().map(|row| row.job).collect();
        snapshot.actions.retain(|bound| !jobs.contains(&bound.action.job));
        snapshot.runs.retain(|run: &Run| !jobs.contains(&run.job));
        // Of a run that cannot be read the attempt can be.
        let runs: BTreeSet<_> = snapshot.runs.iter().map(|run| run.id).collect();
        snapshot.attempts.retain(|attempt: &Attempt| runs.contains(&attempt.run));
        snapshot.bad = self.bad;
    }
}

fn ints(jobs: &[JobId]) -> Bind<'static> {
    Bind::Ints(jobs.iter().map(|job| job.raw()).collect())
}

/// Reads an upstream version.
pub(crate) fn upstream(reader: &mut Reader<'_>) -> Result<(JobId, Version), Unreadable> {
    Ok((JobId::from_raw(reader.int()?), Version::from_ms(reader.int()?)))
}

/// Reads an upstream version and how it ended.
pub(crate) fn upstream_end(
    reader: &mut Reader<'_>,
) -> Result<((JobId, Version), ActionEnd), Unreadable> {
    Ok((upstream(reader)?, row::end(reader)?))
}

fn no_job(_reader: &mut Reader<'_>) -> Result<JobId, Unreadable> {
    Ok(NO_JOB)
}

fn first_is_job(reader: &mut Reader<'_>) -> Result<JobId, Unreadable> {
    reader.int().map(JobId::from_raw)
}

fn second_is_job(reader: &mut Reader<'_>) -> Result<JobId, Unreadable> {
    reader.skip(1);
    first_is_job(reader)
}

fn third_is_job(reader: &mut Reader<'_>) -> Result<JobId, Unreadable> {
    reader.skip(2);
    first_is_job(reader)
}

fn fifth_is_job(reader: &mut Reader<'_>) -> Result<JobId, Unreadable> {
    reader.skip(4);
    first_is_job(reader)
}

/// After the columns of an attempt.
fn last_is_job(reader: &mut Reader<'_>) -> Result<JobId, Unreadable> {
    reader.skip(row::ATTEMPT_COLUMNS);
    first_is_job(reader)
}
