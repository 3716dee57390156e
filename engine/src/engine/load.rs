//! Building the memory from what the store holds: all of it at activation (event Initialize), some jobs after a unit was left out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hera_common::action::{ActionEnd, Binding};
use hera_common::doc::GroupDoc;
use hera_common::id::{JobId, Seq, WorkerId};
use hera_common::job::{Cursor, GroupRow, JobRow, RevisionRow};
use hera_common::limits::PLAN_AHEAD;
use hera_common::snapshot::{BoundAction, Snapshot};
use hera_common::time::{Now, Version, Wall};
use hera_common::unit::Marks;

use super::{Engine, Worker};
use crate::calendars::Calendars;
use crate::catalog::{Catalog, Group, Job};
use crate::edge::EdgeState;
use crate::handler::{Entry, Handler};
use crate::input::VersionKey;

impl Engine {
    /// Event Initialize: builds the memory from all that is active. Every hold gets a full window from `now`; every job's
    /// rows are looked at.
    pub fn load(&mut self, snapshot: Snapshot, now: Now) {
        *self = Self::new(self.settings.clone(), self.epoch);
        self.since = now.boot;
        let jobs: Vec<JobId> = snapshot.jobs.iter().map(|row| row.id).collect();
        self.take_in(snapshot, now);
        self.to_extend.extend(jobs);
        self.extend_at = now.wall.plus(super::generate::EXTEND_EVERY);
    }

    /// Reads some jobs again, after units that changed them were left out, or nobody knows what became of a commit.
    /// A job that is not in the snapshot is gone.
    pub fn reload(&mut self, jobs: &[JobId], snapshot: Snapshot, now: Now) {
        for &job in jobs {
            self.by_hand.remove(&job);
            self.unindex(now.boot, job);
            Arc::make_mut(&mut self.catalog).remove(job);
        }
        self.take_in(snapshot, now);
        let again: BTreeSet<JobId> = jobs.iter().copied().collect();
        self.judge_waiters(&again);
        // What was planned of them may not be in the store, and may be due by now.
        self.to_extend.extend(again.into_iter().filter(|job| self.handlers.contains_key(job)));
    }

    /// Those that wait for versions of these jobs may have heard of ends that were never written, or missed some.
    fn judge_waiters(&mut self, jobs: &BTreeSet<JobId>) {
        let ends = jobs.iter().flat_map(|&job| {
            let first = (job, Version::from_ms(i64::MIN));
            self.waiters.range(first..=(job, Version::from_ms(i64::MAX)))
        });
        let waiters: BTreeSet<VersionKey> =
            ends.flat_map(|(_key, waiters)| waiters).copied().collect();
        for (job, version) in waiters.into_iter().filter(|(job, _)| !jobs.contains(job)) {
            let entry = self.handlers.get(&job).and_then(|handler| handler.entry(version));
            let Some(entry) = entry else { continue };
            let told: Vec<(VersionKey, EdgeState)> = entry
                .edges
                .iter()
                .filter(|(binding, _state)| jobs.contains(&binding.upstream))
                .map(|(b, _state)| ((b.upstream, b.version), self.edge_state(b)))
                .collect();
            for (key, state) in told {
                if state == EdgeState::Unknown {
                    self.to_ask.insert(key);
                }
                if let Some(handler) = self.handlers.get_mut(&job) {
                    handler.set_edge(version, key, state);
                }
            }
            self.note_unsettled((job, version));
        }
    }

    /// An action that waits, though its edges say what is to be done with it: the next step does it.
    fn note_unsettled(&mut self, key: VersionKey) {
        let (job, version) = key;
        if self.handlers.get(&job).is_some_and(|handler| handler.unsettled(version)) {
            self.to_settle.insert(key);
        }
    }

    fn take_in(&mut self, snapshot: Snapshot, now: Now) {
        self.marks = highest(self.marks, snapshot.marks);
        self.take_workers(&snapshot);
        let mut jobs: BTreeSet<JobId> = snapshot.jobs.iter().map(|row| row.id).collect();
        let catalog = Arc::make_mut(&mut self.catalog);
        catalog.edition += 1;
        read_groups(catalog, snapshot.groups);
        catalog.calendars = Calendars::new(snapshot.calendars);
        read_jobs(catalog, &snapshot.jobs, snapshot.revisions);
        for bad in &snapshot.bad {
            park(catalog, bad.job, &bad.what);
        }
        // Actions of a job that is deleted have a handler until they end; its row is in the snapshot.
        jobs.retain(|id| catalog.jobs.contains_key(id));
        for &id in &jobs {
            if let Err(fault) = catalog.link(id) {
                park(catalog, id, &fault.to_string());
            }
        }
        // Jobs that were read before and point at one of these have lost nothing: ids stay.
        let cursors: BTreeMap<JobId, Cursor> =
            snapshot.cursors.into_iter().map(|cursor| (cursor.job, cursor)).collect();
        for &id in &jobs {
            let cursor = cursors.get(&id).copied().unwrap_or_else(|| fresh_cursor(id, now.wall));
            self.handlers.insert(id, Handler::new(cursor));
        }
        self.by_hand.extend(snapshot.by_hand);
        self.take_actions(snapshot.actions, &snapshot.outcomes);
        let mut attempts: BTreeMap<_, _> =
            snapshot.attempts.into_iter().map(|attempt| (attempt.run, attempt)).collect();
        for run in snapshot.runs {
            let attempt = attempts.remove(&run.id);
            if let Some(handler) = self.handlers.get_mut(&run.job) {
                handler.take_run(run, attempt);
            }
        }
        for id in jobs {
            self.index(now, id);
        }
    }

    fn take_actions(
        &mut self,
        actions: Vec<BoundAction>,
        outcomes: &BTreeMap<VersionKey, ActionEnd>,
    ) {
        for BoundAction { action, bindings } in actions {
            let edges = bindings
                .into_iter()
                .map(|binding| {
                    let key = (binding.upstream, binding.version);
                    let judged = self.judged(key.0, outcomes.get(&key).copied());
                    (binding, judged(binding.on))
                })
                .collect();
            let key = (action.job, action.version);
            if let Some(handler) = self.handlers.get_mut(&action.job) {
                handler.take_action(Entry { action, edges });
                self.note_unsettled(key);
            }
        }
    }

    fn take_workers(&mut self, snapshot: &Snapshot) {
        // A registration that was never written is none.
        let known: BTreeSet<WorkerId> = snapshot.workers.iter().map(|row| row.id).collect();
        self.workers.retain(|id, _worker| known.contains(id));
        for row in &snapshot.workers {
            match self.workers.get_mut(&row.id) {
                Some(worker) => worker.row = row.clone(),
                None => {
                    let worker = Worker {
                        row: row.clone(),
                        heard: None,
                        gone: row.draining,
                        held: BTreeSet::new(),
                        takes_nothing: String::new(),
                        look: BTreeSet::new(),
                    };
                    self.workers.insert(row.id, worker);
                }
            }
        }
    }

    /// What an upstream version says to an edge, as far as memory knows.
    pub(super) fn edge_state(&self, binding: &Binding) -> EdgeState {
        let Some(handler) = self.handlers.get(&binding.upstream) else { return EdgeState::Unknown };
        match handler.entry(binding.version) {
            Some(entry) => self.judged(binding.upstream, entry.action.outcome)(binding.on),
            None if binding.version > handler.cursor.decided_to => EdgeState::Open,
            None => EdgeState::Unknown,
        }
    }
}

fn read_groups(catalog: &mut Catalog, rows: Vec<GroupRow>) {
    catalog.groups.clear();
    for row in rows {
        // A group that cannot be read says nothing; its jobs hold all that they inherit in their own rows.
        let doc = GroupDoc::from_json(&row.spec).unwrap_or_default();
        catalog.groups.insert(row.path.clone(), Group { row, doc });
    }
}

fn read_jobs(catalog: &mut Catalog, rows: &[JobRow], revisions: Vec<RevisionRow>) {
    let mut of: BTreeMap<JobId, Vec<RevisionRow>> = BTreeMap::new();
    for revision in revisions {
        of.entry(revision.job).or_default().push(revision);
    }
    for row in rows.iter().filter(|row| row.deleted_at.is_none()) {
        let revisions = of.remove(&row.id).unwrap_or_default();
        catalog.put(Job::read(row.clone(), &revisions));
    }
}

/// Stops one job, and no other.
fn park(catalog: &mut Catalog, id: JobId, why: &str) {
    if let Some(job) = catalog.jobs.get_mut(&id) {
        Arc::make_mut(job).parked.get_or_insert_with(|| why.to_owned());
    }
}

fn fresh_cursor(job: JobId, now: Wall) -> Cursor {
    let at = Version::at(now);
    let ahead = Version::at(now.plus(PLAN_AHEAD));
    Cursor { job, decided_to: at, planned_to: ahead, seq: Seq::FIRST }
}

fn highest(left: Marks, right: Marks) -> Marks {
    Marks {
        job: left.job.max(right.job),
        group: left.group.max(right.group),
        action: left.action.max(right.action),
        run: left.run.max(right.run),
        fence: left.fence.max(right.fence),
        worker: left.worker.max(right.worker),
    }
}
