//! Edges to a job that only people run: what is bound is what they have made when the time comes.

use std::collections::BTreeMap;

use hera_common::action::ActionState;
use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::time::Version;
use hera_engine::input::{Finish, Input, RefusalKind, Reply};

use crate::desk::{Desk, asked, token};

const JOBS: &str = "
  - { name: load, script: work }
  - { name: daily, schedule: { cron: '0 9,10,11 * * *' }, script: work, depends_on: [{ job: load, bind: at_or_before }] }
";

impl Desk {
    fn runs_by_hand(&mut self) -> (Version, hera_common::id::RunId) {
        let job = self.job("load");
        let reply = self.ask(Input::RunNow { asked: asked(), job, set: BTreeMap::new() });
        let Reply::RunMade(Ok(made)) = reply else { panic!("{reply:?}") };
        (made.action.version, made.run.id)
    }

    fn daily(&self, minutes: i64) -> ActionState {
        self.action("daily", minutes).state
    }

    /// What the action of `daily` waits for, so many minutes past eight.
    fn waits_for(&self, minutes: i64) -> Vec<Version> {
        self.bound("daily", minutes).bindings.iter().map(|binding| binding.version).collect()
    }

    fn at(&mut self, minutes: u64) {
        let passed = self.now.wall.since(self.action_at(0).due()).as_secs();
        self.wait(minutes * 60 + 1 - passed);
        self.turn(vec![Input::Tick]);
    }

    fn refused_as(&mut self, jobs: &str) -> String {
        let input = self.apply_input(jobs);
        let Reply::Applied(Err(refusals)) = self.ask(input) else { panic!("not refused") };
        assert!(refusals.iter().all(|r| r.kind == RefusalKind::Invalid), "{refusals:?}");
        format!("{}: {}", refusals[0].field, refusals[0].problem)
    }
}

#[test]
fn an_action_waits_for_the_newest_that_people_have_made_when_its_time_comes() {
    let mut desk = Desk::new();
    desk.apply(JOBS);
    assert_eq!(desk.waits_for(60), [], "nobody has run it yet");
    let (first, run) = desk.runs_by_hand();
    desk.at(60);
    assert_eq!((desk.waits_for(60), desk.daily(60)), (vec![first], ActionState::Waiting));
    // What is made later is none of its business.
    desk.wait(60);
    let worker = desk.register("one");
    let grant = desk.poll(worker, &[1]).remove(0);
    assert_eq!(grant.run, run);
    desk.start(&grant);
    let finish = Finish {
        run,
        token: token(1),
        end: AttemptEnd::Succeeded,
        exit: Exit::default(),
        output: Vec::new(),
    };
    desk.ask(Input::Finish { items: vec![finish] });
    assert_eq!(desk.daily(60), ActionState::Active);
    let (second, _run) = desk.runs_by_hand();
    assert_eq!(desk.waits_for(60), [first]);
    // Another leader knows all of it.
    desk.lead();
    desk.at(120);
    assert_eq!((desk.waits_for(120), desk.daily(120)), (vec![second], ActionState::Waiting));
    let (third, _run) = desk.runs_by_hand();
    desk.at(180);
    assert_eq!(desk.waits_for(180), [third]);
}

#[test]
fn a_job_that_people_never_ran_keeps_nobody_waiting() {
    let mut desk = Desk::new();
    desk.apply(JOBS);
    desk.at(60);
    assert_eq!((desk.waits_for(60), desk.daily(60)), (vec![], ActionState::Active));
}

#[test]
fn an_edge_to_a_job_by_hand_is_at_or_before_without_an_offset() {
    let mut desk = Desk::new();
    let nearest = JOBS.replace("bind: at_or_before", "bind: nearest");
    let told = desk.refused_as(&nearest);
    assert!(told.contains("the edge must be at_or_before"), "{told}");
    let moved = JOBS.replace("bind: at_or_before", "bind: at_or_before, offset: -1d");
    let told = desk.refused_as(&moved);
    assert!(told.contains("no offset"), "{told}");
    // A job that loses its schedule is one by hand, to those that wait for it, too.
    let scheduled = nearest.replace("name: load,", "name: load, schedule: { cron: '0 8 * * *' },");
    desk.apply(&scheduled);
    let told = desk.refused_as(&nearest);
    assert!(told.contains("the edge must be at_or_before"), "{told}");
}
