//! What a caller is told, given what became of the units that its answer builds on. Pure.

use hera_common::unit::Outcome;
use hera_engine::input::Reply;
use hera_engine::outcome::{done, held};

use crate::desk::{Told, Unanswered};

/// The answer as far as it holds; none where what it builds on was left out.
pub(super) fn told(reply: Reply, after: &[usize], outcomes: &[Outcome]) -> Told {
    if !after.iter().all(|unit| done(outcomes, *unit)) {
        return Err(Unanswered::LeftOut);
    }
    Ok(held(reply, outcomes))
}
