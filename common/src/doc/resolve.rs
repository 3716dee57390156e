//! Fills in what a job leaves open: from its groups, then from the rules of defaults. Knows other
//! jobs only by the question whether they are there and declare their data.

use super::attach::Attached;
use super::edge::FileEdge;
use super::file::{FileJob, Script};
use super::group::{GroupDoc, merged_config};
use super::job::{EdgeDoc, JobDoc, MAX_DELAY, OwnDoc, OwnEdge};
use super::label::BackoffWord;
use super::place::FieldError;
use super::schedule::{CalendarChoice, CalendarUseDoc, DstDoc};
use super::settings::{DataDoc, RetriesDoc, Settings};
use super::value::{Limit, Span};
use crate::path::Path;
use crate::shift::Shift;
use crate::spec::{Bind, DataSpec, EdgeSpec, Empty, Period, Policy};

/// What is known of an upstream job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upstream {
    /// There is none of that path.
    Missing,
    /// It is there.
    There {
        /// What it declares, itself or by a group's defaults; the built-in default does not count.
        data: Option<DataDoc>,
    },
    /// Not to be told here: a command line that has not asked the master.
    Unasked,
}

/// Whether a calendar is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarThere {
    Missing,
    There,
    /// Not to be told here: a command line that has not asked the master.
    Unasked,
}

/// What surrounds a job.
pub struct Around<'a> {
    /// The groups, from the root down to the job's own.
    pub chain: &'a [GroupDoc],
    pub upstream: &'a dyn Fn(&Path) -> Upstream,
    pub calendar: &'a dyn Fn(&str) -> CalendarThere,
}

/// Makes the document of a job. `attached` are its script and files as read.
///
/// # Errors
/// Every field that cannot be filled in; fields are those of the job, such as `depends_on[0]`.
pub(super) fn resolve(
    job: &FileJob,
    attached: Attached,
    around: &Around<'_>,
) -> Result<JobDoc, Vec<FieldError>> {
    let settings = effective(&job.settings, around.chain);
    let owner = job.owner.clone().or_else(|| nearest(around.chain, |group| group.owner.clone()));
    let mut problems = Vec::new();
    let edges = edges(job, settings.data, around, &mut problems);
    versions(job, settings.data, &edges, around, &mut problems);
    let calendar = calendar(job, &settings, around, &mut problems);
    if calendar.is_none() {
        business_days(job, &settings, &mut problems);
    }
    let retries = retries(&job.settings.retries, settings.retries, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let schedule_zone = job.schedule.as_ref().and_then(|schedule| schedule.zone.clone());
    let built_in = Policy::default();
    let own_edge =
        |edge: &FileEdge| OwnEdge { bind: edge.bind.is_some(), empty: edge.empty.is_some() };
    Ok(JobDoc {
        at_most_once: settings.at_most_once.unwrap_or(built_in.at_most_once),
        baseline: job.baseline.clone(),
        calendar,
        catch_up: settings.catch_up.unwrap_or(built_in.catch_up),
        config: merged_config(around.chain, &job.config),
        data: settings.data,
        depends_on: edges.into_iter().map(EdgeDoc::new).collect(),
        description: job.description.clone(),
        dst: job
            .schedule
            .as_ref()
            .map(|own| own.dst.or(settings.dst))
            .map_or_else(DstDoc::default, DstDoc::beside_defaults),
        files: attached.files,
        host_group: settings.host_group,
        lease: settings.lease.unwrap_or(Span::new(built_in.lease)),
        max_lateness: span(settings.max_lateness),
        overlap: settings.overlap.unwrap_or(built_in.overlap),
        own: OwnDoc {
            config: Some(job.config.clone()),
            depends_on: job.edges.iter().map(own_edge).collect(),
            owner: job.owner.clone(),
            settings: job.settings.clone(),
        },
        owner: owner.unwrap_or_default(),
        path: job.path.clone(),
        restarts: settings.restarts.unwrap_or(built_in.restarts),
        retries,
        schedule: job.schedule.clone(),
        script: attached.script,
        start_within: span(settings.start_within),
        timeout: span(settings.timeout),
        kind: job.kind,
        urgency: settings.urgency.unwrap_or(built_in.urgency),
        zone: schedule_zone.or(settings.zone).unwrap_or_else(|| "UTC".to_owned()),
    })
}

/// Fills in a stored document anew, after a group above it or the `data` of an upstream has changed.
///
/// # Errors
/// As for a job in a file.
pub fn resolve_again(doc: &JobDoc, around: &Around<'_>) -> Result<JobDoc, Vec<FieldError>> {
    let mut edges = Vec::with_capacity(doc.depends_on.len());
    for (i, edge) in doc.depends_on.iter().enumerate() {
        let own = doc.own.depends_on.get(i).copied().unwrap_or_default();
        let EdgeSpec { upstream, bind, offset, on, empty } = edge
            .spec()
            .map_err(|(part, bad)| vec![FieldError::new(format!("depends_on[{i}].{part}"), bad)])?;
        let (bind, empty) = (own.bind.then_some(bind), own.empty.then_some(empty));
        edges.push(FileEdge { upstream, bind, offset, on, empty });
    }
    let job = FileJob {
        number: 0,
        path: doc.path.clone(),
        renamed_from: None,
        open: None,
        owner: doc.own.owner.clone(),
        description: doc.description.clone(),
        kind: doc.kind,
        schedule: doc.schedule.clone(),
        edges,
        baseline: doc.baseline.clone(),
        config: doc.own.config.clone().unwrap_or_else(|| doc.config.clone()),
        files: Vec::new(),
        script: Script::Nothing,
        settings: doc.own.settings.clone(),
    };
    let attached = Attached { script: doc.script.clone(), files: doc.files.clone() };
    resolve(&job, attached, around)
}

/// A job's settings with those of its groups; the nearest wins.
pub(super) fn effective(own: &Settings, chain: &[GroupDoc]) -> Settings {
    chain.iter().rev().fold(own.clone(), |below, group| below.or(&group.defaults))
}

fn nearest<T>(chain: &[GroupDoc], field: impl Fn(&GroupDoc) -> Option<T>) -> Option<T> {
    chain.iter().rev().find_map(field)
}

/// The calendar that says which days are business days for the job; the schedule's own wins.
fn calendar(
    job: &FileJob,
    settings: &Settings,
    around: &Around<'_>,
    problems: &mut Vec<FieldError>,
) -> Option<CalendarUseDoc> {
    let of_schedule = job.schedule.as_ref().and_then(|schedule| schedule.calendar.as_ref());
    let own = job.settings.calendar.as_ref();
    let at = if of_schedule.is_some() { "schedule.calendar" } else { "calendar" };
    if of_schedule.is_some() && own.is_some() {
        let problem = "is written for the schedule too: write it once";
        problems.push(FieldError::new("calendar", problem));
    }
    let used = of_schedule.or(settings.calendar.as_ref()).and_then(CalendarChoice::used)?;
    let mut refuse = |field: &str, problem: String| {
        problems.push(FieldError::new(format!("{at}.{field}"), problem));
    };
    if let Some(name) = used.name()
        && (around.calendar)(name) == CalendarThere::Missing
    {
        refuse(used.field(), format!("there is no calendar `{name}`"));
    }
    if own.is_some() && used.roll.is_some() && job.schedule.is_none() {
        refuse("roll", "moves slots, and the job has no schedule".to_owned());
    }
    let read = job.schedule.is_some()
        || settings.data.is_some_and(|data| data.period == Period::BusinessDay)
        || job.edges.iter().any(|edge| !in_business_days(edge).is_empty());
    if own.is_some() && !read {
        let problem = "is read by nothing: the job has no schedule, no data by business days, and \
                       no offset in business days";
        problems.push(FieldError::new("calendar", problem));
    }
    Some(used.clone())
}

/// What counts business days must know them.
fn business_days(job: &FileJob, settings: &Settings, problems: &mut Vec<FieldError>) {
    let wants = "wants to know the business days: write `calendar: { exclude: NAME }` (or include) \
                 in the job or its group's defaults, and the calendar NAME under `calendars`";
    if settings.data.is_some_and(|data| data.period == Period::BusinessDay) {
        problems.push(FieldError::new("data.period", format!("`business_day` {wants}")));
    }
    for (i, edge) in job.edges.iter().enumerate() {
        for (part, shift) in in_business_days(edge) {
            let problem = format!("`{shift}` {wants}");
            problems.push(FieldError::new(format!("depends_on[{i}].{part}"), problem));
        }
    }
}

/// The parts of an edge that count business days.
fn in_business_days(edge: &FileEdge) -> Vec<(&'static str, Shift)> {
    let mut parts = vec![("offset", edge.offset)];
    if let Some(Bind::Window { from, to }) = edge.bind {
        parts.extend([("from", from), ("to", to)]);
    }
    parts.retain(|(_part, shift)| matches!(shift, Shift::BusinessDays { .. }));
    parts
}

fn span(limit: Option<Limit>) -> Option<Span> {
    limit.and_then(Limit::get).map(Span::new)
}

fn retries(own: &RetriesDoc, effective: RetriesDoc, problems: &mut Vec<FieldError>) -> RetriesDoc {
    let built_in = Policy::default().retries;
    let backoff = effective.backoff.unwrap_or(BackoffWord::Constant);
    if backoff == BackoffWord::Constant && own.max_delay.is_some() {
        let problem = "caps a delay that grows: it wants `backoff: exponential`";
        problems.push(FieldError::new("retries.max_delay", problem));
    }
    let delay = effective.delay.unwrap_or(Span::new(built_in.delay));
    RetriesDoc {
        backoff: Some(backoff),
        delay: Some(delay),
        max_delay: match backoff {
            BackoffWord::Constant => None,
            BackoffWord::Exponential => Some(effective.max_delay.unwrap_or(MAX_DELAY.max(delay))),
        },
        not_on: Some(effective.not_on.unwrap_or(built_in.not_on)),
        times: Some(effective.times.unwrap_or(built_in.times)),
    }
}

fn edges(
    job: &FileJob,
    data: Option<DataDoc>,
    around: &Around<'_>,
    problems: &mut Vec<FieldError>,
) -> Vec<EdgeSpec> {
    let mut edges = Vec::with_capacity(job.edges.len());
    for (i, edge) in job.edges.iter().enumerate() {
        let filled = if edge.upstream == job.path {
            to_itself(edge)
        } else {
            to_another(job, edge, data, (around.upstream)(&edge.upstream))
        };
        match filled {
            Ok(edge) => edges.push(edge),
            Err(problem) => problems.push(FieldError::new(format!("depends_on[{i}]"), problem)),
        }
    }
    edges
}

/// Before the job's first version there is nothing to wait for, so a self-edge ignores it.
fn to_itself(edge: &FileEdge) -> Result<EdgeSpec, String> {
    let FileEdge { upstream, bind, offset, on, empty } = edge.clone();
    let Some(bind @ Bind::Previous { .. }) = bind else {
        return Err(format!("`{upstream}` is the job itself: write `bind: previous` with `n`"));
    };
    if empty == Some(Empty::Skip) {
        return Err("an edge to the job itself is always `empty: ignore`".to_owned());
    }
    Ok(EdgeSpec { upstream, bind, offset, on, empty: Empty::Ignore })
}

fn to_another(
    job: &FileJob,
    edge: &FileEdge,
    data: Option<DataDoc>,
    there: Upstream,
) -> Result<EdgeSpec, String> {
    let FileEdge { upstream, bind, offset, on, empty } = edge.clone();
    let scheduled = job.schedule.is_some();
    let bind = match (bind, there) {
        (_, Upstream::Missing) => return Err(format!("there is no job `{upstream}`")),
        (Some(bind), Upstream::There { .. } | Upstream::Unasked) => bind,
        (None, Upstream::There { data: Some(_) }) if data.is_some() => Bind::Data,
        (None, Upstream::There { .. } | Upstream::Unasked) if scheduled => Bind::AtOrBefore,
        (None, Upstream::There { .. } | Upstream::Unasked) => Bind::Nearest,
    };
    let by_kind = if scheduled { Empty::Ignore } else { Empty::Skip };
    Ok(EdgeSpec { upstream, bind, offset, on, empty: empty.unwrap_or(by_kind) })
}

/// Where the versions come from: a schedule, a baseline, or an edge that can be one.
fn versions(
    job: &FileJob,
    data: Option<DataDoc>,
    edges: &[EdgeSpec],
    around: &Around<'_>,
    problems: &mut Vec<FieldError>,
) {
    if let Some(baseline) = &job.baseline {
        let problem = if job.schedule.is_some() {
            "a job with a schedule has its versions from there".to_owned()
        } else if *baseline == job.path {
            "the job itself cannot be its baseline".to_owned()
        } else if !job.edges.iter().any(|edge| edge.upstream == *baseline) {
            format!("`{baseline}` is not in `depends_on`")
        } else {
            return;
        };
        problems.push(FieldError::new("baseline", problem));
        return;
    }
    let another = |edge: &EdgeSpec| edge.upstream != job.path;
    // An edge that could not be filled in has its own error, and might be the one.
    if job.schedule.is_some() || edges.len() < job.edges.len() || !edges.iter().any(another) {
        return;
    }
    let mine = data.map_or(DataSpec::default().period, |data| data.period);
    let gives = |edge: &EdgeSpec| {
        let counts = another(edge) && edge.empty == Empty::Skip && edge.offset.is_none();
        counts && gives_versions(edge, mine, (around.upstream)(&edge.upstream))
    };
    if !edges.iter().any(gives) {
        let problem = "nothing gives the job its versions: it wants a schedule, a `baseline`, or an \
                       edge without offset and with `empty: skip` by nearest, by same, by data (of a \
                       period not longer than its own), or by first, last or all with `of` its period";
        problems.push(FieldError::new("depends_on", problem));
    }
}

fn gives_versions(edge: &EdgeSpec, mine: Period, upstream: Upstream) -> bool {
    match edge.bind {
        Bind::Nearest | Bind::Same => true,
        Bind::Data => match upstream {
            Upstream::There { data } => {
                data.map_or(DataSpec::default().period, |data| data.period) <= mine
            }
            Upstream::Missing | Upstream::Unasked => true,
        },
        Bind::First { of } | Bind::Last { of } | Bind::All { of } => of == mine,
        Bind::AtOrBefore | Bind::Previous { .. } | Bind::Window { .. } => false,
    }
}
