//! Applying job files: what a set of documents would make of the catalog. Pure of memory and rows: the engine writes them.

mod draft;
mod words;

use hera_common::audit::Asked;
use hera_common::doc::Applied;
use hera_common::time::Version;

pub use draft::{Draft, Drafted, draft};
pub use words::differences;

/// What an apply does with what another hand changed since its source last applied it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OthersChanges {
    /// It is refused where it would lose them.
    Keep,
    /// It replaces them, and tells what was lost.
    Overwrite,
}

/// A set of job files, checked by themselves; applied whole or not at all.
#[derive(Debug)]
pub struct ApplySet {
    pub asked: Asked,
    /// Where the files come from; not empty.
    pub source: String,
    pub others: OthersChanges,
    /// The catalog's edition against which they were checked.
    pub edition: u64,
    pub applied: Applied,
    pub dry_run: bool,
    /// Deletes the jobs of the named groups that are not in the set.
    pub prune: bool,
    /// The first revision of new jobs holds from here on; None: from now.
    pub since: Option<Version>,
    /// New jobs run their newest due version and the upstream versions that it binds to, recursively; all older ones
    /// become one gap.
    pub first_load_newest: bool,
}
