//! Who is granted what: tokens, polls, exclusive runs.

use std::time::Duration;

use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::run::FailReason;
use hera_common::time::Now;
use hera_common::unit::Outcome;
use hera_engine::input::{
    Change, Effect, Finish, Input, QueueCode, Registered, Registration, Release, ReleaseCause,
    Reply, VerdictKind,
};

use crate::desk::{Desk, asked, poll, registration, token};

const ONE: &str = "
  - { name: one, schedule: { cron: '0 8 * * *' }, script: work, retries: { times: 1, delay: 30s } }
";
const QUEUE: &str = "
  - { name: one, schedule: { cron: '0-4/2 8 * * *' }, script: work }
";

fn finish(run: hera_common::id::RunId, byte: u8, end: AttemptEnd) -> Input {
    let exit = Exit { code: Some(i32::from(end != AttemptEnd::Succeeded)), ..Exit::default() };
    Input::Finish { items: vec![Finish { run, token: token(byte), end, exit, output: Vec::new() }] }
}

#[test]
fn a_token_whose_attempt_is_over_gets_nothing_more() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let worker = desk.register("one");
    assert_eq!(desk.poll(worker, &[1]).len(), 1);
    // The answer was lost, and nobody started it.
    desk.wait(20);
    desk.turn(vec![Input::Tick]);
    let reply = desk.ask(poll(worker, &[1]));
    assert!(matches!(reply, Reply::Granted(grants) if grants.is_empty()), "answered at once");
    let again = desk.poll(worker, &[2]);
    assert_eq!((again.len(), again[0].number), (1, 2));
}

#[test]
fn a_poll_of_a_process_that_was_replaced_gets_nothing() {
    let mut desk = Desk::new();
    let worker = desk.register("one");
    assert!(desk.turn(vec![poll(worker, &[1])]).is_empty(), "there is no work yet");
    let replies = desk.turn(vec![Input::Register(registration("two"))]);
    assert!(matches!(&replies[0], Reply::Granted(grants) if grants.is_empty()));
    desk.apply(ONE);
    assert!(desk.store.rows(|rows| rows.attempts.is_empty()), "nobody listens");
}

#[test]
fn a_delay_that_is_not_over_after_all_begins_again() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let worker = desk.register("one");
    let grants = desk.poll(worker, &[1]);
    assert!(matches!(desk.start(&grants[0]), VerdictKind::Ok { .. }));
    desk.ask(finish(grants[0].run, 1, AttemptEnd::Failed(FailReason::Exit)));
    desk.wait(31);
    desk.turn(vec![Input::Tick]);
    // The store's clock goes back by twenty seconds; boot clocks do not.
    let wall = desk.now.wall.minus(Duration::from_secs(20));
    desk.now = Now { wall, boot: desk.now.boot.plus(Duration::from_secs(1)) };
    assert!(desk.poll(worker, &[2]).is_empty());
    desk.wait(20);
    let replies = desk.turn(vec![Input::Tick]);
    let granted = |reply: &Reply| matches!(reply, Reply::Granted(grants) if grants.len() == 1);
    assert!(replies.iter().any(granted), "{replies:?}");
}

#[test]
fn a_grant_falls_with_the_end_that_freed_its_job() {
    let mut desk = Desk::new();
    desk.apply(QUEUE);
    let worker = desk.register("one");
    let grants = desk.poll(worker, &[1]);
    desk.start(&grants[0]);
    assert!(desk.poll(worker, &[2]).is_empty(), "one at a time");
    // Another commit of this leader, whose answer it never had, renewed the lease in between.
    let beat = Input::Heartbeat { items: vec![(grants[0].run, token(1))], kill_failed: Vec::new() };
    let beaten = desk.step(vec![beat]);
    desk.commit(&beaten).unwrap();
    desk.lead();
    let worker = desk.register("one");
    assert!(desk.poll(worker, &[3]).is_empty());
    let mut step = desk.step(vec![finish(grants[0].run, 1, AttemptEnd::Succeeded)]);
    assert!(step.batch.units.len() > 1, "the end, and the grant of the next");
    for guard in &mut step.batch.units[0].guards {
        if let hera_common::unit::Guard::Run { hb_seq, .. } = guard {
            *hb_seq = hb_seq.next();
        }
    }
    let outcomes = desk.commit(&step).unwrap().outcomes;
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::LeftOut), "{outcomes:?}");
}

#[test]
fn a_run_that_is_given_back_too_often_ends() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let worker = desk.register("one");
    let mut run = None;
    for byte in 1..=50 {
        let grants = desk.poll(worker, &[byte]);
        let grant = &grants[0];
        desk.start(grant);
        let (run_id, token) = (grant.run, grant.token);
        let cause = ReleaseCause::Drain;
        let release = Release { run: run_id, token, cause, detail: String::new() };
        desk.ask(Input::Release { items: vec![release] });
        run = Some(run_id);
    }
    assert_eq!(desk.run(run.unwrap()).state.to_string(), "failed(interrupted)");
    assert_eq!(desk.state("one", 0), "failed(interrupted)");
}

#[test]
fn a_registration_that_comes_late_takes_nothing_from_the_process_that_replaced_it() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let worker = desk.register("2-b");
    let grants = desk.poll(worker, &[1]);
    desk.start(&grants[0]);
    let reply = desk.ask(Input::Register(registration("1-a")));
    assert!(matches!(reply, Reply::Registered(Err(_))), "{reply:?}");
    assert_eq!(desk.run(grants[0].run).state.word(), "running");
    desk.register("3-c");
    assert_eq!(desk.run(grants[0].run).state.to_string(), "queued(worker_restart)");
}

#[test]
fn all_attempts_of_a_run_read_the_config_that_held_when_it_was_made() {
    let mut desk = Desk::new();
    let file = |fetch: &str| {
        format!(
            "group: g\nconfig: {{ url: {fetch} }}\njobs:\n  - {{ name: one, schedule: {{ cron: '0 8 * * *' }}, \
             script: 'fetch ${{url}}', retries: {{ times: 1, delay: 30s }} }}\n"
        )
    };
    let applies = |desk: &mut Desk, fetch: &str| {
        let input = desk.apply_text("people", &file(fetch), false);
        let reply = desk.ask(input);
        assert!(matches!(reply, Reply::Applied(Ok(_))), "{reply:?}");
    };
    applies(&mut desk, "old");
    applies(&mut desk, "new");
    let worker = desk.register("one");
    let first = desk.poll(worker, &[1]);
    assert_eq!(first[0].script, "fetch old", "it was queued before the edit");
    desk.start(&first[0]);
    desk.ask(finish(first[0].run, 1, AttemptEnd::Failed(FailReason::Exit)));
    desk.wait(60);
    desk.lead();
    desk.turn(vec![Input::Tick]);
    let again = desk.poll(worker, &[2]);
    assert_eq!((again[0].number, again[0].script.as_str()), (2, "fetch old"));
    desk.start(&again[0]);
    desk.ask(finish(again[0].run, 2, AttemptEnd::Failed(FailReason::Exit)));
    let action = desk.bound("one", 0);
    desk.ask(Input::Recover { asked: asked(), action });
    assert_eq!(desk.poll(worker, &[3])[0].script, "fetch new", "a new run reads what holds now");
}

#[test]
fn a_takeover_tells_the_end_of_one_attempt_and_the_grant_of_the_next() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let worker = desk.register("one");
    let first = desk.poll(worker, &[1]);
    desk.start(&first[0]);
    desk.wait(400);
    desk.turn(vec![Input::Tick]);
    let step = desk.step(vec![poll(worker, &[2])]);
    let told: Vec<(u32, &str)> = step
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Changed { change: Change::Run { attempt: Some(attempt), .. }, .. } => {
                Some((attempt.number, attempt.state.word()))
            }
            Effect::Changed { .. } | Effect::Resolve(_) => None,
        })
        .collect();
    assert_eq!(told, [(1, "ended"), (2, "leased")]);
}

#[test]
fn a_worker_is_heard_by_whatever_it_says_of_what_it_holds() {
    let mut desk = Desk::new();
    desk.apply(QUEUE);
    let worker = desk.register("one");
    let heard = |desk: &mut Desk| {
        let Reply::Standing(standing) = desk.ask(Input::Standing) else { panic!("no answer") };
        standing.workers[0].heard_ago.unwrap().as_secs()
    };
    let grants = desk.poll(worker, &[1]);
    desk.wait(5);
    assert_eq!(heard(&mut desk), 5);
    desk.start(&grants[0]);
    assert_eq!(heard(&mut desk), 0);
    desk.wait(5);
    desk.ask(finish(grants[0].run, 1, AttemptEnd::Succeeded));
    assert_eq!(heard(&mut desk), 0, "it has said Finish");
    let grants = desk.poll(worker, &[2]);
    desk.wait(5);
    let (run, cause) = (grants[0].run, ReleaseCause::Declined);
    let release = Release { run, token: token(2), cause, detail: String::new() };
    desk.ask(Input::Release { items: vec![release] });
    assert_eq!(heard(&mut desk), 0, "it has said Release");
}

#[test]
fn a_cancel_is_told_by_the_open_poll_of_the_worker_that_holds_the_run() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let worker = desk.register("one");
    let grants = desk.poll(worker, &[1]);
    desk.start(&grants[0]);
    // It has no place left, and listens.
    assert!(desk.turn(vec![poll(worker, &[])]).is_empty(), "nothing is to be told yet");
    let action = desk.bound("one", 0);
    let replies = desk.turn(vec![Input::Cancel { asked: asked(), action }]);
    let looks: Vec<&Vec<_>> = replies
        .iter()
        .filter_map(|r| if let Reply::Look(look) = r { Some(look) } else { None })
        .collect();
    assert_eq!(looks, [&vec![token(1)]]);
    // Told once; a heartbeat brings the verdict.
    assert!(desk.turn(vec![poll(worker, &[])]).is_empty());
    let beat = Input::Heartbeat { items: vec![(grants[0].run, token(1))], kill_failed: Vec::new() };
    let Reply::Verdicts(verdicts) = desk.ask(beat) else { panic!("no verdicts") };
    assert_eq!(verdicts[0].kind, VerdictKind::Cancel);
}

#[test]
fn what_was_cancelled_between_two_polls_is_told_by_the_next_one() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let worker = desk.register("one");
    let grants = desk.poll(worker, &[1]);
    desk.start(&grants[0]);
    let action = desk.bound("one", 0);
    desk.turn(vec![Input::Cancel { asked: asked(), action }]);
    let reply = desk.ask(poll(worker, &[]));
    assert!(matches!(&reply, Reply::Look(look) if *look == [token(1)]), "{reply:?}");
    // An end that comes first leaves nothing to look at.
    desk.ask(finish(grants[0].run, 1, AttemptEnd::Cancelled));
    assert!(desk.turn(vec![poll(worker, &[])]).is_empty());
}

#[test]
fn a_worker_whose_lease_was_taken_over_hears_of_it_by_its_poll() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let slow = desk.register("one");
    let first = desk.poll(slow, &[1]);
    desk.start(&first[0]);
    assert!(desk.turn(vec![poll(slow, &[])]).is_empty());
    let other = Registration { name: "v".to_owned(), ..registration("two") };
    let Reply::Registered(Ok(quick)) = desk.ask(Input::Register(other)) else { panic!("refused") };
    desk.wait(400);
    desk.turn(vec![Input::Tick]);
    desk.turn(vec![poll(slow, &[])]);
    let replies = desk.turn(vec![poll(quick, &[2])]);
    let granted = |r: &Reply| matches!(r, Reply::Granted(grants) if grants.len() == 1);
    let told = |r: &Reply| matches!(r, Reply::Look(look) if *look == [token(1)]);
    assert!(replies.iter().any(granted) && replies.iter().any(told), "{replies:?}");
}

#[test]
fn a_run_that_all_workers_refuse_says_why() {
    let mut desk = Desk::new();
    desk.apply(ONE);
    let Registered { worker, incarnation } = desk.register("one");
    let takes_nothing = "the disk is full".to_owned();
    let full = Input::Poll { worker, incarnation, tokens: Vec::new(), takes_nothing };
    assert!(desk.turn(vec![full]).is_empty());
    let queue = |desk: &mut Desk| {
        let Reply::Queue(mut queue) = desk.ask(Input::Queue) else { panic!("no answer") };
        let first = queue.remove(0);
        (first.code, first.detail)
    };
    let told = (QueueCode::WorkersRefuse, "worker w takes nothing: the disk is full".to_owned());
    assert_eq!(queue(&mut desk), told);
    let of = Registered { worker, incarnation };
    desk.turn(vec![poll(of, &[])]);
    assert_eq!(queue(&mut desk).0, QueueCode::Next, "it has no room at the moment, and takes work");
}
