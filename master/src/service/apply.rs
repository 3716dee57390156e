//! Applying job files: read and checked here, beside the loop; decided and written as one by the engine.

mod lease;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use hera_common::audit::Asked;
use hera_common::doc::{Applied as Checked, Contents, DocError, apply_set, beside, read_file};
use hera_common::limits::FILES_BYTES_MAX;
use hera_common::time::Version;
use hera_engine::apply::{ApplySet, OthersChanges};
use hera_engine::catalog::Catalog;
use hera_engine::input::{Applied, Input, RefusalKind, Reply};

use super::Service;
use super::fault::{Fault, Violation, refused};
use crate::role::Lead;
use lease::Bound;

/// A set is checked anew when the definitions have changed in the meantime, at most so often.
const TRIES: u32 = 5;

/// Job files, and what they name beside them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    /// Name and YAML text.
    pub(crate) texts: Vec<(String, String)>,
    pub(crate) attached: Vec<Attached>,
}

/// A file that a job file names.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    /// The job file.
    pub(crate) file: String,
    /// As seen from the job file's folder.
    pub(crate) path: String,
    pub(crate) content: Bytes,
    pub(crate) executable: bool,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct ToApply {
    pub(crate) asked: Asked,
    pub(crate) source: String,
    pub(crate) others: OthersChanges,
    pub(crate) files: Files,
    pub(crate) dry_run: bool,
    pub(crate) prune: bool,
    pub(crate) since: Option<Version>,
    pub(crate) first_load_newest: bool,
}

impl Service {
    /// Applies a set of files whole, or not at all.
    pub(crate) async fn apply(&self, wanted: ToApply) -> Result<Applied, Fault> {
        let files = Arc::new(wanted.files.clone());
        for _try in 0..TRIES {
            let lead = self.lead()?;
            let catalog = lead.catalog();
            let edition = catalog.edition;
            let looked = (wanted.prune, self.lease_bound());
            let (checked, contents) = check(Arc::clone(&files), catalog, looked).await?;
            if !wanted.dry_run {
                self.keep(&checked, &contents).await?;
            }
            if let Some(applied) = put(&lead, set(&wanted, edition, checked)).await? {
                return Ok(applied);
            }
        }
        Err(Fault::Stale("the jobs change all the time, apply again".to_owned()))
    }

    fn lease_bound(&self) -> Bound {
        let site = self.site();
        Bound { timing: site.timing.clone(), rho_ppm: site.rho_ppm }
    }

    /// Keeps the files by their digests before any revision names them.
    async fn keep(&self, checked: &Checked, contents: &Contents) -> Result<(), Fault> {
        let files = checked.jobs.iter().flat_map(|job| &job.spec.files);
        let wanted: BTreeSet<&str> = files.map(|file| file.digest.as_str()).collect();
        let mut kept = BTreeSet::new();
        for (_name, content) in contents.iter() {
            let digest = content.digest.as_str();
            if wanted.contains(digest) && kept.insert(digest) {
                self.store().put_blob(digest, &content.bytes).await?;
            }
        }
        Ok(())
    }
}

fn set(wanted: &ToApply, edition: u64, applied: Checked) -> ApplySet {
    ApplySet {
        asked: wanted.asked.clone(),
        source: wanted.source.clone(),
        others: wanted.others,
        edition,
        applied,
        dry_run: wanted.dry_run,
        prune: wanted.prune,
        since: wanted.since,
        first_load_newest: wanted.first_load_newest,
    }
}

/// None: the definitions have changed since they were looked at.
async fn put(lead: &Lead, set: ApplySet) -> Result<Option<Applied>, Fault> {
    let Reply::Applied(applied) = Service::decide(lead, Input::Apply(Box::new(set))).await? else {
        return Err(Fault::OtherReply);
    };
    match applied {
        Ok(applied) => Ok(Some(applied)),
        Err(refusals) if refusals.iter().any(|refusal| refusal.kind == RefusalKind::Stale) => {
            Ok(None)
        }
        Err(refusals) => Err(refused(refusals)),
    }
}

/// Reads and checks on a thread that may be blocked: thousands of files take seconds.
async fn check(
    files: Arc<Files>,
    catalog: Arc<Catalog>,
    (prune, bound): (bool, Bound),
) -> Result<(Checked, Contents), Fault> {
    let checking = tokio::task::spawn_blocking(move || {
        let contents = contents(&files)?;
        let docs = read(&files)?;
        let checked = apply_set(&docs, &contents, &*catalog, prune).map_err(bad)?;
        let short = bound.check(&docs, &checked);
        if short.is_empty() { Ok((checked, contents)) } else { Err(bad(short)) }
    });
    checking.await.map_err(Fault::Died)?
}

fn contents(files: &Files) -> Result<Contents, Fault> {
    let mut contents = Contents::default();
    for Attached { file, path, content, executable } in &files.attached {
        if content.len() > FILES_BYTES_MAX {
            let problem = format!("{path} has more than {FILES_BYTES_MAX} bytes");
            return Err(Fault::invalid("attachments", problem));
        }
        contents.add(beside(file, path), content.to_vec(), *executable);
    }
    Ok(contents)
}

fn read(files: &Files) -> Result<Vec<hera_common::doc::FileDoc>, Fault> {
    let (mut docs, mut errors) = (Vec::with_capacity(files.texts.len()), Vec::new());
    let mut names = BTreeMap::new();
    for (name, text) in &files.texts {
        if names.insert(name, ()).is_some() {
            return Err(Fault::invalid("files", format!("{name} comes twice")));
        }
        match read_file(name, text) {
            Ok(doc) => docs.push(doc),
            Err(more) => errors.extend(more),
        }
    }
    if errors.is_empty() { Ok(docs) } else { Err(bad(errors)) }
}

fn bad(mut errors: Vec<DocError>) -> Fault {
    errors.sort();
    let violation = |error: DocError| {
        let DocError { file, place, field, problem } = error;
        let problem = if field.is_empty() { problem } else { format!("{field}: {problem}") };
        Violation { field: format!("{file}:{place}"), problem }
    };
    Fault::Invalid(errors.into_iter().map(violation).collect())
}
