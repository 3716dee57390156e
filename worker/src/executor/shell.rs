//! Jobs whose script is for a shell, or for the interpreter that its first line names.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{Executor, Fault, PrepareError, Program};
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
    fn fault(&self, assignment: &Assignment, dir: &AttemptDir) -> Option<Fault> {
        let first = assignment.script.strip_prefix("#!")?.split('\n').next()?;
        // As the kernel cuts it: the end of a line that was written elsewhere is a part of the name.
        let name = first.trim_start_matches([' ', '\t']).split([' ', '\t']).next()?;
        let interpreter = format!("the interpreter {name:?} that its first line names");
        match fs::metadata(dir.work().join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let why = if name.ends_with('\r') { ": its lines end with CR LF" } else { "" };
                Some(Fault { code: 127, detail: format!("{interpreter} is not there{why}") })
            }
            Ok(found) if !found.is_file() || found.permissions().mode() & 0o111 == 0 => {
                Some(Fault { code: 126, detail: format!("{interpreter} cannot be executed") })
            }
            Ok(_) | Err(_) => None,
        }
    }
}
