//! A job's document as it is stored in a revision: all that it inherits filled in, one text for one
//! content. Knows no file and no place.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::attach::{check_name, check_script_bytes};
use super::edge::BindParts;
use super::label::{BackoffWord, BindWord};
use super::place::FieldError;
use super::schedule::{CalendarUseDoc, DstDoc, ScheduleDoc};
use super::settings::{DataDoc, RetriesDoc, Settings};
use super::value::{Span, zone};
use crate::limits::{ATTEMPTS_MAX, EDGES_MAX};
use crate::path::Path;
use crate::shift::Shift;
use crate::spec::{
    Backoff, CatchUp, DataSpec, EdgeSpec, Empty, FileSpec, JobSpec, Kind, On, Overlap, Period,
    Policy, Retries,
};

/// The cap of a growing delay where none is written.
pub(super) const MAX_DELAY: Span = Span::new(Duration::from_secs(3_600));

/// The definition of a job in one revision. Fields are in the order of the alphabet, so that the
/// JSON is canonical: the same content gives the same text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobDoc {
    pub at_most_once: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Path>,
    /// Which days are business days, of its schedule too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<CalendarUseDoc>,
    pub catch_up: CatchUp,
    /// The groups' from the root down, then the job's own: a run's attempts all read that of its revision.
    pub config: BTreeMap<String, String>,
    /// None: not declared, neither by the job nor by a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataDoc>,
    pub depends_on: Vec<EdgeDoc>,
    pub description: String,
    /// What its schedule does with a change of the clocks, where that is not the default.
    #[serde(default, skip_serializing_if = "DstDoc::is_empty")]
    pub dst: DstDoc,
    pub files: Vec<FileRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_group: Option<String>,
    pub lease: Span,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lateness: Option<Span>,
    pub overlap: Overlap,
    /// What the job itself says, for the day when a group's defaults change.
    pub own: OwnDoc,
    pub owner: String,
    pub path: Path,
    pub restarts: u32,
    pub retries: RetriesDoc,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleDoc>,
    pub script: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_within: Option<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    #[serde(rename = "type")]
    pub kind: Kind,
    pub urgency: u8,
    pub zone: String,
}

/// An edge, filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeDoc {
    pub bind: BindWord,
    pub empty: Empty,
    /// With `window` only, as `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Shift>,
    pub job: Path,
    /// With `previous` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// With `first`, `last` and `all` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Period>,
    /// None: not moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Shift>,
    pub on: On,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Shift>,
}

impl EdgeDoc {
    pub(super) fn new(edge: EdgeSpec) -> Self {
        let EdgeSpec { upstream, bind, offset, on, empty } = edge;
        let BindParts { word, of, n, from, to } = BindParts::new(bind);
        let offset = (!offset.is_none()).then_some(offset);
        Self { bind: word, empty, from, job: upstream, n, of, offset, on, to }
    }

    /// The edge; on failure the part that is bad, and why.
    pub(super) fn spec(&self) -> Result<EdgeSpec, (&'static str, String)> {
        let Self { bind, empty, from, job, n, of, offset, on, to } = self.clone();
        let bind = BindParts { word: bind, of, n, from, to }.bind()?;
        let offset = offset.unwrap_or(Shift::NONE);
        Ok(EdgeSpec { upstream: job, bind, offset, on, empty })
    }
}

/// A file that travels with the job; its content is stored by digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRef {
    pub digest: String,
    pub executable: bool,
    pub name: String,
}

/// What the job itself says of what it could inherit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OwnDoc {
    /// None: of a document that holds no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<BTreeMap<String, String>>,
    /// One for each edge, in order.
    pub depends_on: Vec<OwnEdge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    pub settings: Settings,
}

/// What an edge itself says of what has a default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OwnEdge {
    /// It says how it binds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bind: bool,
    /// It says what if nothing binds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
}

/// Why a stored document cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    #[error("is no job document")]
    Json(#[from] serde_json::Error),
    #[error("is no valid job: {}", list(.0))]
    Fields(Vec<FieldError>),
}

fn list(errors: &[FieldError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl JobDoc {
    /// The document's one text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("keys are texts and numbers are whole")
    }

    /// Reads what [`JobDoc::to_json`] wrote.
    ///
    /// # Errors
    /// What no job document is.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}

/// Reads a stored revision.
///
/// # Errors
/// A text that is no document, or one that breaks a rule.
pub fn spec_from_json(json: &str) -> Result<JobSpec, SpecError> {
    let doc = JobDoc::from_json(json)?;
    JobSpec::from_doc(&doc).map_err(SpecError::Fields)
}

impl JobSpec {
    /// The checked definition.
    ///
    /// # Errors
    /// Every field that breaks a rule.
    pub fn from_doc(doc: &JobDoc) -> Result<Self, Vec<FieldError>> {
        let mut problems = Vec::new();
        let edges = edges(doc, &mut problems);
        let policy = policy(doc, &mut problems);
        let files = files(doc, &mut problems);
        if let Err(problem) = zone(&doc.zone) {
            problems.push(FieldError::new("zone", problem));
        }
        if let Err(problem) = check_script_bytes(doc.script.len()) {
            problems.push(FieldError::new("script", problem));
        }
        let calendar = doc.calendar.as_ref().map(CalendarUseDoc::spec).transpose();
        let calendar = calendar.unwrap_or_else(|problem| {
            problems.push(FieldError::new("calendar", problem));
            None
        });
        if !problems.is_empty() {
            return Err(problems);
        }
        let schedule = doc.schedule.as_ref();
        let schedule = schedule.map(|own| own.spec(&doc.zone, doc.dst, calendar.clone()));
        let data = doc.data.map(|DataDoc { offset, period }| DataSpec { period, offset });
        Ok(Self {
            path: doc.path.clone(),
            owner: doc.owner.clone(),
            description: doc.description.clone(),
            kind: doc.kind,
            zone: doc.zone.clone(),
            schedule,
            calendar,
            edges,
            baseline: doc.baseline.clone(),
            data: data.unwrap_or_default(),
            config: doc.config.clone(),
            script: doc.script.clone(),
            files,
            host_group: doc.host_group.clone(),
            policy,
        })
    }
}

fn edges(doc: &JobDoc, problems: &mut Vec<FieldError>) -> Vec<EdgeSpec> {
    if doc.depends_on.len() > EDGES_MAX {
        problems.push(FieldError::new("depends_on", format!("has more than {EDGES_MAX} edges")));
    }
    let mut edges = Vec::with_capacity(doc.depends_on.len());
    for (i, edge) in doc.depends_on.iter().enumerate() {
        match edge.spec() {
            Ok(edge) => edges.push(edge),
            Err((part, problem)) => {
                problems.push(FieldError::new(format!("depends_on[{i}].{part}"), problem));
            }
        }
    }
    edges
}

fn policy(doc: &JobDoc, problems: &mut Vec<FieldError>) -> Policy {
    let built_in = Policy::default();
    let retries = &doc.retries;
    let delay = retries.delay.map_or(built_in.retries.delay, Span::get);
    let backoff = match retries.backoff {
        Some(BackoffWord::Exponential) => {
            Backoff::Exponential { max: retries.max_delay.unwrap_or(MAX_DELAY).get() }
        }
        Some(BackoffWord::Constant) | None => Backoff::Constant,
    };
    if let Backoff::Exponential { max } = backoff
        && max < delay
    {
        let problem = format!("{} is less than the delay of {}", Span::new(max), Span::new(delay));
        problems.push(FieldError::new("retries.max_delay", problem));
    }
    let times = retries.times.unwrap_or(built_in.retries.times);
    let attempts = times.saturating_add(doc.restarts).saturating_add(1);
    if attempts > ATTEMPTS_MAX {
        let restarts = doc.restarts;
        let problem = format!(
            "{times} with restarts of {restarts} make {attempts} attempts, more than {ATTEMPTS_MAX}"
        );
        problems.push(FieldError::new("retries.times", problem));
    }
    if doc.lease.get().is_zero() {
        problems.push(FieldError::new("lease", "is too short: at least 1s"));
    }
    if !(1..=5).contains(&doc.urgency) {
        problems
            .push(FieldError::new("urgency", format!("{} is not between 1 and 5", doc.urgency)));
    }
    let limits = [("timeout", doc.timeout), ("start_within", doc.start_within)];
    for (field, limit) in limits.into_iter().chain([("max_lateness", doc.max_lateness)]) {
        if limit.is_some_and(|limit| limit.get().is_zero()) {
            problems.push(FieldError::new(field, "is too short: at least 1s"));
        }
    }
    Policy {
        retries: Retries {
            times,
            delay,
            backoff,
            not_on: retries.not_on.clone().unwrap_or_default(),
        },
        restarts: doc.restarts,
        at_most_once: doc.at_most_once,
        lease: doc.lease.get(),
        timeout: doc.timeout.map(Span::get),
        max_lateness: doc.max_lateness.map(Span::get),
        start_within: doc.start_within.map(Span::get),
        catch_up: doc.catch_up,
        overlap: doc.overlap,
        urgency: doc.urgency,
    }
}

fn files(doc: &JobDoc, problems: &mut Vec<FieldError>) -> Vec<FileSpec> {
    let mut files = Vec::with_capacity(doc.files.len());
    for (i, FileRef { digest, executable, name }) in doc.files.iter().enumerate() {
        let hexadecimal = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
        if digest.len() != 64 || !digest.chars().all(hexadecimal) {
            problems.push(FieldError::new(format!("files[{i}].digest"), "is no SHA-256"));
        }
        if let Err(problem) = check_name(name) {
            problems.push(FieldError::new(format!("files[{i}].name"), problem));
        }
        let (name, digest, executable) = (name.clone(), digest.clone(), *executable);
        files.push(FileSpec { name, digest, executable });
    }
    files
}
