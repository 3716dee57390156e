//! One attempt from its grant to its last byte: prepares it, has it executed, tells what becomes of it, and
//! clears away. What should become of it is decided elsewhere, and comes as wishes.

mod job;
mod patience;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hera_common::spec::FileSpec;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use crate::agent::{Desk, Execute, Wish};
use crate::attempt::{Ended, Event};
use crate::attempt_dir::AttemptDir;
use crate::batch::Batch;
use crate::contract::{Assignment, Finish, Held, Outcome, Release, Timing};
use crate::executor::{self, Executor, Program};
use crate::files::Files;
use crate::health::{Health, Machine};
use crate::link::Link;
use crate::process::launcher::Launcher;
use crate::ship::{self, Shipment};
use crate::spool::{Spool, Waiting};
use crate::tasks::Tasks;
use hera_common::chain::Chain;
use job::{Job, JobEnd};

/// How long an end waits for the rest of the log, so that who sees the one finds the other.
const LOG_PATIENCE: Duration = Duration::from_secs(1);

/// What executing needs. Shared by all attempts.
pub(crate) struct Tools {
    pub(crate) tasks: Tasks,
    pub(crate) desk: Desk,
    pub(crate) link: Arc<Link>,
    pub(crate) launcher: Launcher,
    pub(crate) files: Files,
    pub(crate) spool: Spool,
    pub(crate) attempts: PathBuf,
    pub(crate) finishes: Batch<Finish>,
    pub(crate) releases: Batch<Release>,
    /// Where directories of attempts that have ended are kept, for people who look for a fault.
    pub(crate) kept: Option<PathBuf>,
    /// Doubted where an attempt could not be executed.
    pub(crate) health: Health,
}

impl Execute for Arc<Tools> {
    fn execute(&self, assignment: Assignment, timing: Timing, wish: watch::Receiver<Wish>) {
        let tools = Self::clone(self);
        self.tasks.spawn("execute an attempt", |end| async move {
            // What is cut off by the end is stopped by its shim, and found by the next process.
            tokio::select! {
                () = tools.carry_out(assignment, timing, wish) => {}
                () = end.cancelled() => {}
            }
        });
    }
}

/// An attempt that may be executed.
struct Prepared {
    dir: AttemptDir,
    program: Program,
}

impl Tools {
    async fn carry_out(
        &self,
        assignment: Assignment,
        timing: Timing,
        mut wish: watch::Receiver<Wish>,
    ) {
        let held = assignment.held;
        let mut remains = Remains::of(held);
        // While the leader is asked whether it may start.
        let prepared = match executor::executor(assignment.kind) {
            Some(executor) => Some(self.prepare(&assignment, executor, &mut wish).await),
            None => None,
        };
        let allowed = wish.wait_for(|w| w.deadline.is_some() || ends(w)).await;
        let allowed = allowed.is_ok_and(|w| !ends(&w));
        let event = match prepared {
            None if allowed => Event::Ended(nothing_ran()),
            Some(Err(detail)) if allowed => Event::NotSpawned(detail),
            Some(Ok(Prepared { dir, program })) => {
                remains.in_dir(dir.clone());
                if allowed {
                    let job = Job { tools: self, assignment: &assignment, timing, dir: &dir };
                    let JobEnd { event, log, output, written } = job.run(program, &mut wish).await;
                    (remains.log, remains.output, remains.written) = (log, output, written);
                    event
                } else {
                    Event::Withdrawn
                }
            }
            None | Some(Err(_)) => Event::Withdrawn,
        };
        if let Event::NotSpawned(why) = &event {
            self.health.doubt(why);
        }
        self.desk.heard(held.token, event).await;
        self.conclude(remains, wish).await;
    }

    /// With which the health of this machine is tried.
    pub(crate) fn machine(&self) -> Machine<'_> {
        Machine { attempts: self.attempts.clone(), launcher: &self.launcher }
    }

    /// Makes the directory and what lies in it; in words why not.
    async fn prepare(
        &self,
        assignment: &Assignment,
        executor: &'static dyn Executor,
        wish: &mut watch::Receiver<Wish>,
    ) -> Result<Prepared, String> {
        let files = tokio::select! {
            files = self.fetch(assignment) => files?,
            _told = wish.wait_for(ends) => return Err("told to stop".to_owned()),
        };
        let (assignment, attempts) = (assignment.clone(), self.attempts.clone());
        let write = move || {
            let dir = AttemptDir::create(&attempts, assignment.held, assignment.number)
                .map_err(|error| format!("its directory could not be made: {error}"))?;
            let lay = || {
                for (file, content) in &files {
                    executor::lay(file, content, &dir)?;
                }
                executor.prepare(&assignment, &dir)
            };
            let program = lay().map_err(|error| Chain(&error).to_string())?;
            Ok(Prepared { dir, program })
        };
        tokio::task::spawn_blocking(write).await.map_err(|error| error.to_string())?
    }

    /// The job's files, and where their contents lie.
    async fn fetch(&self, assignment: &Assignment) -> Result<Vec<(FileSpec, PathBuf)>, String> {
        let mut files = Vec::new();
        for file in &assignment.files {
            let content = self.files.get(&file.digest).await;
            files.push((file.clone(), content.map_err(|error| Chain(&error).to_string())?));
        }
        Ok(files)
    }

    /// Tells the end until the leader has it, sends the rest of the log, and clears away.
    pub(crate) async fn conclude(&self, remains: Remains, mut wish: watch::Receiver<Wish>) {
        let Remains { held, name, dir, mut log, output, written } = remains;
        let outcome = wish.wait_for(|w| w.outcome.is_some() || w.forget).await;
        let outcome = outcome.ok().and_then(|w| w.outcome.clone());
        if let Some(log) = &log {
            log.ended.cancel();
        }
        if let Some(outcome) = outcome {
            let logged = async {
                if let Some(log) = &mut log {
                    // The log goes on by itself where this takes longer.
                    let _still_going = tokio::time::timeout(LOG_PATIENCE, &mut log.task).await;
                }
            };
            let stored = async {
                if !written {
                    self.store(&name, held, &outcome).await;
                }
            };
            tokio::join!(stored, logged);
            let log_bytes = dir.as_ref().map_or(Ok(0), |dir| ship::length(&dir.log())).ok();
            self.tell(held, outcome, (output, log_bytes));
        }
        // Where the owner has gone, the next process goes on from the disk.
        if wish.wait_for(|w| w.forget).await.is_err() {
            return;
        }
        if !written && let Err(error) = self.spool.remove(&name) {
            warn!(error = %Chain(&error), "an end that was told could not be deleted");
        }
        self.clear_away(dir, log).await;
    }

    /// Deletes what is left, once the log has been sent to its end.
    pub(crate) async fn clear_away(&self, dir: Option<AttemptDir>, log: Option<Ship>) {
        if let Some(log) = log {
            log.ended.cancel();
            if !log.task.is_finished() {
                let _cut_off = log.task.await;
            }
        }
        if let Some(dir) = dir {
            self.clear(dir).await;
        }
    }

    /// Writes the end down. Where the disk does not take it, it is told from memory.
    async fn store(&self, name: &str, held: Held, outcome: &Outcome) {
        let (spool, name) = (self.spool.clone(), name.to_owned());
        let waiting = Waiting { held, outcome: outcome.clone() };
        let stored = tokio::task::spawn_blocking(move || spool.store(&name, &waiting)).await;
        if let Err(problem) = stored.map_err(std::io::Error::other).flatten() {
            error!(run.id = %held.run, error = %Chain(&problem), "an end could not be written down");
        }
    }

    fn tell(&self, held: Held, outcome: Outcome, (output, log_bytes): (Vec<u8>, Option<u64>)) {
        match outcome {
            Outcome::Finish { end, exit } => {
                self.finishes.push(Finish { held, end, exit, output, log_bytes });
            }
            Outcome::Release { cause, detail } => {
                self.releases.push(Release { held, cause, detail });
            }
        }
    }

    async fn clear(&self, dir: AttemptDir) {
        let kept = self.kept.clone();
        let clear = move || kept.map_or_else(|| dir.remove(), |kept| dir.keep(&kept));
        let cleared = tokio::task::spawn_blocking(clear).await;
        if let Err(error) = cleared.map_err(std::io::Error::other).flatten() {
            warn!(error = %Chain(&error), "an attempt's directory could not be cleared away");
        }
    }

    /// Sends the log of the attempt while it is written.
    pub(crate) fn ship(&self, held: Held, dir: &AttemptDir) -> Ship {
        let shipment =
            Shipment { link: Arc::clone(&self.link), token: held.token, path: dir.log() };
        let ended = CancellationToken::new();
        let told = ended.clone();
        let task = self.tasks.spawn("send a log", |end| async move {
            tokio::select! {
                () = shipment.run(told) => {}
                () = end.cancelled() => {}
            }
        });
        Ship { ended, task }
    }
}

/// What there is of an attempt of which nothing runs.
pub(crate) struct Remains {
    pub(crate) held: Held,
    /// Of its end in the spool.
    pub(crate) name: String,
    pub(crate) dir: Option<AttemptDir>,
    pub(crate) log: Option<Ship>,
    pub(crate) output: Vec<u8>,
    /// The shim has written the end down already.
    pub(crate) written: bool,
}

impl Remains {
    fn of(held: Held) -> Self {
        let name = held.token.hex();
        Self { held, name, dir: None, log: None, output: Vec::new(), written: false }
    }

    fn in_dir(&mut self, dir: AttemptDir) {
        dir.name().clone_into(&mut self.name);
        self.dir = Some(dir);
    }
}

/// A log on its way.
pub(crate) struct Ship {
    /// Cancelled when nothing more will be written.
    pub(crate) ended: CancellationToken,
    pub(crate) task: JoinHandle<()>,
}

/// True where it shall not run, or no longer.
fn ends(wish: &Wish) -> bool {
    wish.stop.is_some() || wish.outcome.is_some() || wish.forget
}

fn nothing_ran() -> Ended {
    Ended { code: Some(0), signal: None, stopped: None, problem: None }
}
