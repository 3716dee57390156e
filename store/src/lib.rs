//! The only room with SQL: one narrow trait, kept by SQLite, by PostgreSQL and by memory.

mod admit;
mod error;
mod load;
mod mark;
mod memory;
mod open;
mod postgres;
mod read;
mod rules;
mod sql;
mod sqlite;
mod store;

pub use error::{CommitError, StoreError};
pub use load::{BadRow, BoundAction, Scope, Snapshot};
pub use memory::{CommitFault, MemoryStore, Rows};
pub use open::{BadPlace, Options, Place, StoreKind, open, open_sql};
pub use read::{
    ActionFilter, ActionPage, ActionStates, AttemptView, AuditFilter, AuditView, Dependent,
    LogRead, Page, RunFilter, RunPage, RunStates, RunView,
};
pub use sql::SqlStore;
pub use store::{Candidate, Seen, Store};
