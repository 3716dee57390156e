//! What people may know of the memory: the queue, and numbers.

use std::time::Duration;

use hera_common::run::RunState;
use hera_common::time::{Boot, Now, Version};

use super::{Engine, Worker};
use crate::input::{QueueCode, QueuedRun, Standing, WorkerStanding};

/// Of so many workers it is told why they take nothing: one says what is wrong with most.
const REFUSALS_TOLD: usize = 3;
/// A worker that has no open poll opens one, or beats, within this: the longest heartbeat, and somewhat more.
const SILENCE_MAX: Duration = Duration::from_secs(12);

impl Engine {
    /// True where the worker is known to be there: a poll of it is open, or was closed or answered not long ago.
    pub(super) fn is_here(&self, worker: &Worker, now: Boot) -> bool {
        let heard = |at: Boot| now.since(at) < SILENCE_MAX;
        !worker.gone && (worker.heard.is_some_and(heard) || self.polls.has(worker.row.id))
    }

    /// The same; and true where this leader has not led for long enough to know.
    pub(super) fn may_be_here(&self, worker: &Worker, now: Boot) -> bool {
        let unheard = worker.heard.is_none() && !worker.row.draining;
        self.is_here(worker, now) || (unheard && now.since(self.since) < SILENCE_MAX)
    }

    /// Queued runs in the order in which they would be granted, then those that wait for something else.
    pub(super) fn queue_now(&self, now: Boot) -> Vec<QueuedRun> {
        let mut queue: Vec<QueuedRun> = self
            .queue
            .ready()
            .filter_map(|run| {
                let live = self.handlers.get(self.run_of.get(&run)?)?.live(run)?;
                let job = self.catalog.jobs.get(&live.run.job)?;
                let expired = matches!(live.run.state, RunState::Running(_));
                let (code, detail) = match self.refusals(job.host_group(), now) {
                    _ if expired => (QueueCode::Expired, String::new()),
                    Some(refusals) if refusals.is_empty() => (QueueCode::NoWorker, String::new()),
                    Some(refusals) => (QueueCode::WorkersRefuse, refusals),
                    None => (QueueCode::Next, String::new()),
                };
                Some(QueuedRun { run: live.run.clone(), code, detail })
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
                Some(QueuedRun { run: live.run.clone(), code, detail: String::new() })
            }
            RunState::Leased(_) | RunState::Running(_) | RunState::Ended(_) => None,
        }));
        queue
    }

    /// Why no worker of the group takes work, in words; empty where there is none. None: one of them does.
    fn refusals(&self, group: Option<&str>, now: Boot) -> Option<String> {
        let online = self.workers.values().filter(|w| self.is_here(w, now) && !w.row.draining);
        let fits = |worker: &&Worker| {
            group.is_none_or(|group| worker.row.groups.iter().any(|of| of == group))
        };
        let mut told = Vec::new();
        for worker in online.filter(fits) {
            if worker.takes_nothing.is_empty() {
                return None;
            }
            told.push(format!(
                "worker {} takes nothing: {}",
                worker.row.name, worker.takes_nothing
            ));
        }
        told.truncate(REFUSALS_TOLD);
        Some(told.join("; "))
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
            workers: self
                .workers
                .values()
                .map(|worker| self.worker_standing(worker, now))
                .collect(),
            idle: live == 0 && !due && quiet,
            parked: parked.collect(),
        }
    }

    fn worker_standing(&self, worker: &Worker, now: Now) -> WorkerStanding {
        WorkerStanding {
            row: worker.row.clone(),
            held: count(worker.held.len()),
            here: self.is_here(worker, now.boot),
            heard_ago: worker.heard.map(|heard| now.boot.since(heard)),
            takes_nothing: worker.takes_nothing.clone(),
        }
    }
}

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
