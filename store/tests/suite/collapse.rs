//! A row that a batch writes more than once is written once, as the last unit left it.

use hera_common::action::{ActionEnd, ActionState};
use hera_common::attempt::AttemptEnd;
use hera_common::id::{Fence, JobId};
use hera_common::run::RunEnd;
use hera_common::unit::{Put, Write};

use crate::rows;
use crate::world::{
    Place, World, guard_action, guard_run, insert_action, insert_attempt, insert_run, unit,
    update_action, update_attempt, update_run,
};

pub(crate) async fn a_whole_life_fits_into_one_batch(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let planned = rows::action(1, 1, 1);
    let active = rows::active(&planned, 1);
    let done = ActionEnd::Succeeded { forced: false };
    let ended = rows::with_state(&active, ActionState::Ended(done));
    let queued = rows::run(1, &active);
    let leased = rows::leased(&queued, 3);
    let running = rows::running(&leased);
    let over = rows::ended(&running, RunEnd::Succeeded);
    let attempt = rows::attempt(&leased);
    let closed = rows::attempt_ended(&rows::started(&attempt), AttemptEnd::Succeeded);
    let units = vec![
        unit(vec![], vec![insert_action(&planned)]),
        unit(vec![guard_action(&planned)], vec![update_action(&active), insert_run(&queued)]),
        unit(vec![guard_run(&queued)], vec![update_run(&leased), insert_attempt(attempt.clone())]),
        unit(
            vec![guard_run(&leased)],
            vec![update_run(&running), update_attempt(rows::started(&attempt))],
        ),
        unit(
            vec![guard_run(&running), guard_action(&active)],
            vec![
                update_run(&over),
                update_attempt(closed.clone()),
                update_action(&ended),
                Write::Output(Fence::from_raw(3), b"rows=7".to_vec()),
            ],
        ),
    ];
    assert_eq!(world.commit(units).await, "DDDDD");
    assert_eq!(world.action_row(1).await, Some(ended));
    assert_eq!(world.run_row(1).await, over);
    let attempts = world.store.attempts(over.id).await.unwrap();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].attempt, closed);
    assert_eq!(attempts[0].worker, "worker1");
    assert_eq!(world.store.output(closed.fence).await.unwrap().as_deref(), Some(&b"rows=7"[..]));
    assert_eq!(world.store.output(Fence::from_raw(4)).await.unwrap(), None);
}

pub(crate) async fn planned_rows_come_and_go(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let (first, second) = (rows::action(1, 1, 1), rows::action(2, 1, 2));
    let bound =
        |id: &hera_common::action::Action| Write::Bindings(id.id, vec![rows::binding(9, 1)]);
    world.write(vec![insert_action(&first), bound(&first)]).await;

    // Made and dropped in one batch: nothing. Dropped and made anew with the same version: the new one.
    let again = rows::action(3, 1, 1);
    let moved = {
        let mut row = first.clone();
        row.seq = row.seq.next();
        row.zone = "UTC".to_owned();
        row
    };
    let units = vec![
        unit(vec![], vec![insert_action(&second), bound(&second)]),
        unit(vec![guard_action(&second)], vec![Write::DropPlanned(second.id)]),
        unit(vec![guard_action(&second)], vec![update_action(&second)]),
        unit(vec![guard_action(&first)], vec![update_action(&moved)]),
        unit(vec![guard_action(&moved)], vec![Write::DropPlanned(first.id)]),
        unit(vec![], vec![insert_action(&again), bound(&again)]),
    ];
    assert_eq!(world.commit(units).await, "DDLDDD");
    assert_eq!(world.action_row(1).await, None);
    assert_eq!(world.action_row(2).await, None);
    let dependents = world.store.dependents(JobId::from_raw(9), rows::version(1), 9).await.unwrap();
    let dependents: Vec<_> = dependents.into_iter().map(|dependent| dependent.action).collect();
    assert_eq!(dependents, [again], "no binding of a dropped action is left");
}

pub(crate) async fn bindings_are_replaced_whole(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let action = rows::action(1, 1, 5);
    let list = |slots: &[i64]| slots.iter().map(|&s| rows::binding(9, s)).collect::<Vec<_>>();
    world.write(vec![insert_action(&action), Write::Bindings(action.id, list(&[3, 1, 2]))]).await;
    let read = async || world.store.action(action.id).await.unwrap().unwrap().bindings;
    assert_eq!(read().await, list(&[1, 2, 3]));
    let twice = [Write::Bindings(action.id, list(&[7])), Write::Bindings(action.id, list(&[4, 2]))];
    world.write(twice.to_vec()).await;
    assert_eq!(read().await, list(&[2, 4]));
    world.write(vec![Write::Bindings(action.id, vec![])]).await;
    assert_eq!(read().await, []);
}

pub(crate) async fn a_late_report_is_kept_once_and_only_after_the_end(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let action = rows::active(&rows::action(1, 1, 1), 1);
    let leased = rows::leased(&rows::run(1, &action), 3);
    let attempt = rows::attempt(&leased);
    let late = |text: &str| Write::LateReport(attempt.fence, text.to_owned());
    let kept = async || {
        let found = world.store.attempts_by_token(&[attempt.token]).await.unwrap();
        found[0].late_report.clone()
    };
    world
        .write(vec![insert_action(&action), insert_run(&leased), insert_attempt(attempt.clone())])
        .await;
    world.write(vec![late("too early")]).await;
    assert_eq!(kept().await, None);
    // In one batch with the end, before and after it.
    let lost = rows::attempt_ended(&attempt, AttemptEnd::Lost);
    world.write(vec![late("too early"), update_attempt(lost), late("first")]).await;
    assert_eq!(kept().await.as_deref(), Some("first"));
    world.write(vec![late("second")]).await;
    assert_eq!(kept().await.as_deref(), Some("first"));
    world.write(vec![Write::LateReport(Fence::from_raw(99), "nobody's".to_owned())]).await;

    // Of an attempt that ended in an earlier batch.
    let other = rows::active(&rows::action(2, 1, 2), 2);
    let taken = rows::leased(&rows::run(2, &other), 4);
    let over = rows::ended(&taken, RunEnd::Succeeded);
    let closed = rows::attempt_ended(&rows::attempt(&taken), AttemptEnd::Unaccepted);
    world.write(vec![insert_action(&other), insert_run(&over), insert_attempt(closed)]).await;
    world.write(vec![Write::LateReport(Fence::from_raw(4), "hello".to_owned())]).await;
    let found = world.store.attempts_by_token(&[rows::token(4)]).await.unwrap();
    assert_eq!(found[0].late_report.as_deref(), Some("hello"));
}

pub(crate) async fn jobs_may_trade_their_paths(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1, 2, 3]).await;
    let next = |id: i64, path_of: i64| {
        let mut row = rows::job(id);
        row.seq = row.seq.next();
        row.path = rows::job(path_of).path;
        row
    };
    let mut deleted = next(3, 3);
    deleted.deleted_at = Some(rows::MADE);
    let mut heir = rows::job(4);
    heir.path = rows::job(3).path;
    let put = |row: &hera_common::job::JobRow| Write::Job(Put::Update, Box::new(row.clone()));
    let writes = vec![
        put(&next(1, 2)),
        put(&next(2, 1)),
        put(&deleted),
        Write::Job(Put::Insert, Box::new(heir.clone())),
    ];
    world.write(writes).await;
    assert_eq!(world.all().await.jobs, [next(1, 2), next(2, 1), heir.clone()]);
    // A path that somebody keeps cannot be had.
    let mut thief = rows::job(5);
    thief.path = heir.path;
    world.refused(vec![Write::Job(Put::Insert, Box::new(thief))]).await;
}
