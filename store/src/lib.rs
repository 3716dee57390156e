//! The only room with SQL: one narrow trait, kept by SQLite, by PostgreSQL and by memory.

mod error;
mod load;
mod read;
mod store;

pub use error::{CommitError, StoreError};
pub use load::{BoundAction, Scope, Snapshot};
pub use read::{
    ActionFilter, ActionPage, AttemptView, LogRead, Page, RunFilter, RunView, StateFilter,
};
pub use store::{Candidate, Seen, Store};
