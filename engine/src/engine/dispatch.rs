//! The dispatcher: hands events to the handlers that an index names, and keeps the indexes. Its cost follows the out-degree of what
//! happened, never the number of jobs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::RangeInclusive;

use hera_common::action::{ActionEnd, SkipReason};
use hera_common::id::{JobId, RunId};
use hera_common::run::RunState;
use hera_common::spec::On;
use hera_common::time::{Boot, Now, Version};

use super::{At, Engine};
use crate::edge::{EdgeState, judge};
use crate::handler::{Ctx, Handler, Note};
use crate::input::{Effect, VersionKey};

impl Engine {
    /// Lets a job's handler take an event, then everything that follows from it. None: the job is not there.
    pub(super) fn with_handler<T>(
        &mut self,
        at: &mut At<'_>,
        job: JobId,
        cause: Option<usize>,
        event: impl FnOnce(&mut Handler, &mut Ctx<'_>) -> T,
    ) -> Option<T> {
        let mut notes = Vec::new();
        let told = self.handle(at, job, cause, &mut notes, event);
        self.follow(at, notes);
        told
    }

    fn handle<T>(
        &mut self,
        at: &mut At<'_>,
        job: JobId,
        cause: Option<usize>,
        notes: &mut Vec<Note>,
        event: impl FnOnce(&mut Handler, &mut Ctx<'_>) -> T,
    ) -> Option<T> {
        let handler = self.handlers.get_mut(&job)?;
        let definition = self.catalog.jobs.get(&job)?;
        let mut ctx = Ctx {
            now: at.now,
            epoch: self.epoch,
            job: definition,
            stage: at.stage,
            marks: &mut self.marks,
            notes,
            chance: at.chance,
            cause,
        };
        let told = event(handler, &mut ctx);
        let due = handler.next_due().filter(|_due| definition.parked.is_none());
        let due = due.map(|version| definition.fires_at(version));
        self.set_due(job, due);
        Some(told)
    }

    /// Passes on what handlers left as notes, until nothing is left.
    fn follow(&mut self, at: &mut At<'_>, notes: Vec<Note>) {
        let mut open: VecDeque<Note> = notes.into();
        while let Some(note) = open.pop_front() {
            match note {
                Note::Ended { key, end, unit } => {
                    self.upstream_changed(at, key, Some(end), unit, &mut open);
                }
                Note::Reset { key, unit } => {
                    self.upstream_changed(at, key, None, unit, &mut open);
                }
                Note::Gap { job, from, to, rows, unit } => {
                    let slots = (job, from)..=(job, to);
                    self.gap_made(at, slots, (&rows, unit), &mut open);
                }
                Note::Run { run, job } => self.run_changed(at.now, job, run),
                Note::Watch { waiter, keys } => self.watch(waiter, keys),
                Note::Unwatch { waiter, keys } => self.unwatch(waiter, &keys),
            }
        }
    }

    /// JobSuccess, JobFailed, or the end of such an end: for exactly those that wait for the version.
    fn upstream_changed(
        &mut self,
        at: &mut At<'_>,
        key: VersionKey,
        end: Option<ActionEnd>,
        unit: usize,
        open: &mut VecDeque<Note>,
    ) {
        let Some(waiters) = self.waiters.get(&key).cloned() else { return };
        let judged = self.judged(key.0, end);
        for (job, version) in waiters {
            let mut notes = Vec::new();
            self.handle(at, job, Some(unit), &mut notes, |handler, ctx| {
                handler.on_upstream(ctx, version, key, &judged);
            });
            open.extend(notes);
        }
    }

    /// For those that wait for a slot that became no action. Its cost follows the number of those, not of slots.
    fn gap_made(
        &mut self,
        at: &mut At<'_>,
        slots: RangeInclusive<VersionKey>,
        (rows, unit): (&BTreeSet<Version>, usize),
        open: &mut VecDeque<Note>,
    ) {
        let waited: Vec<VersionKey> =
            self.waiters.range(slots).map(|(key, _waiters)| *key).collect();
        for key in waited.into_iter().filter(|(_job, slot)| !rows.contains(slot)) {
            let late = ActionEnd::Skipped(SkipReason::Late);
            self.upstream_changed(at, key, Some(late), unit, open);
        }
    }

    /// What an end of the job's versions says to edges; None: there is no end.
    pub(super) fn judged(
        &self,
        job: JobId,
        end: Option<ActionEnd>,
    ) -> impl Fn(On) -> EdgeState + use<> {
        let catch_up = self.catalog.jobs.get(&job).map(|job| job.catch_up()).unwrap_or_default();
        move |on| end.map_or(EdgeState::Open, |end| judge(on, end, catch_up))
    }

    /// The store's answers: for those that still wait for them.
    pub(super) fn resolved(
        &mut self,
        at: &mut At<'_>,
        asked: &[VersionKey],
        ends: &BTreeMap<VersionKey, ActionEnd>,
    ) {
        for key in asked {
            self.asked.remove(key);
            let judged = self.judged(key.0, ends.get(key).copied());
            for (job, version) in self.waiters.get(key).cloned().into_iter().flatten() {
                self.with_handler(at, job, None, |handler, ctx| {
                    handler.on_resolved(ctx, version, *key, &judged);
                });
            }
        }
    }

    /// Asks the store for upstream versions that nobody in memory knows.
    pub(super) fn ask_store(&mut self, at: &mut At<'_>) {
        let to_ask: Vec<VersionKey> = std::mem::take(&mut self.to_ask).into_iter().collect();
        if !to_ask.is_empty() {
            self.asked.extend(&to_ask);
            at.stage.effect(Effect::Resolve(to_ask));
        }
    }

    fn watch(&mut self, waiter: VersionKey, keys: Vec<VersionKey>) {
        let (job, version) = waiter;
        let entry = self.handlers.get(&job).and_then(|handler| handler.entry(version));
        if let Some(entry) = entry {
            self.to_ask.extend(entry.unknown().filter(|key| !self.asked.contains(key)));
        }
        for key in keys {
            self.waiters.entry(key).or_default().insert(waiter);
        }
    }

    fn unwatch(&mut self, waiter: VersionKey, keys: &[VersionKey]) {
        for key in keys {
            if let Some(waiters) = self.waiters.get_mut(key) {
                waiters.remove(&waiter);
                if waiters.is_empty() {
                    self.waiters.remove(key);
                }
            }
        }
    }

    /// Keeps the queue, the holds and the tokens in step with a run.
    pub(super) fn run_changed(&mut self, now: Now, job: JobId, id: RunId) {
        let mut before = None;
        if let Some((token, worker)) = self.holder_of.remove(&id) {
            self.token_of.remove(&token);
            self.spent.add(token, now.boot);
            if let Some(worker) = self.workers.get_mut(&worker) {
                worker.held.remove(&id);
                worker.look.remove(&token);
            }
            before = Some((token, worker));
        }
        let live = self.handlers.get(&job).and_then(|handler| handler.live(id));
        let Some(live) = live else {
            self.run_of.remove(&id);
            self.failed_on.remove(&id);
            self.queue.remove(id);
            self.holds.forget(id);
            return;
        };
        let run = &live.run;
        self.run_of.insert(id, job);
        let group = self.catalog.jobs.get(&job).and_then(|job| job.host_group());
        self.queue.put(run, group, live.expired, now.wall);
        let windows = self.windows();
        self.holds.observe(run, &windows);
        if let RunState::Leased(hold) | RunState::Running(hold) = run.state {
            self.token_of.insert(hold.token, id);
            self.spent.remove(hold.token);
            self.holder_of.insert(id, (hold.token, hold.worker));
            if let Some(worker) = self.workers.get_mut(&hold.worker) {
                worker.held.insert(id);
            }
            // Taken over: whoever held it until now shall hear of it at once.
            if let Some((token, worker)) = before.filter(|(token, _worker)| *token != hold.token)
                && let Some(worker) = self.workers.get_mut(&worker)
            {
                worker.look.insert(token);
            }
        }
    }

    pub(super) fn set_due(&mut self, job: JobId, due: Option<Version>) {
        if self.due_of.get(&job).copied() == due {
            return;
        }
        if let Some(before) = self.due_of.remove(&job) {
            self.due.remove(&(before, job));
        }
        if let Some(due) = due {
            self.due_of.insert(job, due);
            self.due.insert((due, job));
        }
    }

    /// Puts a job that was read from the store into all indexes.
    pub(super) fn index(&mut self, now: Now, job: JobId) {
        let Some(handler) = self.handlers.get(&job) else { return };
        let runs: Vec<RunId> = handler.lives().map(|live| live.run.id).collect();
        let waits: Vec<_> =
            handler.entries().map(|entry| ((job, entry.action.version), entry.keys())).collect();
        let definition = self.catalog.jobs.get(&job).filter(|job| job.parked.is_none());
        let due = definition.and_then(|job| handler.next_due().map(|next| job.fires_at(next)));
        self.set_due(job, due);
        for (waiter, keys) in waits {
            self.watch(waiter, keys);
        }
        for run in runs {
            self.run_changed(now, job, run);
        }
    }

    /// Takes a job out of all indexes, and its handler out of memory.
    pub(super) fn unindex(&mut self, now: Boot, job: JobId) {
        self.set_due(job, None);
        let Some(handler) = self.handlers.remove(&job) else { return };
        for entry in handler.entries() {
            self.unwatch((job, entry.action.version), &entry.keys());
        }
        for live in handler.lives() {
            let id = live.run.id;
            self.run_of.remove(&id);
            self.failed_on.remove(&id);
            self.queue.remove(id);
            self.holds.forget(id);
            if let Some((token, worker)) = self.holder_of.remove(&id) {
                self.token_of.remove(&token);
                self.spent.add(token, now);
                if let Some(worker) = self.workers.get_mut(&worker) {
                    worker.held.remove(&id);
                }
            }
        }
    }
}
