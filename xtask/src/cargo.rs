//! Calls of cargo from the root of the workspace. Knows no command's meaning.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// A call of the cargo that called us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Where cargo puts the programs of the profile in use: beside this one.
pub(crate) fn bin_dir() -> Result<PathBuf> {
    let here = std::env::current_exe().context("could not find this program's own path")?;
    Ok(here.parent().context("this program lies in no folder")?.to_path_buf())
}

/// Whether a cargo command such as `nextest` is installed.
pub(crate) fn has(subcommand: &str) -> bool {
    cargo(&[subcommand, "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Says what is run, runs it, and gives the exit code that this program should end with.
pub(crate) fn run(command: &mut Command) -> Result<ExitCode> {
    eprintln!("+ {}", shown(command));
    let status = command.status().with_context(|| format!("could not run {}", shown(command)))?;
    // Ended by a signal: no code, and no success.
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_that_of_the_command() {
        let code = |script: &str| run(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!(code("exit 0"), ExitCode::SUCCESS);
        assert_eq!(code("exit 101"), ExitCode::from(101));
        assert_eq!(code("kill -9 $$"), ExitCode::from(1));
    }

    #[test]
    fn the_root_is_the_folder_with_the_lock_file() {
        assert!(root().join("Cargo.lock").is_file());
        assert!(!has("no-such-command"));
    }
}
