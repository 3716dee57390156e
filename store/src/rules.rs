//! What no row may ever become, whoever asks for it: the triggers and checks of the schema, told once more for
//! batches and for memory. Pure; it knows no database.

use hera_common::action::{Action, ActionState, Binding};
use hera_common::attempt::{Attempt, AttemptState};
use hera_common::job::{Cursor, JobRow};
use hera_common::run::Run;
use hera_common::worker::WorkerRow;

use crate::StoreError;

/// An order that no store can carry out: a fault of the caller, never of chance.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Broken(pub(crate) String);

impl From<Broken> for StoreError {
    fn from(broken: Broken) -> Self {
        Self::Corrupt { what: broken.0, source: None }
    }
}

/// Nothing, or what is wrong.
pub(crate) fn holds(rule: bool, what: impl FnOnce() -> String) -> Result<(), Broken> {
    if rule { Ok(()) } else { Err(Broken(what())) }
}

/// A run's row by itself.
pub(crate) fn run_row(run: &Run) -> Result<(), Broken> {
    let id = run.id;
    holds((1..=5).contains(&run.urgency), || format!("run {id} has no urgency of 1 to 5"))?;
    holds(run.counts.attempts >= run.counts.starts, || {
        format!("run {id} has started more often than it was granted")
    })
}

/// A run's row after another one.
pub(crate) fn run_change(old: &Run, new: &Run) -> Result<(), Broken> {
    let id = old.id;
    holds(!old.state.ended(), || format!("run {id} has ended and never changes"))?;
    let (before, after) = (old.counts, new.counts);
    let forward = after.attempts >= before.attempts
        && after.starts >= before.starts
        && after.failures >= before.failures
        && after.losses >= before.losses
        && new.hb_seq > old.hb_seq;
    let same = (new.action, new.job, new.version, new.number, new.revision, new.limits)
        == (old.action, old.job, old.version, old.number, old.revision, old.limits)
        && (new.trigger, new.exclusive, &new.set) == (old.trigger, old.exclusive, &old.set)
        && (&new.actor, &new.why) == (&old.actor, &old.why);
    holds(forward && same, || format!("run {id} went backwards"))
}

/// An attempt's row after another one.
pub(crate) fn attempt_change(old: &Attempt, new: &Attempt) -> Result<(), Broken> {
    let fence = old.fence;
    let same = (new.run, new.number, new.token) == (old.run, old.number, old.token)
        && (new.worker, new.incarnation, new.epoch) == (old.worker, old.incarnation, old.epoch)
        && new.leased_at == old.leased_at;
    holds(same, || format!("attempt {fence} is another one"))?;
    let ended = matches!(old.state, AttemptState::Ended { .. });
    let reported = old.late_report.is_none() && new.late_report.is_some();
    let unchanged = (&new.state, new.started_at) == (&old.state, old.started_at);
    holds(!ended || (reported && unchanged), || {
        format!("attempt {fence} has ended and never changes")
    })
}

/// An action's row by itself.
pub(crate) fn action_row(action: &Action) -> Result<(), Broken> {
    holds(action.state != ActionState::Active || action.live_run.is_some(), || {
        format!("action {} is active without a live run", action.id)
    })
}

/// An action's row after another one.
pub(crate) fn action_change(old: &Action, new: &Action) -> Result<(), Broken> {
    let id = old.id;
    holds((new.job, new.version) == (old.job, old.version), || {
        format!("action {id} is another one")
    })?;
    let back = !old.state.planned() && new.state.planned();
    holds(!back, || format!("action {id} was decided and is never planned again"))?;
    let forward = new.seq > old.seq && new.runs >= old.runs;
    holds(forward, || format!("action {id} went backwards"))
}

/// A job's row after another one.
pub(crate) fn job_change(old: &JobRow, new: &JobRow) -> Result<(), Broken> {
    let forward = new.seq > old.seq && new.revision >= old.revision;
    holds(forward, || format!("job {} went backwards", old.id))
}

/// A cursor after another one. What is planned may shrink: an edit takes planned rows away.
pub(crate) fn cursor_change(old: &Cursor, new: &Cursor) -> Result<(), Broken> {
    let forward = new.seq > old.seq && new.decided_to >= old.decided_to;
    holds(forward, || format!("the cursor of job {} went backwards", old.job))
}

/// A worker's row after another one.
pub(crate) fn worker_change(old: &WorkerRow, new: &WorkerRow) -> Result<(), Broken> {
    let forward = new.seq > old.seq && new.incarnation >= old.incarnation;
    holds(forward, || format!("worker {} went backwards", old.id))
}

/// The bindings of one action: an upstream version stands in them once.
pub(crate) fn bindings(list: &[Binding]) -> Result<(), Broken> {
    let mut ends: Vec<_> = list.iter().map(|b| (b.upstream, b.version)).collect();
    ends.sort_unstable();
    let twice = ends.windows(2).any(|pair| pair.first() == pair.last());
    holds(!twice, || "an action is bound twice to one upstream version".to_owned())
}
