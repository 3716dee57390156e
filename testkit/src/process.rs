//! Child processes of tests: never left over, and treated as badly as a machine would. Knows no program.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal};

use crate::lines::Lines;
use crate::wait::wait_for;

/// Where `cargo xtask test` says that the programs of the workspace are.
const BIN_DIR: &str = "HERA_BIN_DIR";

/// The path of a program that this workspace builds, such as `hera-master`.
///
/// # Errors
/// When it is not built.
pub fn binary(name: &str) -> Result<PathBuf> {
    let folder = match std::env::var_os(BIN_DIR) {
        Some(folder) => PathBuf::from(folder),
        // Tests run from `target/debug/deps`, the programs lie one folder up.
        None => std::env::current_exe()?
            .parent()
            .and_then(|deps| deps.parent())
            .context("the test has no target folder")?
            .to_path_buf(),
    };
    let path = folder.join(name);
    ensure!(
        path.is_file(),
        "{} is not built: run cargo xtask test, or cargo build --workspace --bins first",
        path.display()
    );
    Ok(path)
}

/// A running child. It is killed and reaped when the value is dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

impl Process {
    /// Starts `command` without input; what it writes is read all the time. `name` is for messages.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(name: &str, command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {name}: {command:?}"))?;
        let stdout = child.stdout.take().map(Lines::read).unwrap_or_default();
        let stderr = child.stderr.take().map(Lines::read).unwrap_or_default();
        Ok(Self { name: name.to_owned(), child, stdout, stderr })
    }

    /// The child's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote to its standard output.
    pub fn stdout(&self) -> &Lines {
        &self.stdout
    }

    /// What it wrote to its standard error.
    pub fn stderr(&self) -> &Lines {
        &self.stderr
    }

    /// Asks it to end (TERM).
    ///
    /// # Errors
    /// When it has ended already.
    pub fn terminate(&mut self) -> Result<()> {
        self.signal(Signal::TERM)
    }

    /// Asks it to end as a person at a terminal would (INT).
    ///
    /// # Errors
    /// When it has ended already.
    pub fn interrupt(&mut self) -> Result<()> {
        self.signal(Signal::INT)
    }

    /// Freezes it (STOP), as a machine that hangs.
    ///
    /// # Errors
    /// When it has ended already.
    pub fn pause(&mut self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Lets a frozen one go on (CONT).
    ///
    /// # Errors
    /// When it has ended already.
    pub fn resume(&mut self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Kills it without warning (KILL) and reaps it. Does nothing to one that has ended.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kill(&mut self) -> Result<ExitStatus> {
        self.child.kill().with_context(|| format!("could not kill {}", self.name))?;
        self.child.wait().with_context(|| format!("could not reap {}", self.name))
    }

    /// How it ended, or nothing while it runs.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().with_context(|| format!("could not ask how {} is", self.name))
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it still runs after `limit`; the message ends with its last lines.
    pub fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let what = format!("the end of {}", self.name);
        wait_for(&what, limit, || self.child.try_wait().transpose())
            .with_context(|| format!("its last lines are:\n{}", self.stderr.last(20)))?
            .with_context(|| format!("could not reap {}", self.name))
    }

    fn signal(&mut self, signal: Signal) -> Result<()> {
        // The child is reaped only here and in `ended`, `wait` and `kill`: until then its id is its own.
        ensure!(self.child.try_wait()?.is_none(), "{} has ended already", self.name);
        let pid = Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal)
            .with_context(|| format!("could not signal {}", self.name))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The only reason for an error is that it has ended, which is what is wanted.
        drop(self.kill());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Process {
        Process::spawn("a shell", Command::new("sh").args(["-c", script])).unwrap()
    }

    fn state_of(pid: u32) -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ").map(|(_, rest)| rest.chars().take(1).collect())
    }

    #[test]
    fn output_and_exit_are_seen() {
        let mut process = shell("echo out; echo err >&2; exit 7");
        assert_eq!(process.wait(LIMIT).unwrap().code(), Some(7));
        assert_eq!(process.stdout().wait_for("out", LIMIT).unwrap(), "out");
        assert_eq!(process.stderr().wait_for("err", LIMIT).unwrap(), "err");
        assert!(process.terminate().is_err(), "no signal goes to an id that is free again");
    }

    #[test]
    fn a_frozen_child_does_nothing_until_it_is_resumed_and_can_be_killed() {
        let mut process = shell("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
        process.stdout().wait_for("ready", LIMIT).unwrap();
        process.pause().unwrap();
        let pid = process.pid();
        wait_for("a frozen child", LIMIT, || state_of(pid).filter(|s| s == "T")).unwrap();
        process.terminate().unwrap();
        assert_eq!(process.stdout().find("asked"), None);
        process.resume().unwrap();
        process.stdout().wait_for("asked", LIMIT).unwrap();
        process.pause().unwrap();
        assert_eq!(process.kill().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_dropped_child_is_gone() {
        let process = shell("exec sleep 600");
        let pid = process.pid();
        assert!(state_of(pid).is_some());
        drop(process);
        assert_eq!(state_of(pid), None);
    }

    #[test]
    fn a_program_that_is_not_built_is_named() {
        let told = binary("no-such-program").unwrap_err().to_string();
        assert!(told.contains("no-such-program is not built: run cargo xtask test"), "{told}");
    }
}
