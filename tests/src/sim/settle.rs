//! The end of a history: faults are over, and everything must come to rest.

use hera_common::attempt::AttemptState;
use hera_common::run::RunState;
use hera_common::time::Version;
use hera_engine::plan::Plan;

use super::world::World;

impl World {
    /// What is not at rest.
    pub(super) fn check_rest(&mut self) {
        let live: Vec<String> = self.store.rows(|rows| {
            let live = rows.runs.values().filter(|run| !run.state.ended());
            live.map(|run| format!("r{} of job {} is {}", run.id, run.job, run.state)).collect()
        });
        let open: Vec<String> = self.store.rows(|rows| {
            let open = rows.attempts.values().filter(|attempt| {
                let over = matches!(attempt.state, AttemptState::Ended { .. });
                let run = rows.runs.get(&attempt.run);
                let held = run.and_then(|run| run.state.hold());
                !over && held.is_none_or(|hold| hold.fence != attempt.fence)
            });
            open.map(|attempt| format!("attempt {} has no end", attempt.fence)).collect()
        });
        let mut left = self.undecided();
        left.extend(live.into_iter().chain(open).chain(self.stuck()));
        for (number, own) in self.workers.iter().enumerate() {
            let attempts = own.agent.as_ref().map(|agent| agent.attempts.len());
            if attempts != Some(0) || !own.disk.spool.is_empty() {
                left.push(format!(
                    "w{number} has {attempts:?} attempts, {} ends",
                    own.disk.spool.len()
                ));
            }
        }
        if !self.ledger.applied {
            left.push("the first job file was never applied".to_owned());
        }
        match self.leader() {
            Some(master) => self.compare_now(master),
            None => left.push("nobody leads".to_owned()),
        }
        if let Some(first) = left.first().cloned() {
            for what in &left {
                self.tell(what);
            }
            self.wrong(format_args!("not at rest: {first} ({} in all)", left.len()));
        }
    }

    /// Every due version of a schedule has a row, or lies in a gap.
    fn undecided(&self) -> Vec<String> {
        let lead = self.leader().and_then(|master| self.masters.get(master)?.lead.as_ref());
        let Some(catalog) = lead.map(|lead| lead.engine.catalog()) else { return Vec::new() };
        let mut plan = Plan::new(&catalog.nodes);
        let mut missing = Vec::new();
        for node in catalog.nodes.values().filter(|node| node.schedule.is_some()) {
            // With such an edge a version is there or not by what the edges were when it came.
            if node.edges.iter().any(|edge| edge.empty == hera_common::spec::Empty::Skip) {
                continue;
            }
            let now = Version::from_ms(self.wall().ms() + 1);
            let Ok(versions) = plan.versions(node.id, node.birth, now) else { continue };
            let decided = |version: Version| {
                self.store.rows(|rows| {
                    let row = rows
                        .actions
                        .values()
                        .any(|action| (action.job, action.version) == (node.id, version));
                    row || rows
                        .gaps
                        .values()
                        .any(|gap| gap.job == node.id && gap.from <= version && version <= gap.to)
                })
            };
            let lost = versions.iter().filter(|planned| !decided(planned.version));
            missing.extend(
                lost.map(|planned| format!("job {} has nothing at {}", node.id, planned.version)),
            );
        }
        missing
    }

    /// True when no run is live: nothing more will happen by itself but slots.
    pub(super) fn quiet_now(&self) -> bool {
        let live = self
            .store
            .rows(|rows| rows.runs.values().any(|run| !matches!(run.state, RunState::Ended(_))));
        !live && self.ledger.applied
    }
}
