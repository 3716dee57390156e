//! One unit at a time, where the store refuses a whole batch as something that cannot be: the fault of one job must not
//! stop the others. It must not judge what the units are about.

use std::time::Duration;

use hera_common::unit::{Batch, Committed, Outcome, Unit};
use hera_store::StoreError;
use tracing::error;

use super::{CommitLoop, Decide};
use hera_common::chain::Chain;

/// After a batch that had to be taken apart.
const APART_PAUSE: Duration = Duration::from_millis(50);

impl<E: Decide> CommitLoop<E> {
    /// Commits each unit by itself, in order; one that is refused, and all that build on it, are left out.
    ///
    /// # Errors
    /// Any other failure: nobody knows what became of the rest.
    pub(super) async fn commit_apart(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(batch.units.len());
        let mut store_now = self.around.clock.now().wall;
        for unit in &batch.units {
            if !unit.after.iter().all(|place| outcomes.get(*place) == Some(&Outcome::Done)) {
                outcomes.push(Outcome::LeftOut);
                continue;
            }
            // Not the marks of the whole batch: the ids of the units that follow would then count as used.
            let marks = unit.made();
            let alone = Unit { after: Vec::new(), ..unit.clone() };
            let alone = Batch { units: vec![alone], marks };
            match self.commit(&alone).await {
                Ok(committed) => {
                    store_now = committed.store_now;
                    outcomes.extend(committed.outcomes);
                }
                Err(refused @ StoreError::Corrupt { .. }) => {
                    error!(error = %Chain(&refused), "the store refuses a unit, its jobs are read again");
                    outcomes.push(Outcome::LeftOut);
                }
                Err(
                    other @ (StoreError::Unavailable(_)
                    | StoreError::NotLeader
                    | StoreError::Unusable(_)
                    | StoreError::BadMark(_)),
                ) => return Err(other),
            }
        }
        // What a unit that was left out would have made is used up, too.
        let rest = Batch { units: Vec::new(), marks: batch.marks };
        store_now = self.commit(&rest).await?.store_now.max(store_now);
        // The engine may decide the same again at once: that must not take all of the store's time.
        tokio::time::sleep(APART_PAUSE).await;
        Ok(Committed { outcomes, store_now })
    }
}
