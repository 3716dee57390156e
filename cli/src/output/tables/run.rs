//! Runs, attempts, and the queue.

use crate::output::keys::{Attempt, BesideRun, Queued, Run, shown};
use crate::output::span::{at, between, local, span};
use crate::output::style::Tone;
use crate::output::{Cell, Described, Listed, Look, Table};

use super::{Sheet, indented, or_empty};

/// A run with its attempts.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WholeRun {
    #[serde(flatten)]
    pub run: Run,
    /// Of its last attempt that left one, as text.
    pub output: Option<String>,
    #[serde(skip)]
    pub attempts: Vec<Attempt>,
}

impl WholeRun {
    pub(crate) fn new(run: Run, attempts: Vec<Attempt>) -> Self {
        let output = attempts.iter().rev().find_map(|attempt| attempt.output.clone());
        Self { run, output, attempts }
    }
}

fn version(run: &Run) -> String {
    if run.beside.local.is_empty() {
        at(run.version.0, &run.beside.zone)
    } else {
        local(&run.beside.local)
    }
}

fn state(run: &Run, look: Look) -> Cell {
    let wait = run.beside.not_before.map(|next| next.0.ms().saturating_sub(look.now.ms()));
    let text = match (run.state.as_str(), wait) {
        ("queued", Some(wait)) if wait > 0 => {
            format!("queued({} in {})", run.reason.as_deref().unwrap_or("retry"), span(wait))
        }
        // Every run is new at first.
        ("queued", _) if run.reason.as_deref() == Some("new") => "queued".to_owned(),
        (word, _) => shown(word, run.reason.as_deref()),
    };
    Cell::toned(Tone::of_state(&run.state), text)
}

fn took(
    started: Option<&super::super::keys::Instant>,
    ended: Option<hera_common::time::Wall>,
    look: Look,
) -> String {
    between(started.map(|instant| instant.0), ended.unwrap_or(look.now))
}

impl Listed for Run {
    const HEAD: &'static [&'static str] =
        &["RUN", "JOB", "VERSION", "TRIGGER", "STATE", "ATTEMPTS", "ACTOR", "STARTED", "TOOK"];

    fn row(&self, look: Look) -> Vec<Cell> {
        let zone = &self.beside.zone;
        vec![
            Cell::plain(self.id.to_string()),
            Cell::plain(&self.job),
            Cell::plain(version(self)),
            Cell::plain(&self.trigger),
            state(self, look),
            Cell::plain(self.attempts.to_string()),
            Cell::plain(&self.actor),
            Cell::plain(self.started_at.map_or_else(String::new, |start| at(start.0, zone))),
            Cell::plain(took(self.started_at.as_ref(), self.ended_at.map(|end| end.0), look)),
        ]
    }

    fn name(&self) -> String {
        self.id.to_string()
    }
}

impl Described for Run {
    fn text(&self, look: Look) -> String {
        let mut table = Table::headless();
        table.push(self.row(look));
        table.text(look.style)
    }

    fn name(&self) -> String {
        Listed::name(self)
    }
}

impl Described for WholeRun {
    fn text(&self, look: Look) -> String {
        let run = &self.run;
        let BesideRun { zone, why, worker, queued_at, counts, cancel_asked, .. } = &run.beside;
        let mut sheet = Sheet::new();
        sheet.line("run", run.id.to_string());
        sheet.line("job", &run.job);
        sheet.line("version", format!("{} ({})", version(run), run.version));
        let counting = if *counts { "" } else { " (does not count)" };
        sheet.line("trigger", format!("{}{counting}", run.trigger));
        sheet.cell("state", state(run, look));
        if *cancel_asked {
            sheet.line("cancel", "asked for");
        }
        sheet.line("worker", or_empty(worker.as_deref()));
        sheet.line("revision", run.revision.to_string());
        sheet.line("actor", &run.actor);
        sheet.line("reason", or_empty(why.as_deref()));
        for (key, instant) in
            [("queued", *queued_at), ("started", run.started_at), ("ended", run.ended_at)]
        {
            sheet.line(key, instant.map_or_else(String::new, |instant| at(instant.0, zone)));
        }
        let mut text = sheet.text(look);
        if !self.attempts.is_empty() {
            let mut table = Table::new(&[
                "ATTEMPT", "WORKER", "STATE", "EXIT", "STARTED", "TOOK", "LOG", "DETAIL",
            ]);
            for attempt in &self.attempts {
                table.push(attempt.row(look).split_off(3));
            }
            text.push_str("\nattempts\n");
            text.push_str(&table.text(look.style));
        }
        for attempt in &self.attempts {
            let Some(output) = &attempt.output else { continue };
            text.push_str("\noutput of attempt ");
            text.push_str(&attempt.number.to_string());
            text.push('\n');
            text.push_str(&indented(output));
        }
        text
    }

    fn name(&self) -> String {
        Listed::name(&self.run)
    }
}

impl Listed for Attempt {
    const HEAD: &'static [&'static str] = &[
        "RUN", "JOB", "VERSION", "ATTEMPT", "WORKER", "STATE", "EXIT", "STARTED", "TOOK", "LOG",
        "DETAIL",
    ];

    fn row(&self, look: Look) -> Vec<Cell> {
        let exit = match (self.exit_code, self.signal) {
            (Some(code), _) => code.to_string(),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => String::new(),
        };
        vec![
            Cell::plain(self.run.to_string()),
            Cell::plain(&self.job),
            Cell::plain(at(self.version.0, &self.zone)),
            Cell::plain(self.number.to_string()),
            Cell::plain(&self.worker),
            Cell::toned(Tone::of_state(&self.state), shown(&self.state, self.reason.as_deref())),
            Cell::plain(exit),
            Cell::plain(self.started_at.map_or_else(String::new, |start| at(start.0, &self.zone))),
            Cell::plain(took(self.started_at.as_ref(), self.ended_at.map(|end| end.0), look)),
            Cell::plain(bytes(self.log_bytes)),
            Cell::plain(or_empty(self.detail.as_deref())),
        ]
    }

    /// The run: `logs` takes the number of the attempt beside it.
    fn name(&self) -> String {
        self.run.to_string()
    }
}

impl Listed for Queued {
    const HEAD: &'static [&'static str] =
        &["RUN", "JOB", "VERSION", "TRIGGER", "STATE", "WHY NOT NOW", "ACTOR"];

    fn row(&self, look: Look) -> Vec<Cell> {
        vec![
            Cell::plain(self.run.id.to_string()),
            Cell::plain(&self.run.job),
            Cell::plain(version(&self.run)),
            Cell::plain(&self.run.trigger),
            state(&self.run, look),
            Cell::plain(&self.code),
            Cell::plain(&self.run.actor),
        ]
    }

    fn name(&self) -> String {
        self.run.id.to_string()
    }
}

/// `812 B`, `1.4 KiB`, `20 MiB`.
fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1_024 {
        return format!("{n} B");
    }
    let mut tenths = n.saturating_mul(10) / 1_024;
    let mut unit = UNITS.iter();
    let mut name = unit.next();
    while tenths >= 10_240 && unit.len() > 0 {
        tenths /= 1_024;
        name = unit.next();
    }
    let name = name.unwrap_or(&"TiB");
    if tenths < 100 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {name}", tenths / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_short() {
        let table = [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_434, "1.4 KiB"),
            (20 << 20, "20 MiB"),
            (1 << 50, "1024 TiB"),
        ];
        for (n, expected) in table {
            assert_eq!(bytes(n), expected);
        }
    }
}
