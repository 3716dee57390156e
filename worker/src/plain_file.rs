//! Files that lie where a script may have put something else in their place: opened so that nothing but a plain file is
//! read, nothing is waited for, and no link is followed. It must not know what is in them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens it to be read. A FIFO, a device, a link or a directory in its place is an error, and keeps nobody waiting.
///
/// # Errors
/// `NotFound` where there is nothing; else why it cannot be read.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK));
    let file = options.open(path).map_err(in_words)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_plain()) }
}

/// Reads it to its end, or to one byte more than `max`.
///
/// # Errors
/// As [`open`], or where reading fails.
pub(crate) fn read(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes a new one to be appended to. Nothing may be there, not even a link that leads nowhere.
///
/// # Errors
/// Where something is there, or the disk does not take it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).open(path)
}

/// Makes a new one in the place of whatever is there.
///
/// # Errors
/// Where what is there cannot be deleted, or the disk does not take it.
pub(crate) fn replace(path: &Path) -> io::Result<File> {
    match create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove(path)?;
            create(path)
        }
        created => created,
    }
}

/// Deletes whatever is there: a file, a link itself, or a directory with all that is in it. Nothing is no error.
///
/// # Errors
/// Where something stays.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => remove_tree(path),
        done => done,
    }
}

/// Deletes a directory with all that is in it, also where directories in it may not be written: caches of packages are
/// made so.
fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Lets the owner into every directory of the tree. Links are not followed.
fn open_up(top: &Path) -> io::Result<()> {
    let mut open = vec![top.to_owned()];
    while let Some(path) = open.pop() {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

/// What O_NOFOLLOW says of a link, and what an open says of a socket, as people would.
fn in_words(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ELOOP | libc::ENXIO) => not_plain(),
        Some(_) | None => error,
    }
}

fn not_plain() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn fifo(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    }

    #[test]
    fn only_a_plain_file_is_read_and_nothing_is_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("file"), "abc").unwrap();
        fifo(&at("fifo"));
        fs::create_dir(at("dir")).unwrap();
        symlink(at("file"), at("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert_eq!(read(&at("file"), 100).unwrap(), b"abc");
        assert_eq!(read(&at("file"), 1).unwrap(), b"ab", "one byte more tells that it is too long");
        for odd in ["fifo", "dir", "link", "socket"] {
            assert_eq!(
                read(&at(odd), 100).unwrap_err().to_string(),
                "it is no plain file",
                "{odd}"
            );
        }
        assert_eq!(read(&at("none"), 100).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn whatever_lies_in_the_way_is_replaced_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("other"), "kept").unwrap();
        fs::create_dir_all(at("dir/deep")).unwrap();
        fs::write(at("dir/deep/x"), "").unwrap();
        fs::set_permissions(at("dir/deep"), fs::Permissions::from_mode(0o555)).unwrap();
        fifo(&at("fifo"));
        symlink(at("other"), at("link")).unwrap();
        for odd in ["dir", "fifo", "link", "none"] {
            drop(replace(&at(odd)).unwrap());
            assert!(fs::symlink_metadata(at(odd)).unwrap().is_file(), "{odd}");
            assert!(create(&at(odd)).is_err(), "{odd} is there already");
            remove(&at(odd)).unwrap();
            remove(&at(odd)).unwrap();
        }
        assert_eq!(fs::read_to_string(at("other")).unwrap(), "kept");
    }
}
