//! Checks against what processes really do (I1, I2, I3, I5, I15, I16).

use super::Check;
use super::ledger::Heard;
use crate::sim::process::Process;
use crate::sim::world::World;

/// Answers that come further apart than this are a break: about two heartbeats of the shortest lease.
const BREAK_MS: i64 = 3_000;

impl World {
    /// Nothing is taken from a process that lives, and nothing lives past its deadline.
    pub(super) fn check_living(&mut self) {
        let bad = self.store.rows(|rows| {
            let living = self.living.iter().filter_map(|number| self.processes.get(*number));
            living.filter(|process| self.is_bound(process)).find_map(|process| {
                let row = rows.runs.get(&process.run)?.state;
                let held = matches!(row, hera_common::run::RunState::Running(hold) if hold.token == process.token);
                (!held).then(|| {
                    format!("r{} #{} lives, and its run is {row}", process.run, process.attempt)
                })
            })
        });
        self.wrong_if(Check::I2, bad);
        self.check_deadlines();
    }

    /// True where the promises hold for the process: not for one that no kernel can kill, nor while its host sleeps, nor
    /// in the moment after that where it slept past the deadline.
    fn is_bound(&self, process: &Process) -> bool {
        let asleep = self.workers.get(process.worker).is_some_and(|own| own.host.asleep > self.now);
        process.executes() && !process.excused && !asleep
    }

    fn check_deadlines(&mut self) {
        let late = self
            .living
            .iter()
            .filter_map(|number| self.processes.get(*number))
            .find(|own| self.is_bound(own) && self.worker_boot(own.worker) > own.deadline());
        let late =
            late.map(|own| format!("r{} #{} lives after its deadline", own.run, own.attempt));
        self.wrong_if(Check::I16, late);
    }

    /// The process ends: in time, by its own host's clock.
    pub(in crate::sim) fn check_last_moment(&mut self, process: usize) {
        let late = self
            .processes
            .get(process)
            .filter(|own| self.is_bound(own) && self.worker_boot(own.worker) > own.deadline());
        let late = late.map(|own| format!("r{} #{} lived past its deadline", own.run, own.attempt));
        self.wrong_if(Check::I16, late);
    }

    /// The job's own code begins to run.
    pub(in crate::sim) fn check_exec(&mut self, process: usize) {
        let Some(own) = self.processes.get(process) else { return };
        let (run, job, attempt, fence) = (own.run, own.job, own.attempt, own.fence);
        let (alone_of, token, worker) = (own.alone_of, own.token, own.worker);
        let in_time = self.worker_boot(worker) < own.deadline();
        let others = || self.processes.iter().enumerate().filter(|(n, _)| *n != process);
        let same_job = |p: &Process| p.alone_of == alone_of && alone_of.is_some();
        let overlap = others().find(|(_, p)| same_job(p) && self.is_bound(p));
        let overlap = overlap.map(|(_, p)| format!("r{} #{} of it lives", p.run, p.attempt));
        let started = || others().filter(|(_, p)| p.began().is_some());
        let fences = started().filter(|(_, p)| same_job(p)).map(|(_, p)| p.fence).max();
        let again = started().any(|(_, p)| p.run == run);
        let row = self.store.rows(|rows| rows.runs.get(&run).cloned());
        self.tell(format_args!("w{worker} r{run} #{attempt} of job {job} begins, fence {fence}"));
        if let Some(other) = overlap {
            self.wrong(Check::I1, format_args!("r{run} of job {job} begins, and {other}"));
        }
        if fences.is_some_and(|highest| highest >= fence) {
            self.wrong(Check::I5, format_args!("r{run} of job {job} begins with an old fence"));
        }
        let Some(row) = row else { return };
        let held =
            matches!(row.state, hera_common::run::RunState::Running(hold) if hold.token == token);
        if !held || !in_time {
            self.wrong(Check::I3, format_args!("r{run} begins, and its row is {}", row.state));
        }
        if again && row.limits.at_most_once {
            self.wrong(Check::I8, format_args!("r{run} may start once, and starts again"));
        }
        self.check_start_by(&row);
    }

    /// A worker heard a verdict, for which the leader had to commit.
    pub(in crate::sim) fn note_heard(&mut self, worker: usize) {
        let now = self.now;
        let heard = self.ledger.heard.entry(worker).or_insert(Heard { since: now, last: now });
        if now - heard.last > BREAK_MS {
            heard.since = now;
        }
        heard.last = now;
    }

    /// A worker's process ends or stands still: it could not renew.
    pub(in crate::sim) fn note_break(&mut self, worker: usize) {
        self.ledger.heard.remove(&worker);
    }

    /// A hold is taken from its token because of its lease.
    pub(super) fn check_no_rerun(&mut self, token: hera_common::id::Token) {
        let ended =
            self.processes.iter().find(|p| p.token == token && p.by_itself() && p.is_known());
        let Some(own) = ended else { return };
        let (run, attempt, worker) = (own.run, own.attempt, own.worker);
        let Some(ended) = own.over_at() else { return };
        let could = self
            .ledger
            .heard
            .get(&worker)
            .is_some_and(|heard| heard.since <= ended && self.now - heard.last <= BREAK_MS);
        if could {
            self.wrong(
                Check::I15,
                format_args!("r{run} #{attempt} ended by itself, and is taken from w{worker}"),
            );
        }
    }
}
