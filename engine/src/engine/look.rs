//! What people may know of the memory: the queue, and numbers.

use hera_common::run::RunState;
use hera_common::time::{Now, Version};

use super::{Engine, Worker};
use crate::input::{QueueCode, QueuedRun, Standing, WorkerStanding};

impl Engine {
    /// Queued runs in the order in which they would be granted, then those that wait for something else.
    pub(super) fn queue_now(&self) -> Vec<QueuedRun> {
        let mut queue: Vec<QueuedRun> = self
            .queue
            .ready()
            .filter_map(|run| {
                let live = self.handlers.get(self.run_of.get(&run)?)?.live(run)?;
                let job = self.catalog.jobs.get(&live.run.job)?;
                let served = job.host_group().is_none_or(|group| self.serves(group));
                let nobody = self.workers.values().all(|w| w.gone || w.row.draining);
                let code = if matches!(live.run.state, RunState::Running(_)) {
                    QueueCode::Expired
                } else if !served || nobody {
                    QueueCode::NoWorker
                } else {
                    QueueCode::Next
                };
                Some(QueuedRun { run: live.run.clone(), code })
            })
            .collect();
        let waiting = self.handlers.values().flat_map(|handler| handler.lives());
        queue.extend(waiting.filter_map(|live| match live.run.state {
            RunState::Queued { .. } if self.queue.is_ready(live.run.id) => None,
            RunState::Queued { .. } => {
                let code = if self.queue.is_later(live.run.id) {
                    QueueCode::RetryWait
                } else {
                    QueueCode::JobBusy
                };
                Some(QueuedRun { run: live.run.clone(), code })
            }
            RunState::Leased(_) | RunState::Running(_) | RunState::Ended(_) => None,
        }));
        queue
    }

    fn serves(&self, group: &str) -> bool {
        let mut online = self.workers.values().filter(|w| !w.gone && !w.row.draining);
        online.any(|worker| worker.row.groups.iter().any(|of| of == group))
    }

    /// What is in memory, in numbers.
    pub(super) fn standing(&self, now: Now) -> Standing {
        let counts = self.handlers.values().map(|handler| handler.counts());
        let (planned, waiting) = counts.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        let held = self.holds.len();
        let live = self.run_of.len();
        let due = self.due.first().is_some_and(|&(version, _)| version <= Version::at(now.wall));
        let quiet = self.to_extend.is_empty() && self.to_ask.is_empty() && self.asked.is_empty();
        let parked = self.catalog.jobs.values().filter_map(|job| {
            job.parked.as_ref().map(|why| (job.row.path.to_string(), why.clone()))
        });
        Standing {
            planned: count(planned),
            waiting: count(waiting),
            queued: count(live - held.min(live)),
            held: count(held),
            workers: self.workers.values().map(|worker| worker_standing(worker, now)).collect(),
            idle: live == 0 && !due && quiet,
            parked: parked.collect(),
        }
    }
}

fn worker_standing(worker: &Worker, now: Now) -> WorkerStanding {
    WorkerStanding {
        row: worker.row.clone(),
        held: count(worker.held.len()),
        gone: worker.gone,
        heard_ago: worker.heard.map(|heard| now.boot.since(heard)),
    }
}

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
