//! What no commit may do, and that it then leaves no trace; ids that never come back; runs that hand over.

use hera_common::action::{Action, ActionEnd, ActionState};
use hera_common::attempt::{Attempt, AttemptEnd, AttemptState};
use hera_common::id::{ActionId, Incarnation, Revision};
use hera_common::id::{Fence, GroupId, JobId, RunId, WorkerId};
use hera_common::job::Cursor;
use hera_common::run::{CancelReason, FailReason, QueuedWhy, Run, RunEnd, RunState};
use hera_common::unit::{Batch, Guard, Marks, Put, Write};

use crate::rows;
use crate::world::{
    NO_SEQ, Place, World, guard_run, insert_action, insert_attempt, insert_run, unit,
    update_action, update_attempt, update_run,
};

/// Rows that stand where something is impossible.
struct Scene {
    active: Action,
    over: Action,
    running: Run,
    ended: Run,
    attempt: Attempt,
    lost: Attempt,
}

impl Scene {
    async fn set(world: &World) -> Self {
        world.with_jobs(&[1, 2]).await;
        let active = rows::active(&rows::action(1, 1, 1), 1);
        let failed = ActionState::Ended(ActionEnd::Failed(FailReason::Exit));
        let over = rows::with_state(&rows::active(&rows::action(2, 2, 1), 2), failed);
        let running = rows::running(&rows::leased(&rows::run(1, &active), 3));
        let gone = rows::leased(&rows::run(3, &over), 4);
        let scene = Self {
            attempt: rows::started(&rows::attempt(&running)),
            ended: rows::ended(&rows::run(2, &over), RunEnd::Failed(FailReason::Exit)),
            lost: rows::attempt_ended(&rows::attempt(&gone), AttemptEnd::Lost),
            active,
            over,
            running,
        };
        world
            .write(vec![
                insert_action(&scene.active),
                insert_action(&scene.over),
                insert_run(&scene.running),
                insert_run(&scene.ended),
                insert_attempt(scene.attempt.clone()),
                insert_attempt(scene.lost.clone()),
            ])
            .await;
        scene
    }

    fn runs(&self) -> Vec<(&'static str, Write)> {
        let fewer = with(rows::renewed(&self.running), |run| {
            (run.counts.attempts, run.counts.starts) = (0, 0);
        });
        let not_urgent = with(rows::run(4, &rows::action(4, 1, 4)), |run| run.urgency = 6);
        vec![
            ("an ended run moves", update_run(&rows::renewed(&self.ended))),
            ("a run stands still", update_run(&self.running)),
            ("a run goes back", update_run(&fewer)),
            ("one that is not there", update_run(&rows::renewed(&rows::run(9, &self.active)))),
            ("a run twice", insert_run(&self.running)),
            ("a run without urgency", insert_run(&not_urgent)),
        ]
    }

    fn attempts_and_actions(&self) -> Vec<(&'static str, Write)> {
        let other_token = with(self.attempt.clone(), |row| row.token = rows::token(9));
        let other_end = with(self.lost.clone(), |row| {
            row.started_at = Some(rows::MADE);
            row.late_report = Some("also late".to_owned());
        });
        let revived = with(self.lost.clone(), |row| row.state = AttemptState::Started);
        let unknown = rows::attempt(&rows::leased(&self.running, 8));
        let again = || rows::with_state(&self.active, ActionState::Active);
        let other_version = with(again(), |row| row.version = rows::version(9));
        let orphan = with(again(), |row| row.live_run = None);
        let planned = rows::with_state(&self.over, ActionState::PLANNED);
        let fewer = with(again(), |row| row.runs = 0);
        vec![
            ("an attempt under another token", update_attempt(other_token)),
            ("an ended attempt lives", update_attempt(revived)),
            ("an ended attempt changes beside its report", update_attempt(other_end)),
            ("an attempt that is not there", update_attempt(unknown)),
            ("an action of another version", update_action(&other_version)),
            ("an action planned again", update_action(&planned)),
            ("an active action without a run", update_action(&orphan)),
            ("a decided action dropped", Write::DropPlanned(self.active.id)),
            ("one dropped that is not there", Write::DropPlanned(ActionId::from_raw(9))),
            ("a version twice", insert_action(&rows::action(9, 1, 1))),
            ("an action stands still", update_action(&self.active)),
            ("an action has fewer runs", update_action(&fewer)),
        ]
    }

    fn others() -> Vec<(&'static str, Write)> {
        let same_name = with(rows::worker(9), |row| row.name = rows::worker(1).name);
        let back =
            |row: &mut Cursor| (row.seq, row.decided_to) = (row.seq.next(), rows::version(-1));
        let undecided = with(rows::cursor(1), back);
        let elder = with(rows::worker(1), |row| {
            (row.seq, row.incarnation) = (row.seq.next(), Incarnation::from_raw(0));
        });
        let no_document = with(rows::revision(1, 2), |row| row.spec = "{".to_owned());
        vec![
            ("a revision without a job", Write::Revision(Box::new(rows::revision(9, 1)))),
            ("a revision twice", Write::Revision(Box::new(rows::revision(1, 1)))),
            ("a revision that is no document", Write::Revision(Box::new(no_document))),
            ("a cursor without a job", Write::Cursor(Put::Insert, rows::cursor(9))),
            ("a cursor stands still", Write::Cursor(Put::Update, rows::cursor(1))),
            ("a cursor goes back", Write::Cursor(Put::Update, undecided)),
            ("a job stands still", Write::Job(Put::Update, Box::new(rows::job(1)))),
            ("a worker goes back", Write::Worker(Put::Update, Box::new(elder))),
            ("a worker's name twice", Write::Worker(Put::Insert, Box::new(same_name))),
            ("an unknown group", Write::Group(Put::Update, Box::new(rows::group(9)))),
        ]
    }
}

fn with<R>(mut row: R, change: impl FnOnce(&mut R)) -> R {
    change(&mut row);
    row
}

pub(crate) async fn an_impossible_change_is_refused_and_leaves_no_trace(place: &impl Place) {
    let world = World::led(place).await;
    let scene = Scene::set(&world).await;
    let before = world.all().await;
    let cases = [scene.runs(), scene.attempts_and_actions(), Scene::others()].concat();
    for (case, write) in cases {
        // What else the batch writes goes with it.
        let writes = vec![Write::Audit(Box::new(rows::audit(1, "trace"))), write];
        world.refused(writes).await;
        assert_eq!(world.all().await, before, "{case}");
    }
    assert_eq!(world.audit(None, 10).await, []);
    assert_eq!(world.run_row(2).await, scene.ended);
    let lost = world.store.attempts_by_token(&[scene.lost.token]).await.unwrap();
    assert_eq!(lost, [scene.lost]);
}

pub(crate) async fn one_held_run_of_a_job_and_one_live_run_of_an_action(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let (a, b) = (rows::active(&rows::action(1, 1, 1), 1), rows::active(&rows::action(2, 1, 2), 2));
    let (first, second) = (rows::leased(&rows::run(1, &a), 3), rows::run(2, &b));
    world.write(vec![insert_action(&a), insert_action(&b)]).await;
    world.write(vec![insert_run(&first), insert_run(&second)]).await;
    world.refused(vec![update_run(&rows::leased(&second, 4))]).await;
    let again = {
        let mut row = rows::run(5, &a);
        row.number = 2;
        row
    };
    world.refused(vec![insert_run(&again)]).await;
    // A run that is not exclusive may be held beside another one.
    let mut side = rows::leased(&rows::run(6, &rows::action(3, 1, 3)), 6);
    side.exclusive = false;
    world.write(vec![insert_run(&side)]).await;
}

pub(crate) async fn a_run_hands_over_to_the_next_in_one_batch(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    // Both orders of ids, so that no order of rows in a statement helps by chance.
    for (round, (ends, takes)) in [(1, 2), (4, 3)].into_iter().enumerate() {
        let slot = i64::try_from(round).unwrap() * 10;
        let a = rows::active(&rows::action(ends, 1, slot + 1), ends);
        let b = rows::active(&rows::action(takes, 1, slot + 2), takes);
        let held = rows::leased(&rows::run(ends, &a), 10 + ends);
        let queued = rows::run(takes, &b);
        world.write(vec![insert_action(&a), insert_action(&b)]).await;
        world.write(vec![insert_run(&held), insert_run(&queued)]).await;

        let over = rows::ended(&rows::running(&held), RunEnd::Succeeded);
        let next = rows::leased(&queued, 10 + takes);
        // The same action gets a new run, too: one live run must end before the next one begins.
        let again = {
            let mut row = rows::run(ends + 10, &a);
            row.number = 2;
            row
        };
        let units = vec![
            unit(vec![guard_run(&held)], vec![update_run(&over)]),
            unit(vec![guard_run(&queued)], vec![update_run(&next)]),
            unit(vec![], vec![insert_run(&again)]),
        ];
        assert_eq!(world.commit(units).await, "DDD");
        assert_eq!(world.run_row(ends).await, over);
        assert_eq!(world.run_row(takes).await, next);

        // Back to the queue, and the one that was just made is granted and taken over, all in one.
        let released = {
            let mut row = rows::renewed(&next);
            row.state = RunState::Queued { not_before: rows::MADE, why: QueuedWhy::Released };
            row
        };
        let granted = rows::leased(&again, 20 + ends);
        let taken_over = rows::leased(&rows::running(&granted), 30 + ends);
        let cancelled = rows::ended(&taken_over, RunEnd::Cancelled(CancelReason::By));
        world
            .write(vec![update_run(&granted), update_run(&released), update_run(&taken_over)])
            .await;
        assert_eq!(world.run_row(takes).await, released);
        assert_eq!(world.run_row(ends + 10).await, taken_over);
        let last = rows::ended(&released, RunEnd::Succeeded);
        world.write(vec![update_run(&cancelled), update_run(&last)]).await;
    }
}

pub(crate) async fn marks_never_go_back(place: &impl Place) {
    let world = World::led(place).await;
    let marks = |n: i64| Marks {
        job: JobId::from_raw(n),
        group: GroupId::from_raw(n + 1),
        action: ActionId::from_raw(n + 2),
        run: RunId::from_raw(n + 3),
        fence: Fence::from_raw(n + 4),
        worker: WorkerId::from_raw(n + 5),
    };
    let raise = async |marks: Marks| {
        let wrong = Guard::Job { id: JobId::from_raw(1), seq: NO_SEQ };
        // The ids are used up even where the unit that used them is left out.
        let batch = Batch { units: vec![unit(vec![wrong], vec![])], marks };
        world.store.commit(world.epoch, &batch).await.unwrap();
        world.all().await.marks
    };
    assert_eq!(world.all().await.marks, Marks::default());
    assert_eq!(raise(marks(10)).await, marks(10));
    assert_eq!(raise(marks(5)).await, marks(10));
    let mixed = Marks { run: RunId::from_raw(100), ..marks(1) };
    assert_eq!(raise(mixed).await, Marks { run: RunId::from_raw(100), ..marks(10) });
}

pub(crate) async fn rows_of_every_kind_come_back_as_they_were_written(place: &impl Place) {
    let world = World::led(place).await;
    let mut job = rows::job(1);
    job.parked = Some("no such zone: \"Mars/North\"".to_owned());
    job.open = false;
    job.revision = Revision::from_raw(2);
    let group = rows::group(1);
    let mut worker = rows::worker(1);
    worker.draining = true;
    let mut action = rows::active(&rows::action(1, 1, 1), 1);
    action.outcome = Some(ActionEnd::Succeeded { forced: true });
    action.counted_run = Some(RunId::from_raw(77));
    action.actor = "ада 'quoted' \\ \u{1f600}".to_owned();
    let mut run = rows::running(&rows::leased(&rows::run(1, &action), 3));
    run.cancel = Some(CancelReason::Late);
    run.limits.start_by = Some(rows::MADE);
    run.limits.at_most_once = true;
    run.set = [("db".to_owned(), "a \"b\" = ü".to_owned())].into();
    run.counts.failures = 1;
    run.counts.losses = 2;
    let attempt = rows::started(&rows::attempt(&run));
    let writes = vec![
        Write::Group(Put::Insert, Box::new(group.clone())),
        Write::Job(Put::Insert, Box::new(job.clone())),
        Write::Revision(Box::new(rows::revision(1, 1))),
        Write::Revision(Box::new(rows::revision(1, 2))),
        Write::Calendar(Box::new(rows::calendar("cn", 1))),
        Write::Calendar(Box::new(rows::calendar("be", 1))),
        Write::Cursor(Put::Insert, rows::cursor(1)),
        Write::Gap(rows::gap(1, 1, 3)),
        Write::Worker(Put::Insert, Box::new(worker.clone())),
        insert_action(&action),
        insert_run(&run),
        insert_attempt(attempt.clone()),
        Write::Audit(Box::new(rows::audit(1, "group/job1"))),
    ];
    world.write(writes).await;
    let snapshot = world.all().await;
    assert_eq!(snapshot.groups, std::slice::from_ref(&group));
    assert_eq!(snapshot.jobs, [job.clone()]);
    assert_eq!(snapshot.revisions, [rows::revision(1, 1), rows::revision(1, 2)]);
    assert_eq!(snapshot.calendars, [rows::calendar("be", 1), rows::calendar("cn", 1)]);
    assert_eq!(snapshot.cursors, [rows::cursor(1)]);
    assert_eq!(snapshot.workers, [worker.clone()]);
    assert_eq!(snapshot.actions.len(), 1);
    assert_eq!(snapshot.actions[0].action, action);
    assert_eq!(snapshot.runs, [run.clone()]);
    assert_eq!(snapshot.attempts, [attempt]);
    assert_eq!(snapshot.bad, []);

    // And after each was changed.
    let mut cursor = rows::cursor(1);
    (cursor.seq, cursor.decided_to, cursor.planned_to) =
        (cursor.seq.next(), rows::version(3), rows::version(9));
    let mut group = group;
    (group.seq, group.spec) = (group.seq.next(), "{}".to_owned());
    (job.seq, job.parked, job.deleted_at) = (job.seq.next(), None, Some(rows::MADE));
    (worker.seq, worker.groups, worker.draining) = (worker.seq.next(), Vec::new(), false);
    world
        .write(vec![
            Write::Cursor(Put::Update, cursor),
            Write::Group(Put::Update, Box::new(group.clone())),
            Write::Job(Put::Update, Box::new(job.clone())),
            Write::Worker(Put::Update, Box::new(worker.clone())),
        ])
        .await;
    let snapshot = world.all().await;
    assert_eq!((snapshot.groups, snapshot.cursors), (vec![group], vec![cursor]));
    assert_eq!((snapshot.jobs, snapshot.workers), (vec![job], vec![worker]));
}

pub(crate) async fn an_edit_of_a_calendar_is_kept_and_never_made_twice(place: &impl Place) {
    let world = World::led(place).await;
    let put = |number| Write::Calendar(Box::new(rows::calendar("cn", number)));
    world.write(vec![put(1)]).await;
    world.write(vec![put(2), put(3)]).await;
    let twice = world.try_commit(vec![unit(vec![], vec![put(2)])]).await;
    assert!(twice.is_err(), "{twice:?}");
    let all = [1, 2, 3].map(|number| rows::calendar("cn", number));
    assert_eq!(world.all().await.calendars, all, "the one that was there has stayed");
}
