//! A store that forgets all when it is dropped: for the simulator and for tests. Deterministic, its clock stands
//! where it was set, and it can be told to fail. It keeps the rules of the databases, so that it does not lie.

mod apply;
mod state;
mod unique;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use hera_common::action::{Action, ActionEnd, Binding};
use hera_common::attempt::Attempt;
use hera_common::audit::AuditRow;
use hera_common::id::{ActionId, Epoch, Fence, JobId, RunId, Token, WorkerId};
use hera_common::job::{Gap, RevisionRow};
use hera_common::run::Run;
use hera_common::time::{Version, Wall};
use hera_common::unit::{Batch, Committed, Leadership};
use hera_common::worker::WorkerRow;

use crate::admit::{Needs, admit};
use crate::load::{BoundAction, Scope, Snapshot};
use crate::read::{
    ActionFilter, ActionPage, AttemptView, AuditFilter, AuditView, Dependent, LogRead, Page,
    RunFilter, RunPage, RunView,
};
use crate::store::{Candidate, Seen, Store, advanced};
use crate::{CommitError, StoreError};
use state::State;

/// How the next commit fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitFault {
    /// Nothing is written.
    Before,
    /// All is written, and the answer is lost.
    After,
}

/// One master's way to a store in memory. Clones share the way; [`MemoryStore::another_link`] gives a second one
/// to the same rows.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    link: Arc<Link>,
}

/// What is between one master and the rows.
#[derive(Debug, Default)]
struct Link {
    cut: AtomicBool,
    fault: Mutex<Option<CommitFault>>,
}

/// Locks, also after a panic of another test thread: the rows are whole, since a commit checks before it writes.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryStore {
    /// An empty store with this identity, its clock at 0.
    pub fn new(identity: &str) -> Self {
        let state = Arc::new(Mutex::new(State::new(identity)));
        Self { state, link: Arc::default() }
    }

    /// Another master's way to the same rows, with switches of its own.
    #[must_use]
    pub fn another_link(&self) -> Self {
        Self { state: Arc::clone(&self.state), link: Arc::default() }
    }

    /// Sets the store's clock.
    pub fn set_now(&self, now: Wall) {
        lock(&self.state).now = now;
    }

    /// Cuts this link, or mends it; while it is cut every call is [`StoreError::Unavailable`].
    pub fn set_reachable(&self, reachable: bool) {
        self.link.cut.store(!reachable, Ordering::SeqCst);
    }

    /// Makes the next commit over this link fail.
    pub fn fail_next_commit(&self, fault: CommitFault) {
        *lock(&self.link.fault) = Some(fault);
    }

    /// All rows, for a checker of invariants: what [`Store::load`] leaves out is there too.
    pub fn rows<T>(&self, look: impl FnOnce(&Rows<'_>) -> T) -> T {
        let state = lock(&self.state);
        look(&Rows {
            actions: &state.actions,
            runs: &state.runs,
            attempts: &state.attempts,
            jobs: &state.jobs,
            cursors: &state.cursors,
            gaps: &state.gaps,
            workers: &state.workers,
            state: &state,
        })
    }

    fn open(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        if self.link.cut.load(Ordering::SeqCst) {
            return Err(unavailable("the link is cut"));
        }
        Ok(lock(&self.state))
    }
}

/// The tables of a [`MemoryStore`], as they are.
#[derive(Debug)]
pub struct Rows<'a> {
    pub actions: &'a BTreeMap<ActionId, Action>,
    pub runs: &'a BTreeMap<RunId, Run>,
    pub attempts: &'a BTreeMap<Fence, Attempt>,
    pub jobs: &'a BTreeMap<JobId, hera_common::job::JobRow>,
    pub cursors: &'a BTreeMap<JobId, hera_common::job::Cursor>,
    pub gaps: &'a BTreeMap<(JobId, Version), Gap>,
    pub workers: &'a BTreeMap<WorkerId, WorkerRow>,
    state: &'a State,
}

impl Rows<'_> {
    /// The action of a version.
    pub fn action_at(&self, job: JobId, version: Version) -> Option<&Action> {
        self.state.action_at((job, version))
    }
}

fn unavailable(why: &'static str) -> StoreError {
    StoreError::Unavailable(Box::new(io::Error::other(why)))
}

#[async_trait]
impl Store for MemoryStore {
    async fn store_id(&self) -> Result<String, StoreError> {
        Ok(self.open()?.store_id.clone())
    }

    async fn leadership(&self) -> Result<Leadership, StoreError> {
        Ok(self.open()?.leadership.clone())
    }

    async fn acquire(&self, seen: Seen, me: &Candidate) -> Result<Option<Epoch>, StoreError> {
        let mut state = self.open()?;
        let row = &mut state.leadership;
        if (row.epoch, row.renew_seq) != (seen.epoch, seen.renew_seq) {
            return Ok(None);
        }
        row.epoch = row.epoch.next();
        row.renew_seq += 1;
        row.holder = Some(me.name.clone());
        row.address.clone_from(&me.address);
        Ok(Some(row.epoch))
    }

    async fn renew(&self, epoch: Epoch, me: &Candidate) -> Result<Wall, StoreError> {
        let mut state = self.open()?;
        state.led_by(epoch, me)?.renew_seq += 1;
        Ok(state.now)
    }

    async fn advance(&self, epoch: Epoch, me: &Candidate) -> Result<Epoch, StoreError> {
        let mut state = self.open()?;
        match state.led_by(epoch, me) {
            Ok(row) => {
                row.epoch = epoch.next();
                row.renew_seq += 1;
                Ok(row.epoch)
            }
            Err(_other) => advanced(&state.leadership, epoch, me),
        }
    }

    async fn resign(&self, epoch: Epoch, me: &Candidate) -> Result<(), StoreError> {
        let mut state = self.open()?;
        let row = state.led_by(epoch, me)?;
        row.holder = None;
        row.renew_seq += 1;
        Ok(())
    }

    async fn commit(&self, epoch: Epoch, batch: &Batch) -> Result<Committed, CommitError> {
        let mut state = self.open()?;
        let fault = lock(&self.link.fault).take();
        if fault == Some(CommitFault::Before) {
            return Err(unavailable("the commit was not made"));
        }
        if state.leadership.epoch != epoch {
            return Err(StoreError::NotLeader);
        }
        let plan = admit(batch, state.found(&Needs::of(batch)))?;
        let outcomes = plan.outcomes.clone();
        state.apply(&plan, &batch.marks)?;
        if fault == Some(CommitFault::After) {
            return Err(unavailable("the answer of the commit was lost"));
        }
        Ok(Committed { outcomes, store_now: state.now })
    }

    async fn load(&self, scope: &Scope) -> Result<Snapshot, StoreError> {
        Ok(self.open()?.load(scope))
    }

    async fn outcomes(
        &self,
        versions: &[(JobId, Version)],
    ) -> Result<BTreeMap<(JobId, Version), ActionEnd>, StoreError> {
        let state = self.open()?;
        Ok(versions.iter().filter_map(|&at| Some((at, state.outcome(at)?))).collect())
    }

    async fn action(&self, id: ActionId) -> Result<Option<BoundAction>, StoreError> {
        let state = self.open()?;
        Ok(state.actions.get(&id).map(|action| state.bound(action)))
    }

    async fn bindings_of(
        &self,
        actions: &[ActionId],
    ) -> Result<BTreeMap<ActionId, Vec<Binding>>, StoreError> {
        let state = self.open()?;
        let lists = actions.iter().filter_map(|id| Some((*id, state.bindings.get(id)?.clone())));
        Ok(lists.filter(|(_, list)| !list.is_empty()).collect())
    }

    async fn actions_at(
        &self,
        versions: &[(JobId, Version)],
    ) -> Result<Vec<(Action, Option<Run>)>, StoreError> {
        let state = self.open()?;
        let mut found: Vec<_> = versions.iter().filter_map(|at| state.action_at(*at)).collect();
        found.sort_by_key(|action| action.id);
        Ok(found.into_iter().map(|a| (a.clone(), state.live_run(a).cloned())).collect())
    }

    async fn actions_between(
        &self,
        job: JobId,
        from: Version,
        to: Version,
        limit: u32,
    ) -> Result<Vec<Action>, StoreError> {
        let state = self.open()?;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(state.versions(job, from, to).take(most).cloned().collect())
    }

    async fn newest_action(
        &self,
        job: JobId,
        at: Version,
        decided: bool,
    ) -> Result<Option<Action>, StoreError> {
        Ok(self.open()?.newest(job, at, decided).cloned())
    }

    async fn list_actions(
        &self,
        filter: &ActionFilter,
        page: &Page,
    ) -> Result<ActionPage, StoreError> {
        self.open()?.list_actions(filter, page)
    }

    async fn dependents(
        &self,
        job: JobId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<Dependent>, StoreError> {
        let state = self.open()?;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(state.dependents(job, version).take(most).collect())
    }

    async fn list_runs(&self, filter: &RunFilter, page: &Page) -> Result<RunPage, StoreError> {
        self.open()?.list_runs(filter, page)
    }

    async fn run(&self, id: RunId) -> Result<Option<RunView>, StoreError> {
        let state = self.open()?;
        Ok(state.runs.get(&id).map(|run| state.run_view(run)))
    }

    async fn runs(&self, ids: &[RunId]) -> Result<Vec<Run>, StoreError> {
        let state = self.open()?;
        let ids: BTreeSet<&RunId> = ids.iter().collect();
        Ok(ids.into_iter().filter_map(|id| state.runs.get(id)).cloned().collect())
    }

    async fn attempts(&self, run: RunId) -> Result<Vec<AttemptView>, StoreError> {
        let state = self.open()?;
        let mut own: Vec<_> = state.attempts.values().filter(|a| a.run == run).collect();
        own.sort_by_key(|attempt| attempt.number);
        Ok(own.into_iter().map(|attempt| state.attempt_view(attempt)).collect())
    }

    async fn attempts_by_token(&self, tokens: &[Token]) -> Result<Vec<Attempt>, StoreError> {
        let state = self.open()?;
        let tokens: BTreeSet<&Token> = tokens.iter().collect();
        let mut found: Vec<Attempt> =
            tokens.into_iter().filter_map(|token| state.attempt_of(*token)).cloned().collect();
        found.sort_by_key(|attempt| attempt.fence);
        Ok(found)
    }

    async fn revisions(&self, job: JobId) -> Result<Vec<RevisionRow>, StoreError> {
        let state = self.open()?;
        Ok(state.revisions.values().filter(|r| r.job == job).rev().cloned().collect())
    }

    async fn gaps(&self, job: JobId, from: Version, to: Version) -> Result<Vec<Gap>, StoreError> {
        let state = self.open()?;
        let own = state.gaps.values().filter(|g| g.job == job);
        Ok(own.filter(|g| g.from <= to && g.to >= from).cloned().collect())
    }

    async fn audit(&self, filter: &AuditFilter, limit: u32) -> Result<Vec<AuditView>, StoreError> {
        let AuditFilter { subject, actor, before } = filter;
        let state = self.open()?;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let about = |row: &AuditRow, subject: &String| {
            let rest = row.subject.strip_prefix(subject);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
        };
        let wanted = |view: &AuditView| {
            subject.as_ref().is_none_or(|subject| about(&view.row, subject))
                && actor.as_ref().is_none_or(|actor| view.row.asked.actor == *actor)
                && before.is_none_or(|before| view.number < before)
        };
        let numbered = (1..).zip(&state.audit);
        let views = numbered.map(|(number, row)| AuditView { number, row: row.clone() });
        let mut found: Vec<AuditView> = views.filter(wanted).collect();
        found.reverse();
        found.truncate(most);
        Ok(found)
    }

    async fn append_log(&self, fence: Fence, offset: u64, bytes: &[u8]) -> Result<u64, StoreError> {
        Ok(self.open()?.append_log(fence, offset, bytes))
    }

    async fn read_log(&self, fence: Fence, offset: u64, max: u32) -> Result<LogRead, StoreError> {
        Ok(self.open()?.read_log(fence, offset, max))
    }

    async fn output(&self, fence: Fence) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.open()?.outputs.get(&fence).cloned())
    }

    async fn put_blob(&self, digest: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut state = self.open()?;
        state.blobs.entry(digest.to_owned()).or_insert_with(|| bytes.to_vec());
        Ok(())
    }

    async fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.open()?.blobs.get(digest).cloned())
    }
}
