//! The end of a history: faults are over, and everything must come to rest.

use hera_common::attempt::AttemptState;
use hera_common::run::RunState;
use hera_common::time::Version;
use hera_engine::plan::Plan;

use super::check::Check;
use super::master::Master;
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
        self.all_gone(Check::L1, &live);
        self.all_gone(Check::I18, &open);
        let mut left = self.undecided();
        left.extend(self.stuck());
        self.all_gone(Check::L2, &left);
        let spooled = self.unreported();
        self.all_gone(Check::L5, &spooled);
        let away = self.away();
        self.all_gone(Check::L3, &away);
        if let Some(master) = self.leader() {
            self.compare_now(master);
        }
    }

    fn all_gone(&mut self, check: Check, left: &[String]) {
        if let Some(first) = left.first() {
            for what in left {
                self.tell(what);
            }
            self.wrong(check, format_args!("{first} ({} in all)", left.len()));
        }
    }

    fn unreported(&self) -> Vec<String> {
        let mut left = Vec::new();
        for (number, own) in self.workers.iter().enumerate() {
            let attempts = own.agent.as_ref().map(|agent| agent.attempts.len());
            if attempts != Some(0) || !own.disk.spool.is_empty() {
                let ends = own.disk.spool.len();
                left.push(format!("w{number} has {attempts:?} attempts, {ends} ends"));
            }
        }
        left
    }

    /// Who does not lead or work, and should.
    fn away(&self) -> Vec<String> {
        let mut away = Vec::new();
        if !self.ledger.applied {
            away.push("the first job file was never applied".to_owned());
        }
        let leads = |own: &&Master| {
            own.lead.as_ref().is_some_and(|lead| Some(lead.epoch) == self.ledger.epoch)
        };
        let leaders = self.masters.iter().filter(leads).count();
        if leaders != 1 {
            away.push(format!("{leaders} masters lead"));
        }
        // Two of one name take it from each other.
        let twins = self.workers.iter().any(|own| own.twin);
        for (number, own) in self.workers.iter().enumerate().filter(|_| !twins) {
            let registered = own.agent.as_ref().and_then(|agent| agent.registered);
            let known = registered.is_some_and(|registered| {
                self.store.rows(|rows| {
                    let row = rows.workers.get(&registered.worker);
                    row.is_some_and(|row| row.incarnation == registered.incarnation)
                })
            });
            if !known {
                away.push(format!("w{number} is not registered: {registered:?}"));
            }
        }
        away
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
