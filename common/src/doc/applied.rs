//! All files of one apply as a set: groups merged, names unique, every job filled in. Knows what is
//! stored only by what it asks.

use std::collections::BTreeMap;

use super::attach::{Contents, attach};
use super::calendar::CalendarDoc;
use super::file::{FileDoc, FileJob};
use super::group::GroupDoc;
use super::job::JobDoc;
use super::place::{DocError, FieldError, Place, Places, join};
use super::resolve::{Around, CalendarThere, Upstream, effective, resolve};
use super::settings::DataDoc;
use crate::calendar::{CalendarSpec, DaySet};
use crate::limits::APPLY_JOBS_MAX;
use crate::path::Path;
use crate::spec::JobSpec;

/// What is there already, as a set of files wants to know it.
pub trait Known {
    /// What holds above all groups; empty but in `hera dev`.
    fn base(&self) -> GroupDoc {
        GroupDoc::default()
    }

    /// The stored document of a group.
    fn group(&self, path: &Path) -> Option<GroupDoc>;

    /// A job that is not in the set; one that the apply deletes is missing.
    fn upstream(&self, path: &Path) -> Upstream;

    /// A calendar that is not in the set.
    fn calendar(&self, _name: &str) -> KnownCalendar {
        KnownCalendar::Missing
    }
}

/// What is known of a calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownCalendar {
    Missing,
    There(CalendarDoc),
    /// Not to be told here: a command line that has not asked the master.
    Unasked,
}

/// For a look at files before the master is asked: nothing is known, and nothing is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unknown;

impl Known for Unknown {
    fn group(&self, _path: &Path) -> Option<GroupDoc> {
        None
    }

    fn upstream(&self, _path: &Path) -> Upstream {
        Upstream::Unasked
    }

    fn calendar(&self, _name: &str) -> KnownCalendar {
        KnownCalendar::Unasked
    }
}

/// A set of files, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The groups that the files name, as they shall be.
    pub groups: BTreeMap<Path, AppliedGroup>,
    /// In the order of their paths.
    pub jobs: Vec<AppliedJob>,
    /// The calendars that the files define, by name.
    pub calendars: BTreeMap<String, CalendarDoc>,
}

/// A group that the set names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedGroup {
    pub doc: GroupDoc,
    /// Keys that no file of the set has, and that stay as they are stored.
    pub kept: Vec<&'static str>,
    file: String,
    place: Place,
}

impl AppliedGroup {
    /// A problem of the group, with the place where it is named first.
    pub fn error(&self, problem: String) -> DocError {
        let (file, place) = (self.file.clone(), self.place);
        DocError { file, place, field: "group".to_owned(), problem }
    }
}

/// A job of the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedJob {
    pub doc: JobDoc,
    pub spec: JobSpec,
    pub renamed_from: Option<Path>,
    /// Whether it shall be open; None: as it is, and open if it is new.
    pub open: Option<bool>,
    pub place: JobPlace,
}

/// Where a job is written: puts a place to a problem that is found later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPlace {
    pub file: String,
    /// The job in the file, such as `jobs[2]`.
    pub at: String,
    places: Places,
}

impl JobPlace {
    fn new(file: &FileDoc, job: &FileJob) -> Self {
        let at = format!("jobs[{}]", job.number);
        let places = file.places.below(&at).unwrap_or(&file.places).clone();
        Self { file: file.name.clone(), at, places }
    }

    /// A problem of the job with its file and place; the field is the job's, such as
    /// `schedule.cron`. One that is not written has the place of the field above it, or the job's.
    pub fn error(&self, error: FieldError) -> DocError {
        DocError {
            file: self.file.clone(),
            place: self.places.find(&error.field),
            field: join(&self.at, &error.field),
            problem: error.problem,
        }
    }
}

/// Checks a set of files as one, and fills in every job. A key (`owner`, `config`, `defaults`) that no file has for a
/// group stays as it is stored; with `prune` the files are all that there is of their groups.
///
/// # Errors
/// All that is wrong, by file and place.
pub fn apply_set(
    files: &[FileDoc],
    contents: &Contents,
    known: &impl Known,
    prune: bool,
) -> Result<Applied, Vec<DocError>> {
    let mut problems = unique(files);
    let stored = |path: &Path| if prune { None } else { known.group(path) };
    let groups = groups(files, &stored, &mut problems);
    let chains = Chains { groups: &groups, known };
    let declared = declared(files, &chains);
    let upstream = |path: &Path| match declared.get(path) {
        Some(data) => Upstream::There { data: *data },
        None => known.upstream(path),
    };
    let calendars = calendars(files, known, &mut problems);
    let calendar = |name: &str| match known.calendar(name) {
        _other if calendars.contains_key(name) => CalendarThere::There,
        KnownCalendar::Missing => CalendarThere::Missing,
        KnownCalendar::There(_) => CalendarThere::There,
        KnownCalendar::Unasked => CalendarThere::Unasked,
    };
    let mut jobs = Vec::new();
    for file in files {
        let Some(group) = &file.group else { continue };
        let chain = chains.of(group);
        let around = Around { chain: &chain, upstream: &upstream, calendar: &calendar };
        for job in &file.jobs {
            let place = JobPlace::new(file, job);
            match filled(file, job, contents, &around) {
                Ok((doc, spec)) => jobs.push(AppliedJob {
                    doc,
                    spec,
                    renamed_from: job.renamed_from.clone(),
                    open: job.open,
                    place,
                }),
                Err(errors) => problems.extend(errors.into_iter().map(|e| place.error(e))),
            }
        }
    }
    if problems.is_empty() {
        jobs.sort_by(|left, right| left.doc.path.cmp(&right.doc.path));
        return Ok(Applied { groups, jobs, calendars });
    }
    problems.sort();
    Err(problems)
}

fn filled(
    file: &FileDoc,
    job: &FileJob,
    contents: &Contents,
    around: &Around<'_>,
) -> Result<(JobDoc, JobSpec), Vec<FieldError>> {
    let attached = attach(&file.name, job, contents)?;
    let doc = resolve(job, attached, around)?;
    let spec = JobSpec::from_doc(&doc)?;
    Ok((doc, spec))
}

/// The groups of the set over the stored ones.
struct Chains<'a, K> {
    groups: &'a BTreeMap<Path, AppliedGroup>,
    known: &'a K,
}

impl<K: Known> Chains<'_, K> {
    /// From what holds above all down to `group`.
    fn of(&self, group: &Path) -> Vec<GroupDoc> {
        let above = std::iter::successors(Some(group.clone()), Path::parent);
        let mut chain: Vec<GroupDoc> = above
            .filter_map(|path| {
                let named = self.groups.get(&path).map(|group| group.doc.clone());
                named.or_else(|| self.known.group(&path))
            })
            .collect();
        chain.push(self.known.base());
        chain.reverse();
        chain
    }
}

/// What the jobs of the set declare of their data.
fn declared<K: Known>(
    files: &[FileDoc],
    chains: &Chains<'_, K>,
) -> BTreeMap<Path, Option<DataDoc>> {
    let mut declared = BTreeMap::new();
    for file in files {
        let Some(group) = &file.group else { continue };
        let chain = chains.of(group);
        for job in &file.jobs {
            declared.insert(job.path.clone(), effective(&job.settings, &chain).data);
        }
    }
    declared
}

/// Merges what several files say of one group, over what is stored of it.
fn groups(
    files: &[FileDoc],
    stored: &dyn Fn(&Path) -> Option<GroupDoc>,
    problems: &mut Vec<DocError>,
) -> BTreeMap<Path, AppliedGroup> {
    let mut groups: BTreeMap<Path, (GroupDoc, Vec<&FileDoc>)> = BTreeMap::new();
    for file in files {
        let Some(path) = &file.group else { continue };
        let (group, before) = groups.entry(path.clone()).or_default();
        for field in group.add(&file.own) {
            let first = before.iter().find(|earlier| earlier.says(&field));
            let other = first.map_or_else(String::new, |first| first.told_at(&field));
            let problem = format!("group `{path}` has another value {other}");
            problems.push(file.error(FieldError::new(file.written(&field), problem)));
        }
        before.push(file);
    }
    let filled = |(path, (said, files)): (Path, (GroupDoc, Vec<&FileDoc>))| {
        let (doc, kept) = over(said, &files, stored(&path).unwrap_or_default());
        let first = files.first();
        let file = first.map_or_else(String::new, |file| file.name.clone());
        let place = first.map_or(Place::START, |file| file.places.find("group"));
        (path, AppliedGroup { doc, kept, file, place })
    };
    groups.into_iter().map(filled).collect()
}

/// What files say of a group over what is stored, key by key; and the keys that stay.
fn over(said: GroupDoc, files: &[&FileDoc], stored: GroupDoc) -> (GroupDoc, Vec<&'static str>) {
    let says = |key: &str| files.iter().any(|file| file.places.below(key).is_some());
    let nothing = GroupDoc::default();
    let mut kept = Vec::new();
    let GroupDoc { mut config, mut defaults, mut owner } = said;
    if !says("owner") && stored.owner.is_some() {
        kept.push("owner");
        owner = stored.owner;
    }
    if !says("config") && stored.config != nothing.config {
        kept.push("config");
        config = stored.config;
    }
    // `zone` alone says nothing of the other defaults.
    if !says("defaults") && stored.defaults != nothing.defaults {
        kept.push("defaults");
        defaults = defaults.or(&stored.defaults);
    }
    (GroupDoc { config, defaults, owner }, kept)
}

/// The calendars of the set: each once, made of such as are there, and none of itself.
fn calendars(
    files: &[FileDoc],
    known: &impl Known,
    problems: &mut Vec<DocError>,
) -> BTreeMap<String, CalendarDoc> {
    let mut found: BTreeMap<String, CalendarDoc> = BTreeMap::new();
    let mut places: BTreeMap<&str, String> = BTreeMap::new();
    let written = || files.iter().flat_map(|file| file.calendars.iter().map(move |c| (file, c)));
    for (file, calendar) in written() {
        let field = format!("calendars[{}].name", calendar.number);
        if let Some(first) = places.get(calendar.name.as_str()) {
            let problem = format!("calendar `{}` is also {first}", calendar.name);
            problems.push(file.error(FieldError::new(&field, problem)));
            continue;
        }
        places.insert(&calendar.name, file.told_at(&field));
        found.insert(calendar.name.clone(), calendar.doc.clone());
    }
    let spec = |name: &str| match found.get(name) {
        Some(doc) => Some(doc.spec()),
        None => match known.calendar(name) {
            KnownCalendar::There(doc) => Some(doc.spec()),
            KnownCalendar::Missing => None,
            // As good as any: the master will tell.
            KnownCalendar::Unasked => Some(CalendarSpec::default()),
        },
    };
    for (file, calendar) in written() {
        if let Err(error) = DaySet::resolve(&calendar.name, &spec) {
            let field = format!("calendars[{}].of", calendar.number);
            problems.push(file.error(FieldError::new(field, error.to_string())));
        }
    }
    found
}

impl FileDoc {
    /// The field as it is written in this file: `zone` is short for `defaults.zone`.
    fn written(&self, field: &str) -> String {
        let short = field == "defaults.zone" && self.places.below("zone").is_some();
        if short { "zone".to_owned() } else { field.to_owned() }
    }

    fn says(&self, field: &str) -> bool {
        self.places.below(&self.written(field)).is_some()
    }

    fn told_at(&self, field: &str) -> String {
        format!("in {}:{}", self.name, self.places.find(&self.written(field)))
    }
}

/// Every job once, and every former name once.
fn unique(files: &[FileDoc]) -> Vec<DocError> {
    let mut problems = Vec::new();
    let mut places: BTreeMap<&Path, String> = BTreeMap::new();
    let mut former: BTreeMap<&Path, String> = BTreeMap::new();
    let written = || files.iter().flat_map(|file| file.jobs.iter().map(move |job| (file, job)));
    for (number, (file, job)) in written().enumerate() {
        let field = format!("jobs[{}].name", job.number);
        if number == APPLY_JOBS_MAX {
            let problem = format!("is one job too many: {APPLY_JOBS_MAX} in one apply");
            problems.push(file.error(FieldError::new(&field, problem)));
        }
        if let Some(first) = places.get(&job.path) {
            let problem = format!("job `{}` is also {first}", job.path);
            problems.push(file.error(FieldError::new(&field, problem)));
            continue;
        }
        places.insert(&job.path, file.told_at(&field));
    }
    for (file, job) in written() {
        let Some(old) = &job.renamed_from else { continue };
        let field = format!("jobs[{}].renamed_from", job.number);
        let problem = if *old == job.path {
            format!("`{old}` is the present name")
        } else if let Some(first) = places.get(old) {
            format!("`{old}` is still a job, {first}")
        } else if let Some(first) = former.get(old) {
            format!("`{old}` is also the former name of a job {first}")
        } else {
            former.insert(old, file.told_at(&field));
            continue;
        };
        problems.push(file.error(FieldError::new(&field, problem)));
    }
    problems
}
