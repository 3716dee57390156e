//! Workers as the leader knows them: whose name is whose, who is there, and whom a failed run avoids.

use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::run::FailReason;
use hera_engine::input::{Finish, Input, RefusalKind, Registered, Registration, Reply, Standing};

use crate::desk::{Desk, registration, token};

const ONE: &str = "
  - { name: one, schedule: { cron: '0 8 * * *' }, script: work }
";

/// Another worker, in a folder of its own.
fn twin() -> Input {
    Input::Register(Registration { state_id: "other".to_owned(), ..registration("1-twin") })
}

fn is_refused(reply: &Reply) -> bool {
    let Reply::Registered(answer) = reply else { panic!("{reply:?}") };
    let kind = answer.as_ref().err().map(|refusal| refusal.kind);
    assert!(matches!(kind, None | Some(RefusalKind::AlreadyExists)), "{reply:?}");
    kind.is_some()
}

fn here(desk: &mut Desk) -> bool {
    let Reply::Standing(Standing { workers, .. }) = desk.ask(Input::Standing) else { panic!() };
    workers[0].here
}

#[test]
fn of_two_idle_workers_of_one_name_the_first_keeps_it_while_it_is_there() {
    let mut desk = Desk::new();
    let worker = desk.register("1-a");
    assert!(is_refused(&desk.ask(twin())));
    desk.poll(worker, &[1]);
    desk.wait(15);
    assert!(is_refused(&desk.ask(twin())), "its poll is open");
    assert_eq!(desk.register("1-a"), worker, "the first one is what it was");
    // It dies: its poll is answered, and no other one comes.
    desk.wait(21);
    desk.turn(vec![Input::Tick]);
    assert!(here(&mut desk), "it had a poll open until now");
    assert!(is_refused(&desk.ask(twin())));
    desk.wait(12);
    assert!(!here(&mut desk));
    assert!(!is_refused(&desk.ask(twin())));
}

#[test]
fn a_worker_that_said_goodbye_leaves_its_name_at_once() {
    let mut desk = Desk::new();
    let Registered { worker, incarnation } = desk.register("1-a");
    desk.ask(Input::Deregister { worker, incarnation, gone: true });
    assert!(!is_refused(&desk.ask(twin())));
}

#[test]
fn a_new_leader_gives_no_name_away_before_its_worker_could_speak() {
    let mut desk = Desk::new();
    desk.register("1-a");
    desk.wait(100);
    desk.lead();
    assert!(is_refused(&desk.ask(twin())));
    desk.wait(12);
    assert!(!is_refused(&desk.ask(twin())));
}

#[test]
fn a_run_that_a_worker_could_not_execute_goes_to_another_one() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let sick = desk.register("1-a");
    let well = Registration { name: "well".to_owned(), ..registration("1-b") };
    let Reply::Registered(Ok(well)) = desk.ask(Input::Register(well)) else { panic!() };
    let grant = desk.poll(sick, &[1]).remove(0);
    desk.start(&grant);
    let end = AttemptEnd::Failed(FailReason::Spawn);
    let (exit, output) = (Exit::default(), Vec::new());
    let finish = Finish { run: grant.run, token: token(1), end, exit, output };
    desk.ask(Input::Finish { items: vec![finish] });
    assert_eq!(desk.run(grant.run).counts.failures, 0, "no retry is spent");
    // The sick one has more room, and comes first.
    assert!(desk.poll(sick, &[2, 3, 4]).is_empty(), "not at once");
    assert!(desk.poll(well, &[5]).is_empty());
    desk.wait(2);
    desk.turn(vec![Input::Tick]);
    assert_eq!(desk.run(grant.run).state.hold().map(|hold| hold.worker), Some(well.worker));
}
