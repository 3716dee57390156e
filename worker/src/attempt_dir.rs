//! One attempt's directory: what lies where, and how much of it is read. Knows no job and no leader.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use hera_common::id::{RunId, Token};
use hera_common::limits::OUTPUT_BYTES_MAX;
use serde::{Deserialize, Serialize};

use crate::contract::Held;
use crate::process::order::{EXIT_FILE, Exit, LOG_FILE, WORK_DIR};
use crate::state_dir::random_hex;

/// Says whose attempt the directory is, for the worker that finds it after a crash.
const HELD_FILE: &str = "held";

/// An attempt's directory. Its name says nothing of the token: scripts see their path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptDir {
    path: PathBuf,
    name: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    run: i64,
    token: String,
}

impl AttemptDir {
    /// Makes a new one below `attempts`.
    ///
    /// # Errors
    /// Where the disk does not take it.
    pub fn create(attempts: &Path, held: Held, number: u32) -> io::Result<Self> {
        let random = random_hex::<4>().map_err(io::Error::other)?;
        let name = format!("r{}-{number}-{random}", held.run);
        let dir = Self { path: attempts.join(&name), name };
        fs::create_dir(&dir.path)?;
        fs::create_dir(dir.work())?;
        let written = Written { run: held.run.raw(), token: held.token.hex() };
        // A half of it says as much as nothing: that the attempt was never executed.
        fs::write(dir.path.join(HELD_FILE), serde_json::to_vec(&written)?)?;
        Ok(dir)
    }

    /// Those that lie below `attempts`, with whose they are; None for one that was never made whole.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn left_over(attempts: &Path) -> io::Result<Vec<(Self, Option<Held>)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(attempts)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let dir = Self { path: entry.path(), name };
            if !dir.disowned() {
                let held = dir.held();
                found.push((dir, held));
            }
        }
        Ok(found)
    }

    fn held(&self) -> Option<Held> {
        let text = fs::read(self.path.join(HELD_FILE)).ok()?;
        let Written { run, token } = serde_json::from_slice(&text).ok()?;
        Some(Held { run: RunId::from_raw(run), token: Token::from_hex(&token)? })
    }

    /// Unique on this worker.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the job runs.
    pub fn work(&self) -> PathBuf {
        self.path.join(WORK_DIR)
    }

    /// The rendered script.
    pub fn script(&self) -> PathBuf {
        self.path.join("script")
    }

    /// Where the job may leave its outputs.
    pub fn output_file(&self) -> PathBuf {
        self.path.join("output")
    }

    /// What the job wrote to stdout and stderr.
    pub fn log(&self) -> PathBuf {
        self.path.join(LOG_FILE)
    }

    /// How the job ended; None where it never did, or its shim was killed.
    ///
    /// # Errors
    /// Where the file is there and cannot be read.
    pub fn exit(&self) -> io::Result<Option<Exit>> {
        match fs::read(self.path.join(EXIT_FILE)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What the job left as its outputs, or in words why they cannot be taken.
    pub fn output(&self) -> Result<Vec<u8>, String> {
        let file = match File::open(self.output_file()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(format!("its outputs cannot be read: {error}")),
        };
        let limit = u64::try_from(OUTPUT_BYTES_MAX).unwrap_or(u64::MAX);
        let mut output = Vec::new();
        match file.take(limit.saturating_add(1)).read_to_end(&mut output) {
            Ok(n) if n > OUTPUT_BYTES_MAX => {
                Err(format!("its outputs are larger than {OUTPUT_BYTES_MAX} bytes"))
            }
            Ok(_) => Ok(output),
            Err(error) => Err(format!("its outputs cannot be read: {error}")),
        }
    }

    /// Leaves it to people: no worker takes it for its own any more.
    ///
    /// # Errors
    /// Where its mark cannot be deleted.
    pub fn disown(&self) -> io::Result<()> {
        fs::rename(self.path.join(HELD_FILE), self.path.join("was_held"))
    }

    /// True where it was left to people.
    fn disowned(&self) -> bool {
        self.path.join("was_held").exists()
    }

    /// Deletes it with all that is in it.
    ///
    /// # Errors
    /// Where something cannot be deleted.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_found_again_with_whose_it_is() {
        let root = tempfile::tempdir().unwrap();
        let held = Held { run: RunId::from_raw(42), token: Token::from_bytes([3; 16]) };
        let dir = AttemptDir::create(root.path(), held, 2).unwrap();
        assert!(dir.name().starts_with("r42-2-") && !dir.name().contains("0303"));
        fs::create_dir(root.path().join("half")).unwrap();
        let mut found = AttemptDir::left_over(root.path()).unwrap();
        found.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        let held_by: Vec<Option<Held>> = found.iter().map(|(_, held)| *held).collect();
        assert_eq!(held_by, [None, Some(held)]);
        dir.disown().unwrap();
        assert_eq!(AttemptDir::left_over(root.path()).unwrap().len(), 1);
        dir.remove().unwrap();
        assert!(!dir.path().exists());
    }

    #[test]
    fn outputs_have_a_limit() {
        let root = tempfile::tempdir().unwrap();
        let held = Held { run: RunId::from_raw(1), token: Token::from_bytes([1; 16]) };
        let dir = AttemptDir::create(root.path(), held, 1).unwrap();
        assert_eq!(dir.output(), Ok(Vec::new()));
        fs::write(dir.output_file(), vec![b'x'; OUTPUT_BYTES_MAX]).unwrap();
        assert_eq!(dir.output().map(|output| output.len()), Ok(OUTPUT_BYTES_MAX));
        fs::write(dir.output_file(), vec![b'x'; OUTPUT_BYTES_MAX + 1]).unwrap();
        assert_eq!(dir.output(), Err("its outputs are larger than 65536 bytes".to_owned()));
    }
}
