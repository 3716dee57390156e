//! What each end of an upstream means to an edge: one function, which its tests print as a table.

use hera_common::action::{ActionEnd, SkipReason};
use hera_common::spec::{CatchUp, On};

/// What an edge says to the action that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeState {
    /// The upstream version is not in memory, and the store has not been asked yet.
    Unknown,
    /// The upstream has no end that counts.
    Open,
    Met,
    /// The upstream ended so that the action waits for a person.
    Blocked,
    /// The action is skipped(upstream).
    SkipDependent,
    /// The action is skipped(not_needed).
    NotNeeded,
}

/// Judges `end` of an upstream whose job catches up by `catch_up`.
pub const fn judge(on: On, end: ActionEnd, catch_up: CatchUp) -> EdgeState {
    match on {
        On::Success => on_success(end, catch_up),
        On::Finished => EdgeState::Met,
        On::Failed => match end {
            ActionEnd::Failed(_) => EdgeState::Met,
            ActionEnd::Succeeded { .. } | ActionEnd::Cancelled | ActionEnd::Skipped(_) => {
                EdgeState::NotNeeded
            }
        },
    }
}

const fn on_success(end: ActionEnd, catch_up: CatchUp) -> EdgeState {
    match end {
        ActionEnd::Succeeded { .. } | ActionEnd::Skipped(SkipReason::Area) => EdgeState::Met,
        ActionEnd::Failed(_) | ActionEnd::Cancelled | ActionEnd::Skipped(SkipReason::Closed) => {
            EdgeState::Blocked
        }
        // The job wants each version: the data is missing. Otherwise the job chose to leave it out.
        ActionEnd::Skipped(SkipReason::Late) => match catch_up {
            CatchUp::All => EdgeState::Blocked,
            CatchUp::Last | CatchUp::Skip => EdgeState::SkipDependent,
        },
        ActionEnd::Skipped(
            SkipReason::Overlap
            | SkipReason::Superseded
            | SkipReason::User
            | SkipReason::Upstream
            | SkipReason::NotNeeded
            | SkipReason::GaveUp
            // By `empty`, which binding has settled: nothing is bound to it, and what is left waits for nothing.
            | SkipReason::Calendar,
        ) => EdgeState::SkipDependent,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use expect_test::expect;
    use hera_common::action::{ActionEnd, SkipReason};
    use hera_common::run::FailReason;
    use hera_common::spec::{CatchUp, On};

    use super::judge;

    #[test]
    fn each_end_of_an_upstream_has_its_meaning() {
        let mut ends = vec![
            ActionEnd::Succeeded { forced: false },
            ActionEnd::Succeeded { forced: true },
            ActionEnd::Failed(FailReason::Exit),
            ActionEnd::Cancelled,
        ];
        ends.extend(SkipReason::ALL.map(ActionEnd::Skipped));
        let mut table = String::new();
        for end in ends {
            let of = |on, catch_up| format!("{:?}", judge(on, end, catch_up));
            writeln!(
                table,
                "{:<22} {:<14} {:<14} {:<9} {}",
                end.to_string(),
                of(On::Success, CatchUp::All),
                of(On::Success, CatchUp::Last),
                of(On::Finished, CatchUp::All),
                of(On::Failed, CatchUp::All),
            )
            .unwrap();
        }
        expect![[r#"
            succeeded              Met            Met            Met       NotNeeded
            succeeded(forced)      Met            Met            Met       NotNeeded
            failed(exit)           Blocked        Blocked        Met       Met
            cancelled              Blocked        Blocked        Met       NotNeeded
            skipped(late)          Blocked        SkipDependent  Met       NotNeeded
            skipped(overlap)       SkipDependent  SkipDependent  Met       NotNeeded
            skipped(superseded)    SkipDependent  SkipDependent  Met       NotNeeded
            skipped(calendar)      SkipDependent  SkipDependent  Met       NotNeeded
            skipped(upstream)      SkipDependent  SkipDependent  Met       NotNeeded
            skipped(not_needed)    SkipDependent  SkipDependent  Met       NotNeeded
            skipped(closed)        Blocked        Blocked        Met       NotNeeded
            skipped(area)          Met            Met            Met       NotNeeded
            skipped(gave_up)       SkipDependent  SkipDependent  Met       NotNeeded
            skipped(user)          SkipDependent  SkipDependent  Met       NotNeeded
        "#]]
        .assert_eq(&table);
    }
}
