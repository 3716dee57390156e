//! What a database must do for the store, and the words for it. Knows no table.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use hera_common::id::Fence;

use super::ask::{Ask, ListForm};
use super::catalog::Catalog;
use super::cells::Reader;
use crate::StoreError;
use crate::read::LogRead;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// One transaction that writes; on SQLite it is the only one.
    Write,
    /// One that writes so much that its time says nothing about the database's health.
    WriteMuch,
    /// One statement that writes, and is its own transaction.
    WriteOnce,
    /// Many statements that see the rows of one instant.
    Look,
    /// One statement that reads.
    LookOnce,
    /// One statement that reads a list, by whatever filter a person thought of.
    Browse,
    /// All that is active.
    Load,
}

/// Why a statement failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Two transactions met: the same one again may go well.
    Again(StoreError),
    /// The rows are not as the order takes them to be, or a rule refuses what it makes of them. Where they were
    /// only believed to be so, a look at them tells more.
    Doubted(StoreError),
    Fatal(StoreError),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Fatal(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Again(error) | Fault::Doubted(error) | Fault::Fatal(error) => error,
        }
    }
}

/// Takes the rows of an answer, one by one.
pub(crate) type OnRow<'f> = dyn FnMut(Reader<'_>) -> Result<(), StoreError> + Send + 'f;

/// A connection that somebody uses. Dropped without [`Session::finish`] or [`Session::give_up`] it is closed,
/// and what it has begun is undone.
#[async_trait]
pub(crate) trait Session: Send {
    /// Runs a statement and hands over its rows.
    async fn each(&mut self, ask: Ask<'_>, on_row: &mut OnRow<'_>) -> Result<(), Fault>;

    /// Runs a statement and answers how many rows it changed.
    async fn execute(&mut self, ask: Ask<'_>) -> Result<u64, Fault>;

    /// Commits.
    async fn finish(self: Box<Self>) -> Result<(), Fault>;

    /// Rolls back.
    async fn give_up(self: Box<Self>);
}

/// A database.
#[async_trait]
pub(crate) trait Dialect: Send + Sync + 'static {
    fn catalog(&self) -> &'static Catalog;

    fn list_form(&self) -> ListForm;

    /// How long an answer may take.
    fn patience(&self, purpose: Purpose) -> Duration;

    /// Begins.
    async fn session(&self, purpose: Purpose) -> Result<Box<dyn Session>, Fault>;

    /// As [`crate::Store::append_log`].
    async fn append_log(&self, fence: Fence, offset: u64, bytes: &[u8]) -> Result<u64, StoreError>;

    /// As [`crate::Store::read_log`].
    async fn read_log(&self, fence: Fence, offset: u64, max: u32) -> Result<LogRead, StoreError>;

    /// How many bytes these logs have; one that has none may be missing.
    async fn log_sizes(&self, fences: &[Fence]) -> Result<BTreeMap<Fence, u64>, StoreError>;

    /// How many statements were sent so far, BEGIN and COMMIT counted.
    fn statements(&self) -> u64;

    /// Closes all connections.
    async fn close(&self);
}

/// Ends a session by how its work went.
pub(crate) async fn end<T>(
    session: Box<dyn Session>,
    told: Result<T, Fault>,
) -> Result<T, StoreError> {
    match told {
        Ok(told) => {
            session.finish().await?;
            Ok(told)
        }
        Err(fault) => {
            session.give_up().await;
            Err(fault.into())
        }
    }
}
