//! Run events in a handler: RunStarted, RunFinished, LeaseExpired and the rest; what they make of the run, its attempt
//! and its action, in one unit.

use hera_common::action::{ActionEnd, ActionState, SkipReason};
use hera_common::attempt::{Attempt, AttemptEnd, AttemptState, Exit};
use hera_common::id::RunId;
use hera_common::run::{CancelReason, Hold, Run, RunEnd, RunState};
use hera_common::unit::{Put, Write};

use super::{Ctx, Handler, Note};
use crate::input::Change;
use crate::run::{Changed, Illegal, RunEvent, apply};

/// What is said beside the bare event.
#[derive(Debug, Clone, Default)]
pub struct RunReport {
    pub exit: Exit,
    pub output: Vec<u8>,
}

impl Handler {
    /// Applies an event to a live run, in a unit of its own.
    ///
    /// # Errors
    /// [`Illegal`]: the run takes no such event now, or is not live. Nothing changes.
    pub fn on_run(
        &mut self,
        ctx: &mut Ctx<'_>,
        id: RunId,
        event: RunEvent,
        report: RunReport,
    ) -> Result<usize, Illegal> {
        let changed = self.judge(ctx, id, event)?;
        let unit = ctx.stage.unit(ctx.cause);
        self.change_run(ctx, unit, (changed, event), report);
        Ok(unit)
    }

    /// As [`Handler::on_run`], within `unit`.
    ///
    /// # Errors
    /// As [`Handler::on_run`].
    pub fn on_run_in(
        &mut self,
        ctx: &mut Ctx<'_>,
        unit: usize,
        (id, event): (RunId, RunEvent),
        report: RunReport,
    ) -> Result<(), Illegal> {
        let changed = self.judge(ctx, id, event)?;
        self.change_run(ctx, unit, (changed, event), report);
        Ok(())
    }

    fn judge(&self, ctx: &Ctx<'_>, id: RunId, event: RunEvent) -> Result<Changed, Illegal> {
        let live = self.runs.get(&id).ok_or(Illegal { state: "not live" })?;
        apply(&live.run, event, ctx.now.wall)
    }

    fn change_run(
        &mut self,
        ctx: &mut Ctx<'_>,
        unit: usize,
        (changed, event): (Changed, RunEvent),
        report: RunReport,
    ) {
        let id = changed.run.id;
        let Some(live) = self.runs.get_mut(&id) else { return };
        let before = std::mem::replace(&mut live.run, changed.run.clone());
        live.expired = false;
        ctx.stage.update_run(unit, &before, &changed.run);
        let started = started_now(&before, &changed.run);
        let granted = matches!(event, RunEvent::Granted(_));
        let mut shown = None;
        if let Some(end) = changed.attempt {
            let mut exit = report.exit;
            if std::mem::take(&mut live.kill_failed) {
                exit.detail = exit.detail.or_else(|| Some("kill_failed".to_owned()));
            }
            shown = end_attempt(ctx, unit, live.attempt.take(), (end, exit));
            if let Some(attempt) = shown.as_ref().filter(|_ended| !report.output.is_empty()) {
                ctx.stage.write(unit, Write::Output(attempt.fence, report.output));
            }
        }
        if let RunEvent::Granted(hold) = event {
            let granted = new_attempt(ctx, &changed.run, hold);
            ctx.stage.put_attempt(unit, Put::Insert, &granted);
            live.attempt = Some(granted);
        }
        if let Some(attempt) = live.attempt.as_mut().filter(|_held| started) {
            attempt.state = AttemptState::Started;
            attempt.started_at = Some(ctx.now.wall);
            ctx.stage.put_attempt(unit, Put::Update, attempt);
        }
        if before.state.word() != changed.run.state.word() || shown.is_some() {
            // A takeover is two things: the end of one attempt, and the grant of the next.
            let next = live.attempt.clone().filter(|_next| granted || shown.is_none());
            let attempts: Vec<_> = shown.into_iter().chain(next).map(Box::new).map(Some).collect();
            let attempts = if attempts.is_empty() { vec![None] } else { attempts };
            for attempt in attempts {
                let run = Box::new(changed.run.clone());
                ctx.stage.changed(unit, Change::Run { run, attempt });
            }
        }
        ctx.notes.push(Note::Run { job: self.job, run: id });
        if started {
            self.counting_starts(ctx, unit, &changed.run);
        }
        if let RunState::Ended(end) = changed.run.state {
            self.runs.remove(&id);
            self.run_ended(ctx, unit, &changed.run, end);
        }
    }

    /// An earlier end holds until a new counting run starts: now.
    fn counting_starts(&mut self, ctx: &mut Ctx<'_>, unit: usize, run: &Run) {
        if run.counts.starts > 1 || !run.trigger.counts() {
            return;
        }
        let Some(entry) = self.actions.get_mut(&run.version) else { return };
        if entry.action.outcome.take().is_some() {
            entry.action.counted_run = Some(run.id);
            ctx.stage.update_action(unit, &mut entry.action);
            ctx.notes.push(Note::Reset { key: (self.job, run.version), unit });
        }
    }

    fn run_ended(&mut self, ctx: &mut Ctx<'_>, unit: usize, run: &Run, end: RunEnd) {
        let Some(entry) = self.actions.get_mut(&run.version) else { return };
        let action = &mut entry.action;
        if action.live_run == Some(run.id) {
            let counts = run.trigger.counts() || action.counted_run == Some(run.id);
            action.live_run = None;
            match action_end(end).filter(|_end| counts) {
                Some(end) => {
                    action.counted_run = Some(run.id);
                    self.end_action(ctx, unit, run.version, end);
                }
                None => {
                    ctx.stage.update_action(unit, action);
                    let waits = action.state == ActionState::Waiting;
                    self.forget_if_over(ctx, run.version);
                    if waits {
                        self.settle(ctx, unit, run.version);
                    }
                }
            }
        }
        self.admit_ready(ctx, unit);
    }
}

/// What the end of a counting run means for its action; None: nothing, another run takes its place.
const fn action_end(end: RunEnd) -> Option<ActionEnd> {
    match end {
        RunEnd::Succeeded => Some(ActionEnd::Succeeded { forced: false }),
        RunEnd::Failed(reason) => Some(ActionEnd::Failed(reason)),
        RunEnd::Cancelled(CancelReason::By) => Some(ActionEnd::Cancelled),
        RunEnd::Cancelled(CancelReason::Late) => Some(ActionEnd::Skipped(SkipReason::Late)),
        RunEnd::Cancelled(CancelReason::Replaced) => None,
    }
}

const fn started_now(before: &Run, after: &Run) -> bool {
    matches!((before.state, after.state), (RunState::Leased(_), RunState::Running(_)))
}

fn new_attempt(ctx: &Ctx<'_>, run: &Run, hold: Hold) -> Attempt {
    Attempt {
        fence: hold.fence,
        run: run.id,
        number: run.counts.attempts,
        token: hold.token,
        worker: hold.worker,
        incarnation: hold.incarnation,
        epoch: ctx.epoch,
        state: AttemptState::Leased,
        leased_at: ctx.now.wall,
        started_at: None,
        late_report: None,
    }
}

fn end_attempt(
    ctx: &mut Ctx<'_>,
    unit: usize,
    attempt: Option<Attempt>,
    (end, exit): (AttemptEnd, Exit),
) -> Option<Attempt> {
    let mut attempt = attempt?;
    attempt.state = AttemptState::Ended { end, exit, ended_at: ctx.now.wall };
    ctx.stage.put_attempt(unit, Put::Update, &attempt);
    Some(attempt)
}
