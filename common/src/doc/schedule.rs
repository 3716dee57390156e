//! `schedule` and `calendar` of a job as written, and what they become with what groups say. Knows no
//! zone's changes and no calendar's days.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fields::{Fields, Names, Problems, one};
use super::value::{Span, at_least_a_second, name, words, zone};
use super::yaml::{Node, Value};
use crate::schedule::{
    CalendarDays, CalendarUse, DstGap, DstOverlap, DstPolicy, EverySpec, Interval, Moment, Roll,
    ScheduleSpec,
};
use crate::shift::Shift;

pub(super) const SCHEDULE: Names = Names {
    known: &[&[
        "cron", "every", "anchor", "at", "zone", "dst", "start", "end", "jitter", "calendar",
    ]],
    later: &[],
};
pub(super) const DST: Names = Names { known: &[&["gap", "overlap"]], later: &[] };
pub(super) const CALENDAR: Names = Names { known: &[&["include", "exclude", "roll"]], later: &[] };

/// The longest jitter: a version fires on its day.
const JITTER_MAX: Duration = Duration::from_secs(86_400);
/// The word that lifts what a group sets.
const NONE: &str = "none";

/// `schedule: { … }` as written; zone, dst and calendar only where they are written there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScheduleDoc {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Moment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar: Option<CalendarChoice>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cron: Vec<String>,
    #[serde(skip_serializing_if = "DstDoc::is_empty")]
    pub dst: DstDoc,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// `dst: { gap, overlap }`; taken key by key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DstDoc {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<DstGap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<DstOverlap>,
}

/// `calendar: { include | exclude, roll }`, or `none`, which lifts what a group sets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CalendarChoice {
    Lifted(NoCalendar),
    Use(CalendarUseDoc),
}

/// The word `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoCalendar {
    #[serde(rename = "none")]
    None,
}

/// A calendar in use: exactly one of `include` and `exclude`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalendarUseDoc {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roll: Option<Roll>,
}

impl ScheduleDoc {
    /// Reads the field `schedule` of a job.
    pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let at = fields.path("schedule");
        let node = fields.node("schedule")?;
        if let Value::Scalar(text) = &node.value {
            let problem = format!("is a mapping: write schedule: {{ cron: \"{text}\" }}");
            problems.add(node.place, &at, problem);
            return None;
        }
        let before = problems.found.len();
        let fields = Fields::open(node, &at, &SCHEDULE, problems)?;
        let written = |name: &str| fields.node(name).is_some();
        if !(written("cron") || written("every") || written("at")) {
            problems.add(node.place, &at, "has no `cron`, `every` or `at`");
            return None;
        }
        if let (Some(anchor), false) = (fields.node("anchor"), written("every")) {
            let problem = "counts nothing: it belongs to `every`";
            problems.add(anchor.place, &fields.path("anchor"), problem);
        }
        let read = Self {
            anchor: fields.one("anchor", problems, moment),
            at: one_or_more(&fields, "at", problems, timed),
            calendar: CalendarChoice::read(&fields, problems),
            cron: one_or_more(&fields, "cron", problems, words),
            dst: DstDoc::read(&fields, problems),
            end: fields.one("end", problems, moment),
            every: fields.one("every", problems, interval),
            jitter: fields.one("jitter", problems, jitter),
            start: fields.one("start", problems, moment),
            zone: fields.one("zone", problems, zone),
        };
        // With a bad field there is no telling what the others are worth.
        (problems.found.len() == before).then_some(read)
    }

    /// The schedule with what it inherits.
    pub(super) fn spec(
        &self,
        zone: &str,
        dst: DstDoc,
        calendar: Option<CalendarUse>,
    ) -> ScheduleSpec {
        let Self { anchor, at, calendar: _, cron, dst: _, end, every, jitter, start, zone: own } =
            self;
        ScheduleSpec {
            crons: cron.clone(),
            every: every.map(|interval| EverySpec { interval, anchor: *anchor }),
            at: at.clone(),
            zone: own.clone().unwrap_or_else(|| zone.to_owned()),
            dst: dst.policy(),
            start: *start,
            end: *end,
            jitter: jitter.map(Span::get),
            calendar,
        }
    }
}

impl DstDoc {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn or(self, above: Self) -> Self {
        Self { gap: self.gap.or(above.gap), overlap: self.overlap.or(above.overlap) }
    }

    /// With what is not said left to the defaults; the defaults themselves say nothing.
    pub(super) fn beside_defaults(self) -> Self {
        let DstPolicy { gap, overlap } = self.policy();
        Self {
            gap: Some(gap).filter(|gap| *gap != DstGap::default()),
            overlap: Some(overlap).filter(|overlap| *overlap != DstOverlap::default()),
        }
    }

    fn policy(self) -> DstPolicy {
        DstPolicy { gap: self.gap.unwrap_or_default(), overlap: self.overlap.unwrap_or_default() }
    }

    /// Reads the field `dst`.
    pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Self {
        let opened = fields
            .node("dst")
            .and_then(|node| Fields::open(node, &fields.path("dst"), &DST, problems));
        let Some(fields) = opened else { return Self::default() };
        Self { gap: fields.word("gap", problems), overlap: fields.word("overlap", problems) }
    }
}

impl CalendarChoice {
    /// The calendar, unless it is lifted.
    #[must_use]
    pub fn used(&self) -> Option<&CalendarUseDoc> {
        match self {
            Self::Lifted(NoCalendar::None) => None,
            Self::Use(used) => Some(used),
        }
    }

    /// Reads the field `calendar`.
    pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let at = fields.path("calendar");
        let node = fields.node("calendar")?;
        if let Value::Scalar(text) = &node.value {
            if text == NONE {
                return Some(Self::Lifted(NoCalendar::None));
            }
            let problem = format!("is a mapping: write calendar: {{ exclude: {text} }}, or none");
            problems.add(node.place, &at, problem);
            return None;
        }
        let fields = Fields::open(node, &at, &CALENDAR, problems)?;
        let used = CalendarUseDoc {
            exclude: fields.one("exclude", problems, name),
            include: fields.one("include", problems, name),
            roll: fields.word("roll", problems),
        };
        let written = |name: &str| fields.node(name).is_some();
        match (written("include"), written("exclude")) {
            (true, true) => {
                let problem = "has both `include` and `exclude`: one of them says which days are \
                               business days";
                problems.add(node.place, &at, problem);
            }
            (false, false) => problems.add(node.place, &at, "has neither `include` nor `exclude`"),
            (true, false) | (false, true) => {}
        }
        Some(Self::Use(used))
    }
}

impl CalendarUseDoc {
    /// The calendar's name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.include.as_deref().or(self.exclude.as_deref())
    }

    /// The field that names it.
    pub(super) fn field(&self) -> &'static str {
        if self.include.is_some() { "include" } else { "exclude" }
    }

    /// The use, or why it is none.
    pub(super) fn spec(&self) -> Result<CalendarUse, String> {
        let (name, days) = match (&self.include, &self.exclude) {
            (Some(name), None) => (name, CalendarDays::Include),
            (None, Some(name)) => (name, CalendarDays::Exclude),
            (Some(_), Some(_)) | (None, None) => {
                return Err("has not one of `include` and `exclude`".to_owned());
            }
        };
        Ok(CalendarUse { name: name.clone(), days, roll: self.roll.unwrap_or_default() })
    }
}

/// One value, or a list of them that holds one at least.
fn one_or_more<T>(
    fields: &Fields<'_>,
    field: &str,
    problems: &mut Problems<'_>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Vec<T> {
    let Some(Node { value: Value::List(items), place }) = fields.node(field) else {
        return fields.one(field, problems, parse).into_iter().collect();
    };
    if items.is_empty() {
        problems.add(*place, &fields.path(field), "is an empty list");
    }
    fields
        .list(field, problems, |item, at, problems| one(item, at, problems, &parse))
        .unwrap_or_default()
}

fn moment(text: &str) -> Result<Moment, String> {
    Moment::parse(text).map_err(|error| error.to_string())
}

/// A moment with a time of day.
fn timed(text: &str) -> Result<Moment, String> {
    match moment(text)? {
        Moment::Day(day) => Err(format!("`{day}` has no time of day: write {day}T00:00")),
        timed @ (Moment::Instant(_) | Moment::Local(_)) => Ok(timed),
    }
}

/// The distance between two slots.
pub(super) fn interval(text: &str) -> Result<Interval, String> {
    let distance = Shift::parse(text).map_err(|error| error.to_string())?;
    Interval::of(distance).map_err(|error| format!("`{text}`: {error}"))
}

fn jitter(text: &str) -> Result<Span, String> {
    let span = at_least_a_second(text)?;
    if span.get() > JITTER_MAX {
        return Err(format!("`{text}` is longer than {}", Span::new(JITTER_MAX)));
    }
    Ok(span)
}
