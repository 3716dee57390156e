//! Where PostgreSQL's programs are, and as whom they run. Installs nothing.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

/// Debian puts each major version's server programs here, outside PATH.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The account that Debian's package makes. PostgreSQL refuses to run as root.
const ACCOUNT: &str = "postgres";

/// The programs of one PostgreSQL installation, and the account that runs them.
#[derive(Debug, Clone)]
pub struct Programs {
    folder: PathBuf,
    /// User and group to run as; nothing when we are not root and run them as ourselves.
    account: Option<(u32, u32)>,
}

/// Looks for a PostgreSQL server on this machine: in Debian's folders (the newest version), then in PATH.
///
/// # Errors
/// When there is none, or we are root and there is no account `postgres`.
pub fn installed() -> Result<Programs> {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let folder = newest_in(Path::new(DEBIAN))
        .into_iter()
        .chain(std::env::split_paths(&on_path))
        .find(|folder| ["initdb", "pg_ctl", "postgres"].iter().all(|p| folder.join(p).is_file()))
        .context("PostgreSQL's server is not installed: run cargo xtask test, which installs it")?;
    let account = if rustix::process::getuid().is_root() {
        let accounts = std::fs::read_to_string("/etc/passwd")?;
        Some(account_in(&accounts).context(
            "PostgreSQL does not run as root, and there is no account postgres: \
             run cargo xtask test, which installs it",
        )?)
    } else {
        None
    };
    Ok(Programs { folder, account })
}

/// `bin` folders below `top`, the newest version first.
fn newest_in(top: &Path) -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir(top)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.into_iter().map(|(_, bin)| bin).collect()
}

/// User and group id of the account `postgres` in a text like `/etc/passwd`.
fn account_in(accounts: &str) -> Option<(u32, u32)> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _password) = (fields.next()?, fields.next()?);
        let (user, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        (name == ACCOUNT).then_some((user, group))
    })
}

impl Programs {
    /// The path of one program.
    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    /// Gives a folder to the account that the server runs as.
    pub(super) fn own(&self, folder: &Path) -> Result<()> {
        match self.account {
            Some((user, group)) => std::os::unix::fs::chown(folder, Some(user), Some(group))
                .with_context(|| format!("could not give {} to {ACCOUNT}", folder.display())),
            None => Ok(()),
        }
    }

    /// Runs one program to its end.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new(self.path(program));
        // The caller's folder may be closed to the account, and its PG* variables are about other servers.
        command.args(arguments).current_dir("/").stdin(std::process::Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if let Some((user, group)) = self.account {
            command.uid(user).gid(group).env_remove("HOME");
        }
        let output = command.output().with_context(|| format!("could not run {program}"))?;
        ensure!(
            output.status.success(),
            "{program} failed ({}): {}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr),
            String::from_utf8_lossy(&output.stdout)
        );
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first_by_number() {
        let top = crate::temp_dir().unwrap();
        for version in ["9", "15", "17", "common"] {
            std::fs::create_dir(top.path().join(version)).unwrap();
        }
        let found = newest_in(top.path());
        let expected = ["17/bin", "15/bin", "9/bin"].map(|bin| top.path().join(bin));
        assert_eq!(found, expected);
        assert_eq!(newest_in(Path::new("/no/such/folder")), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_account_is_read_by_its_whole_name() {
        let accounts =
            "root:x:0:0::/root:/bin/sh\npostgres2:x:9:9::/:\npostgres:x:101:104:a:/v:/b\n";
        assert_eq!(account_in(accounts), Some((101, 104)));
        assert_eq!(account_in("root:x:0:0::/root:/bin/sh"), None);
    }
}
