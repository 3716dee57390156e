//! Writes a plan into the tables: all checks first, so that a plan that breaks a rule leaves no trace.

use std::collections::BTreeMap;

use hera_common::attempt::AttemptState;
use hera_common::id::ActionId;
use hera_common::unit::Marks;
use serde::de::IgnoredAny;

use super::state::State;
use super::unique::{Exchange, Keyed};
use crate::admit::{Change, Marked, Plan};
use crate::rules::{self, Broken, holds};

impl State {
    /// Writes all of the plan, or nothing.
    pub(super) fn apply(&mut self, plan: &Plan<'_>, marks: &Marks) -> Result<(), Broken> {
        let exchange = self.check(plan)?;
        exchange.make(&mut self.taken)?;
        self.marks = self.marks.max(*marks);
        put(&mut self.groups, &plan.groups);
        self.calendars.extend(
            plan.calendars.iter().map(|&row| ((row.name.clone(), row.revision), row.clone())),
        );
        put(&mut self.jobs, &plan.jobs);
        self.revisions.extend(plan.revisions.iter().map(|&r| ((r.job, r.revision), r.clone())));
        put(&mut self.cursors, &plan.cursors);
        self.gaps.extend(plan.gaps.iter().map(|&g| ((g.job, g.from), g.clone())));
        for id in &plan.dropped {
            self.unbind(*id);
            self.actions.remove(id);
        }
        put(&mut self.actions, &plan.actions);
        self.bind(plan);
        put(&mut self.runs, &plan.runs);
        self.report_late(plan);
        put(&mut self.attempts, &plan.attempts);
        self.outputs.extend(plan.outputs.iter().map(|&(fence, bytes)| (fence, bytes.to_vec())));
        put(&mut self.workers, &plan.workers);
        self.audit.extend(plan.audit.iter().map(|&row| row.clone()));
        Ok(())
    }

    fn check(&self, plan: &Plan<'_>) -> Result<Exchange, Broken> {
        let mut exchange = Exchange::default();
        change(&mut exchange, &self.groups, &plan.groups, |_, _| Ok(()))?;
        change(&mut exchange, &self.jobs, &plan.jobs, rules::job_change)?;
        change(&mut exchange, &self.actions, &plan.actions, rules::action_change)?;
        change(&mut exchange, &self.runs, &plan.runs, rules::run_change)?;
        change(&mut exchange, &self.attempts, &plan.attempts, rules::attempt_change)?;
        change(&mut exchange, &self.workers, &plan.workers, rules::worker_change)?;
        fits(&self.cursors, &plan.cursors)?;
        for change in &plan.cursors {
            if let Some(old) = self.cursors.get(&change.row.job) {
                rules::cursor_change(old, &change.row)?;
            }
        }
        for id in &plan.dropped {
            let Some(old) = self.actions.get(id) else { continue };
            holds(old.state.planned(), || {
                format!("action {id} was decided and is never deleted by an edit")
            })?;
            exchange.leave(old);
        }
        self.check_documents(plan)?;
        Ok(exchange)
    }

    fn check_documents(&self, plan: &Plan<'_>) -> Result<(), Broken> {
        for cursor in plan.cursors.iter().filter(|c| c.believed.is_none()) {
            let job = cursor.row.job;
            let known = self.jobs.contains_key(&job) || plan.jobs.iter().any(|c| c.row.id == job);
            holds(known, || format!("the cursor of job {job} has no job"))?;
        }
        for row in &plan.revisions {
            let (job, revision) = (row.job, row.revision);
            let fresh = !self.revisions.contains_key(&(job, revision));
            holds(fresh, || format!("revision {revision} of job {job} is there already"))?;
            let known = self.jobs.contains_key(&job) || plan.jobs.iter().any(|c| c.row.id == job);
            holds(known, || format!("revision {revision} of job {job} has no job"))?;
            json(&row.spec)?;
        }
        plan.groups.iter().try_for_each(|c| json(&c.row.spec))?;
        for row in &plan.calendars {
            let fresh = !self.calendars.contains_key(&(row.name.clone(), row.revision));
            holds(fresh, || {
                format!("revision {} of calendar {} is there already", row.revision, row.name)
            })?;
            row.spec.as_deref().map_or(Ok(()), json)?;
        }
        let values = plan.audit.iter().flat_map(|row| row.old.iter().chain(row.new.iter()));
        values.map(String::as_str).try_for_each(json)
    }

    fn unbind(&mut self, id: ActionId) {
        for binding in self.bindings.remove(&id).unwrap_or_default() {
            self.bound_to.remove(&(binding.upstream, binding.version, id));
        }
    }

    fn bind(&mut self, plan: &Plan<'_>) {
        for id in &plan.rebound {
            self.unbind(*id);
        }
        for (id, list) in &plan.bindings {
            self.bound_to.extend(list.iter().map(|b| (b.upstream, b.version, *id)));
            let mut list = list.to_vec();
            list.sort_unstable();
            self.bindings.insert(*id, list);
        }
    }

    fn report_late(&mut self, plan: &Plan<'_>) {
        for (fence, report) in &plan.late_reports {
            let Some(attempt) = self.attempts.get_mut(fence) else { continue };
            let ended = matches!(attempt.state, AttemptState::Ended { .. });
            if ended && attempt.late_report.is_none() {
                attempt.late_report = Some((*report).to_owned());
            }
        }
    }
}

/// Checks that rows are there, or not, as the plan says.
fn fits<R: Marked>(rows: &BTreeMap<R::Id, R>, changes: &[Change<'_, R>]) -> Result<(), Broken> {
    changes.iter().try_for_each(|change| {
        let id = change.row.id();
        holds(rows.get(&id).map(R::mark) == change.believed, || {
            format!("{} {id} is not as the plan believes", R::NOUN)
        })
    })
}

/// Checks the changes of one table and notes what they take and free.
fn change<R: Marked + Keyed>(
    exchange: &mut Exchange,
    rows: &BTreeMap<R::Id, R>,
    changes: &[Change<'_, R>],
    may: fn(&R, &R) -> Result<(), Broken>,
) -> Result<(), Broken> {
    fits(rows, changes)?;
    for change in changes {
        if let Some(old) = rows.get(&change.row.id()) {
            may(old, &change.row)?;
            exchange.leave(old);
        }
        exchange.enter(&*change.row, R::NOUN)?;
    }
    Ok(())
}

fn put<R: Marked>(rows: &mut BTreeMap<R::Id, R>, changes: &[Change<'_, R>]) {
    for change in changes {
        rows.insert(change.row.id(), R::clone(&change.row));
    }
}

/// The databases refuse a document that is none.
fn json(text: &str) -> Result<(), Broken> {
    let read: Result<IgnoredAny, _> = serde_json::from_str(text);
    read.map(|_ignored| ()).map_err(|error| Broken(format!("a document is no JSON: {error}")))
}
