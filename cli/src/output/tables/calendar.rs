//! Calendars.

use crate::output::keys::{Calendar, WholeCalendar};
use crate::output::{Cell, Described, Listed, Look};

use super::{Sheet, or_empty};

impl Listed for Calendar {
    const HEAD: &'static [&'static str] =
        &["CALENDAR", "REVISION", "VALID UNTIL", "OF", "JOBS", "DESCRIPTION"];

    fn row(&self, _look: Look) -> Vec<Cell> {
        vec![
            Cell::plain(&self.calendar),
            Cell::plain(self.revision.to_string()),
            Cell::plain(or_empty(self.valid_until.as_deref())),
            Cell::plain(self.of.join(", ")),
            Cell::plain(self.jobs.len().to_string()),
            Cell::plain(or_empty(self.description.as_deref())),
        ]
    }

    fn name(&self) -> String {
        self.calendar.clone()
    }
}

impl Described for WholeCalendar {
    fn text(&self, look: Look) -> String {
        let calendar = &self.calendar;
        let mut sheet = Sheet::new();
        sheet.line("calendar", &calendar.calendar);
        sheet.line("description", or_empty(calendar.description.as_deref()));
        sheet.line("revision", calendar.revision.to_string());
        sheet.line("valid until", or_empty(calendar.valid_until.as_deref()));
        for (field, value) in self.spec.as_object().into_iter().flatten() {
            let items = value.as_array().into_iter().flatten();
            let items: Vec<_> = items.filter_map(serde_json::Value::as_str).collect();
            sheet.line(field, items.join(", "));
        }
        sheet.line("jobs", calendar.jobs.join(", "));
        sheet.line("next days", self.days.join(", "));
        let mut key = "edits";
        for edit in &self.revisions {
            let actor = or_empty(edit.actor.as_deref());
            let why = edit.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let what = if edit.spec.is_null() { " deleted" } else { "" };
            let (number, since) = (edit.revision, edit.since);
            sheet.line(key, format!("{number}{what} {since} by {actor}{why}"));
            key = "";
        }
        sheet.text(look)
    }

    fn name(&self) -> String {
        self.calendar.calendar.clone()
    }
}
