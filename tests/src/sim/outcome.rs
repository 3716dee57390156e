//! What of a step holds, given what became of its units. Knows no master.

use hera_common::id::JobId;
use hera_common::unit::Outcome;
use hera_engine::input::{Reply, Step};

/// A verdict holds only if the store has just said that this master leads.
pub(super) fn must_commit(step: &Step) -> bool {
    let verdicts = |reply: &Reply| matches!(reply, Reply::Verdicts(items) if !items.is_empty());
    !step.batch.units.is_empty() || step.answers.iter().any(|answer| verdicts(&answer.reply))
}

pub(super) fn left_out(step: &Step, outcomes: &[Outcome]) -> Vec<JobId> {
    let units = outcomes.iter().zip(&step.touched);
    jobs(units.filter(|(outcome, _jobs)| **outcome == Outcome::LeftOut).flat_map(|(_, jobs)| jobs))
}

pub(super) fn jobs<'a>(jobs: impl Iterator<Item = &'a JobId>) -> Vec<JobId> {
    let mut jobs: Vec<JobId> = jobs.copied().collect();
    jobs.sort_unstable();
    jobs.dedup();
    jobs
}

pub(super) fn done(outcomes: &[Outcome], unit: usize) -> bool {
    outcomes.get(unit) == Some(&Outcome::Done)
}

/// What of an answer holds, given what became of its units.
pub(super) fn held(reply: Reply, outcomes: &[Outcome]) -> Reply {
    let holds = |unit: Option<usize>| unit.is_none_or(|unit| done(outcomes, unit));
    match reply {
        Reply::Granted(mut grants) => {
            grants.retain(|grant| holds(grant.unit));
            Reply::Granted(grants)
        }
        Reply::Verdicts(mut verdicts) => {
            verdicts.retain(|verdict| holds(verdict.unit));
            Reply::Verdicts(verdicts)
        }
        same @ (Reply::Done
        | Reply::Applied(_)
        | Reply::Deleted(_)
        | Reply::RunMade(_)
        | Reply::Cancelled(_)
        | Reply::Registered(_)
        | Reply::Look(_)
        | Reply::Queue(_)
        | Reply::Standing(_)) => same,
    }
}
