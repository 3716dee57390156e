//! Jobs, groups, slots, and what an apply changes.

use crate::output::keys::{
    AuditEntry, Change, Group, Job, Rendered, Revision, Slot, WholeGroup, WholeJob,
};
use crate::output::span::{at, local};
use crate::output::style::Tone;
use crate::output::{Cell, Described, Listed, Look};

use super::{Sheet, indented, or_empty};

/// Characters of a schedule or a note in a table, so that a row stays a line.
const SHORT: usize = 48;

impl Listed for Job {
    const HEAD: &'static [&'static str] =
        &["JOB", "STATE", "TYPE", "SCHEDULE", "NEXT", "REVISION", "OWNER"];

    fn row(&self, _look: Look) -> Vec<Cell> {
        let schedule = match (self.schedule.as_deref(), self.upstream.len()) {
            (Some(schedule), _) => short(schedule),
            (None, 0) => "by hand".to_owned(),
            (None, 1) => "after 1 job".to_owned(),
            (None, n) => format!("after {n} jobs"),
        };
        vec![
            Cell::plain(&self.job),
            Cell::toned(Tone::of_state(&self.state), &self.state),
            Cell::plain(&self.r#type),
            Cell::plain(schedule),
            Cell::plain(
                self.next_slots.first().map_or_else(String::new, |next| at(next.0, &self.zone)),
            ),
            Cell::plain(self.revision.to_string()),
            Cell::plain(or_empty(self.owner.as_deref())),
        ]
    }

    fn name(&self) -> String {
        self.job.clone()
    }
}

impl Described for WholeJob {
    fn text(&self, look: Look) -> String {
        let job = &self.job;
        let mut sheet = Sheet::new();
        sheet.line("job", &job.job);
        sheet.line("description", or_empty(job.description.as_deref()));
        sheet.line("owner", or_empty(job.owner.as_deref()));
        sheet.cell("state", Cell::toned(Tone::of_state(&job.state), &job.state));
        sheet.line("parked", or_empty(job.reason.as_deref()));
        sheet.line("revision", job.revision.to_string());
        sheet.line("type", &job.r#type);
        sheet.line("schedule", or_empty(job.schedule.as_deref()));
        sheet.line("zone", &job.zone);
        let mut key = "next";
        for next in &job.next_slots {
            sheet.line(key, at(next.0, &job.zone));
            key = "";
        }
        for warning in &job.warnings {
            sheet.line("warning", warning);
        }
        sheet.line("upstream", job.upstream.join(", "));
        sheet.line("downstream", job.downstream.join(", "));
        let mut text = sheet.text(look);
        if let Some(script) = self.spec.get("script").and_then(serde_json::Value::as_str) {
            text.push_str("\nscript\n");
            text.push_str(&indented(script));
        }
        text
    }

    fn name(&self) -> String {
        self.job.job.clone()
    }
}

impl Listed for Group {
    const HEAD: &'static [&'static str] = &["GROUP", "JOBS", "OWNER", "CONFIG"];

    fn row(&self, _look: Look) -> Vec<Cell> {
        let config: Vec<_> =
            self.config.iter().map(|(key, value)| format!("{key}={value}")).collect();
        vec![
            Cell::plain(self.name()),
            Cell::plain(self.jobs.to_string()),
            Cell::plain(or_empty(self.owner.as_deref())),
            Cell::plain(short(&config.join(" "))),
        ]
    }

    fn name(&self) -> String {
        if self.group.is_empty() { "/".to_owned() } else { self.group.clone() }
    }
}

impl Described for WholeGroup {
    fn text(&self, look: Look) -> String {
        let group = &self.group;
        let mut sheet = Sheet::new();
        sheet.line("group", group.name());
        sheet.line("owner", or_empty(group.owner.as_deref()));
        sheet.line("jobs", group.jobs.to_string());
        let mut key = "config";
        for (name, value) in &group.config {
            sheet.line(key, format!("{name}={value}"));
            key = "";
        }
        let defaults = self.spec.get("defaults").and_then(serde_json::Value::as_object);
        let mut key = "defaults";
        for (name, value) in defaults.into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            sheet.line(key, format!("{name}: {value}"));
            key = "";
        }
        sheet.text(look)
    }

    fn name(&self) -> String {
        self.group.name()
    }
}

impl Listed for Revision {
    const HEAD: &'static [&'static str] = &["REVISION", "MADE", "ACTOR", "WHAT", "REASON"];

    fn row(&self, _look: Look) -> Vec<Cell> {
        vec![
            Cell::plain(self.revision.to_string()),
            Cell::plain(self.created_at.to_string()),
            Cell::plain(&self.actor),
            Cell::plain(short(&self.details.join("; "))),
            Cell::plain(short(&or_empty(self.why.as_deref()))),
        ]
    }

    fn name(&self) -> String {
        self.revision.to_string()
    }
}

impl Listed for AuditEntry {
    const HEAD: &'static [&'static str] = &["AT", "ACTOR", "VERB", "SUBJECT", "REASON"];

    fn row(&self, _look: Look) -> Vec<Cell> {
        vec![
            Cell::plain(self.at.to_string()),
            Cell::plain(&self.actor),
            Cell::plain(&self.verb),
            Cell::plain(&self.subject),
            Cell::plain(short(&or_empty(self.why.as_deref()))),
        ]
    }

    fn name(&self) -> String {
        self.subject.clone()
    }
}

impl Listed for Slot {
    const HEAD: &'static [&'static str] = &["LOCAL", "UTC", "NOTE"];

    fn row(&self, _look: Look) -> Vec<Cell> {
        vec![
            Cell::plain(local(&self.local)),
            Cell::plain(self.utc.to_string()),
            Cell::plain(or_empty(self.note.as_deref())),
        ]
    }

    fn name(&self) -> String {
        self.utc.to_string()
    }
}

impl Listed for Change {
    const HEAD: &'static [&'static str] = &["CHANGE", "JOB", "REVISION", "WHAT"];

    fn row(&self, _look: Look) -> Vec<Cell> {
        let tone = match self.kind {
            "created" | "opened" => Tone::Good,
            "deleted" | "closed" => Tone::Bad,
            _ => Tone::Waits,
        };
        let was = self.was.as_deref().map(|was| format!("was {was}"));
        let what: Vec<_> = was.iter().chain(&self.details).map(String::as_str).collect();
        vec![
            Cell::toned(tone, self.kind),
            Cell::plain(match (&self.group, &self.calendar) {
                (Some(group), _) => format!("group {group}"),
                (None, Some(calendar)) => format!("calendar {calendar}"),
                (None, None) => or_empty(self.job.as_deref()),
            }),
            Cell::plain(self.revision.map_or_else(String::new, |revision| revision.to_string())),
            Cell::plain(what.join("; ")),
        ]
    }

    fn name(&self) -> String {
        let named = self.job.as_deref().or(self.group.as_deref());
        or_empty(named.or(self.calendar.as_deref()))
    }
}

impl Described for Rendered {
    /// The text as it is; a line's end at its end, so that the next prompt stands on its own line.
    fn text(&self, _look: Look) -> String {
        let end = if self.text.ends_with('\n') { "" } else { "\n" };
        format!("{}{end}", self.text)
    }

    fn name(&self) -> String {
        self.text.clone()
    }
}

fn short(text: &str) -> String {
    if text.chars().count() <= SHORT {
        return text.to_owned();
    }
    text.chars().take(SHORT - 1).chain(['…']).collect()
}
