//! What memory believes: edges, actions that wait, ids.

use hera_common::unit::Outcome;
use hera_engine::input::{Input, Reply};
use hera_store::CommitFault;

use crate::desk::{Desk, asked, manual, registration};

const TWO: &str = "
  - { name: up, schedule: { cron: '0-20/4 8 * * *' }, script: work }
  - { name: down, depends_on: [up], script: work }
";

#[test]
fn an_edge_to_a_slot_in_a_gap_hears_that_it_is_late() {
    let mut desk = Desk::new();
    desk.wait(900);
    // `down` comes first, so that it is bound before the slots of `up` become a gap.
    desk.apply(
        "
  - { name: down, depends_on: [{ job: up, bind: previous, n: 1 }], schedule: { cron: '0-20/4 8 * * *' }, script: work }
  - { name: up, schedule: { cron: '0-20/4 8 * * *' }, script: work, catch_up: last }
",
    );
    // up@08:12 and before lie in the gap.
    assert_eq!(desk.state("down", 16), "skipped(upstream)");
    assert_eq!(desk.state("down", 12), "skipped(upstream)");
}

#[test]
fn who_cancels_is_kept_before_the_worker_has_killed_it() {
    let mut desk = Desk::new();
    desk.apply(TWO);
    let worker = desk.register("one");
    let grants = desk.poll(worker, &[1]);
    desk.start(&grants[0]);
    let minutes = (grants[0].version.ms() / 60_000) % 60;
    let action = desk.bound("up", minutes);
    desk.ask(Input::Cancel { asked: asked(), action });
    assert_eq!(desk.action("up", minutes).actor, "anna");
    assert_eq!(desk.state("up", minutes), "active");
}

#[test]
fn an_end_that_was_never_written_releases_nobody() {
    let mut desk = Desk::new();
    desk.apply(
        "
  - { name: a, schedule: { cron: '0 8 * * *' }, script: work }
  - { name: b, schedule: { cron: '0 8 * * *' }, script: work }
  - { name: c, depends_on: [{ job: a, bind: same }, { job: b, bind: same }], script: work }
",
    );
    let action = desk.bound("a", 0);
    desk.store.fail_next_commit(CommitFault::Before);
    let step = desk.step(vec![Input::Cancel { asked: asked(), action }]);
    assert!(desk.commit(&step).is_err());
    desk.read_again(&step);
    desk.compare();
    assert_eq!(desk.state("a", 0), "active");
}

#[test]
fn what_a_new_leader_finds_ready_is_settled_by_its_first_step() {
    let mut desk = Desk::new();
    desk.apply(
        "
  - { name: up, schedule: { cron: '0 8 * * *' }, script: work }
  - { name: down, depends_on: [{ job: up, on: finished }], script: work }
",
    );
    let action = desk.bound("up", 0);
    let mut step = desk.step(vec![Input::Cancel { asked: asked(), action }]);
    // The end is written, and the run of the one that waits for it is not: as when another writer was in between.
    let down = desk.job("down");
    let cut = step.touched.iter().position(|jobs| jobs.contains(&down)).unwrap();
    step.batch.units.truncate(cut);
    desk.commit(&step).unwrap();
    desk.lead();
    assert_eq!(desk.state("down", 0), "waiting");
    desk.turn(vec![Input::Tick]);
    assert_eq!(desk.state("down", 0), "active");
}

#[test]
fn deleting_a_job_keeps_the_ids_that_its_dependents_took() {
    let mut desk = Desk::new();
    let root = "  - { name: root, schedule: { cron: '0 8 * * *' }, state: closed, script: work }\n";
    let up = "  - { name: up, depends_on: [root], script: work }\n";
    let down = "  - { name: down, depends_on: [{ job: up, on: finished, bind: same }], \
                schedule: { cron: '0 8 * * *' }, script: work }\n";
    desk.apply(&format!("{root}{up}{down}"));
    assert_eq!((desk.state("up", 0), desk.state("down", 0)), ("waiting".into(), "waiting".into()));
    // What waits for `up` hears that it is skipped, and gets its run within the edit.
    desk.apply(&format!(
        "{root}{}",
        "  - { name: down, schedule: { cron: '0 8 * * *' }, script: work }"
    ));
    assert_eq!(desk.state("down", 0), "active");
    let action = desk.bound("root", 0);
    let reply = desk.ask(manual(action));
    assert!(matches!(reply, Reply::RunMade(Ok(_))));
    assert_eq!(desk.store.rows(|rows| rows.runs.len()), 2);
}

#[test]
fn a_row_whose_id_is_in_use_by_now_is_left_out() {
    let mut desk = Desk::new();
    desk.apply(TWO);
    let action = desk.bound("up", 8);
    let step = desk.step(vec![manual(action)]);
    assert_eq!(desk.commit(&step).unwrap().outcomes, [Outcome::Done]);
    // The answer never came, and the leader has read nothing again: it takes the same id for something else.
    desk.lead();
    let mut again = desk.step(vec![manual(desk.bound("up", 12))]);
    for unit in &mut again.batch.units {
        for write in &mut unit.writes {
            if let hera_common::unit::Write::Run(_, run) = write {
                run.id = desk.action("up", 8).live_run.unwrap();
            }
        }
    }
    assert_eq!(desk.commit(&again).unwrap().outcomes, [Outcome::LeftOut]);
}

#[test]
fn a_registration_that_was_not_written_is_forgotten() {
    let mut desk = Desk::new();
    desk.store.fail_next_commit(CommitFault::Before);
    let step = desk.step(vec![Input::Register(registration("one"))]);
    assert!(desk.commit(&step).is_err());
    desk.read_again(&step);
    desk.compare();
    let reply = desk.ask(Input::Register(registration("one")));
    assert!(matches!(reply, Reply::Registered(Ok(_))));
}

#[test]
fn a_version_that_was_run_by_hand_is_dropped_when_its_time_comes_and_may_come_back() {
    let mut desk = Desk::new();
    let twos = "  - { name: one, schedule: { cron: '0-20/2 8 * * *' }, script: work }\n";
    let tens = "  - { name: one, schedule: { cron: '0-20/10 8 * * *' }, script: work }\n";
    desk.apply(twos);
    for minutes in [8, 12] {
        let action = desk.bound("one", minutes);
        desk.ask(manual(action.clone()));
        desk.ask(Input::Cancel { asked: asked(), action });
    }
    desk.apply(tens);
    assert_eq!(desk.state("one", 8), "planned(dropped)");
    desk.wait(200);
    desk.turn(vec![Input::Tick]);
    assert_eq!(desk.state("one", 8), "skipped(user)");
    assert_eq!(desk.action("one", 8).actor, "anna");
    desk.apply(twos);
    desk.wait(300);
    desk.turn(vec![Input::Tick]);
    assert_eq!(desk.state("one", 12), "active");
}

#[test]
fn an_edit_of_catch_up_is_heard_by_those_who_wait_for_a_late_version() {
    let mut desk = Desk::new();
    desk.wait(1_200);
    let up = "  - { name: up, schedule: { cron: '0 8 * * *' }, max_lateness: 60s, script: work }\n";
    let down = "  - { name: down, depends_on: [up], script: work }\n";
    desk.apply(&format!("{up}{down}"));
    assert_eq!(
        (desk.state("up", 0), desk.state("down", 0)),
        ("skipped(late)".into(), "waiting".into())
    );
    desk.apply(&format!("{}{down}", up.replace("script", "catch_up: last, script")));
    assert_eq!(desk.state("down", 0), "skipped(upstream)");
}
