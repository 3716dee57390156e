//! Random batches, on memory and on a database at once: they must tell the same and hold the same, whatever is
//! stale, repeated or forbidden in them.

use std::collections::BTreeMap;

use hera_common::action::{Action, ActionEnd, ActionState};
use hera_common::attempt::{Attempt, AttemptEnd};
use hera_common::id::{ActionId, Epoch, Fence, RunId, Token};
use hera_common::run::{CancelReason, Hold, QueuedWhy, Run, RunEnd, RunState};
use hera_common::unit::{Batch, Guard, Marks, Unit, Write};
use hera_store::{MemoryStore, Snapshot, Store, StoreError};

use crate::rows;
use crate::world::{
    NO_SEQ, Place, World, acquire, guard_action, guard_run, insert_action, insert_attempt,
    insert_run, unit, update_action, update_attempt, update_run,
};

/// Set it to a number to be told another story.
const SEED: &str = "HERA_TEST_SEED";
/// Batches of one story.
const ROUNDS: u32 = 60;
/// Few jobs, so that their runs get into each other's way.
const JOBS: [i64; 3] = [1, 2, 3];

/// A small generator: the same seed tells the same story.
struct Dice(u64);

impl Dice {
    /// A number below `end`.
    fn roll(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.roll(chances) == 0
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> Option<T> {
        if list.is_empty() { None } else { list.get(self.roll(list.len())).cloned() }
    }
}

/// The rows as they will be if all units so far are written.
#[derive(Clone, Default)]
struct Rows {
    actions: BTreeMap<ActionId, Action>,
    runs: BTreeMap<RunId, Run>,
    attempts: BTreeMap<Fence, Attempt>,
}

struct Author {
    dice: Dice,
    rows: Rows,
    next: i64,
}

impl Author {
    fn number(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn unit(&mut self) -> Unit {
        let made = match self.dice.roll(5) {
            0 => Some(self.plan()),
            1 => self.drop_planned(),
            2 => self.admit(),
            _ => self.go_on(),
        };
        let mut unit = made.unwrap_or_else(|| self.plan());
        if self.dice.one_in(8) {
            self.spoil(&mut unit);
        }
        unit
    }

    /// A guard that does not hold, on a row that the unit writes or on another.
    fn spoil(&mut self, unit: &mut Unit) {
        let runs: Vec<Run> = self.rows.runs.values().cloned().collect();
        if let (true, Some(run)) = (self.dice.one_in(2), self.dice.pick(&runs)) {
            unit.guards.push(Guard::Run { id: run.id, hb_seq: NO_SEQ, token: None });
        } else {
            let id = ActionId::from_raw(self.next - 1);
            unit.guards.insert(0, Guard::Action { id, seq: NO_SEQ });
        }
    }

    fn plan(&mut self) -> Unit {
        let id = self.number();
        let job = JOBS[self.dice.roll(JOBS.len())];
        // Now and then a version that is there already.
        let slot = if self.dice.one_in(20) { id - 1 } else { id };
        let action = rows::action(id, job, slot);
        self.rows.actions.insert(action.id, action.clone());
        let bindings = vec![rows::binding(job, slot - 1), rows::binding(9, slot)];
        unit(vec![], vec![insert_action(&action), Write::Bindings(action.id, bindings)])
    }

    fn an_action(&mut self, fits: fn(&Action) -> bool) -> Option<Action> {
        let list: Vec<Action> = self.rows.actions.values().filter(|a| fits(a)).cloned().collect();
        self.dice.pick(&list)
    }

    fn drop_planned(&mut self) -> Option<Unit> {
        let action = self.an_action(|a| a.state.planned())?;
        self.rows.actions.remove(&action.id);
        Some(unit(vec![guard_action(&action)], vec![Write::DropPlanned(action.id)]))
    }

    fn admit(&mut self) -> Option<Unit> {
        let action = self.an_action(|a| a.live_run.is_none())?;
        let id = self.number();
        let next = rows::active(&action, id);
        let mut run = rows::run(id, &next);
        run.number = next.runs;
        run.exclusive = !self.dice.one_in(4);
        self.rows.actions.insert(next.id, next.clone());
        self.rows.runs.insert(run.id, run.clone());
        Some(unit(vec![guard_action(&action)], vec![update_action(&next), insert_run(&run)]))
    }

    /// The next step in the life of a run that lives.
    fn go_on(&mut self) -> Option<Unit> {
        let list: Vec<Run> =
            self.rows.runs.values().filter(|run| !run.state.ended()).cloned().collect();
        let run = self.dice.pick(&list)?;
        let mut writes = Vec::new();
        let next = match run.state {
            RunState::Queued { .. } if self.dice.one_in(6) => self.end(&run, &mut writes),
            RunState::Queued { .. } => self.grant(&run, &mut writes),
            RunState::Leased(_) => self.start(&run, &mut writes),
            RunState::Running(_) if self.dice.one_in(3) => rows::renewed(&run),
            RunState::Running(hold) if self.dice.one_in(3) => self.release(&run, hold, &mut writes),
            RunState::Running(_) => self.end(&run, &mut writes),
            RunState::Ended(_) => return None,
        };
        writes.push(update_run(&next));
        self.rows.runs.insert(next.id, next);
        Some(unit(vec![guard_run(&run)], writes))
    }

    fn grant(&mut self, run: &Run, writes: &mut Vec<Write>) -> Run {
        let fence = self.number();
        let mut next = rows::leased(run, 1);
        let token = Token::from_bytes(u128::try_from(fence).unwrap().to_be_bytes());
        let hold = Hold { token, fence: Fence::from_raw(fence), ..rows::hold(1) };
        next.state = RunState::Leased(hold);
        let attempt = rows::attempt(&next);
        self.rows.attempts.insert(attempt.fence, attempt.clone());
        writes.push(insert_attempt(attempt));
        next
    }

    fn start(&mut self, run: &Run, writes: &mut Vec<Write>) -> Run {
        if let Some(attempt) = run.state.hold().and_then(|h| self.rows.attempts.get_mut(&h.fence)) {
            *attempt = rows::started(attempt);
            writes.push(update_attempt(attempt.clone()));
        }
        rows::running(run)
    }

    fn close(&mut self, fence: Fence, end: AttemptEnd, writes: &mut Vec<Write>) {
        if let Some(attempt) = self.rows.attempts.get_mut(&fence) {
            *attempt = rows::attempt_ended(attempt, end);
            writes.push(update_attempt(attempt.clone()));
            writes.push(Write::LateReport(fence, "late".to_owned()));
        }
    }

    fn release(&mut self, run: &Run, hold: Hold, writes: &mut Vec<Write>) -> Run {
        self.close(hold.fence, AttemptEnd::Interrupted, writes);
        let state = RunState::Queued { not_before: rows::MADE, why: QueuedWhy::Released };
        Run { state, ..rows::renewed(run) }
    }

    fn end(&mut self, run: &Run, writes: &mut Vec<Write>) -> Run {
        if let Some(hold) = run.state.hold() {
            self.close(hold.fence, AttemptEnd::Succeeded, writes);
            writes.push(Write::Output(hold.fence, vec![7; 9]));
        }
        if let Some(action) = self.rows.actions.get_mut(&run.action) {
            let done = ActionState::Ended(ActionEnd::Succeeded { forced: false });
            *action = rows::with_state(action, done);
            writes.push(update_action(action));
        }
        let end = if run.state.hold().is_some() {
            RunEnd::Succeeded
        } else {
            RunEnd::Cancelled(CancelReason::By)
        };
        rows::ended(run, end)
    }

    /// Units, some of which build on others.
    fn batch(&mut self) -> Batch {
        let count = 1 + self.dice.roll(8);
        let mut units: Vec<Unit> = Vec::new();
        for place in 0..count {
            let mut unit = self.unit();
            if place > 0 && self.dice.one_in(4) {
                unit.after.push(self.dice.roll(place));
            }
            units.push(unit);
        }
        let run = RunId::from_raw(self.next);
        Batch { units, marks: Marks { run, ..Marks::default() } }
    }
}

/// What a commit told, without what only one of them has: its clock, its words.
fn told(answer: &Result<hera_common::unit::Committed, StoreError>) -> String {
    match answer {
        Ok(committed) => format!("{:?}", committed.outcomes),
        Err(StoreError::Corrupt { .. }) => "corrupt".to_owned(),
        Err(other) => panic!("should commit: {other:?}"),
    }
}

/// Both hold the same; else the rows that one of them has alone are shown.
fn same(left: &Snapshot, right: &Snapshot, round: u32) {
    if left == right {
        return;
    }
    let lines = |snapshot: &Snapshot| -> Vec<String> {
        let Snapshot { actions, runs, attempts, outcomes, bad, .. } = snapshot;
        let mut lines: Vec<String> = actions.iter().map(|row| format!("{row:?}")).collect();
        lines.extend(runs.iter().map(|row| format!("{row:?}")));
        lines.extend(attempts.iter().map(|row| format!("{row:?}")));
        lines.extend(outcomes.iter().map(|row| format!("{row:?}")));
        lines.extend(bad.iter().map(|row| format!("{row:?}")));
        lines
    };
    let (left, right) = (lines(left), lines(right));
    let only = |one: &[String], other: &[String]| {
        let alone = one.iter().filter(|line| !other.contains(line));
        alone.cloned().collect::<Vec<_>>().join("\n")
    };
    panic!("round {round}\nstore:\n{}\nmemory:\n{}", only(&left, &right), only(&right, &left));
}

fn rows_of(memory: &MemoryStore) -> Rows {
    memory.rows(|rows| Rows {
        actions: rows.actions.clone(),
        runs: rows.runs.clone(),
        attempts: rows.attempts.clone(),
    })
}

pub(crate) async fn random_batches_do_what_they_do_in_memory(place: &impl Place) {
    let world = World::led(place).await;
    let memory = MemoryStore::new(&"0".repeat(32));
    assert_eq!(acquire(&memory, "one").await, world.epoch);
    let reference = World { store: std::sync::Arc::new(memory.clone()), epoch: Epoch::from_raw(1) };
    for each in [&world, &reference] {
        each.with_jobs(&JOBS).await;
    }
    let other = std::env::var(SEED).ok().map(|text| text.parse().unwrap());
    let mut author = Author { dice: Dice(other.unwrap_or(2_026)), rows: Rows::default(), next: 0 };
    let mut seen = BTreeMap::new();
    for round in 0..ROUNDS {
        let batch = author.batch();
        let expected = told(&memory.commit(reference.epoch, &batch).await);
        let answer = told(&world.store.commit(world.epoch, &batch).await);
        assert_eq!(answer, expected, "round {round}: {batch:#?}");
        same(&world.all().await, &reference.all().await, round);
        let kind = if expected == "corrupt" { "corrupt" } else { "written" };
        *seen.entry(kind).or_insert(0) += 1;
        *seen.entry("left out").or_insert(0) += u32::from(expected.contains("LeftOut"));
        author.rows = rows_of(&memory);
    }
    // The story has all that it should have; else its dice have to be made anew.
    let all = seen.values().all(|times| *times >= 5) && seen.len() == 3;
    assert!(all || other.is_some(), "{seen:?}");
    for (id, run) in rows_of(&memory).runs {
        assert_eq!(world.run_row(id.raw()).await, run);
    }
}
