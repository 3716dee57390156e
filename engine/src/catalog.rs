//! The jobs and groups as they are defined now: read by everybody, changed by the engine alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use hera_common::id::JobId;
use hera_common::job::{GroupRow, JobRow};
use hera_common::path::Path;
use hera_common::spec::JobSpec;

/// All jobs that are not deleted, and all groups.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    pub jobs: BTreeMap<JobId, Arc<Job>>,
    pub by_path: BTreeMap<Path, JobId>,
    pub groups: BTreeMap<Path, GroupRow>,
    /// For each job the jobs that have an edge to it.
    pub downstream: BTreeMap<JobId, Vec<JobId>>,
}

/// A job, read and checked.
#[derive(Debug)]
pub struct Job {
    pub row: JobRow,
    /// None: it cannot be read, and the job is parked.
    pub spec: Option<JobSpec>,
    /// The newest revision's document, JSON.
    pub spec_json: String,
    /// Why it stands still; None: it does not.
    pub parked: Option<String>,
}

impl Catalog {
    /// The job at `path`.
    pub fn job(&self, path: &Path) -> Option<&Arc<Job>> {
        self.by_path.get(path).and_then(|id| self.jobs.get(id))
    }
}
