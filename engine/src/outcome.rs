//! What of a step holds, given what became of its units: for whoever commits it. Knows no store.

use hera_common::id::JobId;
use hera_common::unit::Outcome;

use crate::input::{Reply, Step};

/// Whether there is anything to commit. An empty batch with verdicts is, too: a verdict on a token holds only if the store
/// has just said that this master leads.
pub fn must_commit(step: &Step) -> bool {
    let verdicts = |reply: &Reply| matches!(reply, Reply::Verdicts(items) if !items.is_empty());
    !step.batch.units.is_empty() || step.answers.iter().any(|answer| verdicts(&answer.reply))
}

/// The jobs of the units that were left out.
pub fn left_out(step: &Step, outcomes: &[Outcome]) -> Vec<JobId> {
    let units = outcomes.iter().zip(&step.touched);
    jobs(units.filter(|(outcome, _jobs)| **outcome == Outcome::LeftOut).flat_map(|(_, jobs)| jobs))
}

/// Each once, in order.
pub fn jobs<'a>(jobs: impl Iterator<Item = &'a JobId>) -> Vec<JobId> {
    let mut jobs: Vec<JobId> = jobs.copied().collect();
    jobs.sort_unstable();
    jobs.dedup();
    jobs
}

/// True if the unit at this place was written.
pub fn done(outcomes: &[Outcome], unit: usize) -> bool {
    outcomes.get(unit) == Some(&Outcome::Done)
}

/// The answer as far as it holds: grants whose unit was left out are none, and a verdict whose unit was left out is
/// missing from the list (nobody knows).
pub fn held(reply: Reply, outcomes: &[Outcome]) -> Reply {
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
