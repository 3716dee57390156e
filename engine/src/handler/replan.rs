//! Planned rows: made ahead, made anew after an edit, bound again. A planned row promises nothing.

use std::collections::BTreeMap;

use hera_common::action::{Action, ActionEnd, ActionState, Binding, DataInterval, SkipReason};
use hera_common::id::Seq;
use hera_common::job::GapReason;
use hera_common::time::Version;

use super::{Ctx, Entry, Handler, Note, Span, next_action};
use crate::edge::EdgeState;

/// A version that the job shall have, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    pub version: Version,
    pub data: DataInterval,
    pub edges: Vec<(Binding, EdgeState)>,
}

/// What an edit makes of a job's rows.
#[derive(Debug, Default)]
pub struct Replan {
    /// Every version that is to be planned.
    pub ahead: Vec<Want>,
    /// What waits, with what it is bound to from now on.
    pub rebound: BTreeMap<Version, Vec<(Binding, EdgeState)>>,
    /// Of a new job, with `hera dev`: these run, whatever their age.
    pub newest: Vec<Want>,
    /// Of a new job, with `hera dev`: all other slots until now.
    pub before: Option<Span>,
    /// Who edits.
    pub actor: String,
}

impl Handler {
    /// Event UpdateActions: more rows ahead, up to `planned_to`.
    pub fn on_extend(&mut self, ctx: &mut Ctx<'_>, ahead: Vec<Want>, planned_to: Version) {
        let unit = ctx.stage.unit(ctx.cause);
        ctx.stage.touch(unit, self.job);
        for want in ahead {
            self.insert_planned(ctx, unit, want);
        }
        self.cursor.planned_to = planned_to;
        ctx.stage.update_cursor(unit, &mut self.cursor);
    }

    /// Event UpdateJob, in the unit of the edit: planned rows become `ahead`, what waits is bound anew.
    pub fn on_replan(
        &mut self,
        ctx: &mut Ctx<'_>,
        unit: usize,
        replan: Replan,
        planned_to: Version,
    ) {
        ctx.stage.touch(unit, self.job);
        let mut ahead: BTreeMap<Version, Want> =
            replan.ahead.into_iter().map(|want| (want.version, want)).collect();
        let planned: Vec<Version> = self.planned.iter().copied().collect();
        for version in planned {
            match ahead.remove(&version) {
                Some(want) => self.keep_planned(ctx, unit, want),
                None => self.drop_planned(ctx, unit, version, &replan.actor),
            }
        }
        // Where the clock has gone back, what was decided lies ahead: it is never planned again.
        let decided_to = self.cursor.decided_to;
        for want in ahead.into_values().filter(|want| want.version > decided_to) {
            self.insert_planned(ctx, unit, want);
        }
        for (version, edges) in replan.rebound {
            if self.rebind(ctx, unit, version, edges) {
                self.settle(ctx, unit, version);
            }
        }
        self.run_newest(ctx, unit, replan.newest, replan.before);
        self.cursor.planned_to = planned_to;
        ctx.stage.update_cursor(unit, &mut self.cursor);
        self.armed = None;
    }

    /// Binds planned rows anew, whose versions are about to be decided.
    pub fn on_rebound(
        &mut self,
        ctx: &mut Ctx<'_>,
        rebound: Vec<(Version, Vec<(Binding, EdgeState)>)>,
    ) {
        if rebound.is_empty() {
            return;
        }
        let unit = ctx.stage.unit(ctx.cause);
        ctx.stage.touch(unit, self.job);
        for (version, edges) in rebound {
            self.rebind(ctx, unit, version, edges);
        }
    }

    /// A new job's versions that are due already and run; the other slots become one gap.
    fn run_newest(&mut self, ctx: &mut Ctx<'_>, unit: usize, run: Vec<Want>, before: Option<Span>) {
        let versions: Vec<Version> = run.iter().map(|want| want.version).collect();
        for want in run {
            self.insert_planned(ctx, unit, want);
        }
        // After the rows, so that those which wait for a slot of the gap hear of it.
        if let Some(span) = before {
            let rows = versions.iter().copied().collect();
            self.gap(ctx, unit, span, rows, GapReason::BeforeStart);
        }
        let last = versions.iter().copied().chain(before.map(|span| span.to)).max();
        self.cursor.decided_to = self.cursor.decided_to.max(last.unwrap_or(self.cursor.decided_to));
        for version in versions {
            self.decide_to_wait(ctx, unit, version);
        }
    }

    /// The job is deleted: what is planned goes, what waits is skipped.
    pub fn on_delete(&mut self, ctx: &mut Ctx<'_>, unit: usize, actor: &str) {
        ctx.stage.touch(unit, self.job);
        let versions: Vec<Version> = self.actions.keys().copied().collect();
        for version in versions {
            let Some(entry) = self.actions.get_mut(&version) else { continue };
            match entry.action.state {
                ActionState::Planned { .. } if entry.action.runs == 0 => {
                    self.drop_planned(ctx, unit, version, actor);
                }
                ActionState::Planned { .. } | ActionState::Waiting => {
                    actor.clone_into(&mut entry.action.actor);
                    let end = ActionEnd::Skipped(SkipReason::User);
                    self.end_action(ctx, unit, version, end);
                }
                ActionState::Active | ActionState::Ended(_) => {}
            }
        }
    }

    pub(super) fn insert_planned(&mut self, ctx: &mut Ctx<'_>, unit: usize, want: Want) {
        if self.actions.contains_key(&want.version) {
            return;
        }
        let version = want.version;
        let action = self.new_action(ctx, &want, ActionState::PLANNED);
        ctx.stage.insert_action(unit, &action);
        let entry = Entry { action, edges: want.edges };
        self.watch(ctx, unit, &entry);
        self.planned.insert(version);
        self.actions.insert(version, entry);
    }

    pub(super) fn new_action(&self, ctx: &mut Ctx<'_>, want: &Want, state: ActionState) -> Action {
        Action {
            id: next_action(ctx.marks),
            job: self.job,
            version: want.version,
            zone: ctx.job.zone().to_owned(),
            data: want.data.clone(),
            state,
            outcome: None,
            counted_run: None,
            live_run: None,
            runs: 0,
            revision: ctx.job.row.revision,
            seq: Seq::FIRST,
            actor: String::new(),
            created_at: ctx.now.wall,
            decided_at: None,
            ended_at: None,
        }
    }

    fn watch(&self, ctx: &mut Ctx<'_>, unit: usize, entry: &Entry) {
        if entry.edges.is_empty() {
            return;
        }
        let bindings = entry.edges.iter().map(|&(binding, _state)| binding).collect();
        ctx.stage.bind(unit, entry.action.id, bindings);
        let waiter = (self.job, entry.action.version);
        ctx.notes.push(Note::Watch { waiter, keys: entry.keys() });
    }

    /// A planned row that the edit leaves where it is.
    fn keep_planned(&mut self, ctx: &mut Ctx<'_>, unit: usize, want: Want) {
        let Some(entry) = self.actions.get_mut(&want.version) else { return };
        let action = &mut entry.action;
        let zone = ctx.job.zone();
        // An earlier edit may have dropped it.
        let dropped = action.state != ActionState::PLANNED;
        if dropped || action.zone != zone || action.data != want.data {
            action.state = ActionState::PLANNED;
            action.actor.clear();
            zone.clone_into(&mut action.zone);
            action.data = want.data;
            action.revision = ctx.job.row.revision;
            ctx.stage.update_action(unit, action);
        }
        self.rebind(ctx, unit, want.version, want.edges);
    }

    /// Binds an action anew; false where it is bound so already, and its edges say what they said.
    fn rebind(
        &mut self,
        ctx: &mut Ctx<'_>,
        unit: usize,
        version: Version,
        edges: Vec<(Binding, EdgeState)>,
    ) -> bool {
        let Some(entry) = self.actions.get_mut(&version) else { return false };
        let same = entry.edges.len() == edges.len()
            && entry.edges.iter().zip(&edges).all(|((old, _state), (new, _new))| old == new);
        let waiter = (self.job, version);
        if same {
            let heard = entry.hear(&edges);
            if heard {
                // What is unknown by now is asked for.
                ctx.notes.push(Note::Watch { waiter, keys: Vec::new() });
            }
            return heard;
        }
        let before = entry.keys();
        entry.edges = edges;
        let bindings = entry.edges.iter().map(|&(binding, _state)| binding).collect();
        ctx.stage.bind(unit, entry.action.id, bindings);
        ctx.notes.push(Note::Unwatch { waiter, keys: before });
        ctx.notes.push(Note::Watch { waiter, keys: entry.keys() });
        true
    }

    /// Takes a planned row away. One with a run stays, and is skipped(user) when its instant comes, unless a later edit
    /// wants it again: an ended row ahead of its time would stand in the way of that.
    fn drop_planned(&mut self, ctx: &mut Ctx<'_>, unit: usize, version: Version, actor: &str) {
        let Some(entry) = self.actions.get_mut(&version) else { return };
        if entry.action.runs > 0 {
            if entry.action.state == ActionState::PLANNED {
                entry.action.state = ActionState::Planned { dropped: true };
                actor.clone_into(&mut entry.action.actor);
                ctx.stage.update_action(unit, &mut entry.action);
            }
            return;
        }
        ctx.stage.drop_planned(unit, &entry.action);
        self.forget(ctx, version);
    }
}
