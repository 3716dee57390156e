//! A store under test that somebody leads, and the words that cases use for it.

use std::sync::Arc;

use hera_common::action::Action;
use hera_common::audit::AuditRow;
use hera_common::id::{ActionId, Epoch, RunId, Seq, Token};
use hera_common::run::Run;
use hera_common::unit::{Batch, Committed, Guard, Marks, Outcome, Put, Unit, Write};
use hera_store::{AuditFilter, Candidate, Scope, Seen, Snapshot, Store, StoreError};

use crate::rows;

/// Where a case runs: a new, empty store of one kind.
#[async_trait::async_trait]
pub(crate) trait Place: Sized + Send + Sync {
    async fn fresh() -> Self;

    /// One master's store.
    fn store(&self) -> Arc<dyn Store>;

    /// Another master's store on the same rows; None where there can be none.
    async fn second(&self) -> Option<Arc<dyn Store>>;
}

/// A place whose store counts the statements that it sends.
pub(crate) trait Counted {
    fn statements(&self) -> u64;
}

/// A store, and the epoch in which the case writes.
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) epoch: Epoch,
}

pub(crate) fn candidate(name: &str) -> Candidate {
    Candidate { name: name.to_owned(), address: format!("http://{name}.test:9887") }
}

/// Takes the leadership as it now is.
pub(crate) async fn acquire(store: &dyn Store, name: &str) -> Epoch {
    let row = store.leadership().await.unwrap();
    let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
    store.acquire(seen, &candidate(name)).await.unwrap().unwrap()
}

impl World {
    /// Leads the place's store.
    pub(crate) async fn led(place: &impl Place) -> Self {
        let store = place.store();
        let epoch = acquire(&*store, "one").await;
        Self { store, epoch }
    }

    pub(crate) async fn try_commit(&self, units: Vec<Unit>) -> Result<Committed, StoreError> {
        let batch = Batch { units, marks: Marks::default() };
        self.store.commit(self.epoch, &batch).await
    }

    /// What became of each unit, `D`one or `L`eft out.
    pub(crate) async fn commit(&self, units: Vec<Unit>) -> String {
        let letter = |outcome: &Outcome| match outcome {
            Outcome::Done => 'D',
            Outcome::LeftOut => 'L',
        };
        self.try_commit(units).await.unwrap().outcomes.iter().map(letter).collect()
    }

    /// Writes without a condition.
    pub(crate) async fn write(&self, writes: Vec<Write>) {
        assert_eq!(self.commit(vec![unit(vec![], writes)]).await, "D");
    }

    /// Writes something that must be refused as a whole; answers why.
    pub(crate) async fn refused(&self, writes: Vec<Write>) -> String {
        match self.try_commit(vec![unit(vec![], writes)]).await {
            Err(StoreError::Corrupt { what, .. }) => what,
            other => panic!("should be refused: {other:?}"),
        }
    }

    pub(crate) async fn all(&self) -> Snapshot {
        let mut snapshot = self.store.load(&Scope::All).await.unwrap();
        // Of a clock that goes on by itself two looks differ.
        snapshot.store_now = rows::MADE;
        snapshot
    }

    /// The newest rows of the audit.
    pub(crate) async fn audit(&self, subject: Option<&str>, limit: u32) -> Vec<AuditRow> {
        let filter = AuditFilter { subject: subject.map(str::to_owned), ..AuditFilter::default() };
        let views = self.store.audit(&filter, limit).await.unwrap();
        views.into_iter().map(|view| view.row).collect()
    }

    pub(crate) async fn run_row(&self, id: i64) -> Run {
        self.store.run(RunId::from_raw(id)).await.unwrap().unwrap().run
    }

    pub(crate) async fn action_row(&self, id: i64) -> Option<Action> {
        let bound = self.store.action(ActionId::from_raw(id)).await.unwrap();
        bound.map(|bound| bound.action)
    }

    /// A job with its first revision and its cursor, and a worker for all of them.
    pub(crate) async fn with_jobs(&self, ids: &[i64]) {
        let mut writes = vec![insert_worker(rows::worker(1))];
        for &id in ids {
            writes.extend([
                Write::Job(Put::Insert, Box::new(rows::job(id))),
                Write::Revision(Box::new(rows::revision(id, 1))),
                Write::Cursor(Put::Insert, rows::cursor(id)),
            ]);
        }
        self.write(writes).await;
    }
}

pub(crate) fn unit(guards: Vec<Guard>, writes: Vec<Write>) -> Unit {
    Unit { guards, writes, after: Vec::new() }
}

pub(crate) fn guard_run(run: &Run) -> Guard {
    let token: Option<Token> = run.state.hold().map(|hold| hold.token);
    Guard::Run { id: run.id, hb_seq: run.hb_seq, token }
}

pub(crate) fn guard_action(action: &Action) -> Guard {
    Guard::Action { id: action.id, seq: action.seq }
}

pub(crate) fn insert_action(row: &Action) -> Write {
    Write::Action(Put::Insert, Box::new(row.clone()))
}

pub(crate) fn update_action(row: &Action) -> Write {
    Write::Action(Put::Update, Box::new(row.clone()))
}

pub(crate) fn insert_run(row: &Run) -> Write {
    Write::Run(Put::Insert, Box::new(row.clone()))
}

pub(crate) fn update_run(row: &Run) -> Write {
    Write::Run(Put::Update, Box::new(row.clone()))
}

pub(crate) fn insert_attempt(row: hera_common::attempt::Attempt) -> Write {
    Write::Attempt(Put::Insert, Box::new(row))
}

pub(crate) fn update_attempt(row: hera_common::attempt::Attempt) -> Write {
    Write::Attempt(Put::Update, Box::new(row))
}

pub(crate) fn insert_worker(row: hera_common::worker::WorkerRow) -> Write {
    Write::Worker(Put::Insert, Box::new(row))
}

/// A number that no row has.
pub(crate) const NO_SEQ: Seq = Seq::from_raw(99);
