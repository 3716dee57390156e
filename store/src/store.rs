//! The trait: what a master asks of its store. One method is one transaction.

use std::collections::BTreeMap;

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
use crate::{CommitError, StoreError};

/// A master that wants to lead.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Unique for each start of a master.
    pub name: String,
    /// Where it listens, for workers and clients that follow the leader.
    pub address: String,
}

/// The row of leadership as the candidate last saw it; taken only if it is still so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub epoch: Epoch,
    pub renew_seq: i64,
}

/// A store of jobs, actions, runs and what belongs to them.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The identity that was made with the database, 32 hexadecimal digits.
    async fn store_id(&self) -> Result<String, StoreError>;

    /// Lets go of the database, once nothing more is asked: what is asked afterwards is not reachable. On SQLite all that
    /// was written is then in the one file.
    async fn close(&self) {}

    /// Who leads.
    async fn leadership(&self) -> Result<Leadership, StoreError>;

    /// Takes the next epoch, if the row is as `seen`. None: somebody else changed it. On SQLite the exclusive
    /// lock of the data directory is the leadership, and `seen` always holds.
    async fn acquire(&self, seen: Seen, me: &Candidate) -> Result<Option<Epoch>, StoreError>;

    /// Tells standbys that the leader lives; answers the store's clock.
    ///
    /// # Errors
    /// [`StoreError::NotLeader`] where the epoch has moved on or another holds it.
    async fn renew(&self, epoch: Epoch, me: &Candidate) -> Result<Wall, StoreError>;

    /// The holder of an epoch takes the next one, after a commit of which nobody knows what became of it: it was written
    /// before, or will never be. Asked again with the same epoch it answers the same.
    ///
    /// # Errors
    /// [`StoreError::NotLeader`] where another holds the row, or nobody.
    async fn advance(&self, epoch: Epoch, me: &Candidate) -> Result<Epoch, StoreError>;

    /// Gives the leadership up, so that a standby need not wait.
    async fn resign(&self, epoch: Epoch, me: &Candidate) -> Result<(), StoreError>;

    /// Writes the units whose guards hold, in one transaction with the epoch guard first.
    ///
    /// # Errors
    /// [`StoreError::NotLeader`]: nothing was written. [`StoreError::Unavailable`]: nobody knows.
    async fn commit(&self, epoch: Epoch, batch: &Batch) -> Result<Committed, CommitError>;

    /// What is active: jobs with all their revisions' schedules, groups, actions that have not ended with their bindings, live
    /// runs with their present attempts, workers, marks.
    async fn load(&self, scope: &Scope) -> Result<Snapshot, StoreError>;

    /// The last end that counts of each of these upstream versions; one without a row or an outcome is left out. A version
    /// that lies in a gap reads as skipped(late) (so does it in [`Snapshot::outcomes`]).
    async fn outcomes(
        &self,
        versions: &[(JobId, Version)],
    ) -> Result<BTreeMap<(JobId, Version), ActionEnd>, StoreError>;

    /// One action with its bindings, whatever its state.
    async fn action(&self, id: ActionId) -> Result<Option<BoundAction>, StoreError>;

    /// What these actions wait for, in order; one that waits for nothing is left out.
    async fn bindings_of(
        &self,
        actions: &[ActionId],
    ) -> Result<BTreeMap<ActionId, Vec<Binding>>, StoreError>;

    /// The actions of exactly these versions, each with its live run; a version without a row is left out.
    async fn actions_at(
        &self,
        versions: &[(JobId, Version)],
    ) -> Result<Vec<(Action, Option<Run>)>, StoreError>;

    /// The actions of a job whose versions lie in `[from, to)`, by version, at most `limit`.
    async fn actions_between(
        &self,
        job: JobId,
        from: Version,
        to: Version,
        limit: u32,
    ) -> Result<Vec<Action>, StoreError>;

    /// The newest action of a job at or before `at` (in any state but planned where `decided`).
    async fn newest_action(
        &self,
        job: JobId,
        at: Version,
        decided: bool,
    ) -> Result<Option<Action>, StoreError>;

    /// Actions by filter, newest version first, in pages.
    async fn list_actions(
        &self,
        filter: &ActionFilter,
        page: &Page,
    ) -> Result<ActionPage, StoreError>;

    /// The actions that wait for this version, by id, at most `limit`.
    async fn dependents(
        &self,
        job: JobId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<Dependent>, StoreError>;

    /// Runs by filter, newest first, in pages.
    async fn list_runs(&self, filter: &RunFilter, page: &Page) -> Result<RunPage, StoreError>;

    /// One run.
    async fn run(&self, id: RunId) -> Result<Option<RunView>, StoreError>;

    /// These runs, by id; one that is not there is left out.
    async fn runs(&self, ids: &[RunId]) -> Result<Vec<Run>, StoreError>;

    /// The attempts of a run, in order.
    async fn attempts(&self, run: RunId) -> Result<Vec<AttemptView>, StoreError>;

    /// The attempts that were granted under these tokens, by fence; one that is not there is left out.
    async fn attempts_by_token(&self, tokens: &[Token]) -> Result<Vec<Attempt>, StoreError>;

    /// All revisions of a job, newest first.
    async fn revisions(&self, job: JobId) -> Result<Vec<RevisionRow>, StoreError>;

    /// The gaps of a job that touch `[from, to]`.
    async fn gaps(&self, job: JobId, from: Version, to: Version) -> Result<Vec<Gap>, StoreError>;

    /// Rows of the audit by filter, newest first, at most `limit`.
    async fn audit(&self, filter: &AuditFilter, limit: u32) -> Result<Vec<AuditView>, StoreError>;

    /// Adds bytes to an attempt's log. Idempotent: what lies before the end of the log is not written again.
    /// Answers how many bytes the log then has; a chunk that begins beyond that is not taken.
    async fn append_log(&self, fence: Fence, offset: u64, bytes: &[u8]) -> Result<u64, StoreError>;

    /// A piece of an attempt's log from `offset`, at most `max` bytes.
    async fn read_log(&self, fence: Fence, offset: u64, max: u32) -> Result<LogRead, StoreError>;

    /// What an attempt wrote for downstream.
    async fn output(&self, fence: Fence) -> Result<Option<Vec<u8>>, StoreError>;

    /// Keeps a file by its digest; the same content again changes nothing.
    async fn put_blob(&self, digest: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// A file by its digest.
    async fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError>;
}

/// The next epoch, where the row shows that this candidate has taken it.
pub(crate) fn advanced(
    row: &Leadership,
    epoch: Epoch,
    me: &Candidate,
) -> Result<Epoch, StoreError> {
    let mine = row.holder.as_deref() == Some(me.name.as_str()) && row.epoch == epoch.next();
    if mine { Ok(row.epoch) } else { Err(StoreError::NotLeader) }
}
