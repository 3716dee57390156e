//! Leadership: stands by, takes the epoch when nobody else renews it, leads, and steps down. It judges others by its own
//! boot clock alone, and must not know what a leader decides.

mod term;
#[cfg(test)]
mod tests;

use std::time::Duration;

use hera_common::id::Epoch;
use hera_common::time::Boot;
use hera_common::unit::Leadership;
use hera_engine::Settings;
use hera_store::{Candidate, Seen, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::chance;
use crate::commit::{Around, LoopEnd};
use crate::config::LeaderTiming;
use crate::role::Role;
use hera_common::chain::Chain;

/// A standby looks this many times within a leader's lease.
const LOOKS: u32 = 16;
/// The longest time between two looks.
const LOOK_MAX: Duration = Duration::from_millis(600);

/// One master's part in the election.
pub(crate) struct Leading {
    pub(crate) around: Around,
    pub(crate) me: Candidate,
    pub(crate) timing: LeaderTiming,
    pub(crate) settings: Settings,
    /// On SQLite a lock of the directory is the leadership: the row's last holder is gone, nobody is waited for.
    pub(crate) alone: bool,
    pub(crate) role: watch::Sender<Role>,
}

/// Why a master cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("this master cannot lead")]
pub struct Hopeless(#[source] StoreError);

/// The row of leadership as it was last seen to change.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sighting {
    row: Leadership,
    at: Boot,
}

impl Leading {
    /// Stands by and leads, in turn, until `shutdown`; then resigns.
    ///
    /// # Errors
    /// [`Hopeless`]: starting again will not help.
    pub(crate) async fn run(self, shutdown: CancellationToken) -> Result<(), Hopeless> {
        let result = self.take_turns(&shutdown).await;
        self.role.send_replace(Role::Stopping);
        result
    }

    async fn take_turns(&self, shutdown: &CancellationToken) -> Result<(), Hopeless> {
        loop {
            self.role.send_replace(Role::Standby { leader: None });
            let epoch = tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(()),
                epoch = self.stand_by() => epoch.map_err(Hopeless)?,
            };
            info!(leader.epoch = epoch.raw(), "leads");
            let end = self.lead(epoch, shutdown).await;
            match end {
                LoopEnd::Stopped => return Ok(()),
                LoopEnd::NotLeader => {
                    warn!(leader.epoch = epoch.raw(), "stepped down");
                    // On SQLite nobody else keeps a loop that dies at once from starting again at once.
                    tokio::time::sleep(LOOK_MAX).await;
                }
                LoopEnd::Unusable(why) => return Err(Hopeless(why)),
            }
        }
    }

    /// Looks at the row of leadership until it is ours.
    async fn stand_by(&self) -> Result<Epoch, StoreError> {
        let mut seen: Option<Sighting> = None;
        loop {
            match self.look(&mut seen).await {
                Ok(Some(epoch)) => return Ok(epoch),
                Ok(None) => {}
                // Its file is gone. A server may be put right while this one waits.
                Err(error @ StoreError::Unusable(_)) if self.alone => return Err(error),
                Err(error) => {
                    warn!(error = %Chain(&error), "could not look who leads, will try again");
                }
            }
            let look = (self.timing.lease / LOOKS).min(LOOK_MAX);
            tokio::time::sleep(look.mul_f64(chance::spread())).await;
        }
    }

    async fn look(&self, seen: &mut Option<Sighting>) -> Result<Option<Epoch>, StoreError> {
        let row = self.within(self.around.store.leadership()).await?;
        let leader = row.holder.is_some().then(|| row.address.clone());
        // The clock is read after the answer: a change is at most as old as we believe.
        let now = self.around.clock.boot();
        let sighting = match seen.take() {
            Some(old) if old.row == row => old,
            Some(_) | None => Sighting { row, at: now },
        };
        let free = self.alone || self.is_free(&sighting, now);
        let expected = Seen { epoch: sighting.row.epoch, renew_seq: sighting.row.renew_seq };
        self.role.send_if_modified(|role| follow(role, leader));
        *seen = Some(sighting);
        if !free {
            return Ok(None);
        }
        self.within(self.around.store.acquire(expected, &self.me)).await
    }

    /// Nobody holds it, or the holder has not renewed for its lease by our own clock.
    fn is_free(&self, sighting: &Sighting, now: Boot) -> bool {
        let lease = self.timing.lease;
        let longest = lease + lease * self.timing.rho_ppm / 1_000_000;
        sighting.row.holder.is_none() || now.since(sighting.at) >= longest
    }

    /// A small call of the store, within its limit.
    async fn within<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let done = tokio::time::timeout(self.timing.store, call).await;
        done.map_err(|elapsed| StoreError::Unavailable(Box::new(elapsed)))?
    }
}

/// Shows who leads; whether that is news.
fn follow(role: &mut Role, now: Option<String>) -> bool {
    match role {
        Role::Standby { leader } if *leader == now => false,
        Role::Standby { leader } => {
            *leader = now;
            true
        }
        Role::Activating | Role::Leading(_) | Role::Stopping => false,
    }
}
