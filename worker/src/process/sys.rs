//! System calls that neither std nor rustix offers. The one room with `unsafe`; decides nothing.
#![expect(unsafe_code, reason = "fork, wait4, signalfd and the hook before exec have no safe form")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::ptr;
use std::time::Duration;

use hera_common::time::Boot;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use crate::clock;

/// The error of a job that was not executed because its deadline is too near.
pub(super) const TOO_LATE: i32 = libc::ETIME;

/// Proof that this process has one thread, so that a forked child may go on as usual.
pub(super) struct OneThread(());

impl OneThread {
    /// None where there are more.
    pub(super) fn prove() -> io::Result<Option<Self>> {
        let threads = std::fs::read_dir("/proc/self/task")?.count();
        Ok((threads == 1).then_some(Self(())))
    }
}

/// Closes all but stdin, stdout and stderr: what the agent's own parent left open is no job's.
///
/// To be called first in `main`. A kernel before 5.9 cannot, and leaves them open.
pub(super) fn close_inherited(_proof: &OneThread) {
    // SAFETY: nothing of this process has opened a descriptor yet.
    unsafe { libc::close_range(3, libc::c_uint::MAX, 0) };
}

/// On which side of a fork one is.
pub(super) enum Forked {
    Parent(Pid),
    Child,
}

/// Copies this process.
pub(super) fn fork(_proof: &OneThread) -> io::Result<Forked> {
    // SAFETY: the process has one thread, so no lock is held by another one at this moment.
    let raw = unsafe { libc::fork() };
    match raw {
        0 => Ok(Forked::Child),
        _ => Pid::from_raw(raw.max(0)).map(Forked::Parent).ok_or_else(io::Error::last_os_error),
    }
}

/// How a child ended, and what it and the descendants it waited for used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reaped {
    pub(super) pid: Pid,
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) user: Duration,
    pub(super) system: Duration,
    /// The largest resident set of one of them, KiB.
    pub(super) max_rss_kib: u64,
}

/// What waiting for any child gave.
pub(super) enum Reap {
    Ended(Reaped),
    /// Somebody has stopped it; it has not ended.
    Stopped(Pid),
    NoneYet,
    NoChildren,
}

/// Takes one ended child, without waiting.
pub(super) fn reap() -> io::Result<Reap> {
    wait(0)
}

/// The same; and tells, once, of a child that was stopped.
pub(super) fn reap_or_stopped() -> io::Result<Reap> {
    wait(libc::WUNTRACED)
}

fn wait(also: libc::c_int) -> io::Result<Reap> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to live memory of the right type.
    let raw = unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG | also, usage.as_mut_ptr()) };
    // SAFETY: zeroed is a valid rusage, and the kernel has written over it where it had one.
    let usage = unsafe { usage.assume_init() };
    match raw {
        0 => Ok(Reap::NoneYet),
        1.. => {
            let pid = Pid::from_raw(raw).ok_or_else(io::Error::last_os_error)?;
            let stopped = libc::WIFSTOPPED(status);
            Ok(if stopped { Reap::Stopped(pid) } else { Reap::Ended(reaped(pid, status, &usage)) })
        }
        _ => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => Ok(Reap::NoChildren),
            error if error.kind() == io::ErrorKind::Interrupted => Ok(Reap::NoneYet),
            error => Err(error),
        },
    }
}

fn reaped(pid: Pid, status: i32, usage: &libc::rusage) -> Reaped {
    Reaped {
        pid,
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        user: span(usage.ru_utime),
        system: span(usage.ru_stime),
        max_rss_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
    }
}

fn span(time: libc::timeval) -> Duration {
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

/// Blocks every signal, so that nothing but KILL can end this process, and gives a descriptor that
/// is readable when a child has ended.
pub(super) fn block_signals() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is initialised by sigfillset or sigemptyset before it is read.
    let raw = unsafe {
        libc::sigfillset(set.as_mut_ptr());
        if libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Lets the command be executed only before `latest`, and ties its life to this process's.
///
/// The check is the last thing before exec: the agent, and this process, may have been paused
/// anywhere before. Past it the spawn fails with [`TOO_LATE`].
pub(super) fn guard_exec(command: &mut Command, latest: Boot) {
    let parent = getpid();
    let hook = move || {
        open_signals()?;
        // The parent has one thread, which lives as long as it: the signal comes with its death.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(parent) || clock::boot() >= latest {
            return Err(io::Error::from_raw_os_error(TOO_LATE));
        }
        Ok(())
    };
    // SAFETY: the hook makes system calls only; it takes no lock and no memory.
    unsafe { command.pre_exec(hook) };
}

/// Blocked signals would stay blocked through exec.
fn open_signals() -> io::Result<()> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is initialised before it is read.
    let failed = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), ptr::null_mut())
    };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
