//! Jobs whose script is for a shell, or for the interpreter that its first line names.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{Executor, PrepareError, Program};
use crate::attempt_dir::AttemptDir;
use crate::contract::Assignment;

/// What people write scripts for, where it is installed.
const BASH: &str = "/bin/bash";
/// What every system has.
const SH: &str = "/bin/sh";

pub(super) struct Shell;

impl Executor for Shell {
    fn prepare(&self, assignment: &Assignment, dir: &AttemptDir) -> Result<Program, PrepareError> {
        let path = dir.script();
        let own = assignment.script.starts_with("#!");
        let write = || {
            let mut file = File::create(&path)?;
            file.write_all(assignment.script.as_bytes())?;
            if own { file.set_permissions(fs::Permissions::from_mode(0o700)) } else { Ok(()) }
        };
        write().map_err(|source| PrepareError::Write { path: path.clone(), source })?;
        let script = path.to_string_lossy().into_owned();
        if own {
            return Ok(Program { path: script, args: Vec::new() });
        }
        let shell = if Path::new(BASH).exists() { BASH } else { SH };
        Ok(Program { path: shell.to_owned(), args: vec![script] })
    }
}
