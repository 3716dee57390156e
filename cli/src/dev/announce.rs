//! How other commands find a running `hera dev`: one locked file for each, in a place that all know. A file
//! that is not locked is of one that has ended, however it ended.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::place;
use crate::exit::{Exit, Failure};

/// Bytes of an announcement: two paths and an address.
const BYTES_MAX: u64 = 64 << 10;

/// How often, and with which pause, a name is tried before it is taken for held.
const TAKE_TRIES: u32 = 10;
const TAKE_PAUSE: Duration = Duration::from_millis(20);

/// What is told of one `hera dev`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announced {
    /// HOST:PORT.
    pub address: String,
    /// The folder of jobs, absolute; None: it only serves.
    pub folder: Option<PathBuf>,
    pub data_dir: PathBuf,
}

/// An announcement that stands as long as this lives.
#[derive(Debug)]
pub(crate) struct Announcement {
    path: PathBuf,
    file: File,
}

impl Announcement {
    /// Takes the name, before there is an address to tell.
    ///
    /// # Errors
    /// Another process has the name; or the place cannot be written.
    pub(crate) async fn take(base: &Path, name: &str) -> Result<Self, Failure> {
        let folder = running(base);
        let path = folder.join(format!("{name}.json"));
        let failed = |error: io::Error| Failure::machine(path.display(), &error);
        fs::create_dir_all(&folder).map_err(failed)?;
        for _try in 0..TAKE_TRIES {
            if let Some(file) = lock(&path).map_err(failed)? {
                file.set_len(0).map_err(failed)?;
                return Ok(Self { path, file });
            }
            // Whoever looks whether it is locked holds it for a moment.
            tokio::time::sleep(TAKE_PAUSE).await;
        }
        let other = read(&path).map(|other| format!(" at {}", other.address)).unwrap_or_default();
        Err(Failure::new(
            Exit::Refused,
            format!("`hera dev` runs for this folder already{other}; stop it first"),
        ))
    }

    /// Tells it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn tell(&mut self, announced: &Announced) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::machine(self.path.display(), &error);
        let text = serde_json::to_vec(announced).map_err(io::Error::from).map_err(failed)?;
        // In one write: a reader sees all of it or an empty file.
        self.file.write_all(&text).map_err(failed)
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // Whatever stays is not locked, and so says nothing.
        drop(fs::remove_file(&self.path));
    }
}

/// The address of the `hera dev` that a command without `--server` means; None: none runs.
///
/// # Errors
/// Several run, and none for the folder that this process is in.
pub(crate) fn find() -> Result<Option<String>, Failure> {
    let all = all(&place::own_base());
    let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
    choose(&all, here.as_deref())
}

/// The file, locked for this process; None: another has it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    // The one who had it may have taken the file away between the two steps.
    let still = fs::metadata(path).is_ok_and(|now| {
        file.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == (now.dev(), now.ino()))
    });
    Ok(still.then_some(file))
}

fn running(base: &Path) -> PathBuf {
    base.join("running")
}

/// All that run now, in the order of their files' names.
fn all(base: &Path) -> Vec<Announced> {
    // No folder: nothing has ever been announced.
    let Ok(entries) = fs::read_dir(running(base)) else { return Vec::new() };
    let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter(|path| locked(path)).filter_map(|path| read(path)).collect()
}

/// Whether somebody holds the file.
fn locked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared).is_err()
}

/// None: not yet written, or not of this program.
fn read(path: &Path) -> Option<Announced> {
    let mut text = String::new();
    File::open(path).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// The one whose folder holds `here`, the innermost first; else the only one.
fn choose(all: &[Announced], here: Option<&Path>) -> Result<Option<String>, Failure> {
    let depth = |announced: &Announced| {
        let folder = announced.folder.as_deref()?;
        here?.starts_with(folder).then(|| folder.components().count())
    };
    let deepest = all.iter().filter_map(depth).max();
    let here: Vec<_> =
        all.iter().filter(|one| deepest.is_some() && depth(one) == deepest).collect();
    match (&*here, all) {
        ([one], _) => Ok(Some(one.address.clone())),
        ([], [one]) => Ok(Some(one.address.clone())),
        ([], []) => Ok(None),
        (_, several) => {
            let list: Vec<_> = several
                .iter()
                .map(|one| match &one.folder {
                    Some(folder) => format!("{} ({})", one.address, folder.display()),
                    None => one.address.clone(),
                })
                .collect();
            Err(Failure::bad_input(format!(
                "several `hera dev` run: {}; go into a folder of one, or name it with --server",
                list.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Announced, Announcement, all, choose};
    use crate::exit::Exit;

    fn announced(port: u16, folder: Option<&str>) -> Announced {
        Announced {
            address: format!("127.0.0.1:{port}"),
            folder: folder.map(PathBuf::from),
            data_dir: PathBuf::from("/data"),
        }
    }

    #[test]
    fn the_folder_decides_and_then_being_the_only_one() {
        type Running = &'static [(u16, Option<&'static str>)];
        let table: [(Running, &str, &str); 8] = [
            (&[(1, Some("/a")), (2, Some("/a"))], "/a/b", "BadInput"),
            (&[], "/a", "none"),
            (&[(1, Some("/b"))], "/a", "127.0.0.1:1"),
            (&[(1, None)], "/a", "127.0.0.1:1"),
            (&[(1, Some("/a")), (2, Some("/b"))], "/b/c", "127.0.0.1:2"),
            (&[(1, Some("/a")), (2, Some("/a/b"))], "/a/b/c", "127.0.0.1:2"),
            (&[(1, Some("/a/b")), (2, Some("/a/bb"))], "/a/bb", "127.0.0.1:2"),
            (&[(1, Some("/a")), (2, None)], "/x", "BadInput"),
        ];
        for (running, here, expected) in table {
            let all: Vec<_> =
                running.iter().map(|(port, folder)| announced(*port, *folder)).collect();
            let told = match choose(&all, Some(Path::new(here))) {
                Ok(Some(address)) => address,
                Ok(None) => "none".to_owned(),
                Err(failure) => format!("{:?}", failure.exit),
            };
            assert_eq!(told, expected, "{running:?} from {here}");
        }
    }

    #[tokio::test]
    async fn an_announcement_is_found_while_it_stands_and_taken_once() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path();
        assert_eq!(all(base), []);
        let mut ours = Announcement::take(base, "weather").await.unwrap();
        assert_eq!(all(base), [], "it has no address yet");
        let told = announced(7, Some("/weather"));
        ours.tell(&told).unwrap();
        assert_eq!(all(base), std::slice::from_ref(&told));
        let refused = Announcement::take(base, "weather").await.unwrap_err();
        assert_eq!(refused.exit, Exit::Refused);
        assert!(refused.to_string().contains("already at 127.0.0.1:7;"), "{refused}");
        drop(ours);
        assert_eq!(all(base), []);
        // One that was killed leaves its file, and no lock.
        let text = serde_json::to_string(&told).unwrap();
        std::fs::write(base.join("running/killed.json"), text).unwrap();
        assert_eq!(all(base), []);
    }
}
