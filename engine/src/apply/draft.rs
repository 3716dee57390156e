//! The catalog as it would be after an apply, or every reason why it cannot be.

mod calendars;
mod group;
mod hand;
mod link;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hera_common::calendar::CalendarRow;
use hera_common::doc::{
    Applied, AppliedJob, Around, CalendarThere, DocError, FieldError, GroupDoc, JobDoc, JobPlace,
    Known as _, Upstream, resolve_again,
};
use hera_common::hand::Hands;
use hera_common::id::{JobId, Revision, Seq};
use hera_common::job::{GroupRow, JobRow, RevisionRow};
use hera_common::path::Path;
use hera_common::spec::JobSpec;
use hera_common::time::{Version, Wall};
use hera_common::unit::Marks;

use super::ApplySet;
use super::words::differences;
use crate::catalog::{Catalog, Job};
use crate::input::{CalendarChange, GroupChange, JobChange, JobChangeKind, Refusal, RefusalKind};
use crate::plan::PlanError;

/// What an apply would do.
#[derive(Debug)]
pub struct Draft {
    pub catalog: Catalog,
    pub marks: Marks,
    pub groups: Vec<DraftedGroup>,
    pub jobs: Vec<Drafted>,
    pub deleted: Vec<JobId>,
    pub changes: Vec<JobChange>,
    pub group_changes: Vec<GroupChange>,
    /// The new revisions of calendars.
    pub calendars: Vec<CalendarRow>,
    pub calendar_changes: Vec<CalendarChange>,
    /// Jobs whose definitions stay, and whose calendars change.
    pub recounted: BTreeSet<JobId>,
    pub unchanged: u32,
    pub warnings: Vec<String>,
}

/// A group that is made or changed.
#[derive(Debug)]
pub struct DraftedGroup {
    pub row: GroupRow,
    pub new: bool,
    /// As [`Drafted::seen`].
    pub seen: bool,
}

/// A job that is made or changed.
#[derive(Debug)]
pub struct Drafted {
    pub id: JobId,
    pub new: bool,
    /// None: its definition stays, only its row changes.
    pub revision: Option<RevisionRow>,
    /// The definition before, JSON.
    pub was: Option<String>,
    /// Nothing is different but that the source has seen it: no news for anybody.
    pub seen: bool,
}

impl Draft {
    /// Why a set that is well formed cannot be applied: what `fault` says of the job, at its place in the files.
    pub fn unplannable(&self, set: &ApplySet, job: JobId, fault: PlanError) -> Refusal {
        let FieldError { field, problem } = self.catalog.explain(fault);
        let path = self.catalog.jobs.get(&fault.job()).map(|job| &job.row.path);
        let place = |path: &Path| {
            set.applied.jobs.iter().find(|job| job.doc.path == *path).map(|job| &job.place)
        };
        match path.and_then(place) {
            Some(place) => {
                refusal(place.error(FieldError { field, problem }), RefusalKind::Invalid)
            }
            None => {
                let asked = self.catalog.name(job);
                Refusal::of(RefusalKind::Invalid, &format!("{asked}: {field}"), problem)
            }
        }
    }
}

struct Drafting<'a> {
    set: &'a ApplySet,
    now: Wall,
    before: &'a Catalog,
    draft: Draft,
    /// Where each job of the set is written.
    places: BTreeMap<JobId, &'a JobPlace>,
    renamed: BTreeMap<Path, Path>,
    refusals: Vec<Refusal>,
    /// What another hand changed: told where nothing is wrong with the files themselves.
    others: Vec<Refusal>,
}

/// Computes what the set makes of the catalog.
///
/// # Errors
/// Everything that is wrong, with places; then nothing changes.
pub fn draft(
    before: &Catalog,
    marks: Marks,
    set: &ApplySet,
    now: Wall,
) -> Result<Draft, Vec<Refusal>> {
    let mut drafting = Drafting {
        set,
        now,
        before,
        draft: Draft {
            catalog: before.clone(),
            marks,
            groups: Vec::new(),
            jobs: Vec::new(),
            deleted: Vec::new(),
            changes: Vec::new(),
            group_changes: Vec::new(),
            calendars: Vec::new(),
            calendar_changes: Vec::new(),
            recounted: BTreeSet::new(),
            unchanged: 0,
            warnings: Vec::new(),
        },
        places: BTreeMap::new(),
        renamed: BTreeMap::new(),
        refusals: Vec::new(),
        others: Vec::new(),
    };
    drafting.calendars(&set.applied);
    drafting.groups(&set.applied);
    drafting.renames(&set.applied);
    for job in &set.applied.jobs {
        drafting.job(job);
    }
    if set.prune {
        drafting.prune(&set.applied);
    }
    drafting.others(&set.applied);
    drafting.recounted();
    drafting.link();
    drafting.done()
}

impl<'a> Drafting<'a> {
    fn renames(&mut self, applied: &'a Applied) {
        for job in &applied.jobs {
            let Some(was) = &job.renamed_from else { continue };
            let path = &job.doc.path;
            match (self.before.job(was), self.before.job(path)) {
                (Some(old), None) => {
                    self.renamed.insert(was.clone(), path.clone());
                    let mut row = old.row.clone();
                    row.path = path.clone();
                    let moved = Job { row, ..(**old).clone() };
                    self.draft.catalog.put(moved);
                }
                (Some(_old), Some(_new)) => {
                    let problem =
                        format!("both {was} and {path} are there: delete one of them first");
                    self.refuse(&job.place, "renamed_from", problem, RefusalKind::Conflict);
                }
                // Renamed by an earlier apply.
                (None, Some(_new)) => {}
                (None, None) => {
                    let problem = format!("there is no job {was}");
                    self.refuse(&job.place, "renamed_from", problem, RefusalKind::NotFound);
                }
            }
        }
    }

    fn job(&mut self, job: &'a AppliedJob) {
        let path = &job.doc.path;
        let json = job.doc.to_json();
        let existing = self.draft.catalog.job(path).cloned();
        let id = match &existing {
            Some(old) => self.changed_job(old, job, &json),
            None => self.new_job(job, json),
        };
        self.places.insert(id, &job.place);
    }

    fn new_job(&mut self, job: &AppliedJob, json: String) -> JobId {
        self.draft.marks.job = self.draft.marks.job.next();
        let id = self.draft.marks.job;
        let row = JobRow {
            id,
            path: job.doc.path.clone(),
            revision: Revision::from_raw(1),
            seq: Seq::FIRST,
            open: job.open.unwrap_or(true),
            parked: None,
            hands: Hands::first(self.hand()),
            created_at: self.now,
            deleted_at: None,
        };
        let since = self.set.since.unwrap_or_else(|| Version::at(self.now));
        let revision = self.revision(&row, since, json.clone());
        self.draft.catalog.put(Job::first(row, job.spec.clone(), json, since));
        self.change(JobChangeKind::Created, &job.doc.path, Revision::from_raw(1), Vec::new());
        self.draft.jobs.push(Drafted {
            id,
            new: true,
            revision: Some(revision),
            was: None,
            seen: false,
        });
        id
    }

    fn changed_job(&mut self, old: &Job, job: &AppliedJob, json: &str) -> JobId {
        let id = old.row.id;
        let renamed = job.renamed_from.as_ref().filter(|was| self.renamed.contains_key(*was));
        let mut row = old.row.clone();
        if let Some(was) = renamed {
            let mut change = change_of(JobChangeKind::Renamed, &row);
            change.was = was.to_string();
            self.draft.changes.push(change);
        }
        let open = job.open.unwrap_or(row.open);
        if open != row.open {
            row.open = open;
            let kind = if open { JobChangeKind::Opened } else { JobChangeKind::Closed };
            self.draft.changes.push(change_of(kind, &row));
        }
        let before = self.before.jobs.get(&id).map(|job| job.spec_json.clone());
        let same = before.as_deref() == Some(json) && old.parked.is_none();
        if same && renamed.is_none() && open == old.row.open {
            self.draft.unchanged += 1;
            self.seen(old);
            return id;
        }
        self.other_hand(old, Some((job, json)));
        row.hands.change(self.hand());
        if same {
            self.draft.catalog.put(Job { row, ..old.clone() });
            self.draft.jobs.push(Drafted {
                id,
                new: false,
                revision: None,
                was: before,
                seen: false,
            });
            return id;
        }
        self.revise(old, row, (json.to_owned(), job.spec.clone()));
        id
    }

    /// A new revision of a job that is there; it holds from now on.
    fn revise(&mut self, old: &Job, mut row: JobRow, (json, spec): (String, JobSpec)) {
        row.revision = row.revision.next();
        row.parked = None;
        let since = Version::at(self.now);
        let details = differences(&old.spec_json, &json);
        let revision = self.revision(&row, since, json.clone());
        self.change(JobChangeKind::Revised, &row.path, row.revision, details);
        self.draft.jobs.push(Drafted {
            id: row.id,
            new: false,
            revision: Some(revision),
            was: Some(old.spec_json.clone()),
            seen: false,
        });
        self.draft.catalog.put(old.revised(row, spec, json, since));
    }

    fn revision(&self, row: &JobRow, since: Version, spec: String) -> RevisionRow {
        RevisionRow {
            job: row.id,
            revision: row.revision,
            since,
            spec,
            actor: self.set.asked.actor.clone(),
            why: self.set.asked.why.clone(),
            source: row.hands.last.as_ref().map_or_else(String::new, |hand| hand.source.clone()),
            created_at: self.now,
        }
    }

    fn prune(&mut self, applied: &Applied) {
        let named: BTreeSet<&Path> = applied.groups.keys().collect();
        let kept: BTreeSet<&Path> = applied.jobs.iter().map(|job| &job.doc.path).collect();
        let gone: Vec<Arc<Job>> = self
            .draft
            .catalog
            .jobs
            .values()
            .filter(|job| job.row.path.parent().is_some_and(|group| named.contains(&group)))
            .filter(|job| !kept.contains(&job.row.path))
            .cloned()
            .collect();
        for job in gone {
            self.other_hand(&job, None);
            self.draft.catalog.remove(job.row.id);
            self.draft.deleted.push(job.row.id);
            self.draft.changes.push(change_of(JobChangeKind::Deleted, &job.row));
        }
    }

    /// Jobs that are not in the set, but inherit from a group that changed, or depend on a job that was renamed.
    fn others(&mut self, applied: &Applied) {
        let changed = self.draft.groups.iter().filter(|group| !group.seen);
        let changed: Vec<Path> = changed.map(|group| group.row.path.clone()).collect();
        if changed.is_empty() && self.renamed.is_empty() {
            return;
        }
        let in_set: BTreeSet<&Path> = applied.jobs.iter().map(|job| &job.doc.path).collect();
        let others: Vec<Arc<Job>> = self
            .draft
            .catalog
            .jobs
            .values()
            .filter(|job| !in_set.contains(&job.row.path) && job.parked.is_none())
            .cloned()
            .collect();
        for job in others {
            let below = changed.iter().any(|group| is_below(&job.row.path, group));
            match self.again(&job, below) {
                Ok(Some((json, spec))) => self.revise(&job, job.row.clone(), (json, spec)),
                Ok(None) => {}
                Err(fault) => self.refuse_other(&job.row.path, &fault),
            }
        }
    }

    /// The job's document filled in anew; None: it stays as it is.
    fn again(&self, job: &Job, below: bool) -> Result<Option<(String, JobSpec)>, FieldError> {
        let read = JobDoc::from_json(&job.spec_json);
        let mut doc = read.map_err(|fault| FieldError::new("", fault.to_string()))?;
        let mut moved = false;
        for edge in &mut doc.depends_on {
            if let Some(path) = self.renamed.get(&edge.job) {
                edge.job = path.clone();
                moved = true;
            }
        }
        if let Some(path) = doc.baseline.as_ref().and_then(|path| self.renamed.get(path)) {
            doc.baseline = Some(path.clone());
            moved = true;
        }
        if below {
            let chain: Vec<GroupDoc> =
                self.draft.catalog.chain(&job.row.path).into_iter().cloned().collect();
            let upstream = |path: &Path| -> Upstream { self.draft.catalog.upstream(path) };
            let calendar = |name: &str| match self.draft.catalog.calendars.get(name) {
                Some(_doc) => CalendarThere::There,
                None => CalendarThere::Missing,
            };
            let around = Around { chain: &chain, upstream: &upstream, calendar: &calendar };
            doc = resolve_again(&doc, &around).map_err(first)?;
        }
        let json = doc.to_json();
        if json == job.spec_json && !moved {
            return Ok(None);
        }
        Ok(Some((json, JobSpec::from_doc(&doc).map_err(first)?)))
    }

    fn refuse(&mut self, place: &JobPlace, field: &str, problem: String, kind: RefusalKind) {
        self.refusals.push(refusal(place.error(FieldError::new(field, problem)), kind));
    }

    fn refuse_job(&mut self, id: JobId, fault: FieldError, kind: RefusalKind) {
        match self.places.get(&id).copied() {
            Some(place) => self.refuse(place, &fault.field, fault.problem, RefusalKind::Invalid),
            None => {
                let name = self.draft.catalog.name(id);
                let field = format!("{name}: {}", fault.field);
                self.refusals.push(Refusal::of(kind, &field, fault.problem));
            }
        }
    }

    fn refuse_other(&mut self, path: &Path, fault: &FieldError) {
        let field = format!("{path}: {}", fault.field);
        self.refusals.push(Refusal::of(RefusalKind::Conflict, &field, fault.problem.clone()));
    }

    fn change(
        &mut self,
        kind: JobChangeKind,
        path: &Path,
        revision: Revision,
        details: Vec<String>,
    ) {
        let (job, was) = (path.to_string(), String::new());
        self.draft.changes.push(JobChange { kind, job, was, revision, details });
    }

    fn done(mut self) -> Result<Draft, Vec<Refusal>> {
        if !self.refusals.is_empty() {
            return Err(self.refusals);
        }
        if !self.others.is_empty() {
            return Err(self.others);
        }
        if !self.draft.jobs.is_empty()
            || !self.draft.deleted.is_empty()
            || !self.draft.groups.is_empty()
            || !self.draft.calendars.is_empty()
        {
            self.draft.catalog.edition += 1;
        }
        Ok(self.draft)
    }
}

fn refusal(told: DocError, kind: RefusalKind) -> Refusal {
    let DocError { file, place, field, problem } = told;
    Refusal { kind, field, place: format!("{file}:{place}"), problem }
}

fn change_of(kind: JobChangeKind, row: &JobRow) -> JobChange {
    JobChange {
        kind,
        job: row.path.to_string(),
        was: String::new(),
        revision: row.revision,
        details: Vec::new(),
    }
}

fn first(faults: Vec<FieldError>) -> FieldError {
    faults.into_iter().next().unwrap_or_else(|| FieldError::new("", "cannot be read"))
}

fn is_below(path: &Path, group: &Path) -> bool {
    path.as_str().strip_prefix(group.as_str()).is_some_and(|rest| rest.starts_with('/'))
}
