//! Processes that have a file open: named, and woken. It must not end any.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Lets every other process that has the file open go on, where somebody has stopped it; gives their numbers. One that
/// may not be looked at is not found.
pub(crate) fn wake(file: &Path) -> Vec<i32> {
    let mut woken = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.and_then(Pid::from_raw).filter(|pid| *pid != getpid()) else {
            continue;
        };
        let open = fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
        let holds = open
            .filter_map(|fd| fs::read_link(fd.path()).ok())
            .any(|target| target.as_path() == file);
        if holds && kill_process(pid, Signal::CONT).is_ok() {
            woken.push(pid.as_raw_nonzero().get());
        }
    }
    woken
}
