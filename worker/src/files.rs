//! Files of jobs by their digest: fetched once from the leader, kept beside the attempts. Knows no attempt.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::link::{CallError, Link};
use crate::pause::Backoff;
use crate::state_dir::random_hex;

/// Between two tries of a file that could not be fetched.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(3));
/// After so many tries, about half a minute, the attempt goes to another worker.
const TRIES_MAX: u32 = 12;
/// How long a file is kept. One that is still in use is fetched again, once.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);

/// Why a file cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("{0:?} is no digest")]
    Digest(String),
    #[error("the file {digest} could not be fetched")]
    Fetch {
        digest: String,
        #[source]
        source: CallError,
    },
    #[error("the file {0} came with another content")]
    Content(String),
    #[error("the file {digest} could not be stored")]
    Store {
        digest: String,
        #[source]
        source: io::Error,
    },
}

/// The folder of files.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) folder: PathBuf,
    pub(crate) link: Arc<Link>,
}

impl Files {
    /// Where the file with this digest lies; it is fetched first where it is missing.
    pub(crate) async fn get(&self, digest: &str) -> Result<PathBuf, FileError> {
        if digest.len() != 64 || !digest.bytes().all(|c| c.is_ascii_hexdigit()) {
            return Err(FileError::Digest(digest.to_owned()));
        }
        let path = self.folder.join(digest);
        if path.exists() {
            return Ok(path);
        }
        let content = self.fetch(digest).await?;
        let (kept, digest) = (path.clone(), digest.to_owned());
        let stored = tokio::task::spawn_blocking(move || store(&kept, &digest, &content));
        stored.await.unwrap_or_else(|error| {
            let digest = path.display().to_string();
            Err(FileError::Store { digest, source: io::Error::other(error) })
        })?;
        Ok(path)
    }

    async fn fetch(&self, digest: &str) -> Result<bytes::Bytes, FileError> {
        let mut backoff = Backoff::new(PAUSE);
        let mut tries = 1;
        loop {
            match self.link.fetch_file(digest).await {
                Ok(content) => return Ok(content),
                Err(error) if error.moved() => {}
                Err(source) if source.refused() || tries >= TRIES_MAX => {
                    return Err(FileError::Fetch { digest: digest.to_owned(), source });
                }
                Err(_not_now) => {
                    tries += 1;
                    tokio::time::sleep(backoff.next()).await;
                }
            }
        }
    }
}

/// Two attempts may store the same file at once: each writes its own, and one of them stays.
fn store(path: &Path, digest: &str, content: &[u8]) -> Result<(), FileError> {
    let found: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    if !found.eq_ignore_ascii_case(digest) {
        return Err(FileError::Content(digest.to_owned()));
    }
    let write = || {
        let random = random_hex::<4>().map_err(io::Error::other)?;
        let unfinished = path.with_extension(random);
        fs::write(&unfinished, content)?;
        fs::rename(unfinished, path)
    };
    write().map_err(|source| FileError::Store { digest: digest.to_owned(), source })
}

/// Deletes what is older than a week, and what was never written whole.
///
/// # Errors
/// Where the folder cannot be read or written.
pub(crate) fn prune(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let old = entry.metadata()?.modified()?.elapsed().is_ok_and(|age| age > KEEP);
        if old || entry.path().extension().is_some() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn only_the_content_of_the_digest_is_stored_and_old_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(EMPTY);
        assert!(matches!(store(&path, EMPTY, b"x"), Err(FileError::Content(_))));
        assert!(!path.exists());
        store(&path, EMPTY, b"").unwrap();
        fs::write(folder.path().join("half.1234"), "").unwrap();
        prune(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        prune(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
