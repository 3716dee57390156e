//! What time brings: versions that are due (TimerFired), delays that are over, leases that have run out (LeaseExpired).

use hera_common::id::{JobId, RunId};
use hera_common::limits::{PLAN_AHEAD, PLAN_AHEAD_ROWS_MAX};
use hera_common::run::{CancelReason, RunState};
use hera_common::time::Version;

use super::generate::EXTEND_EVERY;
use super::{At, Engine};
use crate::handler::RunReport;
use crate::run::{RunEvent, can_take_over};

/// How many jobs are decided in one step: a step must not hold heartbeats up for long.
const DUE_JOBS_MAX: usize = 1_000;

impl Engine {
    pub(super) fn run_due(&mut self, at: &mut At<'_>) {
        self.settle_read(at);
        self.extend_some(at);
        self.decide_due(at);
        self.end_delays(at);
        for run in self.holds.take_expired(at.now.boot) {
            self.lease_expired(at, run);
        }
    }

    /// Does with actions that were read what their edges say: nobody may have heard of the last end they waited for.
    fn settle_read(&mut self, at: &mut At<'_>) {
        for (job, version) in std::mem::take(&mut self.to_settle) {
            self.with_handler(at, job, None, |handler, ctx| {
                handler.settle_if_waiting(ctx, version)
            });
        }
    }

    fn decide_due(&mut self, at: &mut At<'_>) {
        let now = Version::at(at.now.wall);
        let due: Vec<JobId> = self
            .due
            .iter()
            .take_while(|&&(version, _job)| version <= now)
            .take(DUE_JOBS_MAX)
            .map(|&(_version, job)| job)
            .collect();
        let (open, unplanned): (Vec<JobId>, Vec<JobId>) = due.into_iter().partition(|job| {
            let planned_to = self.handlers.get(job).map(|handler| handler.cursor.planned_to);
            !self.is_closed(*job) && planned_to.is_some_and(|to| to > now)
        });
        for job in open {
            let rebound = self.due_by_hand(job, now);
            self.with_handler(at, job, None, |handler, ctx| {
                handler.on_rebound(ctx, rebound);
                handler.on_due(ctx, Vec::new());
            });
            self.extend_if_few(job, now);
        }
        self.extend_now(at, unplanned);
    }

    /// A job that fires often has its rows up to some number, not to some hour: more are made where half of them are used up.
    fn extend_if_few(&mut self, job: JobId, now: Version) {
        let Some(handler) = self.handlers.get(&job) else { return };
        let short = handler.cursor.planned_to <= now.plus(PLAN_AHEAD - EXTEND_EVERY);
        if short && handler.counts().0 < PLAN_AHEAD_ROWS_MAX / 2 {
            self.to_extend.push_back(job);
        }
    }

    fn end_delays(&mut self, at: &mut At<'_>) {
        for run in self.queue.due(at.now.wall) {
            if let Some(&job) = self.run_of.get(&run) {
                self.run_changed(at.now, job, run);
            }
        }
    }

    /// A window is over. What that means is written only where nobody can take the run over.
    fn lease_expired(&mut self, at: &mut At<'_>, run: RunId) {
        let Some(&job) = self.run_of.get(&run) else { return };
        let Some(live) = self.handlers.get(&job).and_then(|handler| handler.live(run)) else {
            return;
        };
        let event = match live.run.state {
            RunState::Leased(_) => RunEvent::NotTaken,
            RunState::Running(_) if can_take_over(&live.run) => {
                if let Some(handler) = self.handlers.get_mut(&job) {
                    handler.mark_expired(run, true);
                }
                self.queue_expired(at, job, run);
                return;
            }
            RunState::Running(_) => RunEvent::Expired,
            RunState::Queued { .. } | RunState::Ended(_) => return,
        };
        self.with_handler(at, job, None, |handler, ctx| {
            // It is judged on the row as it is believed to be: a renewal that came first leaves the unit out.
            handler.on_run(ctx, run, event, RunReport::default())
        });
    }

    /// The run competes for grants from now on; its holder may still renew or finish.
    fn queue_expired(&mut self, at: &At<'_>, job: JobId, run: RunId) {
        let group = self.catalog.jobs.get(&job).and_then(|job| job.host_group());
        if let Some(live) = self.handlers.get(&job).and_then(|handler| handler.live(run)) {
            self.queue.put(&live.run, group, true, at.now.wall);
        }
    }

    /// The limit from queued to the first start is over.
    pub(super) fn start_too_late(&mut self, at: &mut At<'_>, job: JobId, run: RunId) {
        self.with_handler(at, job, None, |handler, ctx| {
            let late = RunEvent::Cancel(CancelReason::Late);
            handler.on_run(ctx, run, late, RunReport::default())
        });
    }
}
