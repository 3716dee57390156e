//! One term: reads what is active, runs the commit loop, and renews beside it. It must not look at other masters.

use std::sync::Arc;
use std::time::Duration;

use hera_common::id::Epoch;
use hera_common::time::Boot;
use hera_engine::Engine;
use hera_engine::catalog::Catalog;
use hera_store::{Candidate, Scope, StoreError};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, error, info, info_span, warn};

use super::Leading;
use crate::commit::{Begin, CommitLoop, LoopEnd, Term};
use crate::desk::Desk;
use crate::role::{Known, KnownWorker, Lead, OwnEpoch, Role};
use hera_common::chain::Chain;

/// First and longest wait between two tries to read what is active.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// After a renewal that failed the next one follows sooner than planned.
const RENEW_AGAIN: Duration = Duration::from_millis(250);

impl Leading {
    /// Leads until told to stop, or until another may lead.
    pub(super) async fn lead(&self, epoch: Epoch, shutdown: &CancellationToken) -> LoopEnd {
        let span = info_span!("lead", leader.epoch = epoch.raw());
        async {
            self.role.send_replace(Role::Activating);
            let term = Term { stop: shutdown.child_token(), lost: CancellationToken::new() };
            let epoch = OwnEpoch::new(epoch);
            let acting = self.act(epoch.clone(), term.clone());
            let end = self.renew_beside(&epoch, acting, &term.lost).await;
            self.role.send_replace(Role::Standby { leader: None });
            if matches!(end, LoopEnd::Stopped) {
                self.resign(epoch.get()).await;
            }
            end
        }
        .instrument(span)
        .await
    }

    /// The part of a leader that decides, in a task of its own.
    fn act(&self, epoch: OwnEpoch, term: Term) -> JoinHandle<LoopEnd> {
        let (around, role, me) = (self.around.clone(), self.role.clone(), self.me.clone());
        let engine = Engine::new(self.settings.clone(), epoch.get());
        self.around.tasks.spawn("commit", |_shutdown| async move {
            let activated = tokio::select! {
                biased;
                () = term.lost.cancelled() => return LoopEnd::NotLeader,
                () = term.stop.cancelled() => return LoopEnd::Stopped,
                activated = activate(engine, (epoch, me), &term, &around) => activated,
            };
            let (begin, lead) = match activated {
                Ok(activated) => activated,
                Err(end) => return end,
            };
            role.send_replace(Role::Leading(lead));
            info!("serves workers and people");
            CommitLoop::new(begin, around).run().await
        })
    }

    /// Renews until the acting part ends; ends it when the renewals fail for too long.
    async fn renew_beside(
        &self,
        epoch: &OwnEpoch,
        mut acting: JoinHandle<LoopEnd>,
        lost: &CancellationToken,
    ) -> LoopEnd {
        // The epoch was taken a moment ago, at the earliest one store call back.
        let mut renewed = self.around.clock.boot().minus(self.timing.store);
        let mut wait = self.timing.renew;
        loop {
            tokio::select! {
                biased;
                ended = &mut acting => {
                    return ended.unwrap_or_else(|panic| {
                        error!(error = %Chain(&panic), "the commit loop died");
                        LoopEnd::NotLeader
                    });
                }
                () = tokio::time::sleep(wait), if !lost.is_cancelled() => {}
            }
            match self.renew(epoch).await {
                Ok(sent) => (renewed, wait) = (sent, self.timing.renew),
                Err(error) => {
                    warn!(error = %Chain(&error), "could not renew the leadership");
                    wait = RENEW_AGAIN.min(self.timing.renew);
                    let silent = self.around.clock.boot().since(renewed);
                    // Who holds the folder leads: a renewal that waits behind a long commit ends nothing, and to give
                    // up would take that commit back.
                    let too_long = !self.alone && silent > self.timing.give_up;
                    if matches!(error, StoreError::NotLeader) || too_long {
                        lost.cancel();
                    }
                }
            }
        }
    }

    /// When the renewal was sent.
    async fn renew(&self, epoch: &OwnEpoch) -> Result<Boot, StoreError> {
        let sent = self.around.clock.boot();
        let renewed = self.within(self.around.store.renew(epoch.get(), &self.me)).await;
        if matches!(renewed, Err(StoreError::NotLeader)) && self.holds_the_row().await? {
            // The acting part has taken the next epoch in this moment.
            return Err(StoreError::Unavailable(Box::new(Overtaken)));
        }
        let wall = renewed?;
        self.around.clock.measured(sent, wall);
        Ok(sent)
    }

    async fn holds_the_row(&self) -> Result<bool, StoreError> {
        let row = self.within(self.around.store.leadership()).await?;
        Ok(row.holder.as_deref() == Some(self.me.name.as_str()))
    }

    async fn resign(&self, epoch: Epoch) {
        match self.within(self.around.store.resign(epoch, &self.me)).await {
            Ok(()) => info!("resigned"),
            Err(error) => {
                warn!(error = %Chain(&error), "could not resign, a standby will wait for the lease");
            }
        }
    }
}

/// A renewal that came with the epoch before.
#[derive(Debug, thiserror::Error)]
#[error("the epoch has moved on in this master's own hands")]
struct Overtaken;

type Activated = (Begin<Engine>, Lead);

/// Reads what is active, and opens the inbox.
async fn activate(
    mut engine: Engine,
    (epoch, me): (OwnEpoch, Candidate),
    term: &Term,
    around: &crate::commit::Around,
) -> Result<Activated, LoopEnd> {
    let mut wait = RETRY_MIN;
    let snapshot = loop {
        let sent = around.clock.boot();
        match around.store.load(&Scope::All).await {
            Ok(snapshot) => {
                around.clock.measured(sent, snapshot.store_now);
                break snapshot;
            }
            Err(StoreError::NotLeader) => return Err(LoopEnd::NotLeader),
            Err(error @ StoreError::Unusable(_)) => return Err(LoopEnd::Unusable(error)),
            Err(
                error @ (StoreError::Unavailable(_)
                | StoreError::Corrupt { .. }
                | StoreError::BadMark(_)),
            ) => {
                warn!(error = %Chain(&error), "could not read what is active, will try again");
            }
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(RETRY_MAX);
    };
    let known = Known::default();
    for worker in &snapshot.workers {
        let (name, incarnation) = (worker.name.clone(), worker.incarnation);
        known.workers.insert(worker.id, KnownWorker { name, incarnation });
    }
    for attempt in &snapshot.attempts {
        known.remember(attempt.token, attempt.fence);
    }
    info!(
        job_count = snapshot.jobs.len(),
        action_count = snapshot.actions.len(),
        run_count = snapshot.runs.len(),
        "read what is active"
    );
    // The clock is read after the load: every hold gets a full window from here.
    engine.load(snapshot, around.clock.now());
    let (desk, inbox) = Desk::new();
    let (publish, catalog) = watch::channel::<Arc<Catalog>>(engine.catalog());
    let lead = Lead { epoch: epoch.clone(), desk: desk.clone(), catalog, known: Arc::new(known) };
    let term = term.clone();
    Ok((Begin { engine, epoch, me, term, desk, inbox, catalog: publish }, lead))
}
