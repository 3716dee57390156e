//! The agent's side: starts the spawner, asks it for shims, talks with each. Decides nothing.

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use hera_common::chain::Chain;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::SPAWNER_ARG;
use super::ask::Ask;
use super::order::{BadMessage, Launch, Lines, Order, Report, line};
use super::spawner::{GONE, READY};

/// This process's own file, also where it was replaced on the disk meanwhile.
const OWN_FILE: &str = "/proc/self/exe";
/// How many bytes of reports are read at once; each is far smaller.
const READ_SIZE: usize = 4_096;

/// Why no shim could be had.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("the spawner could not be started from {}", exe.display())]
    Spawner {
        exe: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the spawner could not be asked for a process")]
    Ask(#[source] io::Error),
    #[error("the launch could not be sent to its shim")]
    Send(#[source] OrderError),
}

/// Why an order did not reach a shim.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    #[error("the order could not be written")]
    Write(#[source] io::Error),
    #[error("the order could not be encoded")]
    Encode(#[source] BadMessage),
}

/// Starts jobs. One for a worker; every job it started is stopped when it is dropped, or when this
/// process dies in whatever way.
#[derive(Debug)]
pub struct Launcher {
    exe: PathBuf,
    /// A locked file. It stays locked until this process, the spawner and all shims have ended.
    lock: File,
    spawner: Mutex<Spawner>,
}

#[derive(Debug)]
struct Spawner {
    control: UnixStream,
    /// Kept so that it is reaped, too.
    process: Child,
    /// The number of its first shim. Those before are another's, which has died.
    first: u64,
    /// Of the next shim.
    next: u64,
}

impl Launcher {
    /// Starts the spawner from `exe` (this program's own file by default), which must be a program
    /// that calls [`super::become_spawner_if_asked`].
    ///
    /// # Errors
    /// Where the file cannot be executed, or is no such program.
    pub async fn start(exe: Option<&Path>, lock: File) -> Result<Self, LaunchError> {
        let exe = exe.unwrap_or_else(|| Path::new(OWN_FILE)).to_owned();
        let spawner = Mutex::new(Spawner::start(&exe, &lock, 0).await?);
        Ok(Self { exe, lock, spawner })
    }

    /// Has a new shim execute `launch`. Its first report says whether it did.
    ///
    /// # Errors
    /// Where the machine cannot.
    pub async fn launch(&self, launch: Launch) -> Result<Shim, LaunchError> {
        let (ours, its) = StdStream::pair().map_err(LaunchError::Ask)?;
        ours.set_nonblocking(true).map_err(LaunchError::Ask)?;
        let stream = UnixStream::from_std(ours).map_err(LaunchError::Ask)?;
        let grace = Duration::from_millis(launch.term_ms.saturating_add(launch.kill_ms));
        let number = self.ask(its.into(), grace).await?;
        let mut shim = Shim { stream, lines: Lines::default(), number };
        shim.order(&Order::Launch(launch)).await.map_err(LaunchError::Send)?;
        Ok(shim)
    }

    /// Gives one end of a stream to a new shim. A spawner that was killed is replaced, once.
    async fn ask(&self, its: OwnedFd, grace: Duration) -> Result<u64, LaunchError> {
        let mut spawner = self.spawner.lock().await;
        if let Ok(number) = spawner.make_shim(&its, grace).await {
            return Ok(number);
        }
        *spawner = Spawner::start(&self.exe, &self.lock, spawner.next).await?;
        tracing::warn!("the spawner had ended, and was started again");
        spawner.make_shim(&its, grace).await.map_err(LaunchError::Ask)
    }

    /// Ends a shim that does not do what it is there for, with all that is below it. True as soon as nothing of it is
    /// left; false where nobody can say so within the limit.
    pub async fn end(&self, shim: &Shim, limit: Duration) -> bool {
        let told = async {
            let (ours, its) = StdStream::pair()?;
            ours.set_nonblocking(true)?;
            let mut ours = UnixStream::from_std(ours)?;
            {
                let spawner = self.spawner.lock().await;
                if shim.number < spawner.first {
                    return Ok(false);
                }
                spawner.wake();
                spawner.ask(Ask::End { number: shim.number }, &its.into()).await?;
            }
            let mut said = [0];
            Ok::<bool, io::Error>(ours.read(&mut said).await? == 1 && said == [GONE])
        };
        matches!(timeout(limit, told).await, Ok(Ok(true)))
    }
}

impl Spawner {
    async fn start(exe: &Path, lock: &File, first: u64) -> Result<Self, LaunchError> {
        let failed = |source| LaunchError::Spawner { exe: exe.to_owned(), source };
        let (control, its) = StdStream::pair().map_err(failed)?;
        control.set_nonblocking(true).map_err(failed)?;
        let mut control = UnixStream::from_std(control).map_err(failed)?;
        let process = Command::new(exe)
            .arg0("hera-spawner")
            .arg(SPAWNER_ARG)
            .stdin(OwnedFd::from(its))
            .stdout(Stdio::from(lock.try_clone().map_err(failed)?))
            .spawn()
            .map_err(failed)?;
        let mut said = [0];
        match control.read(&mut said).await {
            Ok(1) if said == [READY] => Ok(Self { control, process, first, next: first }),
            Ok(_) => Err(failed(io::Error::other("it is no program of Hera"))),
            Err(error) => Err(failed(error)),
        }
    }

    /// The number is the new shim's.
    async fn make_shim(&mut self, its: &OwnedFd, grace: Duration) -> io::Result<u64> {
        let number = self.next;
        self.ask(Ask::Shim { number, grace }, its).await?;
        self.next += 1;
        Ok(number)
    }

    /// Lets it go on, where somebody has stopped it.
    fn wake(&self) {
        let pid = self.process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let _gone_already = pid.map(|pid| kill_process(pid, Signal::CONT));
    }

    async fn ask(&self, ask: Ask, its: &OwnedFd) -> io::Result<()> {
        let bytes = ask.bytes();
        let send = || {
            let fds = [its.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut attached = SendAncillaryBuffer::new(&mut space);
            attached.push(SendAncillaryMessage::ScmRights(&fds));
            let bytes = [IoSlice::new(&bytes)];
            sendmsg(&self.control, &bytes, &mut attached, SendFlags::NOSIGNAL)?;
            Ok(())
        };
        self.control.async_io(Interest::WRITABLE, send).await
    }
}

/// The stream to one attempt's shim. When it is dropped, the shim stops its job.
#[derive(Debug)]
pub struct Shim {
    stream: UnixStream,
    lines: Lines,
    /// By which the spawner knows it.
    number: u64,
}

impl Shim {
    /// The next report; None when the shim has gone. May be dropped while it waits.
    pub async fn next(&mut self) -> Option<Report> {
        let mut buffer = [0; READ_SIZE];
        loop {
            match self.lines.next() {
                Ok(None) => {}
                Ok(Some(report)) => return Some(report),
                Err(error) => {
                    tracing::error!(error = %Chain(&error), "a shim's report cannot be read");
                    return None;
                }
            }
            match self.stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(n) => self.lines.add(buffer.get(..n).unwrap_or_default()),
            }
        }
    }

    /// Sends one order.
    ///
    /// # Errors
    /// Where the shim has gone; its last report may still be read.
    pub async fn order(&mut self, order: &Order) -> Result<(), OrderError> {
        let bytes = line(order).map_err(OrderError::Encode)?;
        self.stream.write_all(&bytes).await.map_err(OrderError::Write)
    }
}
