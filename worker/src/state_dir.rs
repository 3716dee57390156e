//! The worker's own folder: its locks, its identity, where attempts, files and unsent ends lie. Knows no
//! protocol.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::process::holders;

/// Whose lock says that a worker uses the folder.
const LOCK: &str = "lock";
/// Whose lock says that processes of a worker, perhaps of one that died, are still there.
const GROUPS_LOCK: &str = "groups.lock";
/// Holds the folder's identity.
const STATE_ID: &str = "state_id";
/// How often a worker has started in the folder.
const STARTS: &str = "starts";
/// Folders in it.
const FOLDERS: [&str; 3] = ["attempts", "files", "spool"];
/// How often the lock of a dead worker's processes is tried. They are gone within the grace of a stop.
const TRY_AGAIN: Duration = Duration::from_millis(20);
/// After how long it is said that something is waited for.
const SAY_SO: Duration = Duration::from_secs(2);

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    #[error("{} is used by another worker: give each worker a --state-dir of its own", .0.display())]
    Busy(PathBuf),
    #[error("{} is no path in UTF-8", .0.display())]
    NotText(PathBuf),
    #[error("could not use {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A folder that this process alone uses, until the value is dropped or the process ends.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    id: String,
    starts: u64,
    _lock: File,
}

impl StateDir {
    /// Makes the folder where it is missing, and locks it.
    ///
    /// # Errors
    /// Where another worker uses it, or it cannot be written.
    pub fn open(path: &Path) -> Result<Self, StateDirError> {
        let failed = |source| StateDirError::Io { path: path.to_owned(), source };
        let folder = |path: &Path| DirBuilder::new().recursive(true).mode(0o700).create(path);
        folder(path).map_err(failed)?;
        let path = fs::canonicalize(path).map_err(failed)?;
        if path.to_str().is_none() {
            return Err(StateDirError::NotText(path));
        }
        let lock = open(&path.join(LOCK)).map_err(failed)?;
        if let Err(error) = flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            return Err(match error {
                Errno::WOULDBLOCK => StateDirError::Busy(path),
                error => failed(error.into()),
            });
        }
        for name in FOLDERS {
            folder(&path.join(name)).map_err(failed)?;
        }
        let id = identity(&path).map_err(failed)?;
        let starts = count_start(&path).map_err(failed)?;
        Ok(Self { path, id, starts, _lock: lock })
    }

    /// The folder's identity, made once: 32 hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Which start of a worker in this folder this is, from 1.
    pub fn starts(&self) -> u64 {
        self.starts
    }

    /// One folder for each attempt.
    pub fn attempts(&self) -> PathBuf {
        self.path.join("attempts")
    }

    /// Files of jobs, by digest.
    pub fn files(&self) -> PathBuf {
        self.path.join("files")
    }

    /// Ends that the leader has not taken.
    pub fn spool(&self) -> PathBuf {
        self.path.join("spool")
    }

    /// What people asked to be kept of attempts that have ended.
    pub fn kept(&self) -> PathBuf {
        self.path.join("kept")
    }

    /// Waits until no process of an earlier worker in this folder is left, and gives the lock that this
    /// one's processes must hold. However long it takes: to go on would let an attempt run twice.
    ///
    /// # Errors
    /// Where the lock cannot be used.
    pub async fn lock_groups(&self) -> Result<File, StateDirError> {
        let path = self.path.join(GROUPS_LOCK);
        let failed = |source| StateDirError::Io { path: path.clone(), source };
        let lock = open(&path).map_err(failed)?;
        let mut waited = Duration::ZERO;
        loop {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(lock),
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(failed(error.into())),
            }
            tokio::time::sleep(TRY_AGAIN).await;
            waited += TRY_AGAIN;
            if waited.as_millis().is_multiple_of(SAY_SO.as_millis()) {
                // No worker is there that they could belong to. Whoever has stopped one, it shall end its job now.
                let left = holders::wake(&path);
                tracing::warn!(
                    wait_ms = waited.as_millis(),
                    "processes of an earlier worker in this folder are still ending: {left:?}"
                );
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(path)
}

/// The identity that lies in the folder; a new one where there is none.
fn identity(folder: &Path) -> io::Result<String> {
    let path = folder.join(STATE_ID);
    match fs::read_to_string(&path) {
        Ok(id) if id.len() == 32 => return Ok(id),
        Ok(_) => return Err(damaged(&path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let id = random_hex::<16>().map_err(io::Error::other)?;
    write_durably(&path, id.as_bytes())?;
    Ok(id)
}

/// Counts one start more.
fn count_start(folder: &Path) -> io::Result<u64> {
    let path = folder.join(STARTS);
    let before = match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse::<u64>().map_err(|_no_number| damaged(&path))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let starts = before.saturating_add(1);
    write_durably(&path, starts.to_string().as_bytes())?;
    Ok(starts)
}

/// After a disk fault, or a loss of power that the disk did not survive as it said it would.
fn damaged(path: &Path) -> io::Error {
    io::Error::other(format!(
        "{} is damaged: delete {STATE_ID} and {STARTS} beside it; the worker is then a new one, and gets its name as soon as no lease of the old one is left",
        path.display()
    ))
}

/// `N` random bytes in lower-case hexadecimal digits.
///
/// # Errors
/// Where the system has no randomness.
pub fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes a file that is there whole or not at all, also where this process dies meanwhile.
///
/// # Errors
/// Where it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("new");
    fs::write(&unfinished, bytes)?;
    fs::rename(unfinished, path)
}

/// As [`write_whole`], and there for good: a loss of power cannot take it back.
///
/// # Errors
/// Where it cannot be written.
fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("new");
    let mut file = File::create(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(unfinished, path)?;
    // The rename itself is in the folder.
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn a_folder_keeps_its_identity_and_one_owner() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/worker");
        let first = StateDir::open(&path).unwrap();
        let id = first.id().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        let groups = first.lock_groups().await.unwrap();
        let refused = StateDir::open(&path).unwrap_err();
        assert!(matches!(refused, StateDirError::Busy(_)), "{refused}");
        drop(first);
        let second = StateDir::open(&path).unwrap();
        assert_eq!((second.id(), second.starts()), (id.as_str(), 2));
        // The first one's processes hold the lock of the groups.
        let (locked, ()) = tokio::join!(second.lock_groups(), async {
            tokio::task::yield_now().await;
            drop(groups);
        });
        locked.unwrap();
    }

    #[test]
    fn a_damaged_folder_says_what_to_do_and_then_serves_a_new_worker() {
        let root = tempfile::tempdir().unwrap();
        let first = StateDir::open(root.path()).unwrap().id().to_owned();
        for name in [STATE_ID, STARTS] {
            let whole = fs::read(root.path().join(name)).unwrap();
            fs::write(root.path().join(name), "").unwrap();
            let StateDirError::Io { source, .. } = StateDir::open(root.path()).unwrap_err() else {
                panic!("{name}: another error");
            };
            let told = source.to_string();
            assert!(told.contains("is damaged: delete state_id and starts"), "{told}");
            fs::write(root.path().join(name), whole).unwrap();
        }
        fs::remove_file(root.path().join(STATE_ID)).unwrap();
        fs::remove_file(root.path().join(STARTS)).unwrap();
        let second = StateDir::open(root.path()).unwrap();
        assert_eq!(second.starts(), 1);
        assert_ne!(second.id(), first);
    }
}
