//! A job file as written, read whole or refused with every error that can be told. Knows no other
//! file and no stored group.

use std::collections::BTreeMap;

use super::attach::{check_name, check_script_bytes};
use super::calendar::FileCalendar;
use super::edge::FileEdge;
use super::fields::{Fields, Names, Problems, one};
use super::group::{GroupDoc, config};
use super::label::StateWord;
use super::place::{DocError, FieldError, Places};
use super::schedule::{DstDoc, ScheduleDoc};
use super::settings::{self, Settings};
use super::value::{owner, path, text, words, zone};
use super::yaml::{self, Node, Value};
use crate::limits::EDGES_MAX;
use crate::path::Path;
use crate::spec::Kind;

pub(super) const FILE: Names = Names {
    known: &[&["group", "owner", "zone", "config", "defaults", "jobs", "calendars"]],
    later: &[&["pools", "secrets"]],
};
pub(super) const DEFAULTS: Names =
    Names { known: &[settings::KNOWN, settings::DEFAULTS_ONLY], later: &[settings::LATER] };
pub(super) const JOB: Names = Names {
    known: &[
        &[
            "name",
            "renamed_from",
            "owner",
            "description",
            "state",
            "type",
            "schedule",
            "depends_on",
            "baseline",
            "config",
            "files",
            "script",
        ],
        settings::KNOWN,
    ],
    later: &[settings::LATER],
};
pub(super) const SCRIPT: Names = Names { known: &[&["file"]], later: &[] };

/// A job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDoc {
    /// The file, as it is to be named in errors; folders end in `/`.
    pub name: String,
    /// None: the file holds only calendars.
    pub group: Option<Path>,
    /// What the file says of its group.
    pub own: GroupDoc,
    pub jobs: Vec<FileJob>,
    pub calendars: Vec<FileCalendar>,
    pub(super) places: Places,
}

/// A job as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileJob {
    /// Its number in the file, from 0: `jobs[0]`.
    pub number: usize,
    pub path: Path,
    pub renamed_from: Option<Path>,
    /// Whether it shall be open; None: as it is.
    pub open: Option<bool>,
    pub owner: Option<String>,
    pub description: String,
    pub kind: Kind,
    pub schedule: Option<ScheduleDoc>,
    pub edges: Vec<FileEdge>,
    pub baseline: Option<Path>,
    pub config: BTreeMap<String, String>,
    pub files: Vec<String>,
    pub script: Script,
    pub settings: Settings,
}

/// A script as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    Nothing,
    Text(String),
    /// The name of a file beside the job file.
    File(String),
}

impl FileDoc {
    /// The error with its file and place; the field is that of the file, such as
    /// `jobs[2].schedule.cron`.
    pub fn error(&self, error: FieldError) -> DocError {
        let FieldError { field, problem } = error;
        let place = self.places.find(&field);
        DocError { file: self.name.clone(), place, field, problem }
    }
}

/// Reads a job file. `name` is the file in errors, and where attached files are looked for beside.
///
/// # Errors
/// All that is wrong, in the order of the file.
pub fn read_file(name: &str, text: &str) -> Result<FileDoc, Vec<DocError>> {
    let node = yaml::parse(name, text).map_err(|error| vec![error])?;
    let mut problems = Problems { file: name, found: Vec::new() };
    let read = document(&node, &mut problems);
    let mut found = problems.found;
    found.sort();
    match read {
        Some(read) if found.is_empty() => {
            let Read { group, own, jobs, calendars } = read;
            let places = yaml::places(&node);
            Ok(FileDoc { name: name.to_owned(), group, own, jobs, calendars, places })
        }
        Some(_) | None => Err(found),
    }
}

/// What a file holds.
struct Read {
    group: Option<Path>,
    own: GroupDoc,
    jobs: Vec<FileJob>,
    calendars: Vec<FileCalendar>,
}

fn document(node: &Node, problems: &mut Problems<'_>) -> Option<Read> {
    let fields = Fields::open(node, "", &FILE, problems)?;
    let mut number = 0;
    let calendars = fields.list("calendars", problems, |node, at, problems| {
        number += 1;
        FileCalendar::read(node, at, number - 1, problems)
    });
    let written = |name: &&str| fields.node(name).is_some();
    let of_group = ["owner", "zone", "config", "defaults", "jobs"].iter().any(written);
    if fields.node("group").is_none() && (of_group || calendars.is_none()) {
        problems.add(node.place, "group", "is missing: the group that the jobs are in");
    }
    let group = fields.one("group", problems, |text| {
        Path::parse(text).map_err(|error| format!("`{text}` is no path: {error}"))
    });
    // With a bad group the rest is checked all the same, in a place of its own.
    let in_group = group.clone().or_else(|| Path::parse("group").ok())?;
    let own = group_doc(&fields, problems);
    let mut number = 0;
    let jobs = fields.list("jobs", problems, |node, at, problems| {
        number += 1;
        job(node, at, number - 1, &in_group, problems)
    });
    let (jobs, calendars) = (jobs.unwrap_or_default(), calendars.unwrap_or_default());
    Some(Read { group, own, jobs, calendars })
}

fn group_doc(fields: &Fields<'_>, problems: &mut Problems<'_>) -> GroupDoc {
    let owner = fields.one("owner", problems, owner);
    let config = config(fields.node("config"), "config", problems);
    let defaults = fields
        .node("defaults")
        .and_then(|node| Fields::open(node, "defaults", &DEFAULTS, problems))
        .map(|fields| Settings {
            dst: DstDoc::read(&fields, problems),
            ..Settings::read(&fields, problems)
        });
    let mut defaults = defaults.unwrap_or_default();
    if let Some(zone) = fields.one("zone", problems, zone) {
        let differs = defaults.zone.as_ref().is_some_and(|other| *other != zone);
        if let (true, Some(node)) = (differs, fields.node("zone")) {
            let problem = "`zone` and `defaults.zone` mean the same, and differ";
            problems.add(node.place, "zone", problem);
        }
        defaults.zone = Some(zone);
    }
    GroupDoc { config, defaults, owner }
}

fn job(
    node: &Node,
    at: &str,
    number: usize,
    group: &Path,
    problems: &mut Problems<'_>,
) -> Option<FileJob> {
    let fields = Fields::open(node, at, &JOB, problems)?;
    if fields.node("name").is_none() {
        problems.add(node.place, &fields.path("name"), "is missing");
    }
    let name = fields.one("name", problems, |text| job_path(text, group));
    let renamed_from = fields.one("renamed_from", problems, |text| path(text, group));
    let open = fields.word::<StateWord>("state", problems);
    let owner = fields.one("owner", problems, owner);
    let description = fields.one("description", problems, text).unwrap_or_default();
    let kind = fields.word::<Kind>("type", problems);
    let schedule = ScheduleDoc::read(&fields, problems);
    let edges = fields.list("depends_on", problems, |node, at, problems| {
        FileEdge::read(node, at, group, problems)
    });
    let edges = edges.unwrap_or_default();
    if edges.len() > EDGES_MAX {
        let problem = format!("has {} edges, more than {EDGES_MAX}", edges.len());
        problems.add(node.place, &fields.path("depends_on"), problem);
    }
    let baseline = fields.one("baseline", problems, |text| path(text, group));
    let config = config(fields.node("config"), &fields.path("config"), problems);
    let files = fields.list("files", problems, |node, at, problems| {
        one(node, at, problems, |text| check_name(text).map(|()| text.to_owned()))
    });
    let script = script(&fields, problems);
    check_script(node, &fields, kind, &script, problems);
    let settings = Settings::read(&fields, problems);
    Some(FileJob {
        number,
        path: name?,
        renamed_from,
        open: open.map(|state| state == StateWord::Open),
        owner,
        description,
        kind: kind.unwrap_or(Kind::Shell),
        schedule,
        edges,
        baseline,
        config,
        files: files.unwrap_or_default(),
        script: script.unwrap_or(Script::Nothing),
        settings,
    })
}

fn job_path(text: &str, group: &Path) -> Result<Path, String> {
    if text.contains('/') {
        return Err(format!("`{text}` is a path: write the last name, the rest is the group"));
    }
    group.join(text).map_err(|error| format!("`{text}` is no name: {error}"))
}

/// None where the field is written and bad.
fn script(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Script> {
    let Some(node) = fields.node("script") else { return Some(Script::Nothing) };
    if !matches!(node.value, Value::Map(_)) {
        let text = fields.one("script", problems, |text| {
            check_script_bytes(text.len())?;
            words(text)
        });
        return text.map(Script::Text);
    }
    let at = fields.path("script");
    let fields = Fields::open(node, &at, &SCRIPT, problems)?;
    if fields.node("file").is_none() {
        problems.add(node.place, &at, "has no `file`");
    }
    let name = fields.one("file", problems, |text| {
        if text.ends_with('/') {
            return Err(format!("`{text}` is a folder"));
        }
        check_name(text).map(|()| text.to_owned())
    });
    name.map(Script::File)
}

/// A shell job wants a script, and a noop would never run one.
fn check_script(
    node: &Node,
    fields: &Fields<'_>,
    kind: Option<Kind>,
    script: &Option<Script>,
    problems: &mut Problems<'_>,
) {
    // A type that was not understood may be one without a script.
    let kind = match (kind, fields.node("type")) {
        (Some(kind), _) => kind,
        (None, None) => Kind::Shell,
        (None, Some(_)) => return,
    };
    match (kind, script) {
        (Kind::Shell, Some(Script::Nothing)) => {
            problems.add(
                node.place,
                &fields.path("script"),
                "is missing, and a shell job runs one",
            );
        }
        (Kind::Noop, Some(Script::Text(_) | Script::File(_))) => {
            let place = fields.node("script").map_or(node.place, |script| script.place);
            problems.add(place, &fields.path("script"), "would never run: a noop has no process");
        }
        (Kind::Shell, Some(Script::Text(_) | Script::File(_)) | None)
        | (Kind::Noop, Some(Script::Nothing) | None) => {}
    }
}
