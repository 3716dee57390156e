//! What people do to one action: run it by hand, recover it, cancel it.

use std::collections::BTreeMap;

use hera_common::action::{Action, ActionEnd, ActionState};
use hera_common::audit::{Asked, AuditRow};
use hera_common::id::RunId;
use hera_common::run::{CancelReason, RunState, Trigger};
use hera_common::snapshot::BoundAction;
use hera_common::time::Version;
use hera_common::unit::Write;

use super::admit::NewRun;
use super::replan::Want;
use super::runs::RunReport;
use super::{Ctx, Entry, Handler, Note};
use crate::edge::EdgeState;
use crate::input::{Cancelled, Refusal, RunMade};
use crate::run::RunEvent;

impl Handler {
    /// A manual run: beside the state, and it does not count.
    ///
    /// # Errors
    /// A run of the action is live, or the job cannot run.
    pub fn on_manual(
        &mut self,
        ctx: &mut Ctx<'_>,
        bound: BoundAction,
        asked: &Asked,
        set: BTreeMap<String, String>,
    ) -> Result<(usize, RunMade), Refusal> {
        let version = self.ready_for_verb(ctx, bound)?;
        self.refuse_live(version)?;
        let unit = self.begin(ctx, version, asked, "run");
        let made =
            self.made(ctx, unit, version, NewRun { trigger: Trigger::Manual, asked, set })?;
        Ok((unit, made))
    }

    /// A counting run with the newest revision; takes the place of one that is queued.
    ///
    /// # Errors
    /// A worker holds a run of the action, or its time has not come.
    pub fn on_recover(
        &mut self,
        ctx: &mut Ctx<'_>,
        bound: BoundAction,
        asked: &Asked,
    ) -> Result<(usize, RunMade), Refusal> {
        let version = self.ready_for_verb(ctx, bound)?;
        if self.planned.contains(&version) {
            let label = ctx.job.label(version);
            let problem =
                format!("{label} is not due yet; `hera run` runs it now, without counting");
            return Err(conflict(problem));
        }
        let queued = self.queued_run(version);
        if queued.is_none() {
            self.refuse_live(version)?;
        }
        let unit = self.begin(ctx, version, asked, "recover");
        if let Some(run) = queued {
            let replaced = (run, RunEvent::Cancel(CancelReason::Replaced));
            let told = self.on_run_in(ctx, unit, replaced, RunReport::default());
            told.map_err(|_illegal| Refusal::changed())?;
        }
        self.ready.remove(&version);
        let set = BTreeMap::new();
        let made =
            self.made(ctx, unit, version, NewRun { trigger: Trigger::Recover, asked, set })?;
        Ok((unit, made))
    }

    /// Ends the live run, or the action that waits.
    ///
    /// # Errors
    /// There is nothing to cancel.
    pub fn on_cancel(
        &mut self,
        ctx: &mut Ctx<'_>,
        bound: BoundAction,
        asked: &Asked,
    ) -> Result<(usize, Cancelled), Refusal> {
        let version = self.ready_for_verb(ctx, bound)?;
        let label = ctx.job.label(version);
        let entry = self.actions.get_mut(&version).ok_or_else(Refusal::changed)?;
        match (entry.action.live_run, entry.action.state) {
            (Some(run), _) => self.cancel_run(ctx, version, run, asked),
            (None, ActionState::Waiting) => {
                asked.actor.clone_into(&mut entry.action.actor);
                let mut action = entry.action.clone();
                let unit = self.begin(ctx, version, asked, "cancel");
                self.end_action(ctx, unit, version, ActionEnd::Cancelled);
                action.state = ActionState::Ended(ActionEnd::Cancelled);
                action.outcome = Some(ActionEnd::Cancelled);
                Ok((unit, Cancelled { action, pending: false }))
            }
            (None, ActionState::Planned { .. }) => {
                Err(conflict(format!("{label} is not due yet: there is nothing to cancel")))
            }
            (None, ActionState::Active | ActionState::Ended(_)) => {
                self.forget_if_over(ctx, version);
                Err(conflict(format!("{label} has already ended")))
            }
        }
    }

    fn cancel_run(
        &mut self,
        ctx: &mut Ctx<'_>,
        version: Version,
        run: RunId,
        asked: &Asked,
    ) -> Result<(usize, Cancelled), Refusal> {
        let unit = self.begin(ctx, version, asked, "cancel");
        let entry = self.actions.get_mut(&version).ok_or_else(Refusal::changed)?;
        if entry.action.state == ActionState::Active {
            asked.actor.clone_into(&mut entry.action.actor);
            ctx.stage.update_action(unit, &mut entry.action);
        }
        let before = entry.action.clone();
        let event = (run, RunEvent::Cancel(CancelReason::By));
        let told = self.on_run_in(ctx, unit, event, RunReport::default());
        let pending = self.runs.contains_key(&run);
        // Asked for already: the same wish again changes nothing, and is no error.
        if told.is_err() && !pending {
            return Err(Refusal::changed());
        }
        let action = match self.actions.get(&version) {
            Some(entry) => entry.action.clone(),
            None => {
                let end = ActionEnd::Cancelled;
                Action { state: ActionState::Ended(end), live_run: None, ..before }
            }
        };
        Ok((unit, Cancelled { action, pending }))
    }

    /// A new action at this moment, of a job that has neither schedule nor edges; its run counts.
    ///
    /// # Errors
    /// The job cannot run.
    pub fn on_run_now(
        &mut self,
        ctx: &mut Ctx<'_>,
        mut want: Want,
        asked: &Asked,
        set: BTreeMap<String, String>,
    ) -> Result<(usize, RunMade), Refusal> {
        runnable(ctx)?;
        // The millisecond asked for, or the next free one.
        let newest = self.actions.keys().next_back().copied().unwrap_or(self.cursor.decided_to);
        let taken = newest.max(self.cursor.decided_to);
        want.version = want.version.max(Version::from_ms(taken.ms().saturating_add(1)));
        let version = want.version;
        let unit = ctx.stage.unit(ctx.cause);
        ctx.stage.touch(unit, self.job);
        let mut action = self.new_action(ctx, &want, ActionState::Active);
        action.decided_at = Some(ctx.now.wall);
        action.counted_run = Some(ctx.marks.run.next());
        action.live_run = action.counted_run;
        ctx.stage.insert_action(unit, &action);
        self.audit(ctx, unit, version, (asked, "run"));
        self.actions.insert(version, Entry { action, edges: Vec::new() });
        self.cursor.decided_to = version;
        ctx.stage.update_cursor(unit, &mut self.cursor);
        let new = NewRun { trigger: Trigger::Manual, asked, set };
        let mut made = self.made(ctx, unit, version, new)?;
        made.notes.clear();
        Ok((unit, made))
    }

    /// Brings the action into memory if it is not there.
    fn ready_for_verb(
        &mut self,
        ctx: &mut Ctx<'_>,
        bound: BoundAction,
    ) -> Result<Version, Refusal> {
        runnable(ctx)?;
        let version = bound.action.version;
        if self.actions.contains_key(&version) {
            return Ok(version);
        }
        // An action that has not ended is always in memory: this one was read before a change.
        if !bound.action.state.ended() {
            return Err(Refusal::changed());
        }
        // Its edges no longer matter: a person decides.
        let edges = bound.bindings.into_iter().map(|binding| (binding, EdgeState::Met)).collect();
        let entry = Entry { action: bound.action, edges };
        ctx.notes.push(Note::Watch { waiter: (self.job, version), keys: entry.keys() });
        self.actions.insert(version, entry);
        Ok(version)
    }

    fn begin(&self, ctx: &mut Ctx<'_>, version: Version, asked: &Asked, verb: &str) -> usize {
        let unit = ctx.stage.unit(ctx.cause);
        ctx.stage.touch(unit, self.job);
        self.audit(ctx, unit, version, (asked, verb));
        unit
    }

    fn audit(
        &self,
        ctx: &mut Ctx<'_>,
        unit: usize,
        version: Version,
        (asked, verb): (&Asked, &str),
    ) {
        let row = AuditRow {
            at: ctx.now.wall,
            asked: asked.clone(),
            verb: verb.to_owned(),
            subject: ctx.job.label(version),
            old: self.actions.get(&version).map(|entry| state_json(&entry.action)),
            new: None,
        };
        ctx.stage.write(unit, Write::Audit(Box::new(row)));
    }

    fn made(
        &mut self,
        ctx: &mut Ctx<'_>,
        unit: usize,
        version: Version,
        new: NewRun<'_>,
    ) -> Result<RunMade, Refusal> {
        let counts = new.trigger.counts();
        let run = self.make_run(ctx, unit, version, new).ok_or_else(Refusal::changed)?;
        let entry = self.actions.get(&version).ok_or_else(Refusal::changed)?;
        let mut notes = Vec::new();
        if !counts {
            let label = ctx.job.label(version);
            notes.push(format!(
                "this run does not count: the state of {label} stays as it is, and nothing downstream \
                 is released; `hera recover {label}` makes a run that counts"
            ));
        }
        Ok(RunMade { action: entry.action.clone(), run, notes })
    }

    fn queued_run(&self, version: Version) -> Option<RunId> {
        let run = self.actions.get(&version)?.action.live_run?;
        let queued = matches!(self.runs.get(&run)?.run.state, RunState::Queued { .. });
        queued.then_some(run)
    }

    fn refuse_live(&self, version: Version) -> Result<(), Refusal> {
        let Some(run) = self.actions.get(&version).and_then(|entry| entry.action.live_run) else {
            return Ok(());
        };
        let state = self.runs.get(&run).map_or("live", |live| live.run.state.word());
        let problem = format!("run r{run} of it is {state}: wait for its end, or cancel it first");
        Err(conflict(problem))
    }
}

fn runnable(ctx: &Ctx<'_>) -> Result<(), Refusal> {
    match &ctx.job.parked {
        Some(why) => Err(conflict(format!("job {} is parked: {why}", ctx.job.row.path))),
        None => Ok(()),
    }
}

fn state_json(action: &Action) -> String {
    serde_json::json!({ "state": action.state.to_string(), "runs": action.runs }).to_string()
}

fn conflict(problem: String) -> Refusal {
    Refusal::conflict("action", problem)
}
