//! All calendars with all their revisions, and the business days that each gives at an instant. Knows no job.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hera_common::calendar::{CalendarRow, CalendarSpec, DaySet};
use hera_common::doc::CalendarDoc;
use hera_common::id::Revision;
use hera_common::schedule::{CalendarDays, CalendarUse};
use hera_common::time::Version;

use crate::time::BusinessDays;

/// When the newest revisions hold.
pub const LATEST: Version = Version::from_ms(i64::MAX);

/// The calendars, deleted ones too: slots of the past were computed by them.
#[derive(Debug, Clone, Default)]
pub struct Calendars {
    all: BTreeMap<String, Calendar>,
}

/// A calendar over its revisions.
#[derive(Debug, Clone, Default)]
struct Calendar {
    rows: Vec<CalendarRow>,
    /// None: it is deleted, or its newest revision cannot be read.
    doc: Option<CalendarDoc>,
    /// From when on which days hold, oldest first: one for each change of it, or of one that it is made of.
    days: Vec<(Version, Given)>,
}

/// What jobs use of a calendar: shared by all that use it in one way.
#[derive(Debug, Clone)]
struct Given {
    included: Arc<BusinessDays>,
    excluded: Arc<BusinessDays>,
}

impl Calendars {
    /// From rows in any order.
    #[must_use]
    pub fn new(rows: Vec<CalendarRow>) -> Self {
        let mut made = Self::default();
        for row in rows {
            made.all.entry(row.name.clone()).or_default().rows.push(row);
        }
        for calendar in made.all.values_mut() {
            calendar.rows.sort_by_key(|row| row.revision);
            calendar.doc = calendar.rows.last().and_then(doc_of);
        }
        made.compute();
        made
    }

    /// Takes in the next revisions of some calendars.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = CalendarRow>) {
        for row in rows {
            let calendar = self.all.entry(row.name.clone()).or_default();
            calendar.doc = doc_of(&row);
            calendar.rows.push(row);
        }
        self.compute();
    }

    /// The document of a calendar that is there.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CalendarDoc> {
        self.all.get(name)?.doc.as_ref()
    }

    /// Those that are there, by name, with the newest revision.
    pub fn iter(&self) -> impl Iterator<Item = (&CalendarRow, &CalendarDoc)> {
        self.all.values().filter_map(|c| Some((c.rows.last()?, c.doc.as_ref()?)))
    }

    /// All revisions of a calendar, oldest first.
    #[must_use]
    pub fn revisions(&self, name: &str) -> &[CalendarRow] {
        self.all.get(name).map_or(&[], |calendar| &calendar.rows)
    }

    /// The revision that comes after the newest.
    #[must_use]
    pub fn next_revision(&self, name: &str) -> Revision {
        let newest = self.all.get(name).and_then(|calendar| calendar.rows.last());
        newest.map_or(Revision::from_raw(1), |row| row.revision.next())
    }

    /// The business days of a calendar in use, as it holds at an instant.
    #[must_use]
    pub fn days(&self, used: &CalendarUse, at: Version) -> Option<Arc<BusinessDays>> {
        let days = &self.all.get(&used.name)?.days;
        let place = days.partition_point(|(since, _given)| *since <= at);
        // The first revision holds before it, too.
        let (_since, given) = days.get(place.saturating_sub(1))?;
        Some(Arc::clone(match used.days {
            CalendarDays::Include => &given.included,
            CalendarDays::Exclude => &given.excluded,
        }))
    }

    /// The instants at which the days of a calendar change.
    pub fn cuts(&self, name: &str) -> impl Iterator<Item = Version> {
        let days = self.all.get(name).map(|calendar| calendar.days.as_slice());
        days.unwrap_or_default().iter().skip(1).map(|(since, _given)| *since)
    }

    /// These calendars and all that are made of them, near or far.
    #[must_use]
    pub fn above(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let mut found = names.clone();
        loop {
            let before = found.len();
            for (row, doc) in self.iter() {
                if doc.of.iter().any(|other| found.contains(other)) {
                    found.insert(row.name.clone());
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// Computes the days of each; what has not changed keeps its place in memory, and what was counted of it.
    fn compute(&mut self) {
        let names: Vec<String> = self.all.keys().cloned().collect();
        for name in names {
            let cuts = self.changes_of(&name, &mut BTreeSet::new());
            let mut days: Vec<(Version, Given)> = Vec::with_capacity(cuts.len());
            for since in cuts {
                let find = |other: &str| self.spec_at(other, since);
                // One that is deleted or made of a deleted one has no days from here on.
                let Ok(set) = DaySet::resolve(&name, &find) else { continue };
                days.push((since, self.given(&name, since, set)));
            }
            if let Some(calendar) = self.all.get_mut(&name) {
                calendar.days = days;
            }
        }
    }

    /// The days as they were computed before, if they are the same.
    fn given(&self, name: &str, since: Version, set: Arc<DaySet>) -> Given {
        let made = Given {
            included: Arc::new(BusinessDays::new(Arc::clone(&set), CalendarDays::Include)),
            excluded: Arc::new(BusinessDays::new(set, CalendarDays::Exclude)),
        };
        let known = self.all.get(name).map(|calendar| calendar.days.as_slice());
        let mut known = known.unwrap_or_default().iter();
        let same = known.find(|(at, given)| *at == since && given.included == made.included);
        same.map_or(made, |(_since, given)| given.clone())
    }

    /// The instants of all revisions of a calendar and those that it was ever made of.
    fn changes_of(&self, name: &str, seen: &mut BTreeSet<String>) -> BTreeSet<Version> {
        let mut cuts = BTreeSet::new();
        if !seen.insert(name.to_owned()) {
            return cuts;
        }
        let Some(calendar) = self.all.get(name) else { return cuts };
        for row in &calendar.rows {
            cuts.insert(row.since);
            for other in doc_of(row).map(|doc| doc.of).unwrap_or_default() {
                cuts.extend(self.changes_of(&other, seen));
            }
        }
        cuts
    }

    /// What a calendar says at an instant.
    fn spec_at(&self, name: &str, at: Version) -> Option<CalendarSpec> {
        let rows = &self.all.get(name)?.rows;
        let place = rows.partition_point(|row| row.since <= at);
        let row = rows.get(place.saturating_sub(1))?;
        Some(doc_of(row)?.spec())
    }
}

fn doc_of(row: &CalendarRow) -> Option<CalendarDoc> {
    row.spec.as_deref().and_then(|json| CalendarDoc::from_json(json).ok())
}
