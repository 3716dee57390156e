//! One process under its shim: passes on what is wished, and what the shim reports; and ends a shim that does not do
//! what it is there for.

use std::path::Path;
use std::time::Duration;

use hera_common::time::Boot;
use rustix::process::Signal;
use tokio::sync::watch;
use tracing::{info, warn};

use super::patience::{MARGIN, Patience};
use super::{Ship, Tools, ends};
use crate::agent::Wish;
use crate::attempt::{Ended, Event};
use crate::attempt_dir::{AttemptDir, note_of};
use crate::clock;
use crate::contract::{Assignment, Timing};
use crate::executor::{Fault, Program, executor};
use crate::process::launcher::Shim;
use crate::process::order::{Exit, Launch, Order, Report, StopCause};
use hera_common::chain::Chain;

/// Where a job may leave its outputs.
const OUTPUT_VARIABLE: &str = "HERA_OUTPUT";

/// How long an order may wait for its shim: hundreds lie unread before one does.
const ORDER_LIMIT: Duration = Duration::from_secs(1);

/// A process that is to be executed.
pub(super) struct Job<'a> {
    pub(super) tools: &'a Tools,
    pub(super) assignment: &'a Assignment,
    pub(super) timing: Timing,
    pub(super) dir: &'a AttemptDir,
}

/// What became of it.
pub(super) struct JobEnd {
    pub(super) event: Event,
    /// None where nothing was executed.
    pub(super) log: Option<Ship>,
    /// What it left for others; nothing where that cannot be taken.
    pub(super) output: Vec<u8>,
    /// The shim has written its end down.
    pub(super) written: bool,
}

impl JobEnd {
    fn of(event: Event) -> Self {
        Self { event, log: None, output: Vec::new(), written: false }
    }
}

impl Job<'_> {
    /// Executes it to its end.
    pub(super) async fn run(&self, program: Program, wish: &mut watch::Receiver<Wish>) -> JobEnd {
        let Some(launch) = self.launch(program, &wish.borrow_and_update()) else {
            return JobEnd::of(Event::Withdrawn);
        };
        match self.tools.launcher.launch(launch).await {
            Ok(shim) => self.follow(shim, wish).await,
            Err(error) => JobEnd::of(Event::NotSpawned(Chain(&error).to_string())),
        }
    }

    /// What the shim is told; None where it shall not run any more.
    fn launch(&self, program: Program, wish: &Wish) -> Option<Launch> {
        let deadline = wish.deadline.filter(|_| !ends(wish))?;
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let Timing { term, kill, .. } = self.timing;
        let mut env = self.assignment.environment.clone();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        env.push((OUTPUT_VARIABLE.to_owned(), text(&self.dir.output_file())));
        Some(Launch {
            program: program.path,
            args: program.args,
            env,
            work: text(self.dir.work()),
            log: text(&self.dir.log()),
            exit: text(&self.dir.exit_file()),
            note: note_of(self.assignment.held),
            deadline_ms: deadline.ms(),
            term_ms: ms(term),
            kill_ms: ms(kill),
            timeout_ms: self.assignment.timeout.map(ms),
        })
    }

    async fn follow(&self, mut shim: Shim, wish: &mut watch::Receiver<Wish>) -> JobEnd {
        let mut log = None;
        let mut told = Told::default();
        let deadline = wish.borrow().deadline;
        let mut patience = Patience::new(&self.timing, deadline, clock::boot());
        loop {
            let report = tokio::select! {
                report = shim.next() => report,
                changed = wish.changed() => {
                    let wished = wish.borrow_and_update().clone();
                    if !told.pass_on(&mut shim, &wished, changed.is_err(), &mut patience).await {
                        let end = self.end_by_force(&shim, StopCause::Lease).await;
                        return JobEnd { log, ..end };
                    }
                    continue;
                }
                cause = is_over(patience.end()) => {
                    return JobEnd { log, ..self.end_by_force(&shim, cause).await };
                }
            };
            let end = match report {
                Some(Report::Started { pid, boot_ms }) => {
                    self.log(pid);
                    patience.started(Boot::from_ms(boot_ms), self.assignment.timeout);
                    log = Some(self.tools.ship(self.assignment.held, self.dir));
                    None
                }
                Some(report) => {
                    match &report {
                        Report::Stopping { cause } => patience.stops(*cause, clock::boot()),
                        Report::KillFailed { .. } => patience.excused(),
                        Report::Started { .. }
                        | Report::Refused
                        | Report::NotSpawned { .. }
                        | Report::Ended(_) => {}
                    }
                    self.heard(report).await
                }
                None => Some(self.without_a_word().await),
            };
            if let Some(end) = end {
                return JobEnd { log, ..end };
            }
        }
    }

    /// The shim has not done in its time what it had to: somebody has stopped it, or it hangs. Ends it with all that is
    /// below it. Where nobody can say that nothing is left, nothing may be beaten for.
    async fn end_by_force(&self, shim: &Shim, cause: StopCause) -> JobEnd {
        warn!(
            run.id = %self.assignment.held.run,
            attempt.id = %self.assignment.fence,
            "the process that watches over the job does not answer: ends it with all below it ({cause:?})"
        );
        if !self.tools.launcher.end(shim, self.timing.kill + MARGIN).await {
            return JobEnd::of(Event::ShimGone);
        }
        match self.dir.exit() {
            Ok(Some(exit)) if exit.note == note_of(self.assignment.held) => self.ended(&exit).await,
            _cut_off if !self.dir.has_log() => {
                JobEnd::of(Event::NotSpawned("its process was never made".to_owned()))
            }
            _cut_off => JobEnd::of(Event::Ended(Ended {
                code: None,
                signal: Some(Signal::KILL.as_raw()),
                stopped: Some(cause),
                problem: None,
            })),
        }
    }

    /// What a report means; None where it goes on.
    async fn heard(&self, report: Report) -> Option<JobEnd> {
        let token = self.assignment.held.token;
        match report {
            Report::Started { .. } => None,
            Report::Refused => Some(JobEnd::of(Event::Refused)),
            Report::NotSpawned { detail } => Some(JobEnd::of(self.not_spawned(detail))),
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

    /// Where the job itself is to blame, it has failed, as if a shell had said so: no other machine can execute it.
    fn not_spawned(&self, detail: String) -> Event {
        let executor = executor(self.assignment.kind);
        match executor.and_then(|executor| executor.fault(self.assignment, self.dir)) {
            Some(Fault { code, detail }) => Event::Ended(Ended {
                code: Some(code),
                signal: None,
                stopped: None,
                problem: Some(detail),
            }),
            None => Event::NotSpawned(detail),
        }
    }

    /// The shim has gone and has not said how it ended: perhaps it has written it.
    async fn without_a_word(&self) -> JobEnd {
        match self.dir.exit() {
            // Only its shim was told what to note; a script may have written such a file, too.
            Ok(Some(exit)) if exit.note == note_of(self.assignment.held) => self.ended(&exit).await,
            // A shim makes the log before it executes anything.
            Ok(_) if !self.dir.has_log() => {
                JobEnd::of(Event::NotSpawned("its process was never made".to_owned()))
            }
            Ok(_) => JobEnd::of(Event::ShimGone),
            Err(error) => {
                warn!(run.id = %self.assignment.held.run, error = %Chain(&error), "no exit can be read");
                JobEnd::of(Event::ShimGone)
            }
        }
    }

    async fn ended(&self, exit: &Exit) -> JobEnd {
        info!(
            run.id = %self.assignment.held.run,
            attempt.id = %self.assignment.fence,
            exit_code = exit.code,
            exit_signal = exit.signal,
            run_ms = exit.run_ms,
            "ended"
        );
        let (output, problem) = match self.output().await {
            Ok(output) => (output, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let Exit { code, signal, stopped, .. } = *exit;
        let event = Event::Ended(Ended { code, signal, stopped, problem });
        let written = self.dir.has_exit();
        JobEnd { event, log: None, output, written }
    }

    async fn output(&self) -> Result<Vec<u8>, String> {
        if !self.dir.has_output() {
            return Ok(Vec::new());
        }
        let dir = self.dir.clone();
        let output = tokio::task::spawn_blocking(move || dir.output()).await;
        output.map_err(|cut_off| cut_off.to_string())?
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

/// Waits for the instant, if there is one; gives the cause.
async fn is_over(end: Option<(Boot, StopCause)>) -> StopCause {
    match end {
        Some((at, cause)) => {
            tokio::time::sleep(at.since(clock::boot())).await;
            cause
        }
        None => std::future::pending().await,
    }
}

/// What the shim has been told.
#[derive(Default)]
struct Told {
    deadline: Option<Boot>,
    stopped: bool,
}

impl Told {
    /// False where the shim does not take what it is told.
    async fn pass_on(
        &mut self,
        shim: &mut Shim,
        wish: &Wish,
        owner_gone: bool,
        patience: &mut Patience,
    ) -> bool {
        for order in self.orders(wish, owner_gone) {
            match &order {
                Order::Stop { cause } => patience.stops(*cause, clock::boot()),
                Order::Deadline { boot_ms } => patience.renewed(Boot::from_ms(*boot_ms)),
                Order::Launch(_) => {}
            }
            match tokio::time::timeout(ORDER_LIMIT, shim.order(&order)).await {
                // A shim that has ended has said so, or its stream's end does.
                Ok(_taken_or_ended) => {}
                Err(_elapsed) => return false,
            }
        }
        if owner_gone {
            // All ends, and lets go of the shim, which stops its job.
            std::future::pending().await
        }
        true
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
