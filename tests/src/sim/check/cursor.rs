//! I11: what lies before a job's cursor was decided. Looked at whenever a cursor moves.

use hera_common::id::JobId;
use hera_common::job::Cursor;
use hera_common::spec::Empty;
use hera_common::time::Version;
use hera_common::unit::{Batch, Outcome as Became, Write};
use hera_engine::plan::Plan;

use super::Check;
use crate::sim::world::World;

impl World {
    pub(super) fn check_cursors(&mut self, master: usize, batch: &Batch, became: &[Became]) {
        let done = batch.units.iter().zip(became).filter(|(_, became)| **became == Became::Done);
        let moved: Vec<Cursor> = done
            .flat_map(|(unit, _)| &unit.writes)
            .filter_map(|write| match write {
                Write::Cursor(_, cursor) => Some(*cursor),
                Write::Action(..)
                | Write::DropPlanned(_)
                | Write::Bindings(..)
                | Write::Run(..)
                | Write::Attempt(..)
                | Write::LateReport(..)
                | Write::Output(..)
                | Write::Gap(_)
                | Write::Job(..)
                | Write::Revision(_)
                | Write::Calendar(_)
                | Write::Group(..)
                | Write::Worker(..)
                | Write::Audit(_) => None,
            })
            .collect();
        for cursor in moved {
            let before = self.ledger.decided.insert(cursor.job, cursor.decided_to);
            match before {
                Some(before) if before > cursor.decided_to => {
                    let job = cursor.job;
                    self.wrong(
                        Check::I11,
                        format_args!("job {job} is decided to less than before"),
                    );
                }
                Some(before) if before < cursor.decided_to => {
                    let lost =
                        self.undecided_between(master, cursor.job, before, cursor.decided_to);
                    self.wrong_if(Check::I11, lost);
                }
                Some(_) | None => {}
            }
        }
    }

    /// The first version in `(from, to]` that is neither decided nor in a gap.
    fn undecided_between(
        &self,
        master: usize,
        job: JobId,
        from: Version,
        to: Version,
    ) -> Option<String> {
        let lead = self.masters.get(master)?.lead.as_ref()?;
        let catalog = lead.engine.catalog();
        let node = catalog.nodes.get(&job)?;
        // With such an edge a version is there or not by what the edges were when it came.
        if node.schedule.is_none() || node.edges.iter().any(|edge| edge.empty == Empty::Skip) {
            return None;
        }
        let after = |version: Version| Version::from_ms(version.ms() + 1);
        let versions = Plan::new(&catalog.nodes).versions(job, after(from), after(to)).ok()?;
        self.store.rows(|rows| {
            let lost = versions.iter().map(|planned| planned.version).find(|version| {
                let mut gaps = rows.gaps.range((job, Version::from_ms(i64::MIN))..=(job, *version));
                let in_gap = gaps.any(|(_, gap)| gap.to >= *version);
                let decided =
                    || rows.action_at(job, *version).is_some_and(|action| !action.state.planned());
                !(in_gap || decided())
            })?;
            Some(format!("job {job} is decided to {to}, and has nothing at {lost}"))
        })
    }
}
