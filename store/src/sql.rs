//! The store over a database: what the trait asks, as statements. Knows neither database; each keeps `Dialect`.

mod ask;
mod catalog;
mod cells;
mod commit;
mod dialect;
mod document;
mod fault;
mod lead;
mod list;
mod load;
mod look;
mod row;
mod session;
mod write;

pub(crate) use ask::{Ask, Bind, ListForm};
pub(crate) use catalog::{
    Catalog, DURABLE, LOG_APPEND, LOG_READ, LOG_SIZES, PATIENCE, POSTGRES, SQLITE,
};
pub(crate) use dialect::{Dialect, Fault, Purpose, Session, end};
pub(crate) use fault::{Broke, fault};
pub(crate) use session::{Home, PgSession, SqliteSession, Which};

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hera_common::action::{Action, ActionEnd, Binding};
use hera_common::attempt::Attempt;
use hera_common::id::{ActionId, Epoch, Fence, JobId, RunId, Token};
use hera_common::job::{Gap, RevisionRow};
use hera_common::run::Run;
use hera_common::time::{Version, Wall};
use hera_common::unit::{Batch, Committed, Leadership};

use crate::load::{BoundAction, Scope, Snapshot};
use crate::read::{
    ActionFilter, ActionPage, AttemptView, AuditFilter, AuditView, Dependent, LogRead, Page,
    RunFilter, RunPage, RunView,
};
use crate::store::{Candidate, Seen, Store};
use crate::{CommitError, StoreError};

/// What a commit may take for each row, besides the patience for any: an apply of 50,000 jobs is 200,000 rows, and SQLite takes
/// a tenth of this for one on a quiet machine.
const PATIENCE_PER_ROW: Duration = Duration::from_millis(1);

/// A store in a database.
pub struct SqlStore {
    db: Arc<dyn Dialect>,
}

impl std::fmt::Debug for SqlStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlStore").finish_non_exhaustive()
    }
}

impl SqlStore {
    pub(crate) fn new(db: Arc<dyn Dialect>) -> Self {
        Self { db }
    }

    /// How many statements were sent so far, BEGIN and COMMIT counted.
    pub fn statements(&self) -> u64 {
        self.db.statements()
    }

    /// Waits no longer than the purpose allows.
    async fn within<T>(
        &self,
        purpose: Purpose,
        work: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        in_time(self.db.patience(purpose), work).await
    }
}

async fn in_time<T>(
    patience: Duration,
    work: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    match tokio::time::timeout(patience, work).await {
        Ok(told) => told,
        Err(_elapsed) => {
            let late = io::Error::new(io::ErrorKind::TimedOut, "no answer in time");
            Err(StoreError::Unavailable(Box::new(late)))
        }
    }
}

#[async_trait]
impl Store for SqlStore {
    async fn store_id(&self) -> Result<String, StoreError> {
        self.within(Purpose::LookOnce, look::store_id(&*self.db)).await
    }

    async fn close(&self) {
        self.db.close().await;
    }

    async fn leadership(&self) -> Result<Leadership, StoreError> {
        self.within(Purpose::LookOnce, lead::look(&*self.db)).await
    }

    async fn acquire(&self, seen: Seen, me: &Candidate) -> Result<Option<Epoch>, StoreError> {
        self.within(Purpose::WriteOnce, lead::acquire(&*self.db, seen, me)).await
    }

    async fn renew(&self, epoch: Epoch, me: &Candidate) -> Result<Wall, StoreError> {
        self.within(Purpose::WriteOnce, lead::renew(&*self.db, epoch, me)).await
    }

    async fn advance(&self, epoch: Epoch, me: &Candidate) -> Result<Epoch, StoreError> {
        self.within(Purpose::WriteOnce, lead::advance(&*self.db, epoch, me)).await
    }

    async fn resign(&self, epoch: Epoch, me: &Candidate) -> Result<(), StoreError> {
        self.within(Purpose::WriteOnce, lead::resign(&*self.db, epoch, me)).await
    }

    async fn commit(&self, epoch: Epoch, batch: &Batch) -> Result<Committed, CommitError> {
        let rows: usize = batch.units.iter().map(|unit| unit.writes.len()).sum();
        let patience = self.db.patience(commit::purpose(batch))
            + PATIENCE_PER_ROW.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX));
        in_time(patience, commit::commit(&*self.db, epoch, batch)).await
    }

    async fn load(&self, scope: &Scope) -> Result<Snapshot, StoreError> {
        self.within(Purpose::Load, look::load(&*self.db, scope)).await
    }

    async fn outcomes(
        &self,
        versions: &[(JobId, Version)],
    ) -> Result<BTreeMap<(JobId, Version), ActionEnd>, StoreError> {
        self.within(Purpose::Look, look::outcomes(&*self.db, versions)).await
    }

    async fn action(&self, id: ActionId) -> Result<Option<BoundAction>, StoreError> {
        self.within(Purpose::Look, look::action(&*self.db, id)).await
    }

    async fn bindings_of(
        &self,
        actions: &[ActionId],
    ) -> Result<BTreeMap<ActionId, Vec<Binding>>, StoreError> {
        self.within(Purpose::Browse, look::bindings_of(&*self.db, actions)).await
    }

    async fn actions_at(
        &self,
        versions: &[(JobId, Version)],
    ) -> Result<Vec<(Action, Option<Run>)>, StoreError> {
        self.within(Purpose::Browse, look::actions_at(&*self.db, versions)).await
    }

    async fn actions_between(
        &self,
        job: JobId,
        from: Version,
        to: Version,
        limit: u32,
    ) -> Result<Vec<Action>, StoreError> {
        let span = (from, to);
        self.within(Purpose::LookOnce, look::actions_between(&*self.db, job, span, limit)).await
    }

    async fn newest_action(
        &self,
        job: JobId,
        at: Version,
        decided: bool,
    ) -> Result<Option<Action>, StoreError> {
        self.within(Purpose::LookOnce, look::newest_action(&*self.db, job, at, decided)).await
    }

    async fn list_actions(
        &self,
        filter: &ActionFilter,
        page: &Page,
    ) -> Result<ActionPage, StoreError> {
        let ask = list::actions(filter, page, self.db.list_form())?;
        let rows = look::browse(&*self.db, ask, list::action_and_run);
        Ok(list::action_page(self.within(Purpose::Browse, rows).await?, page))
    }

    async fn dependents(
        &self,
        job: JobId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<Dependent>, StoreError> {
        self.within(Purpose::LookOnce, look::dependents(&*self.db, (job, version), limit)).await
    }

    async fn list_runs(&self, filter: &RunFilter, page: &Page) -> Result<RunPage, StoreError> {
        let ask = list::runs(filter, page, self.db.list_form())?;
        let rows = look::browse(&*self.db, ask, list::run_view);
        Ok(list::run_page(self.within(Purpose::Browse, rows).await?, page))
    }

    async fn run(&self, id: RunId) -> Result<Option<RunView>, StoreError> {
        self.within(Purpose::LookOnce, look::run(&*self.db, id)).await
    }

    async fn runs(&self, ids: &[RunId]) -> Result<Vec<Run>, StoreError> {
        self.within(Purpose::LookOnce, look::runs(&*self.db, ids)).await
    }

    async fn attempts(&self, run: RunId) -> Result<Vec<AttemptView>, StoreError> {
        self.within(Purpose::Look, look::attempts(&*self.db, run)).await
    }

    async fn attempts_by_token(&self, tokens: &[Token]) -> Result<Vec<Attempt>, StoreError> {
        self.within(Purpose::LookOnce, look::attempts_by_token(&*self.db, tokens)).await
    }

    async fn revisions(&self, job: JobId) -> Result<Vec<RevisionRow>, StoreError> {
        self.within(Purpose::LookOnce, look::revisions(&*self.db, job)).await
    }

    async fn gaps(&self, job: JobId, from: Version, to: Version) -> Result<Vec<Gap>, StoreError> {
        self.within(Purpose::LookOnce, look::gaps(&*self.db, job, (from, to))).await
    }

    async fn audit(&self, filter: &AuditFilter, limit: u32) -> Result<Vec<AuditView>, StoreError> {
        self.within(Purpose::LookOnce, look::audit(&*self.db, filter, limit)).await
    }

    async fn append_log(&self, fence: Fence, offset: u64, bytes: &[u8]) -> Result<u64, StoreError> {
        self.within(Purpose::WriteOnce, self.db.append_log(fence, offset, bytes)).await
    }

    async fn read_log(&self, fence: Fence, offset: u64, max: u32) -> Result<LogRead, StoreError> {
        self.within(Purpose::LookOnce, self.db.read_log(fence, offset, max)).await
    }

    async fn output(&self, fence: Fence) -> Result<Option<Vec<u8>>, StoreError> {
        self.within(Purpose::LookOnce, look::output(&*self.db, fence)).await
    }

    async fn put_blob(&self, digest: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.within(Purpose::WriteOnce, look::put_blob(&*self.db, digest, bytes)).await
    }

    async fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.within(Purpose::LookOnce, look::blob(&*self.db, digest)).await
    }
}
