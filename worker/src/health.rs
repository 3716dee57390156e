//! Whether this machine can execute anything: doubted when an attempt could not be prepared or spawned, and tried with a
//! directory and a process of its own. Knows no leader.

use std::path::PathBuf;
use std::time::Duration;

use hera_common::chain::Chain;
use hera_common::id::{RunId, Token};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::attempt_dir::AttemptDir;
use crate::clock;
use crate::contract::Held;
use crate::process::launcher::{Launcher, Shim};
use crate::process::order::{Launch, Report};

/// How long a trial may take. It takes milliseconds; a machine that needs this long is no better than one that cannot.
const TRIAL_MAX: Duration = Duration::from_secs(10);
/// Executed by a trial: every system has it, and it does nothing.
const NOTHING: &str = "/bin/true";

/// What is thought of this machine.
#[derive(Debug)]
pub(crate) struct Health {
    /// Why it may not be able to execute anything; None: nothing speaks against it.
    doubt: watch::Sender<Option<String>>,
}

impl Default for Health {
    fn default() -> Self {
        Self { doubt: watch::Sender::new(None) }
    }
}

impl Health {
    /// An attempt could not be executed here.
    pub(crate) fn doubt(&self, why: &str) {
        self.doubt.send_replace(Some(why.to_owned()));
    }

    /// Waits until there is a doubt.
    pub(crate) async fn doubted(&self) {
        let mut doubt = self.doubt.subscribe();
        // The sender is here as long as this waits.
        let _there = doubt.wait_for(Option::is_some).await;
    }

    /// Why nothing can be executed; None where that is not so, which is tried first where it was doubted.
    pub(crate) async fn refuses(&self, trial: &impl Trial) -> Option<String> {
        let doubt = self.doubt.borrow().clone()?;
        match trial.execute_nothing().await {
            Ok(()) => {
                info!("can execute attempts, though one could not be executed: {doubt}");
                self.doubt.send_replace(None);
                None
            }
            Err(why) => Some(format!("it cannot execute anything: {why}")),
        }
    }
}

/// Does once, with nothing, what is done for an attempt.
pub(crate) trait Trial {
    /// In words why it cannot be done.
    fn execute_nothing(&self) -> impl Future<Output = Result<(), String>> + Send;
}

/// With this machine's disk and processes.
pub(crate) struct Machine<'a> {
    pub(crate) attempts: PathBuf,
    pub(crate) launcher: &'a Launcher,
}

impl Trial for Machine<'_> {
    async fn execute_nothing(&self) -> Result<(), String> {
        // No run has this number.
        let held = Held { run: RunId::from_raw(0), token: Token::from_bytes([0; 16]) };
        let attempts = self.attempts.clone();
        let made = tokio::task::spawn_blocking(move || {
            let dir = AttemptDir::create(&attempts, held, 0)?;
            // What needs room: a directory may be made on a disk that is full.
            std::fs::write(dir.script(), [b' '; 4_096])?;
            Ok::<_, std::io::Error>(dir)
        });
        let made = made.await.map_err(std::io::Error::other).flatten();
        let dir = made.map_err(|error| format!("no directory could be made: {error}"))?;
        let executed = tokio::time::timeout(TRIAL_MAX, self.execute(&dir)).await;
        let cleared = tokio::task::spawn_blocking(move || dir.remove()).await;
        if let Err(error) = cleared.map_err(std::io::Error::other).flatten() {
            warn!(error = %Chain(&error), "what a trial has made could not be cleared away");
        }
        executed.unwrap_or_else(|_elapsed| Err("no process was made in time".to_owned()))
    }
}

impl Machine<'_> {
    async fn execute(&self, dir: &AttemptDir) -> Result<(), String> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let launch = Launch {
            program: NOTHING.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            work: text(dir.work().to_owned()),
            log: text(dir.log()),
            exit: text(dir.exit_file()),
            note: String::new(),
            deadline_ms: clock::boot().plus(TRIAL_MAX).ms(),
            term_ms: 0,
            kill_ms: 500,
            timeout_ms: None,
        };
        let mut shim =
            self.launcher.launch(launch).await.map_err(|error| Chain(&error).to_string())?;
        said(&mut shim).await
    }
}

async fn said(shim: &mut Shim) -> Result<(), String> {
    loop {
        match shim.next().await {
            Some(Report::Ended(exit)) if exit.code == Some(0) => return Ok(()),
            Some(Report::Ended(exit)) => return Err(format!("{NOTHING} ended with {exit:?}")),
            Some(Report::NotSpawned { detail }) => return Err(detail),
            Some(Report::Refused) => return Err("a process was made too late".to_owned()),
            Some(Report::Started { .. } | Report::Stopping { .. } | Report::KillFailed { .. }) => {}
            None => return Err("its process was never made".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Says what it was given, in turn.
    struct Told(RefCell<Vec<Result<(), String>>>);

    impl Trial for Told {
        fn execute_nothing(&self) -> impl Future<Output = Result<(), String>> + Send {
            std::future::ready(self.0.borrow_mut().remove(0))
        }
    }

    #[tokio::test]
    async fn a_machine_that_is_doubted_is_tried_until_it_can_again() {
        let health = Health::default();
        let full = || Err("no directory could be made: no space".to_owned());
        let trial = Told(RefCell::new(vec![full(), full(), Ok(())]));
        assert_eq!(health.refuses(&trial).await, None, "nothing is tried without a doubt");
        health.doubt("its directory could not be made");
        health.doubted().await;
        for _ in 0..2 {
            let told = health.refuses(&trial).await.unwrap();
            assert_eq!(told, "it cannot execute anything: no directory could be made: no space");
        }
        assert_eq!(health.refuses(&trial).await, None);
        assert_eq!(health.refuses(&trial).await, None);
        assert!(trial.0.borrow().is_empty());
    }
}
