//! What a master reads to build its memory, whole or for some jobs.

use hera_common::id::JobId;

pub use hera_common::snapshot::{BadRow, BoundAction, Snapshot};

/// Which part of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    All,
    /// These jobs (deleted ones too); groups, workers and marks come as with `All`.
    Jobs(Vec<JobId>),
}
