//! Job files of tests: scripts that tell the journal when they start and end. Decides nothing.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Cluster;
use super::journal::PRELUDE;

/// The text of a job file, grown job by job.
#[derive(Debug, Clone)]
pub struct JobFile {
    text: String,
    prelude: String,
}

impl JobFile {
    fn new(group: &str, defaults: &str, dir: &Path) -> Self {
        let text = format!("group: {group}\ndefaults: {{ {defaults} }}\njobs:\n");
        Self { text, prelude: dir.join(PRELUDE).display().to_string() }
    }

    /// A shell job with lines of its own in the file, and a script that says its start and end.
    #[must_use]
    pub fn script(mut self, name: &str, keys: &[&str], script: &str) -> Self {
        self.head(name, keys);
        let body: Vec<&str> = script.lines().map(str::trim).collect();
        let body = body.join("\n      ");
        self.line(&format!(
            "    script: |\n      . {}\n      say start\n      {body}\n      say end",
            self.prelude
        ));
        self
    }

    /// A job without a process.
    #[must_use]
    pub fn noop(mut self, name: &str, keys: &[&str]) -> Self {
        self.head(name, keys);
        self.line("    type: noop");
        self
    }

    /// The whole file.
    pub fn text(&self) -> String {
        self.text.clone()
    }

    fn head(&mut self, name: &str, keys: &[&str]) {
        self.line(&format!("  - name: {name}"));
        for key in keys {
            self.line(&format!("    {key}"));
        }
    }

    fn line(&mut self, line: &str) {
        // Writing to a text cannot fail.
        writeln!(self.text, "{line}").unwrap_or_default();
    }
}

impl Cluster {
    /// Begins a job file for the group, with `defaults` as written between braces.
    pub fn jobs(&self, group: &str, defaults: &str) -> JobFile {
        JobFile::new(group, defaults, self.dir())
    }
}

/// `schedule: …` that is due once at an instant of this year, and its version as commands show it.
///
/// # Errors
/// When it is no instant.
pub fn cron_at(ms: i64) -> Result<(String, String)> {
    let at = Timestamp::from_millisecond(ms - ms.rem_euclid(1_000))?;
    let civil = TimeZone::UTC.to_datetime(at);
    let (s, m, h) = (civil.second(), civil.minute(), civil.hour());
    let (day, month) = (civil.day(), civil.month());
    let key = format!("schedule: {{ cron: \"{s} {m} {h} {day} {month} ?\", zone: UTC }}");
    Ok((key, at.to_string()))
}
