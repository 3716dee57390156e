//! What the jobs themselves say: one append-only file, to which every script writes a line at its start and
//! its end. It is the truth about what ran, whatever the store says.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hera_testkit::wait_for_async;

use super::{Cluster, LIMIT};

/// The journal, in the cluster's folder.
pub(super) const FILE: &str = "journal";
/// What every script reads first, in the cluster's folder.
pub(super) const PRELUDE: &str = "say.sh";

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `start`, `end`, or what a script says beside.
    pub word: String,
    pub at_ms: i64,
    pub job: String,
    pub version: String,
    pub run: i64,
    pub attempt: u32,
    pub fence: i64,
    /// Of the script, or what it named.
    pub pid: u32,
}

/// All lines, in the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Journal {
    pub lines: Vec<Line>,
}

/// Writes what scripts read.
pub(super) fn prepare(cluster: &Cluster) -> Result<()> {
    let dir = cluster.dir();
    let (journal, gates) = (dir.join(FILE), cluster.gates());
    fs::write(&journal, b"")?;
    // One write in append mode for a line: lines of scripts that run at once do not mix.
    let prelude = format!(
        "say() {{ printf '%s %s %s %s %s %s %s %s\\n' \"$1\" \"$(date +%s%3N)\" \"$HERA_JOB\" \
         \"$HERA_VERSION\" \"$HERA_RUN_ID\" \"$HERA_ATTEMPT\" \"$HERA_FENCE\" \"${{2:-$$}}\" \
         >> '{}'; }}\n\
         gate() {{ until [ -e '{}/'\"$1\" ]; do sleep 0.05; done; }}\n",
        journal.display(),
        gates.display()
    );
    fs::write(dir.join(PRELUDE), prelude)?;
    Ok(())
}

impl Journal {
    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)?;
        // A line without its end is being written.
        let whole = text.rfind('\n').map_or("", |end| text.get(..end).unwrap_or(""));
        let lines = whole.lines().map(Line::read).collect::<Result<_>>()?;
        Ok(Self { lines })
    }

    /// The lines of a job (the last part of its path) with this word.
    pub fn of(&self, job: &str, word: &str) -> Vec<&Line> {
        let is = |line: &&Line| line.word == word && line.job.rsplit('/').next() == Some(job);
        self.lines.iter().filter(is).collect()
    }

    /// The one line of a job with this word.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn only(&self, job: &str, word: &str) -> Result<&Line> {
        let found = self.of(job, word);
        ensure!(found.len() == 1, "{} lines `{word}` of {job}:\n{self:#?}", found.len());
        found.first().copied().context("there is one")
    }

    /// Checks that each start of `after` lies behind the end of `before`.
    ///
    /// # Errors
    /// When one does not.
    pub fn in_order(&self, before: &str, after: &str) -> Result<()> {
        let (end, start) = (self.only(before, "end")?, self.only(after, "start")?);
        let place = |wanted: &Line| self.lines.iter().position(|line| line == wanted);
        ensure!(place(end) < place(start), "{after} began before {before} had ended:\n{self:#?}");
        Ok(())
    }
}

impl Line {
    fn read(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split(' ').collect();
        let [word, at, job, version, run, attempt, fence, pid] = parts.as_slice() else {
            anyhow::bail!("not a line of the journal: {text:?}");
        };
        Ok(Self {
            word: (*word).to_owned(),
            at_ms: at.parse().with_context(|| text.to_owned())?,
            job: (*job).to_owned(),
            version: (*version).to_owned(),
            run: run.trim_start_matches('r').parse().with_context(|| text.to_owned())?,
            attempt: attempt.parse().with_context(|| text.to_owned())?,
            fence: fence.parse().with_context(|| text.to_owned())?,
            pid: pid.parse().with_context(|| text.to_owned())?,
        })
    }
}

impl Cluster {
    /// What the jobs have said so far.
    ///
    /// # Errors
    /// When a line cannot be read.
    pub fn journal(&self) -> Result<Journal> {
        Journal::read(&self.dir().join(FILE))
    }

    /// Waits until a job has said a word so often, and gives the last such line.
    ///
    /// # Errors
    /// When it does not.
    pub async fn said(&self, job: &str, word: &str, times: usize) -> Result<Line> {
        let what = format!("line {times} `{word}` of {job}");
        wait_for_async(&what, LIMIT, || async {
            let journal = self.journal().ok()?;
            journal.of(job, word).get(times.checked_sub(1)?).map(|line| (*line).clone())
        })
        .await
    }
}

/// Whether a process lives; one that has ended and was not reaped does not.
pub fn alive(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}
