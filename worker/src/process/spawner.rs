//! The spawner: forks a shim for each descriptor that the agent sends, lets none of them stand still, and ends what a
//! shim that was killed left behind. Knows no attempt.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use hera_common::chain::Chain;
use hera_common::time::Boot;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper, setsid};
use rustix::stdio::{dup2_stdin, dup2_stdout};

use super::ask::{Ask, SIZE};
use super::failed::{CallFailed, failed};
use super::shim::{self, ShimError};
use super::sweep;
use super::sys::{self, Forked, OneThread, Reap};
use crate::clock;

/// What the spawner says when it is ready: that the executed program is one.
pub(super) const READY: u8 = b'r';
/// What it says when nothing of a shim that it was to end is left.
pub(super) const GONE: u8 = b'g';
/// How much longer than its grace a shim may take to end its job, when the agent has gone.
const MARGIN: Duration = Duration::from_secs(1);

/// Serves until the agent has gone and everything has ended.
pub(super) fn main() -> ExitCode {
    let served = Spawner::start().map_err(SpawnerError::from).and_then(Spawner::serve);
    served.map_or_else(|error| tell(&error), |()| ExitCode::SUCCESS)
}

/// The worker's own stderr is all that is open here.
#[expect(clippy::print_stderr, reason = "a process without a log; its parent's is on stderr, too")]
fn tell(error: &SpawnerError) -> ExitCode {
    eprintln!("hera-worker: {}", Chain(error));
    ExitCode::FAILURE
}

/// Why this process, or one that it has become, ends too early.
#[derive(Debug, thiserror::Error)]
enum SpawnerError {
    #[error("the spawner cannot go on")]
    Spawner(#[from] CallFailed),
    #[error("the shim of an attempt cannot go on")]
    Shim(#[from] ShimError),
}

struct Spawner {
    /// None when the agent has gone.
    control: Option<UnixStream>,
    /// Locked by the agent. This process and its shims hold it, so that the lock is free when the
    /// last of them has ended and no sooner.
    _lock: OwnedFd,
    child_ended: OwnedFd,
    proof: OneThread,
    /// By the numbers under which the agent knows them.
    shims: HashMap<Pid, u64>,
    /// A shim was killed: what it kept is now below this process.
    orphans: bool,
    /// Shims that were to be ended, and who waits for that.
    ending: Vec<(u64, UnixStream)>,
    /// The longest that a shim may take to end its job.
    grace: Duration,
    /// When those that are left are ended, the agent having gone.
    give_up_at: Option<Boot>,
}

impl Spawner {
    fn start() -> Result<Self, CallFailed> {
        let proof = OneThread::prove().and_then(|proof| {
            proof.ok_or_else(|| io::Error::other("there is more than one thread"))
        });
        let proof = proof.map_err(failed("counting the threads"))?;
        sys::close_inherited(&proof);
        // The agent hands over its stream as stdin and its lock as stdout. Nobody else may hold the
        // stream, nor may a job hold the lock.
        let control = io::stdin().as_fd().try_clone_to_owned().map_err(failed("dup of stdin"))?;
        let lock = io::stdout().as_fd().try_clone_to_owned().map_err(failed("dup of stdout"))?;
        let nothing = File::options().read(true).write(true).open("/dev/null");
        let nothing = nothing.map_err(failed("opening /dev/null"))?;
        dup2_stdin(&nothing).map_err(failed("dup2 to stdin"))?;
        dup2_stdout(&nothing).map_err(failed("dup2 to stdout"))?;
        // Signals to the agent's group or terminal are the agent's: it drains, its jobs go on.
        setsid().map_err(failed("setsid"))?;
        set_child_subreaper(Some(getpid())).map_err(failed("becoming a subreaper"))?;
        rustix::thread::set_name(c"hera-spawner").map_err(failed("naming the process"))?;
        let child_ended = sys::block_signals().map_err(failed("signalfd"))?;
        let mut control = UnixStream::from(control);
        control.write_all(&[READY]).map_err(failed("saying that it is ready"))?;
        Ok(Self {
            control: Some(control),
            _lock: lock,
            child_ended,
            proof,
            shims: HashMap::new(),
            orphans: false,
            ending: Vec::new(),
            grace: Duration::ZERO,
            give_up_at: None,
        })
    }

    fn serve(mut self) -> Result<(), SpawnerError> {
        loop {
            let any_left = self.reap().map_err(failed("wait4"))?;
            if self.control.is_none() && !any_left {
                return Ok(());
            }
            let wait = self.end_what_is_due();
            let mut fds = vec![PollFd::new(&self.child_ended, PollFlags::IN)];
            fds.extend(self.control.as_ref().map(|control| PollFd::new(control, PollFlags::IN)));
            match poll(&mut fds, wait.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(failed("poll")(error).into()),
            }
            let asked = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
            shim::drain(&self.child_ended);
            let Some(control) = self.control.as_ref().filter(|_| asked) else { continue };
            match receive(control).map_err(failed("recvmsg"))? {
                Some((Ask::Shim { number, grace }, agent)) => match sys::fork(&self.proof) {
                    Ok(Forked::Child) => return self.become_shim(agent),
                    Ok(Forked::Parent(pid)) => {
                        self.shims.insert(pid, number);
                        self.grace = self.grace.max(grace);
                    }
                    Err(error) => shim::say_not_spawned(agent, &error),
                },
                Some((Ask::End { number }, agent)) => {
                    self.end(number);
                    self.ending.push((number, agent.into()));
                }
                None => {
                    self.control = None;
                    self.give_up_at = Some(clock::boot().plus(self.grace + MARGIN));
                }
            }
        }
    }

    /// Ends orphans, and shims that have had their time; gives how long there is nothing to do by the clock.
    fn end_what_is_due(&mut self) -> Option<Timespec> {
        if self.orphans {
            self.end_orphans();
        }
        if !self.orphans {
            let Self { ending, shims, .. } = self;
            ending.retain_mut(|(number, agent)| {
                let there = shims.values().any(|shim| shim == number);
                if !there {
                    let _agent_is_gone = agent.write_all(&[GONE]);
                }
                there
            });
        }
        let left = self.give_up_at?.since(clock::boot());
        if left.is_zero() {
            // Each should have ended its job by now: it hangs, or somebody holds it.
            self.give_up_at = None;
            self.shims.keys().for_each(|pid| kill(*pid));
            return None;
        }
        Timespec::try_from(left).ok()
    }

    /// What is below it comes to this process, and is ended then.
    fn end(&self, number: u64) {
        let its = self.shims.iter().filter(|(_, shim)| **shim == number);
        its.for_each(|(pid, _)| kill(*pid));
    }

    /// On the child's side of the fork.
    fn become_shim(self, agent: OwnedFd) -> Result<(), SpawnerError> {
        let Self { control, _lock, child_ended, ending, .. } = self;
        // A copy kept here would hide the spawner's death from the agent.
        drop((control, ending));
        Ok(shim::run(UnixStream::from(agent), &child_ended)?)
    }

    /// Takes every child that has ended, and wakes shims that were stopped: a job must not outlive its time because its
    /// script has stopped the process that watches over it. True where some are left.
    fn reap(&mut self) -> io::Result<bool> {
        loop {
            match sys::reap_or_stopped()? {
                Reap::Ended(ended) => {
                    let whole = self.shims.remove(&ended.pid).is_some() && ended.code == Some(0);
                    self.orphans |= !whole;
                }
                Reap::Stopped(pid) if self.shims.contains_key(&pid) => {
                    let _gone_already = kill_process(pid, Signal::CONT);
                }
                Reap::Stopped(_orphan) => {}
                Reap::NoneYet => return Ok(true),
                Reap::NoChildren => return Ok(false),
            }
        }
    }

    /// KILL to each child that is no shim. Their own children come to this process when they die,
    /// and each death leads here again.
    fn end_orphans(&mut self) {
        self.orphans = false;
        for pid in sweep::children(getpid()) {
            if !self.shims.contains_key(&pid) {
                self.orphans = true;
                kill(pid);
            }
        }
    }
}

fn kill(pid: Pid) {
    let _gone_already = kill_process(pid, Signal::KILL);
}

/// One wish of the agent; None when it has gone.
fn receive(control: &UnixStream) -> io::Result<Option<(Ask, OwnedFd)>> {
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut attached = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [0; SIZE];
        let into = &mut [IoSliceMut::new(&mut bytes)];
        match recvmsg(control, into, &mut attached, RecvFlags::CMSG_CLOEXEC) {
            Ok(message) if message.bytes == 0 => return Ok(None),
            Err(Errno::CONNRESET) => return Ok(None),
            // Bytes without a descriptor ask for nothing.
            Ok(_) => {
                let sent = attached.drain().find_map(descriptor);
                if let Some(wish) = Ask::read(bytes).zip(sent) {
                    return Ok(Some(wish));
                }
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn descriptor(part: RecvAncillaryMessage<'_>) -> Option<OwnedFd> {
    let RecvAncillaryMessage::ScmRights(mut sent) = part else { return None };
    sent.next()
}
