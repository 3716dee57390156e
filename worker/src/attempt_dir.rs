//! One attempt on the disk: the directory in which its job runs, and the files beside it. Knows no job and no
//! leader.
//!
//! The files are the directory's neighbours and not in it, so that a script that empties its directory
//! loses nothing of ours; and they are few, since each costs as much as the job's own start.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hera_common::chain::Chain;
use hera_common::id::{RunId, Token};
use hera_common::limits::OUTPUT_BYTES_MAX;

use crate::contract::Held;
use crate::plain_file;
use crate::process::order::Exit;
use crate::state_dir::random_hex;

/// An exit file is far smaller.
const EXIT_BYTES_MAX: usize = 16_384;
/// Suffixes of the neighbours.
const SUFFIXES: [&str; 5] = ["script", "log", "output", "exit", "exit-new"];

/// An attempt's directory. Its name says nothing of the token: scripts see their path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptDir {
    path: PathBuf,
    name: String,
}

/// What is left of an attempt of an earlier process.
#[derive(Debug)]
pub struct LeftOver {
    pub dir: AttemptDir,
    /// Whose it was and how it ended; None where nobody wrote that down.
    pub exit: Option<(Held, Exit)>,
}

impl AttemptDir {
    /// Makes a new one below `attempts`.
    ///
    /// # Errors
    /// Where the disk does not take it.
    pub fn create(attempts: &Path, held: Held, number: u32) -> io::Result<Self> {
        let random = random_hex::<4>().map_err(io::Error::other)?;
        let dir = Self::at(attempts, format!("r{}-{number}-{random}", held.run));
        fs::create_dir(&dir.path)?;
        Ok(dir)
    }

    fn at(attempts: &Path, name: String) -> Self {
        Self { path: attempts.join(&name), name }
    }

    /// What lies below `attempts`, in the order of the names.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn left_over(attempts: &Path) -> io::Result<Vec<LeftOver>> {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(attempts)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.insert(name.split('.').next().unwrap_or(&name).to_owned());
            }
        }
        let left_over = |name| {
            let dir = Self::at(attempts, name);
            let exit = dir.exit().unwrap_or_else(|error| {
                tracing::warn!(error = %Chain(&error), "an exit of {} cannot be read", dir.name);
                None
            });
            let exit = exit.and_then(|exit| Some((held_of(&exit.note)?, exit)));
            LeftOver { dir, exit }
        };
        Ok(names.into_iter().map(left_over).collect())
    }

    /// Unique on this worker.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the job runs.
    pub fn work(&self) -> &Path {
        &self.path
    }

    /// The rendered script.
    pub fn script(&self) -> PathBuf {
        self.file("script")
    }

    /// Where the job may leave its outputs.
    pub fn output_file(&self) -> PathBuf {
        self.file("output")
    }

    /// What the job wrote to stdout and stderr.
    pub fn log(&self) -> PathBuf {
        self.file("log")
    }

    /// How the job ended: written by its shim.
    pub fn exit_file(&self) -> PathBuf {
        self.file("exit")
    }

    fn file(&self, suffix: &str) -> PathBuf {
        // Names hold no dot.
        self.path.with_extension(suffix)
    }

    /// How the job ended; None where it never did, or its shim was killed.
    ///
    /// # Errors
    /// Where the file is there and cannot be read.
    pub fn exit(&self) -> io::Result<Option<Exit>> {
        match plain_file::read(&self.exit_file(), EXIT_BYTES_MAX) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What the job left as its outputs, or in words why they cannot be taken.
    pub fn output(&self) -> Result<Vec<u8>, String> {
        match plain_file::read(&self.output_file(), OUTPUT_BYTES_MAX) {
            Ok(output) if output.len() > OUTPUT_BYTES_MAX => {
                Err(format!("its outputs are larger than {OUTPUT_BYTES_MAX} bytes"))
            }
            Ok(output) => Ok(output),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(format!("its outputs cannot be read: {error}")),
        }
    }

    /// Moves it into a folder of its own below `kept`, for people; no worker looks there.
    ///
    /// # Errors
    /// Where something cannot be moved.
    pub fn keep(&self, kept: &Path) -> io::Result<()> {
        let folder = kept.join(&self.name);
        fs::create_dir_all(&folder)?;
        for suffix in SUFFIXES {
            if_there(fs::rename(self.file(suffix), folder.join(suffix)))?;
        }
        if_there(fs::rename(&self.path, folder.join("work")))
    }

    /// Deletes it with all that belongs to it.
    ///
    /// # Errors
    /// Where something cannot be deleted.
    pub fn remove(&self) -> io::Result<()> {
        for suffix in SUFFIXES {
            plain_file::remove(&self.file(suffix))?;
        }
        // Most jobs leave nothing in it.
        match fs::remove_dir(&self.path) {
            Ok(()) => Ok(()),
            Err(_not_empty) => plain_file::remove(&self.path),
        }
    }

    /// True where something lies in the place of the outputs, whatever it is.
    pub fn has_output(&self) -> bool {
        fs::symlink_metadata(self.output_file()).is_ok()
    }

    /// True where something lies in the place of the log: a shim makes it before it executes anything.
    pub fn has_log(&self) -> bool {
        fs::symlink_metadata(self.log()).is_ok()
    }

    /// True where a shim has written down how the job ended.
    pub fn has_exit(&self) -> bool {
        fs::symlink_metadata(self.exit_file()).is_ok_and(|exit| exit.is_file())
    }
}

/// What is not there needs not be moved.
fn if_there(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// What the shim writes into the exit file, so that a worker that finds it knows whose it is.
pub fn note_of(held: Held) -> String {
    format!("{} {}", held.run, held.token.hex())
}

fn held_of(note: &str) -> Option<Held> {
    let (run, token) = note.split_once(' ')?;
    Some(Held { run: RunId::from_raw(run.parse().ok()?), token: Token::from_hex(token)? })
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn held() -> Held {
        Held { run: RunId::from_raw(42), token: Token::from_bytes([3; 16]) }
    }

    #[test]
    fn an_attempt_is_found_again_with_whose_it_is() {
        let root = tempfile::tempdir().unwrap();
        let dir = AttemptDir::create(root.path(), held(), 2).unwrap();
        assert!(dir.name().starts_with("r42-2-") && !dir.name().contains("0303"));
        fs::write(dir.log(), "x").unwrap();
        fs::write(root.path().join("r1-1-ab.log"), "of one whose directory is gone").unwrap();
        let exit = Exit { note: note_of(held()), code: Some(3), ..Exit::default() };
        fs::write(dir.exit_file(), serde_json::to_vec(&exit).unwrap()).unwrap();
        let found = AttemptDir::left_over(root.path()).unwrap();
        let told: Vec<_> = found.iter().map(|found| found.exit.clone()).collect();
        assert_eq!(told, [None, Some((held(), exit))]);
        for left in found {
            left.dir.remove().unwrap();
        }
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_kept_lies_in_one_folder() {
        let root = tempfile::tempdir().unwrap();
        let (attempts, kept) = (root.path().join("attempts"), root.path().join("kept"));
        fs::create_dir(&attempts).unwrap();
        let dir = AttemptDir::create(&attempts, held(), 1).unwrap();
        fs::write(dir.work().join("here"), "1").unwrap();
        fs::write(dir.log(), "2").unwrap();
        dir.keep(&kept).unwrap();
        assert_eq!(fs::read_dir(&attempts).unwrap().count(), 0);
        let folder = kept.join(dir.name());
        assert_eq!(fs::read_to_string(folder.join("work/here")).unwrap(), "1");
        assert_eq!(fs::read_to_string(folder.join("log")).unwrap(), "2");
    }

    #[test]
    fn what_a_script_puts_in_the_place_of_our_files_keeps_nobody_waiting_and_goes() {
        let root = tempfile::tempdir().unwrap();
        let dir = AttemptDir::create(root.path(), held(), 1).unwrap();
        let places = [dir.output_file(), dir.exit_file(), dir.log(), dir.script()];
        for place in &places {
            mknodat(CWD, place, FileType::Fifo, Mode::RWXU, 0).unwrap();
        }
        assert_eq!(dir.output(), Err("its outputs cannot be read: it is no plain file".to_owned()));
        let found = AttemptDir::left_over(root.path()).unwrap();
        assert!(found.iter().all(|left| left.exit.is_none()), "{found:?}");
        dir.remove().unwrap();
        for place in &places {
            fs::create_dir_all(place.join("deep")).unwrap();
        }
        // The work's own directory may have become something else, too.
        std::os::unix::fs::symlink("/", dir.work()).unwrap();
        dir.remove().unwrap();
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn outputs_have_a_limit() {
        let root = tempfile::tempdir().unwrap();
        let dir = AttemptDir::create(root.path(), held(), 1).unwrap();
        assert_eq!(dir.output(), Ok(Vec::new()));
        fs::write(dir.output_file(), vec![b'x'; OUTPUT_BYTES_MAX]).unwrap();
        assert_eq!(dir.output().map(|output| output.len()), Ok(OUTPUT_BYTES_MAX));
        fs::write(dir.output_file(), vec![b'x'; OUTPUT_BYTES_MAX + 1]).unwrap();
        assert_eq!(dir.output(), Err("its outputs are larger than 65536 bytes".to_owned()));
    }
}
