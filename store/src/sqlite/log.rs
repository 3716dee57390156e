//! Logs beside SQLite: a file for each attempt. Its length is what counts: a tail that a crash tore is written
//! again from there.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hera_common::id::Fence;

use crate::StoreError;
use crate::read::LogRead;

/// Files in one folder: more than some thousands make lists of it slow.
const FILES_IN_FOLDER: i64 = 1_000;

/// Where the logs are.
#[derive(Debug, Clone)]
pub(super) struct Logs {
    folder: PathBuf,
}

impl Logs {
    /// Below the store's folder.
    pub(super) fn in_folder(store: &Path) -> Self {
        Self { folder: store.join("logs") }
    }

    fn file(&self, fence: Fence) -> PathBuf {
        let folder = self.folder.join((fence.raw() / FILES_IN_FOLDER).to_string());
        folder.join(fence.to_string())
    }

    /// Adds what lies beyond the end of the log; answers its length.
    pub(super) async fn append(
        &self,
        fence: Fence,
        offset: u64,
        bytes: Vec<u8>,
    ) -> Result<u64, StoreError> {
        let path = self.file(fence);
        aside(move || append(&path, offset, &bytes)).await
    }

    /// A piece, and how long the log is.
    pub(super) async fn read(
        &self,
        fence: Fence,
        offset: u64,
        max: u32,
    ) -> Result<LogRead, StoreError> {
        let path = self.file(fence);
        aside(move || read(&path, offset, max)).await
    }

    /// How long these logs are.
    pub(super) async fn sizes(
        &self,
        fences: Vec<Fence>,
    ) -> Result<BTreeMap<Fence, u64>, StoreError> {
        let files: Vec<_> = fences.into_iter().map(|fence| (fence, self.file(fence))).collect();
        aside(move || files.into_iter().map(|(fence, path)| Ok((fence, size(&path)?))).collect())
            .await
    }
}

/// Does `work`, which waits for the disk, where it keeps nobody else waiting.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    let told = match tokio::task::spawn_blocking(work).await {
        Ok(told) => told,
        Err(ended) => Err(io::Error::other(ended)),
    };
    told.map_err(|error| StoreError::Unavailable(Box::new(error)))
}

fn append(path: &Path, offset: u64, bytes: &[u8]) -> io::Result<u64> {
    let length = size(path)?;
    let known = length.checked_sub(offset).and_then(|known| usize::try_from(known).ok());
    let Some(new) = known.and_then(|known| bytes.get(known..)).filter(|new| !new.is_empty()) else {
        return Ok(length);
    };
    let file = writable(path)?;
    // At its own place, not at the end: two writers of the same bytes then write the same file.
    file.write_all_at(new, length)?;
    file.metadata().map(|told| told.len())
}

fn writable(path: &Path) -> io::Result<File> {
    let open = || OpenOptions::new().write(true).create(true).truncate(false).open(path);
    match (open(), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
            std::fs::create_dir_all(folder)?;
            open()
        }
        (told, _) => told,
    }
}

fn read(path: &Path, offset: u64, max: u32) -> io::Result<LogRead> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(LogRead::default()),
        told => told?,
    };
    let size = file.metadata()?.len();
    let length = size.saturating_sub(offset).min(u64::from(max));
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(LogRead { bytes, size })
}

fn size(path: &Path) -> io::Result<u64> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        told => told.map(|told| told.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::{append, read};

    #[test]
    fn a_torn_tail_is_written_again_from_where_it_tore() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("0/7");
        assert_eq!(append(&path, 0, b"hello world").unwrap(), 11);
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(7).unwrap();
        assert_eq!(append(&path, 11, b"!").unwrap(), 7, "the worker hears where to go on");
        assert_eq!(append(&path, 7, b"orld!").unwrap(), 12);
        assert_eq!(read(&path, 0, 99).unwrap().bytes, b"hello world!");
    }
}
