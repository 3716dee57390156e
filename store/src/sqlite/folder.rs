//! The folder of a store: made, held by one master, and on a disk of this machine. Knows no database.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock, statfs};
use rustix::io::Errno;

use crate::StoreError;

/// Kernel's numbers of file systems that other machines may write, too.
const NETWORK: &[(u64, &str)] = &[
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x00c3_6400, "ceph"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "afs"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
];

/// The number of all file systems of programs; which of them it is, only the table of mounts tells.
const FUSE: u64 = 0x6573_5546;

/// File systems of programs that reach another machine.
const NETWORK_FUSE: &[&str] = &[
    "fuse.sshfs",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.glusterfs",
    "fuse.s3fs",
    "fuse.rclone",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.juicefs",
];

/// A folder that no other master has while this value lives.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The folder itself, not a file in it: that could be removed and made anew, and held twice.
    _lock: File,
}

impl Folder {
    /// Makes the folder where it is missing, and holds it.
    pub(super) fn take(path: &Path) -> Result<Self, StoreError> {
        let shown = path.display();
        let unusable = |what: &str| StoreError::Unusable(format!("the folder {shown} {what}"));
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| unusable(&format!("cannot be made: {error}")))?;
        let lock =
            File::open(path).map_err(|error| unusable(&format!("cannot be read: {error}")))?;
        if let Some(kind) = network(path, &lock)? {
            return Err(unusable(&format!(
                "lies on a network file system ({kind}), where two masters could write it: use a \
                 local disk, or PostgreSQL"
            )));
        }
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { path: path.to_path_buf(), _lock: lock }),
            Err(Errno::WOULDBLOCK) => Err(unusable("is used by another master")),
            Err(error) => Err(unusable(&format!("cannot be locked: {error}"))),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that is open, by what it is and not by its name.
#[derive(Debug)]
pub(super) struct OpenFile {
    path: PathBuf,
    /// Its device and number.
    is: (u64, u64),
}

impl OpenFile {
    /// The one that lies there now.
    pub(super) fn at(path: PathBuf) -> Result<Self, StoreError> {
        let is = identity(&path);
        let is =
            is.map_err(|error| StoreError::Unusable(format!("{}: {error}", path.display())))?;
        Ok(Self { path, is })
    }

    /// What is written to a file that was deleted or replaced is lost when the program ends, however well it seems to go.
    pub(super) fn is_there(&self) -> Result<(), StoreError> {
        let what = match identity(&self.path) {
            Ok(is) if is == self.is => return Ok(()),
            Ok(_another) => "was replaced".to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "was deleted".to_owned(),
            Err(error) => format!("cannot be looked at ({error})"),
        };
        Err(StoreError::Unusable(format!(
            "{} {what} while this program had it open: put it back, or a copy of it, and start again",
            self.path.display()
        )))
    }
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|file| (file.dev(), file.ino()))
}

/// The name of the network file system that the folder lies on, if it does.
fn network(path: &Path, folder: &File) -> Result<Option<String>, StoreError> {
    let told = statfs(path)
        .map_err(|error| StoreError::Unusable(format!("{}: {error}", path.display())))?;
    // The kernel's field is signed; the numbers have 32 bits.
    let kind = told.f_type.cast_unsigned() & 0xffff_ffff;
    if let Some((_, name)) = NETWORK.iter().find(|(number, _)| *number == kind) {
        return Ok(Some((*name).to_owned()));
    }
    if kind != FUSE {
        return Ok(None);
    }
    let device = folder.metadata().map(|told| told.dev()).unwrap_or_default();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    Ok(network_fuse(&mounts, device))
}

/// The kind of the mount with this device, where it is one that reaches another machine.
fn network_fuse(mounts: &str, device: u64) -> Option<String> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let wanted = format!("{major}:{minor}");
    // Fields: id, parent, device, …, `-`, kind, source, options.
    let kind = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let same = before.split(' ').nth(2) == Some(wanted.as_str());
        same.then(|| after.split(' ').next()).flatten()
    })?;
    NETWORK_FUSE.contains(&kind).then(|| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Folder, OpenFile, network_fuse};

    #[test]
    fn a_folder_is_held_once() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("new/folder");
        let held = Folder::take(&path).unwrap();
        let told = Folder::take(&path).unwrap_err().to_string();
        assert!(told.ends_with("new/folder is used by another master"), "{told}");
        drop(held);
        Folder::take(&path).unwrap();
    }

    #[test]
    fn a_mount_of_a_program_is_known_by_its_kind() {
        let mounts = "30 1 0:47 / /home/a rw - fuse.gocryptfs /x rw\n\
                      31 1 0:48 / /mnt/b rw,nosuid shared:3 - fuse.sshfs host:/ rw\n";
        let device = |minor| rustix::fs::makedev(0, minor);
        assert_eq!(network_fuse(mounts, device(48)).as_deref(), Some("fuse.sshfs"));
        assert_eq!(network_fuse(mounts, device(47)), None);
        assert_eq!(network_fuse(mounts, device(49)), None);
    }

    #[test]
    fn a_file_that_is_deleted_or_replaced_is_missed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("hera.db");
        std::fs::write(&path, "1").unwrap();
        let file = OpenFile::at(path.clone()).unwrap();
        std::fs::write(&path, "2").unwrap();
        file.is_there().unwrap();
        let beside = place.path().join("beside");
        std::fs::rename(&path, &beside).unwrap();
        let told = file.is_there().unwrap_err().to_string();
        assert!(told.contains("hera.db was deleted while this program had it open"), "{told}");
        std::fs::write(&path, "2").unwrap();
        let told = file.is_there().unwrap_err().to_string();
        assert!(told.contains("hera.db was replaced while"), "{told}");
        std::fs::rename(&beside, &path).unwrap();
        file.is_there().unwrap();
    }
}
