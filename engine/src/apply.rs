//! Applying job files: what a set of documents would change, and the units that change it.

use hera_common::audit::Asked;
use hera_common::time::Version;

/// A set of job files; applied whole or not at all.
#[derive(Debug)]
pub struct ApplySet {
    pub asked: Asked,
    /// Where the files come from: a name that is the same each time.
    pub source: String,
    pub dry_run: bool,
    pub prune: bool,
    pub overwrite: bool,
    /// The first revision of new jobs holds from here on; None: from now.
    pub since: Option<Version>,
    /// New jobs run their newest due version and the upstream versions that it binds to, recursively; all older ones
    /// become one gap.
    pub first_load_newest: bool,
}
