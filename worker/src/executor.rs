//! What an attempt executes: one small executor for each type of job, behind one trait. Starts nothing
//! itself, and knows neither leases nor the leader.

mod shell;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use hera_common::spec::{FileSpec, Kind};

use crate::attempt_dir::AttemptDir;
use crate::contract::Assignment;

/// What there is to execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// An absolute path, or a name for `PATH`.
    pub path: String,
    pub args: Vec<String>,
}

/// Why an attempt cannot be executed here. Whatever it is, it is not the script's fault.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("{0:?} is no name of a file within the attempt's directory")]
    FileName(String),
    #[error("could not write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Turns an assignment into something to execute.
pub trait Executor: Send + Sync {
    /// Writes what the process needs into the attempt's directory. Called before the leader has said
    /// that the attempt may start: it executes nothing.
    ///
    /// # Errors
    /// Where this machine cannot.
    fn prepare(&self, assignment: &Assignment, dir: &AttemptDir) -> Result<Program, PrepareError>;

    /// What the job itself is to blame for, where its program could not be executed; None: this machine is.
    fn fault(&self, assignment: &Assignment, dir: &AttemptDir) -> Option<Fault>;
}

/// A job that no machine could execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// As a shell would have ended: 127 not found, 126 cannot be executed.
    pub code: i32,
    pub detail: String,
}

/// The executor for a type of job; None where an attempt is a lease and no process, which ends well as
/// soon as it may start.
pub fn executor(kind: Kind) -> Option<&'static dyn Executor> {
    match kind {
        Kind::Shell => Some(&shell::Shell),
        Kind::Noop => None,
    }
}

/// Lays a job's file into the directory in which it runs.
///
/// # Errors
/// Where the name leads out of the directory, or the disk does not take it.
pub fn lay(file: &FileSpec, content: &Path, dir: &AttemptDir) -> Result<(), PrepareError> {
    let relative = Path::new(&file.name);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if !inside || relative.file_name().is_none() || file.name.ends_with('/') {
        return Err(PrepareError::FileName(file.name.clone()));
    }
    let path = dir.work().join(relative);
    let mode = if file.executable { 0o755 } else { 0o644 };
    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(content, &path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))
    };
    write().map_err(|source| PrepareError::Write { path: path.clone(), source })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hera_common::id::{Fence, RunId, Token};

    use super::shell::Shell;
    use super::*;
    use crate::contract::Held;

    fn assignment(kind: Kind, script: &str) -> Assignment {
        Assignment {
            held: Held { run: RunId::from_raw(1), token: Token::from_bytes([1; 16]) },
            fence: Fence::from_raw(1),
            number: 1,
            job: "a/b".to_owned(),
            lease: Duration::from_secs(30),
            timeout: None,
            kind,
            script: script.to_owned(),
            environment: Vec::new(),
            files: Vec::new(),
        }
    }

    fn attempt_dir(root: &Path) -> AttemptDir {
        let held = Held { run: RunId::from_raw(1), token: Token::from_bytes([1; 16]) };
        AttemptDir::create(root, held, 1).unwrap()
    }

    fn program(script: &str) -> (Program, String) {
        let root = tempfile::tempdir().unwrap();
        let dir = attempt_dir(root.path());
        let shell = executor(Kind::Shell).unwrap();
        let program = shell.prepare(&assignment(Kind::Shell, script), &dir).unwrap();
        (program, dir.script().to_str().unwrap().to_owned())
    }

    #[test]
    fn a_script_is_bashs_unless_its_first_line_names_another() {
        let (by_bash, script) = program("echo 1");
        assert_eq!(by_bash, Program { path: "/bin/bash".to_owned(), args: vec![script] });
        let (by_itself, script) = program("#!/usr/bin/env python3\nprint(1)");
        assert_eq!(by_itself, Program { path: script, args: Vec::new() });
        assert!(executor(Kind::Noop).is_none());
    }

    #[test]
    fn a_script_is_to_blame_for_its_interpreter() {
        let root = tempfile::tempdir().unwrap();
        let dir = attempt_dir(root.path());
        fs::write(root.path().join("text"), "").unwrap();
        let fault = |script: &str| {
            let fault = Shell.fault(&assignment(Kind::Shell, script), &dir)?;
            Some(format!("{} {}", fault.code, fault.detail))
        };
        assert_eq!(fault("echo 1"), None);
        assert_eq!(fault("#! /bin/sh -e\necho 1"), None);
        assert_eq!(
            fault("#!/no/such -x\n").unwrap(),
            "127 the interpreter \"/no/such\" that its first line names is not there"
        );
        assert_eq!(
            fault("#!/bin/sh\r\necho 1\r\n").unwrap(),
            "127 the interpreter \"/bin/sh\\r\" that its first line names is not there: its lines end with CR LF"
        );
        let text = root.path().join("text");
        assert_eq!(
            fault(&format!("#!{}", text.display())).unwrap(),
            format!("126 the interpreter {text:?} that its first line names cannot be executed")
        );
    }

    #[test]
    fn a_file_is_laid_with_its_folders_and_its_mode() {
        let root = tempfile::tempdir().unwrap();
        let dir = attempt_dir(root.path());
        let content = root.path().join("content");
        fs::write(&content, b"\xff\x00").unwrap();
        let file = |name: &str, executable| FileSpec {
            name: name.to_owned(),
            digest: String::new(),
            executable,
        };
        lay(&file("lib/deep/x.sh", true), &content, &dir).unwrap();
        lay(&file("data", false), &content, &dir).unwrap();
        let mode =
            |name: &str| fs::metadata(dir.work().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("lib/deep/x.sh"), mode("data")), (0o755, 0o644));
        assert_eq!(fs::read(dir.work().join("data")).unwrap(), b"\xff\x00");
        for bad in ["../x", "/etc/passwd", "a/../../x", "", ".", "a/"] {
            let refused = lay(&file(bad, false), &content, &dir).unwrap_err();
            assert!(matches!(refused, PrepareError::FileName(_)), "{bad:?}: {refused}");
        }
    }
}
