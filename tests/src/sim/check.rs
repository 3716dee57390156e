//! What must always hold, judged from the store's rows and from what processes really did. Changes nothing.

use std::collections::BTreeMap;

use hera_common::action::{Action, ActionState};
use hera_common::id::{ActionId, JobId, RunId};
use hera_common::run::{Run, RunEnd, RunState, Trigger};
use hera_common::time::Version;
use hera_common::unit::{Batch, Outcome, Put, Write};
use hera_engine::Engine;
use hera_engine::edge::{EdgeState, judge};
use hera_store::{Scope, Store as _};

use super::master::settings;
use super::world::{World, ready};

/// How long a leader may be wrong after a commit that arrived late: until it has read again for the last time.
const DOUBT_MS: i64 = 63_000;

/// What the checks remember.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The first job file is in.
    pub(super) applied: bool,
    /// An edit is not in yet.
    pub(super) wanted: bool,
    /// The highest version that was decided, by job.
    decided: BTreeMap<JobId, Version>,
    /// What was last told of each run.
    shown: BTreeMap<RunId, (u32, RunState, bool)>,
    /// How each run ended.
    ended: BTreeMap<RunId, RunEnd>,
    /// Until when memory may lag behind a commit that came late.
    lags: i64,
    pub(super) commits: u64,
    pub(super) comparisons: u64,
}

impl World {
    /// A batch was written.
    pub(super) fn written(&mut self, batch: &Batch, outcomes: &[Outcome]) {
        self.ledger.commits += 1;
        for (unit, outcome) in batch.units.iter().zip(outcomes) {
            if *outcome == Outcome::LeftOut {
                self.tell("  a unit is left out");
                continue;
            }
            for write in &unit.writes {
                self.wrote(write);
            }
        }
        self.check_holds();
    }

    /// The answer to a batch is lost, or it never arrived: what it wrote shows in the rows.
    pub(super) fn maybe_written(&mut self, batch: &Batch) {
        self.tell(format_args!("  nobody hears what became of {} units", batch.units.len()));
        self.check_holds();
    }

    fn wrote(&mut self, write: &Write) {
        match write {
            Write::Run(put, run) => {
                self.tell_run(*put, run);
                if *put == Put::Insert {
                    self.check_admission(run);
                }
                if let RunState::Ended(end) = run.state {
                    self.check_end(run, end);
                }
            }
            Write::Action(_, action) if !action.state.planned() => {
                self.tell(format_args!(
                    "  action {} of job {} @{} {} seq {}",
                    action.id, action.job, action.version, action.state, action.seq
                ));
            }
            Write::Cursor(_, cursor) => {
                let before = self.ledger.decided.insert(cursor.job, cursor.decided_to);
                if before.is_some_and(|before| before > cursor.decided_to) {
                    self.wrong(format_args!("job {} is decided to less than before", cursor.job));
                }
            }
            Write::Gap(gap) => self.tell(format_args!(
                "  gap of job {} {} to {}: {} {}",
                gap.job,
                gap.from,
                gap.to,
                gap.count,
                gap.reason.label()
            )),
            Write::Action(..)
            | Write::DropPlanned(_)
            | Write::Bindings(..)
            | Write::Attempt(..)
            | Write::LateReport(..)
            | Write::Output(..)
            | Write::Job(..)
            | Write::Revision(_)
            | Write::Group(..)
            | Write::Worker(..)
            | Write::Audit(_) => {}
        }
    }

    /// Renewals are too many to be told.
    fn tell_run(&mut self, put: Put, run: &Run) {
        let new = put == Put::Insert;
        let shown = (run.counts.attempts, run.state, run.cancel.is_some());
        if self.ledger.shown.insert(run.id, shown) == Some(shown) {
            return;
        }
        let trigger = if new { run.trigger.label() } else { "" };
        self.tell(format_args!(
            "  run r{} of job {} @{} {} #{} seq {} {trigger}",
            run.id, run.job, run.version, run.state, run.counts.attempts, run.hb_seq
        ));
    }

    /// A version starts by itself only when all that it is bound to has ended well.
    fn check_admission(&mut self, run: &Run) {
        if !matches!(run.trigger, Trigger::Schedule | Trigger::Event) {
            return;
        }
        for (upstream, version, state) in self.edges(run.action) {
            if state != EdgeState::Met {
                self.wrong(format_args!(
                    "r{} of job {} @{} is queued though job {upstream} @{version} says {state:?}",
                    run.id, run.job, run.version
                ));
            }
        }
    }

    /// What each edge of an action says, by the rows alone.
    pub(super) fn edges(&self, action: ActionId) -> Vec<(JobId, Version, EdgeState)> {
        let Some(Ok(Some(bound))) = ready(self.store.another_link().action(action)) else {
            return Vec::new();
        };
        let keys: Vec<(JobId, Version)> =
            bound.bindings.iter().map(|b| (b.upstream, b.version)).collect();
        let ends = ready(self.store.another_link().outcomes(&keys));
        let Some(Ok(ends)) = ends else { return Vec::new() };
        let catalog = self.leader().and_then(|master| {
            self.masters.get(master)?.lead.as_ref().map(|lead| lead.engine.catalog())
        });
        let state = |b: &hera_common::action::Binding| {
            let job = catalog.as_ref().and_then(|catalog| catalog.jobs.get(&b.upstream));
            let catch_up = job.map(|job| job.catch_up()).unwrap_or_default();
            let end = ends.get(&(b.upstream, b.version));
            end.map_or(EdgeState::Open, |end| judge(b.on, *end, catch_up))
        };
        bound.bindings.iter().map(|b| (b.upstream, b.version, state(b))).collect()
    }

    /// An end is stored once, and says what the process did.
    fn check_end(&mut self, run: &Run, end: RunEnd) {
        if let Some(before) = self.ledger.ended.insert(run.id, end)
            && before != end
        {
            self.wrong(format_args!("r{} ended twice: {before:?}, {end:?}", run.id));
        }
        if end != RunEnd::Succeeded {
            return;
        }
        let by = self.processes.iter().find(|p| Some(p.token) == run.final_token);
        if by.is_none_or(|process| process.code != Some(0)) {
            self.wrong(format_args!("r{} succeeded, and no process of it did", run.id));
        }
    }

    /// Nothing is taken from a process that lives: its run is running, with its token.
    fn check_holds(&mut self) {
        let living = self.processes.iter().filter(|process| process.executes());
        let bad = self.store.rows(|rows| {
            living
                .filter(|process| {
                    let row = rows.runs.get(&process.run);
                    let running = row.is_some_and(|row| {
                        matches!(row.state, RunState::Running(hold) if hold.token == process.token)
                    });
                    !running
                })
                .map(|process| format!("r{} #{}", process.run, process.attempt))
                .next()
        });
        if let Some(process) = bad {
            self.wrong(format_args!("{process} lives, and its run was taken from it"));
        }
    }

    /// The job's own code begins to run.
    pub(super) fn check_exec(&mut self, process: usize) {
        let Some(own) = self.processes.get(process) else { return };
        let (run, job, attempt, fence) = (own.run, own.job, own.attempt, own.fence);
        let (exclusive, token, worker) = (own.exclusive, own.token, own.worker);
        let others = || self.processes.iter().enumerate().filter(|(n, _)| *n != process);
        let same_job = |p: &super::process::Process| p.job == job && p.exclusive && exclusive;
        let overlap = others().find(|(_, p)| same_job(p) && p.executes());
        let overlap = overlap.map(|(_, p)| format!("r{} #{} of it lives", p.run, p.attempt));
        let started = || others().filter(|(_, p)| p.started.is_some());
        let fences = started().filter(|(_, p)| same_job(p)).map(|(_, p)| p.fence).max();
        let again = started().any(|(_, p)| p.run == run);
        let row = self.store.rows(|rows| rows.runs.get(&run).cloned());
        self.tell(format_args!("w{worker} r{run} #{attempt} of job {job} begins, fence {fence}"));
        if let Some(other) = overlap {
            self.wrong(format_args!("r{run} of job {job} begins, and {other}"));
        }
        if fences.is_some_and(|highest| highest >= fence) {
            self.wrong(format_args!("r{run} of job {job} begins with an old fence"));
        }
        let Some(row) = row else { return };
        if !matches!(row.state, RunState::Running(hold) if hold.token == token) {
            self.wrong(format_args!("r{run} begins, and its row is {}", row.state));
        }
        if again && row.limits.at_most_once {
            self.wrong(format_args!("r{run} may start once, and starts again"));
        }
    }

    /// A commit arrived after its master had given it up.
    pub(super) fn late_commit(&mut self) {
        self.ledger.lags = self.now + DOUBT_MS;
    }

    /// True while memory may lag behind such a commit.
    pub(super) fn lags(&self) -> bool {
        self.now < self.ledger.lags
    }

    /// Memory is what a new leader would read now.
    pub(super) fn compare(&mut self, master: usize) {
        if self.lags() || !self.dice.permille(80) {
            return;
        }
        self.compare_now(master);
    }

    pub(super) fn compare_now(&mut self, master: usize) {
        let Some(lead) = self.masters.get(master).and_then(|own| own.lead.as_ref()) else { return };
        let link = self.store.another_link();
        let Some(Ok(row)) = ready(link.leadership()) else { return };
        if row.epoch != lead.epoch || !lead.settled {
            return;
        }
        let Some(Ok(snapshot)) = ready(link.load(&Scope::All)) else { return };
        let mut fresh = Engine::new(settings(), lead.epoch);
        fresh.load(snapshot, lead.stepped);
        let difference = lead.engine.difference(fresh, lead.stepped);
        self.ledger.comparisons += 1;
        if let Some(difference) = difference {
            self.wrong(format_args!("memory is not what the store holds: {difference}"));
        }
    }

    /// Actions that ought not to be as they are, once all is calm.
    pub(super) fn stuck(&self) -> Vec<String> {
        let now = Version::at(self.wall());
        let parked = |job: JobId| {
            self.store.rows(|rows| {
                rows.jobs
                    .get(&job)
                    .is_none_or(|row| row.parked.is_some() || row.deleted_at.is_some())
            })
        };
        let actions: Vec<Action> = self.store.rows(|rows| rows.actions.values().cloned().collect());
        let mut stuck = Vec::new();
        for action in actions {
            let name = format!("action {} of job {} @{}", action.id, action.job, action.version);
            if action.state.planned() && action.version <= now && !parked(action.job) {
                stuck.push(format!("{name} is due and undecided"));
            }
            if action.state == ActionState::Waiting && action.live_run.is_none() {
                let edges = self.edges(action.id);
                let open = |state| matches!(state, EdgeState::Open | EdgeState::Blocked);
                if !edges.iter().any(|(_, _, state)| open(*state)) {
                    stuck.push(format!("{name} waits for nothing: {edges:?}"));
                }
            }
            if action.state == ActionState::Active || action.live_run.is_some() {
                stuck.push(format!("{name} has a live run"));
            }
        }
        stuck
    }
}
