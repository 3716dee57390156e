//! Which units of a batch are written, and which are left out.

use hera_common::action::ActionState;
use hera_common::id::{ActionId, JobId, RunId, WorkerId};
use hera_common::unit::{Guard, Put, Unit, Write};
use hera_store::StoreError;

use crate::rows;
use crate::world::{
    NO_SEQ, Place, World, guard_action, guard_run, insert_action, insert_run, unit, update_action,
    update_run,
};

pub(crate) async fn each_kind_of_guard_holds_for_the_row_as_it_is(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let action = rows::active(&rows::action(1, 1, 1), 1);
    let run = rows::leased(&rows::run(1, &action), 7);
    world.write(vec![insert_action(&action), insert_run(&run)]).await;
    let (job, seq) = (JobId::from_raw(1), rows::job(1).seq);
    let (id, token) = (RunId::from_raw(1), Some(rows::token(7)));
    let worker = WorkerId::from_raw(1);
    let right = [
        Guard::Job { id: job, seq },
        Guard::Cursor { job, seq },
        Guard::Worker { id: worker, seq },
        guard_action(&action),
        Guard::Run { id, hb_seq: run.hb_seq, token },
    ];
    let wrong = [
        Guard::Job { id: job, seq: NO_SEQ },
        Guard::Job { id: JobId::from_raw(2), seq },
        Guard::Cursor { job, seq: NO_SEQ },
        Guard::Cursor { job: JobId::from_raw(2), seq },
        Guard::Worker { id: worker, seq: NO_SEQ },
        Guard::Worker { id: WorkerId::from_raw(2), seq },
        Guard::Action { id: action.id, seq: NO_SEQ },
        Guard::Action { id: ActionId::from_raw(2), seq },
        Guard::Run { id, hb_seq: NO_SEQ, token },
        Guard::Run { id, hb_seq: run.hb_seq, token: Some(rows::token(8)) },
        Guard::Run { id, hb_seq: run.hb_seq, token: None },
        Guard::Run { id: RunId::from_raw(2), hb_seq: run.hb_seq, token: None },
    ];
    for (n, guards) in right.iter().map(|g| (1, vec![*g])).chain([(2, right.to_vec())]) {
        let units = vec![unit(guards, vec![Write::Audit(Box::new(rows::audit(n, "right")))])];
        assert_eq!(world.commit(units).await, "D");
    }
    for guard in wrong {
        let mut guards = right.to_vec();
        guards.push(guard);
        let units = vec![unit(guards, vec![Write::Audit(Box::new(rows::audit(1, "wrong")))])];
        assert_eq!(world.commit(units).await, "L", "{guard:?}");
    }
    assert_eq!(world.audit(Some("right"), 100).await.len(), 6);
    assert_eq!(world.audit(Some("wrong"), 100).await.len(), 0);
}

pub(crate) async fn a_unit_is_left_out_with_all_that_build_on_it(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let note = |n: i64| Write::Audit(Box::new(rows::audit(n, "note")));
    let wrong = vec![Guard::Job { id: JobId::from_raw(1), seq: NO_SEQ }];
    let on = |after: &[usize], n| Unit { after: after.to_vec(), ..unit(vec![], vec![note(n)]) };
    let units = vec![
        on(&[], 0),
        unit(wrong, vec![note(1)]),
        on(&[1], 2),
        on(&[0], 3),
        on(&[0, 2], 4),
        on(&[3], 5),
    ];
    assert_eq!(world.commit(units).await, "DLLDLD");
    let kept = world.audit(Some("note"), 100).await;
    let kept: Vec<_> = kept.iter().map(|row| row.at.ms() - rows::MADE.ms()).collect();
    assert_eq!(kept, [5, 3, 0]);

    // What is not before it cannot be built on: a fault of the caller, and nothing is written.
    let told = world.try_commit(vec![on(&[], 6), on(&[1], 7)]).await;
    assert!(matches!(told, Err(StoreError::Corrupt { .. })), "{told:?}");
    assert_eq!(world.audit(Some("note"), 100).await.len(), 3);
}

pub(crate) async fn a_guard_is_judged_on_the_rows_as_the_units_before_leave_them(
    place: &impl Place,
) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let planned = rows::action(1, 1, 1);
    let waiting = rows::with_state(&planned, ActionState::Waiting);
    let active = rows::active(&waiting, 1);
    let queued = rows::run(1, &active);
    let leased = rows::leased(&queued, 3);
    let units = vec![
        unit(vec![], vec![insert_action(&planned)]),
        unit(vec![guard_action(&planned)], vec![update_action(&waiting)]),
        // Believes what was true before the unit above.
        unit(vec![guard_action(&planned)], vec![update_action(&active)]),
        unit(vec![guard_action(&waiting)], vec![update_action(&active), insert_run(&queued)]),
        unit(vec![guard_run(&queued)], vec![update_run(&leased)]),
        // A unit that was left out changed nothing for those after it.
        unit(vec![guard_run(&queued)], vec![update_run(&rows::renewed(&leased))]),
        unit(vec![guard_run(&leased)], vec![update_run(&rows::running(&leased))]),
    ];
    assert_eq!(world.commit(units).await, "DDLDDLD");
    assert_eq!(world.action_row(1).await, Some(active));
    assert_eq!(world.run_row(1).await, rows::running(&leased));

    // The same over two batches, on rows that are in the store by now.
    let running = rows::running(&leased);
    let units = vec![
        unit(vec![guard_run(&leased)], vec![update_run(&rows::renewed(&leased))]),
        unit(vec![guard_run(&running)], vec![update_run(&rows::renewed(&running))]),
        unit(vec![guard_run(&running)], vec![update_run(&rows::renewed(&running))]),
    ];
    assert_eq!(world.commit(units).await, "LDL");
    assert_eq!(world.run_row(1).await, rows::renewed(&running));
}

pub(crate) async fn of_two_writers_of_one_run_one_wins(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let action = rows::active(&rows::action(1, 1, 1), 1);
    let mut run = rows::running(&rows::leased(&rows::run(1, &action), 7));
    world.write(vec![insert_action(&action), insert_run(&run)]).await;
    for _round in 0..20 {
        let next = rows::renewed(&run);
        let units = || vec![unit(vec![guard_run(&run)], vec![update_run(&next)])];
        let (a, b, c) =
            tokio::join!(world.commit(units()), world.commit(units()), world.commit(units()));
        let mut told = [a, b, c];
        told.sort_unstable();
        assert_eq!(told, ["D", "L", "L"]);
        run = next;
    }
    assert_eq!(world.run_row(1).await, run);
}

pub(crate) async fn a_guard_may_name_a_row_that_its_unit_does_not_write(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1, 2]).await;
    let mut closed = rows::job(1);
    closed.seq = closed.seq.next();
    closed.open = false;
    let believes = vec![Guard::Job { id: closed.id, seq: rows::job(1).seq }];
    let units = vec![
        unit(believes.clone(), vec![insert_action(&rows::action(1, 1, 1))]),
        unit(believes.clone(), vec![Write::Job(Put::Update, Box::new(closed.clone()))]),
        unit(believes, vec![insert_action(&rows::action(2, 1, 2))]),
    ];
    assert_eq!(world.commit(units).await, "DDL");
    assert!(world.action_row(1).await.is_some());
    assert_eq!(world.action_row(2).await, None);
    assert_eq!(world.all().await.jobs, [closed, rows::job(2)]);
}
