//! `calendars` of a file as written, and the document of a calendar. Knows no job.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::fields::{Fields, Names, Problems, one};
use super::label::Label as _;
use super::value::{name, text};
use super::yaml::{Node, Value};
use crate::calendar::{CalendarSpec, DaySpan, WeekDay};

pub(super) const CALENDARS: Names = Names {
    known: &[&["name", "description", "weekly", "of", "days", "add", "remove", "valid_until"]],
    later: &[],
};
/// Entries of one list of days: more than a century of holidays.
const DAYS_MAX: usize = 5_000;
/// Calendars that one is made of.
const OF_MAX: usize = 100;

/// A calendar's document. In the order of the alphabet: the JSON is canonical.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CalendarDoc {
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub add: BTreeSet<DaySpan>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub days: BTreeSet<DaySpan>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub of: BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub remove: BTreeSet<DaySpan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<LastDay>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub weekly: BTreeSet<WeekDay>,
}

/// A date in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastDay(pub Date);

/// A calendar as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCalendar {
    /// Its number in the file, from 0: `calendars[0]`.
    pub number: usize,
    pub name: String,
    pub doc: CalendarDoc,
}

impl CalendarDoc {
    /// The document's one text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("keys are texts")
    }

    /// Reads what [`CalendarDoc::to_json`] wrote.
    ///
    /// # Errors
    /// What no calendar document is.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// What it says of days.
    #[must_use]
    pub fn spec(&self) -> CalendarSpec {
        let Self { add, days, description: _, of, remove, valid_until, weekly } = self.clone();
        let valid_until = valid_until.map(|LastDay(date)| date);
        CalendarSpec { weekly, of, days, add, remove, valid_until }
    }
}

impl FileCalendar {
    /// Reads one entry of `calendars`.
    pub(super) fn read(
        node: &Node,
        at: &str,
        number: usize,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let fields = Fields::open(node, at, &CALENDARS, problems)?;
        if fields.node("name").is_none() {
            problems.add(node.place, &fields.path("name"), "is missing");
        }
        let name = fields.one("name", problems, name);
        let before = problems.found.len();
        let doc = CalendarDoc {
            add: days(&fields, "add", problems),
            days: days(&fields, "days", problems),
            description: fields.one("description", problems, text).unwrap_or_default(),
            of: of(&fields, problems),
            remove: days(&fields, "remove", problems),
            valid_until: fields.one("valid_until", problems, last_day),
            weekly: fields
                .list("weekly", problems, |item, at, problems| {
                    one(item, at, problems, |text| WeekDay::from_word("weekly", text))
                })
                .unwrap_or_default()
                .into_iter()
                .collect(),
        };
        if problems.found.len() == before {
            check(&doc, node, &fields, problems);
        }
        Some(Self { number, name: name?, doc })
    }
}

/// What each field alone does not show.
fn check(doc: &CalendarDoc, node: &Node, fields: &Fields<'_>, problems: &mut Problems<'_>) {
    if doc.weekly.is_empty() && doc.of.is_empty() && doc.days.is_empty() && doc.add.is_empty() {
        let problem = "holds no day: write `weekly`, `days`, `add`, or `of` another calendar";
        problems.add(node.place, fields.at(), problem);
    }
    let removed: BTreeSet<Date> = doc.remove.iter().flat_map(|span| span.dates()).collect();
    let named: BTreeSet<Date> =
        doc.days.iter().chain(&doc.add).flat_map(|span| span.dates()).collect();
    let place = fields.node("remove").map_or(node.place, |node| node.place);
    if let Some(both) = named.intersection(&removed).next() {
        let problem = format!("takes {both} away, which is named itself: leave one of them off");
        problems.add(place, &fields.path("remove"), problem);
    }
    if !removed.is_empty() && doc.weekly.is_empty() && doc.of.is_empty() {
        problems.add(place, &fields.path("remove"), "takes away from nothing: it has no such day");
    }
    let Some(LastDay(until)) = doc.valid_until else { return };
    if let Some(after) = named.union(&removed).filter(|date| **date > until).max() {
        let place = fields.node("valid_until").map_or(node.place, |node| node.place);
        let problem = format!("is before {after}, which is named");
        problems.add(place, &fields.path("valid_until"), problem);
    }
}

fn days(fields: &Fields<'_>, field: &str, problems: &mut Problems<'_>) -> BTreeSet<DaySpan> {
    let list =
        fields.list(field, problems, |item, at, problems| one(item, at, problems, DaySpan::parse));
    let list = list.unwrap_or_default();
    if let (true, Some(node)) = (list.len() > DAYS_MAX, fields.node(field)) {
        let problem = format!("has {} entries, more than {DAYS_MAX}", list.len());
        problems.add(node.place, &fields.path(field), problem);
    }
    list.into_iter().collect()
}

/// One name or a list of them.
fn of(fields: &Fields<'_>, problems: &mut Problems<'_>) -> BTreeSet<String> {
    let Some(Node { value: Value::List(items), place }) = fields.node("of") else {
        return fields.one("of", problems, name).into_iter().collect();
    };
    if items.len() > OF_MAX {
        let problem = format!("has {} names, more than {OF_MAX}", items.len());
        problems.add(*place, &fields.path("of"), problem);
    }
    let names = fields.list("of", problems, |item, at, problems| one(item, at, problems, name));
    names.unwrap_or_default().into_iter().collect()
}

pub(super) fn last_day(text: &str) -> Result<LastDay, String> {
    let span = DaySpan::parse(text)?;
    if span.first == span.last {
        Ok(LastDay(span.first))
    } else {
        Err(format!("`{text}` is one date"))
    }
}
