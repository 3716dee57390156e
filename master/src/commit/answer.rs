//! What a caller is told, given what became of the units that its answer builds on. Pure.

use hera_common::unit::Outcome;
use hera_engine::input::Reply;

use crate::desk::{Told, Unanswered};

/// The answer as far as it holds: grants whose unit was left out are none, and a verdict whose unit was left out is
/// missing from the list (nobody knows).
pub(super) fn told(reply: Reply, after: &[usize], outcomes: &[Outcome]) -> Told {
    if !after.iter().all(|unit| done(outcomes, *unit)) {
        return Err(Unanswered::LeftOut);
    }
    let holds = |unit: Option<usize>| unit.is_none_or(|unit| done(outcomes, unit));
    Ok(match reply {
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
    })
}

/// True if the unit at this place was written.
pub(super) fn done(outcomes: &[Outcome], unit: usize) -> bool {
    outcomes.get(unit) == Some(&Outcome::Done)
}
