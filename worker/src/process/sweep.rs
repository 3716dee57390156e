//! The processes below this one, wherever they moved: other groups, other sessions, orphans.
//! Relies on this process being a subreaper; decides nothing about when.

use std::collections::HashSet;
use std::fs;
use std::io;

use rustix::process::{Pid, Signal, getpgid, getpid, kill_process, kill_process_group};

/// How many processes of one tree are looked at in a sweep: more than a host's pids by default.
const TREE_MAX: usize = 65_536;

/// Sends TERM to the group, and to what of the tree is in other groups (`timeout`, `setsid`, job
/// control make such).
pub(super) fn terminate(group: Pid) {
    signal_group(group, Signal::TERM);
    for pid in descendants() {
        if getpgid(Some(pid)).is_ok_and(|its| its != group) {
            signal(pid, Signal::TERM);
        }
    }
}

/// Sends KILL to the group and to everything below this process.
pub(super) fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        signal_group(group, Signal::KILL);
    }
    for pid in descendants() {
        signal(pid, Signal::KILL);
    }
}

/// Everything below this process, parents before their children.
pub(super) fn descendants() -> Vec<Pid> {
    let mut found = children(getpid());
    let mut seen: HashSet<Pid> = found.iter().copied().collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        let below = children(parent).into_iter().filter(|pid| seen.insert(*pid));
        found.extend(below.take(TREE_MAX.saturating_sub(next)));
    }
    found
}

/// The children of one process, of all its threads; none where it is gone.
pub(super) fn children(parent: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let tasks = format!("/proc/{}/task", parent.as_raw_nonzero());
    for task in fs::read_dir(tasks).into_iter().flatten().flatten() {
        let text = match fs::read_to_string(task.path().join("children")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && task.path().exists() => {
                return children_by_stat(parent);
            }
            Err(_gone) => continue,
        };
        found.extend(text.split_ascii_whitespace().filter_map(pid_of));
    }
    found
}

/// The same on a kernel that lists no children: from every process's parent.
fn children_by_stat(parent: Pid) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| {
            let pid = pid_of(entry.file_name().to_str()?)?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name is in brackets and may hold any character: the parent is the second word after.
            let its_parent = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?;
            (pid_of(its_parent) == Some(parent)).then_some(pid)
        })
        .collect()
}

fn pid_of(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

/// A process that has gone meanwhile is what was wanted; one that may not be signalled is found
/// again by the next sweep, and in the end by the report that something is left.
fn signal(pid: Pid, signal: Signal) {
    let _gone_already = kill_process(pid, signal);
}

fn signal_group(group: Pid, signal: Signal) {
    let _gone_already = kill_process_group(group, signal);
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, getpid};

    use super::{children, children_by_stat};

    #[test]
    fn both_ways_find_a_child() {
        let mut child =
            Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(children(getpid()).contains(&pid));
        assert!(children_by_stat(getpid()).contains(&pid));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
