//! Ends that wait for the leader's verdict, one file each: written before they are sent, deleted when they
//! are answered, read again when a worker starts. Knows no leader.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::chain::Chain;
use hera_common::id::{RunId, Token};
use serde::{Deserialize, Serialize};

use crate::contract::{Held, Outcome, ReleaseCause};
use crate::plain_file;
use crate::state_dir::write_whole;

/// The suffix of a whole file; others were being written when a worker died.
const SUFFIX: &str = "json";

/// An end's words have no more bytes than a line of a log.
const END_BYTES_MAX: usize = 1 << 20;

/// An end that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub held: Held,
    pub outcome: Outcome,
}

/// The folder of ends.
#[derive(Debug, Clone)]
pub struct Spool {
    folder: PathBuf,
}

/// As it lies in a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    run: i64,
    token: String,
    /// An end's bare word, or a release's cause.
    word: String,
    reason: Option<String>,
    release: bool,
    code: Option<i32>,
    signal: Option<i32>,
    detail: Option<String>,
}

impl Spool {
    /// Over a folder that is there.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Writes down the end of the attempt in the directory `name`.
    ///
    /// # Errors
    /// Where the disk does not take it.
    pub fn store(&self, name: &str, waiting: &Waiting) -> io::Result<()> {
        write_whole(&self.file(name), &serde_json::to_vec(&written(waiting))?)
    }

    /// Deletes it; nothing where it was never stored.
    ///
    /// # Errors
    /// Where the disk does not let go of it.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.file(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    /// All that wait, with the names of their directories, in the order of these. A file that cannot be
    /// read stays where it is, with a word in the log: it is somebody's result.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn load(&self) -> io::Result<Vec<(String, Waiting)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|suffix| suffix != SUFFIX) {
                continue;
            }
            match read(&path) {
                Ok(one) => found.push(one),
                Err(error) => {
                    tracing::error!(error = %Chain(&error), "{} is no unsent end", path.display());
                }
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{SUFFIX}"))
    }
}

fn read(path: &Path) -> io::Result<(String, Waiting)> {
    let name = path.file_stem().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| io::Error::other("its name is no text"))?;
    let written: Written = serde_json::from_slice(&plain_file::read(path, END_BYTES_MAX)?)?;
    let waiting = waiting(written).ok_or_else(|| io::Error::other("a word is unknown"))?;
    Ok((name.to_owned(), waiting))
}

fn written(waiting: &Waiting) -> Written {
    let Waiting { held: Held { run, token }, outcome } = waiting;
    let (run, token) = (run.raw(), token.hex());
    match outcome {
        Outcome::Finish { end, exit: Exit { code, signal, detail } } => Written {
            run,
            token,
            word: end.word().to_owned(),
            reason: end.reason().map(str::to_owned),
            release: false,
            code: *code,
            signal: *signal,
            detail: detail.clone(),
        },
        Outcome::Release { cause, detail } => Written {
            run,
            token,
            word: cause.word().to_owned(),
            reason: None,
            release: true,
            code: None,
            signal: None,
            detail: Some(detail.clone()),
        },
    }
}

fn waiting(written: Written) -> Option<Waiting> {
    let Written { run, token, word, reason, release, code, signal, detail } = written;
    let held = Held { run: RunId::from_raw(run), token: Token::from_hex(&token)? };
    let outcome = if release {
        let cause = ReleaseCause::from_word(&word)?;
        Outcome::Release { cause, detail: detail.unwrap_or_default() }
    } else {
        let end = AttemptEnd::from_words(&word, reason.as_deref())?;
        Outcome::Finish { end, exit: Exit { code, signal, detail } }
    };
    Some(Waiting { held, outcome })
}

#[cfg(test)]
mod tests {
    use hera_common::run::FailReason;

    use super::*;

    #[test]
    fn an_end_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().to_owned());
        let held = Held { run: RunId::from_raw(7), token: Token::from_bytes([9; 16]) };
        let exit = Exit { code: Some(3), signal: None, detail: Some("no \u{1f4be}".to_owned()) };
        let ends = [
            Outcome::Finish { end: AttemptEnd::Failed(FailReason::Exit), exit },
            Outcome::Finish { end: AttemptEnd::Succeeded, exit: Exit::default() },
            Outcome::Release { cause: ReleaseCause::Drain, detail: "stopped".to_owned() },
        ];
        for (name, outcome) in ["a", "b", "c"].iter().zip(&ends) {
            spool.store(name, &Waiting { held, outcome: outcome.clone() }).unwrap();
        }
        fs::write(folder.path().join("d.json"), "{").unwrap();
        fs::write(folder.path().join("e.new"), "").unwrap();
        let found: Vec<Outcome> =
            spool.load().unwrap().into_iter().map(|(_, waiting)| waiting.outcome).collect();
        assert_eq!(found, ends);
        spool.remove("b").unwrap();
        spool.remove("b").unwrap();
        let names: Vec<String> = spool.load().unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "c"]);
        assert!(folder.path().join("d.json").exists(), "a damaged end is kept");
    }
}
