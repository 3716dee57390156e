//! The command `hera` as a person types it: what it printed, and how it ended.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use hera_testkit::{Process, binary};
use serde_json::Value;

use super::{Cluster, JobFile, LIMIT};

/// What a command told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Told {
    /// The standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The standard output as JSON.
    ///
    /// # Errors
    /// When it is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.stdout)
            .with_context(|| format!("no JSON: {}{}", self.text(), self.stderr))
    }
}

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started, does not end, or a signal ends it.
pub fn tell(command: &Command) -> Result<Told> {
    // A command that follows something for ever must fail the test, not hang it.
    let mut limited = Command::new("timeout");
    limited.arg(LIMIT.as_secs().to_string()).arg(command.get_program()).args(command.get_args());
    for (key, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(key, value),
            None => limited.env_remove(key),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        limited.current_dir(dir);
    }
    let output = limited.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.code() != Some(124), "{command:?} did not end within {LIMIT:?}");
    Ok(Told {
        code: output.status.code().context("the command was ended by a signal")?,
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

impl Cluster {
    /// `hera` for this cluster, with these arguments.
    ///
    /// # Errors
    /// When it is not built.
    pub fn hera_command(&self, args: &[&str]) -> Result<Command> {
        let mut command = Command::new(binary("hera")?);
        command.args(args).env("HERA_SERVER", self.servers()).env("HERA_ACTOR", "tester");
        // Nothing of the person who runs the tests may be found or changed.
        command.env("HOME", self.dir()).env_remove("XDG_DATA_HOME").env("NO_COLOR", "1");
        Ok(command)
    }

    /// Runs `hera` to its end, whatever that is.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn hera(&self, args: &[&str]) -> Result<Told> {
        tell(&self.hera_command(args)?)
    }

    /// Runs `hera`, which must end with this code.
    ///
    /// # Errors
    /// When it does not; the message has all that it told.
    pub fn hera_ends(&self, code: i32, args: &[&str]) -> Result<Told> {
        let told = self.hera(args)?;
        ensure!(
            told.code == code,
            "hera {} ended with {}, not {code}:\n{}{}",
            args.join(" "),
            told.code,
            told.text(),
            told.stderr
        );
        Ok(told)
    }

    /// Starts `hera` and leaves it running, with its output read all the time.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn hera_runs(&self, args: &[&str]) -> Result<Process> {
        Process::spawn("hera", &mut self.hera_command(args)?)
    }

    /// What `hera … -o json` prints.
    ///
    /// # Errors
    /// When it fails, or prints something else.
    pub fn json(&self, args: &[&str]) -> Result<Value> {
        let with_format: Vec<&str> = args.iter().copied().chain(["-o", "json"]).collect();
        self.hera_ends(0, &with_format)?.json()
    }

    /// Rows of a `hera get … -o json`.
    ///
    /// # Errors
    /// As [`Cluster::json`].
    pub fn rows(&self, args: &[&str]) -> Result<Vec<Value>> {
        let answer = self.json(args)?;
        answer.as_array().cloned().with_context(|| format!("no array: {answer}"))
    }

    /// Applies one job file. Its jobs hold from ten minutes ago on, so that what is due by now runs at once.
    ///
    /// # Errors
    /// When it is refused.
    pub fn apply(&self, jobs: &JobFile) -> Result<Told> {
        let path = self.write_jobs("jobs.yaml", &jobs.text())?;
        let since = instant(super::clock::now_ms() - 600_000)?;
        self.hera_ends(0, &["apply", "-f", &path, "--since", &since])
    }

    /// Writes a job file into the cluster's folder of jobs, and gives its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_jobs(&self, name: &str, text: &str) -> Result<String> {
        let folder = self.dir().join("jobs");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        std::fs::write(&path, text)?;
        utf8(&path)
    }

    /// Milliseconds since 1970, by the clock that scripts and stores read.
    pub fn now_ms(&self) -> i64 {
        super::clock::now_ms()
    }
}

/// RFC 3339 in UTC.
fn instant(ms: i64) -> Result<String> {
    Ok(jiff::Timestamp::from_millisecond(ms)?.to_string())
}

fn utf8(path: &Path) -> Result<String> {
    Ok(path.to_str().context("a folder of ours is UTF-8")?.to_owned())
}
