//! One process under its shim: passes on what is wished, and what the shim reports.

use tokio::sync::watch;
use tracing::{info, warn};

use super::{Ship, Tools, ends};
use crate::agent::Wish;
use crate::attempt::{Ended, Event};
use crate::attempt_dir::AttemptDir;
use crate::chain::Chain;
use crate::contract::Assignment;
use crate::process::launcher::Shim;
use crate::process::order::{Exit, Launch, Order, Report, StopCause};

/// Where a job may leave its outputs.
const OUTPUT_VARIABLE: &str = "HERA_OUTPUT";

/// A process that is to be executed.
pub(super) struct Job<'a> {
    pub(super) tools: &'a Tools,
    pub(super) assignment: &'a Assignment,
    pub(super) dir: &'a AttemptDir,
    pub(super) program: String,
    pub(super) args: Vec<String>,
}

/// What became of it.
pub(super) struct JobEnd {
    pub(super) event: Event,
    /// None where nothing was executed.
    pub(super) ship: Option<Ship>,
}

impl JobEnd {
    fn without_log(event: Event) -> Self {
        Self { event, ship: None }
    }
}

impl Job<'_> {
    /// Executes it to its end.
    pub(super) async fn run(mut self, wish: &mut watch::Receiver<Wish>) -> JobEnd {
        let Some(launch) = self.launch(&wish.borrow_and_update()) else {
            return JobEnd::without_log(Event::Withdrawn);
        };
        match self.tools.launcher.launch(launch).await {
            Ok(shim) => self.follow(shim, wish).await,
            Err(error) => JobEnd::without_log(Event::NotSpawned(Chain(&error).to_string())),
        }
    }

    /// What the shim is told; None where it shall not run any more.
    fn launch(&mut self, wish: &Wish) -> Option<Launch> {
        let deadline = wish.deadline.filter(|_| !ends(wish))?;
        let ms = |span: std::time::Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let timing = &self.tools.timing;
        let mut env = self.assignment.environment.clone();
        let output = self.dir.output_file().to_string_lossy().into_owned();
        env.push((OUTPUT_VARIABLE.to_owned(), output));
        Some(Launch {
            program: std::mem::take(&mut self.program),
            args: std::mem::take(&mut self.args),
            env,
            dir: self.dir.path().to_string_lossy().into_owned(),
            deadline_ms: deadline.ms(),
            term_ms: ms(timing.term),
            kill_ms: ms(timing.kill),
            timeout_ms: self.assignment.timeout.map(ms),
        })
    }

    async fn follow(&self, mut shim: Shim, wish: &mut watch::Receiver<Wish>) -> JobEnd {
        let mut ship = None;
        let mut told = Told::default();
        loop {
            let report = tokio::select! {
                report = shim.next() => report,
                changed = wish.changed() => {
                    let wished = wish.borrow_and_update().clone();
                    told.pass_on(&mut shim, &wished, changed.is_err()).await;
                    continue;
                }
            };
            let event = match report {
                Some(Report::Started { pid, .. }) => {
                    self.log(pid);
                    ship = Some(self.tools.ship(self.assignment.held, self.dir));
                    None
                }
                Some(report) => self.heard(report).await,
                None => Some(self.without_a_word().await),
            };
            if let Some(event) = event {
                return JobEnd { event, ship };
            }
        }
    }

    /// What a report means; None where it goes on.
    async fn heard(&self, report: Report) -> Option<Event> {
        let token = self.assignment.held.token;
        match report {
            Report::Started { .. } => None,
            Report::Refused => Some(Event::Refused),
            Report::NotSpawned { detail } => Some(Event::NotSpawned(detail)),
            Report::Stopping { cause } => {
                self.tools.desk.heard(token, Event::Stopping(cause)).await;
                None
            }
            Report::KillFailed { detail } => {
                self.tools.desk.heard(token, Event::KillFailed(detail)).await;
                None
            }
            Report::Ended(exit) => Some(self.ended(&exit).await),
        }
    }

    /// The shim has gone and has not said how it ended: perhaps it has written it.
    async fn without_a_word(&self) -> Event {
        match self.dir.exit() {
            Ok(Some(exit)) => self.ended(&exit).await,
            Ok(None) => Event::ShimGone,
            Err(error) => {
                warn!(run.id = %self.assignment.held.run, error = %error, "no exit can be read");
                Event::ShimGone
            }
        }
    }

    async fn ended(&self, exit: &Exit) -> Event {
        info!(
            run.id = %self.assignment.held.run,
            attempt.id = %self.assignment.fence,
            exit_code = exit.code,
            exit_signal = exit.signal,
            run_ms = exit.run_ms,
            "ended"
        );
        let dir = self.dir.clone();
        let output = tokio::task::spawn_blocking(move || dir.output().err()).await;
        Event::Ended(Ended {
            code: exit.code,
            signal: exit.signal,
            stopped: exit.stopped,
            output_problem: output.unwrap_or_else(|cut_off| Some(cut_off.to_string())),
        })
    }

    fn log(&self, pid: i32) {
        info!(
            run.id = %self.assignment.held.run,
            attempt.id = %self.assignment.fence,
            job.name = self.assignment.job,
            "started as process {pid}"
        );
    }
}

/// What the shim has been told.
#[derive(Default)]
struct Told {
    deadline: Option<hera_common::time::Boot>,
    stopped: bool,
}

impl Told {
    async fn pass_on(&mut self, shim: &mut Shim, wish: &Wish, owner_gone: bool) {
        for order in self.orders(wish, owner_gone) {
            // A shim that has ended has said so, or its stream's end does.
            let _ended = shim.order(&order).await;
        }
        if owner_gone {
            // All ends, and lets go of the shim, which stops its job.
            std::future::pending().await
        }
    }

    /// What it must be told besides.
    fn orders(&mut self, wish: &Wish, gone: bool) -> Vec<Order> {
        let stop = wish.stop.or((gone || ends(wish)).then_some(StopCause::Lost));
        if let Some(cause) = stop {
            let first = !std::mem::replace(&mut self.stopped, true);
            return first.then_some(Order::Stop { cause }).into_iter().collect();
        }
        if wish.deadline == self.deadline {
            return Vec::new();
        }
        self.deadline = wish.deadline;
        wish.deadline.map(|at| Order::Deadline { boot_ms: at.ms() }).into_iter().collect()
    }
}
