//! Folders of tests: gone when the test is, and short enough that a socket fits into them. Knows no content.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// Where the kit puts everything. Not `TMPDIR`: the path of a Unix socket ends at 107 bytes, and some
/// machines give each build a very long one.
pub(crate) const ROOT: &str = "/tmp";

/// Set it to anything to look at the folders of a failed test afterwards.
const KEEP: &str = "HERA_TEST_KEEP";

/// A new folder that is removed when the value is dropped, unless `HERA_TEST_KEEP` is set.
///
/// # Errors
/// When `/tmp` cannot be written.
pub fn temp_dir() -> Result<TempDir> {
    let mut folder = tempfile::Builder::new()
        .prefix("hera-")
        .tempdir_in(Path::new(ROOT))
        .context("could not make a folder in /tmp")?;
    if std::env::var_os(KEEP).is_some() {
        folder.disable_cleanup(true);
    }
    Ok(folder)
}

/// The folder `name` of this user that all test processes share, made where it is missing.
pub(crate) fn own_dir(name: &str) -> Result<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let top = Path::new(ROOT).join(format!("hera-testkit-{user}"));
    let folder = top.join(name);
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .with_context(|| format!("could not make {}", folder.display()))?;
    // Anybody may write to /tmp: what lies there under our name is used only if it is ours.
    let found = std::fs::symlink_metadata(&top)?;
    ensure!(
        found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0,
        "{} is not a private folder of this user: remove it",
        top.display()
    );
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_short_and_goes_with_its_guard() {
        let folder = temp_dir().unwrap();
        let path = folder.path().to_path_buf();
        assert!(path.is_dir());
        assert!(path.as_os_str().len() < 30, "{}", path.display());
        if std::env::var_os(KEEP).is_none() {
            drop(folder);
            assert!(!path.exists());
        }
    }
}
