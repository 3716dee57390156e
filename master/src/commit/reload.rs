//! Reads jobs again when nobody knows what became of their writes, and looks up what the engine asks for. It must not
//! judge what it reads.

use std::sync::Arc;
use std::time::Duration;

use hera_common::id::JobId;
use hera_common::snapshot::Snapshot;
use hera_common::time::Version;
use hera_engine::input::Input;
use hera_store::{Scope, StoreError};
use tokio::sync::oneshot;
use tracing::{info, warn};

use super::{CommitLoop, Decide, LoopEnd};
use crate::desk::{Told, Unanswered};
use hera_common::chain::Chain;

/// First and longest wait between two tries to read.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// How long to wait after so many failures in a row.
pub(super) fn backoff(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        more => RETRY_MIN.saturating_mul(2_u32.saturating_pow(more.min(10) - 1)).min(RETRY_MAX),
    }
}

impl<E: Decide> CommitLoop<E> {
    /// Takes the next epoch, until the store answers: what is still under way of the present one was written before
    /// that, or never will be, so that what is then read holds.
    pub(super) async fn begin_next_epoch(&mut self) -> Result<(), LoopEnd> {
        let mut wait = RETRY_MIN;
        loop {
            let (store, me) = (Arc::clone(&self.around.store), self.me.clone());
            let epoch = self.epoch.get();
            match self.refusing(store.advance(epoch, &me)).await? {
                Ok(next) => {
                    self.epoch.set(next);
                    self.engine.leads_as(next);
                    info!(leader.epoch = next.raw(), "leads on in the next epoch");
                    return Ok(());
                }
                Err(StoreError::NotLeader) => return Err(LoopEnd::NotLeader),
                Err(error) => {
                    warn!(error = %Chain(&error), "could not take the next epoch, will try again");
                }
            }
            self.pause(wait).await?;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    /// Reads these jobs, and with them groups and workers, until the store answers: also where there are no jobs, since a
    /// registration that was not written must not stay in memory. Whoever asks in the meantime hears that nobody knows.
    pub(super) async fn read_again(&mut self, jobs: &[JobId]) -> Result<(), LoopEnd> {
        let (scope, mut wait) = (Scope::Jobs(jobs.to_vec()), RETRY_MIN);
        loop {
            match self.load(&scope).await? {
                Ok(snapshot) => {
                    // After the answer: a hold that changed meanwhile gets its full window from here.
                    self.engine.reload(jobs, snapshot, self.around.clock.now());
                    self.publish();
                    info!(job_count = jobs.len(), "read jobs again");
                    return Ok(());
                }
                Err(error @ StoreError::Unusable(_)) => return Err(LoopEnd::Unusable(error)),
                Err(error) => {
                    warn!(error = %Chain(&error), "could not read jobs again, will try again");
                }
            }
            self.pause(wait).await?;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    async fn load(&mut self, scope: &Scope) -> Result<Result<Snapshot, StoreError>, LoopEnd> {
        let store = Arc::clone(&self.around.store);
        self.refusing(store.load(scope)).await
    }

    pub(super) async fn pause(&mut self, wait: Duration) -> Result<(), LoopEnd> {
        self.refusing(tokio::time::sleep(wait)).await
    }

    /// Waits for something without which nothing can be decided: whoever asks meanwhile hears that nobody knows.
    async fn refusing<T>(&mut self, work: impl Future<Output = T> + Send) -> Result<T, LoopEnd> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                () = self.term.lost.cancelled() => return Err(LoopEnd::NotLeader),
                () = self.term.stop.cancelled() => return Err(LoopEnd::Stopped),
                done = &mut work => return Ok(done),
                Some(ask) = self.inbox.recv() => refuse(ask.reply),
            }
        }
    }

    /// Looks up the last ends of these versions beside the loop, and hands them to the engine.
    pub(super) fn resolve(&self, versions: Vec<(JobId, Version)>) {
        let (store, desk, lost) =
            (Arc::clone(&self.around.store), self.desk.clone(), self.term.lost.clone());
        let look = async move {
            let mut wait = RETRY_MIN;
            loop {
                match store.outcomes(&versions).await {
                    Ok(ends) => {
                        return desk.tell(Input::Resolved { asked: versions, ends }).await;
                    }
                    Err(error) => {
                        warn!(error = %Chain(&error), "could not read outcomes, will try again");
                    }
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(RETRY_MAX);
            }
        };
        self.around.tasks.spawn("resolve outcomes", |shutdown| async move {
            tokio::select! {
                () = look => {}
                () = lost.cancelled() => {}
                () = shutdown.cancelled() => {}
            }
        });
    }
}

fn refuse(reply: Option<oneshot::Sender<Told>>) {
    let told = reply.map(|reply| reply.send(Err(Unanswered::Unknown)));
    if told.is_some_and(|told| told.is_err()) {
        tracing::debug!("a caller left before its answer");
    }
}
