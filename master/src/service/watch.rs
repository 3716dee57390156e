//! Changes as they are committed, for whoever watches. It must not hold anybody up.

use hera_common::id::JobId;
use hera_common::time::Wall;
use hera_engine::input::Change;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::Service;
use super::fault::Fault;
use super::filter;
use super::shown::{Shower, ShownAction, ShownAttempt, ShownRun};
use crate::changes::Committed;

/// One change as shown.
#[derive(Debug)]
pub(crate) enum Seen {
    Action(Box<ShownAction>),
    Run {
        run: Box<ShownRun>,
        attempt: Option<Box<ShownAttempt>>,
    },
    Worker {
        name: String,
        state: &'static str,
    },
    /// So many changes were left out.
    Missed(u64),
}

/// Somebody who watches.
pub(crate) struct Watcher {
    service: Service,
    changes: broadcast::Receiver<Committed>,
    pattern: String,
}

impl Service {
    /// Watches the jobs that a pattern takes; empty: all.
    pub(crate) fn watch(&self, pattern: String) -> Result<Watcher, Fault> {
        self.lead()?;
        let changes = self.around.changes.watch();
        Ok(Watcher { service: self.clone(), changes, pattern })
    }
}

impl Watcher {
    /// The next change.
    ///
    /// # Errors
    /// This master leads no more, or stops.
    pub(crate) async fn next(&mut self) -> Result<(Wall, Seen), Fault> {
        let mut role = self.service.role();
        loop {
            // Also marks the role as seen, so that a change of it wakes.
            drop(role.borrow_and_update());
            self.service.lead()?;
            let stopping = self.service.around.tasks.shutdown().cancelled();
            let told = tokio::select! {
                biased;
                () = stopping => return Err(Fault::Stopping),
                _changed = role.changed() => continue,
                told = self.changes.recv() => told,
            };
            match told {
                Ok(committed) => {
                    if let Some(seen) = self.show(&committed.change)? {
                        return Ok((committed.at, seen));
                    }
                }
                Err(RecvError::Lagged(count)) => {
                    return Ok((self.service.now().wall, Seen::Missed(count)));
                }
                Err(RecvError::Closed) => return Err(Fault::Stopping),
            }
        }
    }

    fn show(&self, change: &Change) -> Result<Option<Seen>, Fault> {
        let lead = self.service.lead()?;
        let catalog = lead.catalog();
        let shower = Shower::new(&lead, &catalog, self.service.now().wall);
        let takes = |job: JobId| {
            self.pattern.is_empty() || filter::matches(&self.pattern, &shower.job(job))
        };
        Ok(match change {
            Change::Action(action) if takes(action.job) => {
                Some(Seen::Action(Box::new(shower.action((**action).clone(), None))))
            }
            Change::Run { run, attempt } if takes(run.job) => {
                let attempt = attempt.as_ref().map(|attempt| {
                    let worker = shower.worker(attempt.worker);
                    Box::new(ShownAttempt {
                        attempt: (**attempt).clone(),
                        worker,
                        log_bytes: 0,
                        output: None,
                    })
                });
                Some(Seen::Run { run: Box::new(shower.run((**run).clone())), attempt })
            }
            Change::Worker { name, state } if self.pattern.is_empty() => {
                Some(Seen::Worker { name: name.clone(), state })
            }
            Change::Action(_) | Change::Run { .. } | Change::Worker { .. } | Change::Gap { .. } => {
                None
            }
        })
    }
}
