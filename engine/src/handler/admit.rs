//! Admission: a waiting action whose edges are all met gets its run, in the transaction that met the last one.

use std::collections::BTreeMap;

use hera_common::action::{ActionEnd, ActionState, SkipReason};
use hera_common::audit::Asked;
use hera_common::id::Seq;
use hera_common::limits::QUEUE_MAX;
use hera_common::run::{QueuedWhy, Run, RunCounts, RunLimits, RunState, Trigger};
use hera_common::spec::{On, Overlap};
use hera_common::time::Version;

use super::{Ctx, Handler, Note};
use crate::edge::EdgeState;
use crate::input::{Change, VersionKey};

/// Who acts where nobody asked.
const SYSTEM: &str = "system";

impl Handler {
    /// An upstream version of one of its actions has ended, or its end no longer holds.
    pub fn on_upstream(
        &mut self,
        ctx: &mut Ctx<'_>,
        version: Version,
        key: VersionKey,
        judged: &dyn Fn(On) -> EdgeState,
    ) {
        let Some(entry) = self.actions.get_mut(&version) else { return };
        for (binding, state) in &mut entry.edges {
            if (binding.upstream, binding.version) == key {
                *state = judged(binding.on);
            }
        }
        self.settle_if_waiting(ctx, version);
    }

    /// The store's answer about an upstream version that nobody knew.
    pub fn on_resolved(
        &mut self,
        ctx: &mut Ctx<'_>,
        version: Version,
        key: VersionKey,
        judged: &dyn Fn(On) -> EdgeState,
    ) {
        let Some(entry) = self.actions.get_mut(&version) else { return };
        for (binding, state) in &mut entry.edges {
            // What has been heard since the question was asked is newer than its answer.
            if (binding.upstream, binding.version) == key && *state == EdgeState::Unknown {
                *state = judged(binding.on);
            }
        }
        self.settle_if_waiting(ctx, version);
    }

    /// A unit is begun only where there is something to write.
    pub fn settle_if_waiting(&mut self, ctx: &mut Ctx<'_>, version: Version) {
        let Some(entry) = self.actions.get(&version) else { return };
        if entry.action.state != ActionState::Waiting {
            return;
        }
        match entry.standing() {
            EdgeState::Open | EdgeState::Blocked | EdgeState::Unknown => {
                self.ready.remove(&version);
            }
            EdgeState::Met | EdgeState::SkipDependent | EdgeState::NotNeeded => {
                let unit = ctx.stage.unit(ctx.cause);
                ctx.stage.touch(unit, self.job);
                self.settle(ctx, unit, version);
            }
        }
    }

    /// Does with a waiting action what its edges say.
    pub(super) fn settle(&mut self, ctx: &mut Ctx<'_>, unit: usize, version: Version) {
        let Some(entry) = self.actions.get(&version) else { return };
        match entry.standing() {
            EdgeState::Met => {
                self.ready.insert(version);
                self.admit(ctx, unit, version);
            }
            EdgeState::SkipDependent => {
                self.end_action(ctx, unit, version, ActionEnd::Skipped(SkipReason::Upstream));
            }
            EdgeState::NotNeeded => {
                self.end_action(ctx, unit, version, ActionEnd::Skipped(SkipReason::NotNeeded));
            }
            EdgeState::Open | EdgeState::Blocked | EdgeState::Unknown => {
                self.ready.remove(&version);
            }
        }
    }

    /// Admits what has room now: lowest version first.
    pub(super) fn admit_ready(&mut self, ctx: &mut Ctx<'_>, unit: usize) {
        let ready: Vec<Version> = self.ready.iter().copied().collect();
        for version in ready {
            self.admit(ctx, unit, version);
        }
    }

    fn admit(&mut self, ctx: &mut Ctx<'_>, unit: usize, version: Version) {
        let full = ctx.job.overlap() == Overlap::Queue
            && self.queued() >= usize::try_from(QUEUE_MAX).unwrap_or(usize::MAX);
        let Some(entry) = self.actions.get(&version) else { return };
        if full || entry.action.live_run.is_some() || ctx.job.parked.is_some() {
            return;
        }
        self.ready.remove(&version);
        let trigger = if ctx.job.has_schedule() { Trigger::Schedule } else { Trigger::Event };
        let asked = Asked { actor: SYSTEM.to_owned(), why: String::new() };
        self.make_run(ctx, unit, version, NewRun { trigger, asked: &asked, set: BTreeMap::new() });
    }

    /// Makes a run of an action that has no live one, and queues it.
    pub(super) fn make_run(
        &mut self,
        ctx: &mut Ctx<'_>,
        unit: usize,
        version: Version,
        new: NewRun<'_>,
    ) -> Option<Run> {
        let spec = ctx.job.spec.as_deref()?;
        let entry = self.actions.get_mut(&version)?;
        ctx.marks.run = ctx.marks.run.next();
        let action = &mut entry.action;
        action.runs += 1;
        action.live_run = Some(ctx.marks.run);
        action.revision = ctx.job.row.revision;
        let now = ctx.now.wall;
        let run = Run {
            id: ctx.marks.run,
            action: action.id,
            job: self.job,
            version,
            number: action.runs,
            trigger: new.trigger,
            actor: new.asked.actor.clone(),
            why: new.asked.why.clone(),
            revision: ctx.job.row.revision,
            set: new.set,
            urgency: spec.policy.urgency,
            exclusive: spec.policy.overlap == Overlap::Queue,
            limits: RunLimits {
                lease: spec.policy.lease,
                retries: spec.policy.retries.times,
                restarts: spec.policy.restarts,
                at_most_once: spec.policy.at_most_once,
                start_by: spec.policy.start_within.map(|span| now.plus(span)),
            },
            state: RunState::Queued { not_before: now, why: QueuedWhy::New },
            hb_seq: Seq::FIRST,
            counts: RunCounts::default(),
            cancel: None,
            final_token: None,
            queued_at: now,
            started_at: None,
            ended_at: None,
        };
        if new.trigger.counts() {
            action.state = ActionState::Active;
            action.ended_at = None;
            // An earlier end goes on counting until this run starts.
            if action.outcome.is_none() {
                action.counted_run = Some(run.id);
            }
        }
        ctx.stage.update_action(unit, action);
        ctx.stage.changed(unit, Change::Action(Box::new(action.clone())));
        ctx.stage.insert_run(unit, &run);
        ctx.stage.changed(unit, Change::Run { run: Box::new(run.clone()), attempt: None });
        self.take_run(run.clone(), None);
        ctx.notes.push(Note::Run { job: self.job, run: run.id });
        Some(run)
    }
}

/// Why a run is made.
pub(super) struct NewRun<'a> {
    pub(super) trigger: Trigger,
    pub(super) asked: &'a Asked,
    pub(super) set: BTreeMap<String, String>,
}
