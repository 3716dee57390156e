//! The loop with a scripted engine on a store in memory: what becomes of callers, memory and catalog.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hera_common::audit::{Asked, AuditRow};
use hera_common::hand::Hands;
use hera_common::id::{ActionId, Epoch, GroupId, JobId, RunId, Seq, Token};
use hera_common::job::GroupRow;
use hera_common::path::Path;
use hera_common::snapshot::Snapshot;
use hera_common::time::{Now, Version, Wall};
use hera_common::unit::{Batch, Guard, Put, Unit, Write};
use hera_engine::Chance;
use hera_engine::catalog::Catalog;
use hera_engine::input::{
    Answer, Change, Effect, Input, Reply, Step, Tagged, Verdict, VerdictKind,
};
use hera_store::{
    AuditFilter, Candidate, CommitFault, MemoryStore, Scope, Seen, Store as _, StoreError,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Around, Begin, CommitLoop, Decide, LoopEnd, Term};
use crate::changes::Changes;
use crate::clock::Clock;
use crate::desk::{Desk, Unanswered};
use crate::role::OwnEpoch;
use crate::tasks::Tasks;

/// An engine that makes one unit for each cancellation, and remembers what it was told.
#[derive(Debug, Default)]
struct Script {
    /// Groups made so far: each unit makes one.
    groups: i64,
    catalog: Arc<Catalog>,
    seen: Arc<Mutex<Heard>>,
}

/// What the engine was told.
#[derive(Debug, Default)]
struct Heard {
    batches: Vec<usize>,
    reloads: Vec<Vec<JobId>>,
    resolved: usize,
    epochs: Vec<Epoch>,
}

const JOB: JobId = JobId::from_raw(7);
/// Its unit drops an action that is not there, which no store takes.
const IMPOSSIBLE: JobId = JobId::from_raw(9);

impl Decide for Script {
    fn reload(&mut self, jobs: &[JobId], _snapshot: Snapshot, _now: Now) {
        self.seen.lock().unwrap().reloads.push(jobs.to_vec());
        self.catalog = Arc::default();
    }

    fn leads_as(&mut self, epoch: Epoch) {
        self.seen.lock().unwrap().epochs.push(epoch);
    }

    fn step(&mut self, now: Now, _chance: &mut dyn Chance, inputs: Vec<Tagged>) -> Step {
        let mut step = Step::default();
        let callers = inputs.iter().filter(|tagged| !matches!(tagged.input, Input::Tick));
        self.seen.lock().unwrap().batches.push(callers.count());
        for Tagged { tag, input } in inputs {
            let mut after = Vec::new();
            let reply = match input {
                Input::DeleteCalendar { .. } => Reply::Done,
                // Written where the guard holds.
                Input::DeleteJob { asked, job } => {
                    after.push(step.batch.units.len());
                    self.groups += 1;
                    step.batch.marks.group = GroupId::from_raw(self.groups);
                    step.batch.units.push(unit(&asked, job, self.groups, now.wall));
                    step.touched.push(vec![JOB]);
                    let catalog = Arc::make_mut(&mut self.catalog);
                    catalog.edition += 1;
                    step.effects.push(told(after[0]));
                    Reply::Deleted(Ok(()))
                }
                Input::Heartbeat { items, .. } => Reply::Verdicts(
                    items
                        .into_iter()
                        .map(|(run, token)| Verdict {
                            run,
                            token,
                            unit: None,
                            kind: VerdictKind::Lost,
                        })
                        .collect(),
                ),
                Input::Queue => {
                    step.effects.push(Effect::Resolve(vec![(JOB, Version::from_ms(1))]));
                    Reply::Queue(Vec::new())
                }
                Input::Resolved { .. } => {
                    self.seen.lock().unwrap().resolved += 1;
                    Reply::Done
                }
                Input::Tick | Input::Standing | Input::PollGone { .. } => Reply::Done,
                Input::Apply(_)
                | Input::Run { .. }
                | Input::RunNow { .. }
                | Input::Recover { .. }
                | Input::Cancel { .. }
                | Input::Register(_)
                | Input::Poll { .. }
                | Input::Start { .. }
                | Input::Finish { .. }
                | Input::Release { .. }
                | Input::Deregister { .. } => panic!("not in the script"),
            };
            step.answers.push(Answer { tag, after, reply });
        }
        step
    }

    fn wake_in(&mut self, _now: Now) -> Option<Duration> {
        None
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }
}

/// A row of the audit; with a guard on an action that is not there where `job` is not [`JOB`].
fn unit(asked: &Asked, job: JobId, group: i64, at: Wall) -> Unit {
    let row = AuditRow {
        at,
        asked: asked.clone(),
        verb: "delete".to_owned(),
        subject: "a".to_owned(),
        old: None,
        new: None,
    };
    let gone = Guard::Action { id: ActionId::from_raw(1), seq: Seq::FIRST };
    let guards = if job == JOB { Vec::new() } else { vec![gone] };
    let group = GroupRow {
        id: GroupId::from_raw(group),
        path: Path::parse(&format!("g{group}")).unwrap(),
        spec: "{}".to_owned(),
        seq: Seq::FIRST,
        hands: Hands::default(),
        created_at: at,
    };
    let mut writes = vec![Write::Audit(Box::new(row)), Write::Group(Put::Insert, Box::new(group))];
    if job == IMPOSSIBLE {
        writes.push(Write::DropPlanned(ActionId::from_raw(5)));
        return Unit { guards: Vec::new(), writes, after: Vec::new() };
    }
    Unit { guards, writes, after: Vec::new() }
}

fn told(unit: usize) -> Effect {
    Effect::Changed { unit, change: Change::Worker { name: "w".to_owned(), state: "online" } }
}

/// A running loop, and what a test holds of it.
struct World {
    store: MemoryStore,
    desk: Desk,
    term: Term,
    seen: Arc<Mutex<Heard>>,
    catalog: watch::Receiver<Arc<Catalog>>,
    changes: Changes,
    end: tokio::task::JoinHandle<LoopEnd>,
}

impl World {
    async fn start() -> Self {
        let (store, epoch) = led().await;
        let tasks = Tasks::new(CancellationToken::new());
        let term = Term { stop: CancellationToken::new(), lost: CancellationToken::new() };
        let script = Script::default();
        let seen = Arc::clone(&script.seen);
        let (desk, inbox) = Desk::new();
        let (publish, catalog) = watch::channel(Arc::clone(&script.catalog));
        let begin = Begin {
            engine: script,
            epoch: OwnEpoch::new(epoch),
            me: me(),
            term: term.clone(),
            desk: desk.clone(),
            inbox,
            catalog: publish,
        };
        let changes = Changes::new();
        let around = Around {
            store: Arc::new(store.clone()),
            clock: Clock::of_runtime(Wall::from_ms(0)),
            changes: changes.clone(),
            metrics: crate::metrics::Metrics::new(),
            tasks: tasks.clone(),
        };
        let end = tasks.spawn("commit", |_stop| CommitLoop::new(begin, around).run());
        Self { store, desk, term, seen, catalog, changes, end }
    }

    async fn delete(&self, job: JobId) -> Result<Reply, Unanswered> {
        let asked = Asked { actor: "ann".to_owned(), why: String::new() };
        self.desk.ask(Input::DeleteJob { asked, job }).await
    }

    async fn audit(&self) -> usize {
        self.store.audit(&AuditFilter::default(), 100).await.unwrap().len()
    }
}

fn me() -> Candidate {
    Candidate { name: "me".to_owned(), address: String::new() }
}

async fn led() -> (MemoryStore, Epoch) {
    let store = MemoryStore::new("s");
    let row = store.leadership().await.unwrap();
    let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
    let epoch = store.acquire(seen, &me()).await.unwrap().unwrap();
    (store, epoch)
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_is_written_told_and_published() {
    let world = World::start().await;
    let mut changes = world.changes.watch();
    assert!(matches!(world.delete(JOB).await, Ok(Reply::Deleted(Ok(())))));
    assert_eq!(world.audit().await, 1);
    assert_eq!(world.catalog.borrow().edition, 1);
    assert!(matches!(&*changes.recv().await.unwrap().change, Change::Worker { .. }));
}

#[tokio::test(start_paused = true)]
async fn what_queues_meanwhile_is_one_batch() {
    let world = World::start().await;
    let asks = (0..5).map(|_| world.delete(JOB));
    let told = futures::future::join_all(asks).await;
    assert!(told.iter().all(Result::is_ok));
    assert_eq!(world.seen.lock().unwrap().batches.iter().sum::<usize>(), 5);
    assert!(world.seen.lock().unwrap().batches.len() <= 3);
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_is_left_out_is_not_answered_as_done_and_its_job_is_read_again() {
    let world = World::start().await;
    let (done, left_out) = tokio::join!(world.delete(JOB), world.delete(JobId::from_raw(8)));
    assert!(matches!(done, Ok(Reply::Deleted(Ok(())))));
    assert_eq!(left_out.unwrap_err(), Unanswered::LeftOut);
    assert_eq!(world.audit().await, 1);
    // The next batch comes after the reload.
    world.desk.ask(Input::Standing).await.unwrap();
    assert_eq!(world.seen.lock().unwrap().reloads, [vec![JOB]]);
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_the_store_refuses_does_not_stop_the_others() {
    let world = World::start().await;
    let (done, refused, also_done) =
        tokio::join!(world.delete(JOB), world.delete(IMPOSSIBLE), world.delete(JOB));
    assert!(done.is_ok() && also_done.is_ok());
    assert_eq!(refused.unwrap_err(), Unanswered::LeftOut);
    assert_eq!(world.audit().await, 2);
    // Nor does one that was written take the ids of those behind it; what was refused has used its id up.
    let snapshot = world.store.load(&Scope::All).await.unwrap();
    let groups: Vec<_> = snapshot.groups.iter().map(|group| group.id.raw()).collect();
    assert_eq!((groups, snapshot.marks.group), (vec![1, 3], GroupId::from_raw(3)));
}

#[tokio::test(start_paused = true)]
async fn after_a_commit_without_an_answer_nothing_of_that_epoch_can_come_late() {
    for (fault, written) in [(CommitFault::Before, 0), (CommitFault::After, 1)] {
        let world = World::start().await;
        world.desk.ask(Input::Standing).await.unwrap();
        let old = world.store.leadership().await.unwrap().epoch;
        world.store.fail_next_commit(fault);
        assert_eq!(world.delete(JOB).await.unwrap_err(), Unanswered::Unknown);
        assert_eq!(world.audit().await, written, "{fault:?}");
        world.desk.ask(Input::Standing).await.unwrap();
        let late = world.store.commit(old, &Batch::default()).await;
        assert!(matches!(late, Err(StoreError::NotLeader)), "{late:?}");
        {
            let seen = world.seen.lock().unwrap();
            assert_eq!((&seen.epochs, seen.reloads.len()), (&vec![old.next()], 1));
        }
        assert!(world.delete(JOB).await.is_ok(), "it leads on");
    }
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_callers_hear_that_nobody_knows() {
    let world = World::start().await;
    world.desk.ask(Input::Standing).await.unwrap();
    world.store.set_reachable(false);
    assert_eq!(world.delete(JOB).await.unwrap_err(), Unanswered::Unknown);
    assert_eq!(world.delete(JOB).await.unwrap_err(), Unanswered::Unknown);
    world.store.set_reachable(true);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(world.delete(JOB).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_verdict_is_proved_by_a_commit_even_where_nothing_is_written() {
    let world = World::start().await;
    world.desk.ask(Input::Standing).await.unwrap();
    let beat = || {
        let items = vec![(RunId::from_raw(1), Token::from_bytes([1; 16]))];
        world.desk.ask(Input::Heartbeat { items, kill_failed: Vec::new() })
    };
    assert!(matches!(beat().await, Ok(Reply::Verdicts(items)) if items.len() == 1));

    let row = world.store.leadership().await.unwrap();
    let other = Candidate { name: "other".to_owned(), address: String::new() };
    let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
    world.store.acquire(seen, &other).await.unwrap().unwrap();
    assert_eq!(beat().await.unwrap_err(), Unanswered::SteppedDown);
    assert!(matches!(world.end.await.unwrap(), LoopEnd::NotLeader));
}

#[tokio::test(start_paused = true)]
async fn the_engine_gets_what_it_wanted_to_know() {
    let world = World::start().await;
    world.desk.ask(Input::Queue).await.unwrap();
    let seen = Arc::clone(&world.seen);
    let told = async {
        while seen.lock().unwrap().resolved == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), told).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_is_told_to_stop_ends() {
    let world = World::start().await;
    assert!(world.delete(JOB).await.is_ok());
    world.term.stop.cancel();
    assert!(matches!(world.end.await.unwrap(), LoopEnd::Stopped));
    assert_eq!(world.desk.ask(Input::Tick).await.unwrap_err(), Unanswered::SteppedDown);
}

#[test]
fn the_loop_sleeps_as_long_as_the_design_allows() {
    let seconds = Duration::from_secs;
    for (wake, expected) in [
        (None, seconds(60)),
        (Some(seconds(0)), Duration::from_millis(1)),
        (Some(Duration::from_millis(20)), Duration::from_millis(20)),
        (Some(seconds(30)), seconds(1)),
        (Some(seconds(60)), seconds(1)),
        (Some(seconds(61)), seconds(60)),
    ] {
        assert_eq!(super::sleep(wake), expected, "{wake:?}");
    }
}

#[test]
fn an_empty_batch_without_verdicts_is_not_committed() {
    assert!(!super::must_commit(&Step::default()));
}
