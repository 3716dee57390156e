//! The shim: one process for one attempt. Starts the job, keeps its deadline, reaps it, empties its
//! tree. Knows the agent only as a stream of orders, whose end is an order to stop.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hera_common::time::{Boot, Wall};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::{Pid, getpid, set_child_subreaper, setsid};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::failed::{CallFailed, failed};
use super::order::{BadMessage, Exit, Launch, Lines, Order, Report, StopCause, line};
use super::stopper::{Step, Stopper};
use super::sweep;
use super::sys::{self, Reap, Reaped};
use crate::clock;
use crate::plain_file;

/// Where scripts that call `hera` find a master.
const FOR_JOBS_TOO: &str = "HERA_SERVER";
/// How many bytes of orders are read at once.
const READ_SIZE: usize = 65_536;

/// What ends a shim before its job's tree is empty.
#[derive(Debug, thiserror::Error)]
pub(super) enum ShimError {
    #[error(transparent)]
    Call(#[from] CallFailed),
    #[error("a message to or from the agent is none")]
    Message(#[from] BadMessage),
    #[error("the job's own process was never reaped")]
    NotReaped,
}

/// Carries out one attempt; returns when nothing of the job's tree is left.
pub(super) fn run(mut agent: UnixStream, child_ended: &OwnedFd) -> Result<(), ShimError> {
    setsid().map_err(failed("setsid"))?;
    set_child_subreaper(Some(getpid())).map_err(failed("becoming a subreaper"))?;
    rustix::thread::set_name(c"hera-shim").map_err(failed("naming the process"))?;
    let mut lines = Lines::default();
    let Some(launch) = first_order(&mut agent, &mut lines)? else { return Ok(()) };
    let job = match spawn(&launch) {
        Ok(job) => job,
        Err(error) if error.raw_os_error() == Some(sys::TOO_LATE) => {
            return Ok(say(&mut agent, &Report::Refused)?);
        }
        Err(error) => {
            let detail = format!("could not execute {}: {error}", launch.program);
            return Ok(say(&mut agent, &Report::NotSpawned { detail })?);
        }
    };
    let started = clock::boot();
    let mut shim = Shim {
        stopper: Stopper::new(&launch, started),
        agent: Some(agent),
        lines,
        exit: launch.exit,
        note: launch.note,
        job,
        started,
        started_wall: clock::wall(),
        main: None,
        empty: false,
    };
    shim.tell(&Report::Started { pid: job.as_raw_pid(), boot_ms: started.ms() })?;
    shim.watch(child_ended)?;
    shim.finish()
}

/// Waits for the launch. None where the agent died first.
fn first_order(agent: &mut UnixStream, lines: &mut Lines) -> Result<Option<Launch>, ShimError> {
    let mut buffer = vec![0; READ_SIZE];
    loop {
        match lines.next()? {
            Some(Order::Launch(launch)) => return Ok(Some(launch)),
            // Told to stop before it began; the stream's end will follow.
            Some(Order::Stop { .. } | Order::Deadline { .. }) => continue,
            None => {}
        }
        match agent.read(&mut buffer).map_err(failed("reading an order"))? {
            0 => return Ok(None),
            n => lines.add(buffer.get(..n).unwrap_or_default()),
        }
    }
}

fn spawn(launch: &Launch) -> io::Result<Pid> {
    // Appended by the job itself: nothing stands between it and the file, so that every byte is
    // there in its order, whoever dies.
    let log = plain_file::create(Path::new(&launch.log))?;
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .current_dir(&launch.work)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0);
    for (name, _) in std::env::vars_os() {
        // The worker's own settings, credentials among them, are not the job's.
        let own = |name: &str| name.starts_with("HERA_") && name != FOR_JOBS_TOO;
        if name.to_str().is_some_and(own) {
            command.env_remove(name);
        }
    }
    command.envs(launch.env.iter().map(|(name, value)| (name, value)));
    let latest = Boot::from_ms(launch.deadline_ms).minus(Duration::from_millis(launch.kill_ms));
    sys::guard_exec(&mut command, latest);
    let child = command.spawn()?;
    Ok(Pid::from_child(&child))
}

/// One message to the agent. An agent that has gone does not need it.
fn say(agent: &mut UnixStream, report: &Report) -> Result<(), BadMessage> {
    let _agent_is_gone = agent.write_all(&line(report)?);
    Ok(())
}

/// What the spawner says where it can make no shim.
pub(super) fn say_not_spawned(agent: OwnedFd, error: &io::Error) {
    let detail = format!("no process could be made: {error}");
    // Without a word the attempt waits for its lease to run out, which is right too, and slower.
    let _unencoded = say(&mut UnixStream::from(agent), &Report::NotSpawned { detail });
}

/// One job from exec on.
struct Shim {
    stopper: Stopper,
    /// None when it has gone.
    agent: Option<UnixStream>,
    lines: Lines,
    exit: String,
    note: String,
    /// The job's own process, and its group.
    job: Pid,
    started: Boot,
    started_wall: Wall,
    /// How the job's own process ended, and when.
    main: Option<(Reaped, Boot, Wall)>,
    empty: bool,
}

impl Shim {
    /// Goes round until the tree is empty.
    fn watch(&mut self, child_ended: &OwnedFd) -> Result<(), ShimError> {
        let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC);
        let timer = timer.map_err(failed("timerfd_create"))?;
        loop {
            self.reap()?;
            if self.empty {
                return Ok(());
            }
            self.obey()?;
            let now = clock::boot();
            if let Some(cause) = self.stopper.overdue(now) {
                self.stop(cause)?;
            }
            while let Some(step) = self.stopper.step(now) {
                self.perform(step)?;
            }
            arm(&timer, self.stopper.wake_at()).map_err(failed("timerfd_settime"))?;
            let mut fds =
                vec![PollFd::new(child_ended, PollFlags::IN), PollFd::new(&timer, PollFlags::IN)];
            fds.extend(self.agent.as_ref().map(|agent| PollFd::new(agent, PollFlags::IN)));
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(failed("poll")(error).into()),
            }
            drain(child_ended);
        }
    }

    /// Takes every child that has ended: the job, and orphans of its tree.
    fn reap(&mut self) -> Result<(), ShimError> {
        loop {
            match sys::reap().map_err(failed("wait4"))? {
                Reap::Ended(ended) if ended.pid == self.job => {
                    let now = clock::boot();
                    self.main = Some((ended, now, clock::wall()));
                    self.stopper.main_ended(now);
                }
                Reap::Ended(_) | Reap::Stopped(_) => {}
                Reap::NoneYet => return Ok(()),
                Reap::NoChildren => {
                    self.empty = true;
                    return Ok(());
                }
            }
        }
    }

    /// Reads what the agent has sent, and does it.
    fn obey(&mut self) -> Result<(), ShimError> {
        let mut buffer = [0; 4096];
        while let Some(agent) = &self.agent {
            match rustix::net::recv(agent.as_fd(), &mut buffer, RecvFlags::DONTWAIT) {
                Ok((_, 0)) | Err(Errno::CONNRESET) => {
                    self.agent = None;
                    self.stop(StopCause::AgentGone)?;
                }
                Ok((_, n)) => self.lines.add(buffer.get(..n).unwrap_or_default()),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed("recv")(error).into()),
            }
        }
        while let Some(order) = self.lines.next()? {
            match order {
                Order::Deadline { boot_ms } => self.stopper.renew(Boot::from_ms(boot_ms)),
                Order::Stop { cause } => self.stop(cause)?,
                // Only the first order is one.
                Order::Launch(_) => {}
            }
        }
        Ok(())
    }

    /// Begins the stop sequence, unless the job has just ended by itself.
    fn stop(&mut self, cause: StopCause) -> Result<(), ShimError> {
        self.reap()?;
        if self.stopper.stop(cause, clock::boot()) {
            self.perform(Step::Term)?;
            self.tell(&Report::Stopping { cause })?;
        }
        Ok(())
    }

    fn perform(&mut self, step: Step) -> Result<(), ShimError> {
        // A group's number is free for others once its last process is reaped, and the job's own
        // process keeps it as long as it is not.
        let group = self.main.is_none().then_some(self.job);
        match step {
            Step::Term => sweep::terminate(self.job),
            Step::Kill => sweep::kill(group),
            Step::KillFailed => {
                let left: Vec<String> = sweep::descendants()
                    .iter()
                    .take(8)
                    .map(|pid| pid.as_raw_nonzero().to_string())
                    .collect();
                let detail = format!("processes that KILL does not end: {}", left.join(" "));
                self.tell(&Report::KillFailed { detail })?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, report: &Report) -> Result<(), BadMessage> {
        self.agent.as_mut().map_or(Ok(()), |agent| say(agent, report))
    }

    /// Writes down how it ended, then says so.
    fn finish(&mut self) -> Result<(), ShimError> {
        let (main, ended, ended_wall) = self.main.ok_or(ShimError::NotReaped)?;
        let exit = Exit {
            note: std::mem::take(&mut self.note),
            code: main.code,
            signal: main.signal,
            stopped: self.stopper.cause(),
            started_wall_ms: self.started_wall.ms(),
            ended_wall_ms: ended_wall.ms(),
            run_ms: millis(ended.since(self.started)),
            user_ms: millis(main.user),
            system_ms: millis(main.system),
            max_rss_kib: main.max_rss_kib,
        };
        // Where the disk is full the agent still hears it, and an agent that has died as well finds
        // no exit file: the attempt is then lost, not wrongly ended.
        let _disk_is_full = write_exit(Path::new(&self.exit), &exit);
        Ok(self.tell(&Report::Ended(exit))?)
    }
}

/// Whole or not at all: a rename is the last step. What the job has put in the way goes.
fn write_exit(path: &Path, exit: &Exit) -> io::Result<()> {
    let unfinished = path.with_extension("exit-new");
    plain_file::replace(&unfinished)?.write_all(&serde_json::to_vec(exit)?)?;
    match fs::rename(&unfinished, path) {
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            plain_file::remove(path)?;
            fs::rename(&unfinished, path)
        }
        renamed => renamed,
    }
}

/// Empties the descriptor, so that the next poll waits for the next child.
pub(super) fn drain(child_ended: &OwnedFd) {
    let mut buffer = [0; 1024];
    while rustix::io::read(child_ended, &mut buffer).is_ok_and(|n| n > 0) {}
}

fn arm(timer: &OwnedFd, at: Boot) -> Result<(), Errno> {
    // Zero would disarm it.
    let ms = at.ms().max(1);
    let at = Timespec { tv_sec: ms / 1_000, tv_nsec: (ms % 1_000) * 1_000_000 };
    let once = Itimerspec { it_interval: Timespec::default(), it_value: at };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once).map(drop)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
