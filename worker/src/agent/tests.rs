//! The owner with nobody round it: what it wants done, beaten for and granted.

use std::sync::Mutex;

use hera_common::id::{Fence, RunId};
use hera_common::spec::Kind;

use super::*;
use crate::attempt::Ended;
use crate::contract::{ReleaseCause, Verdict};

#[derive(Default)]
struct Executed(Mutex<Vec<(Timing, watch::Receiver<Wish>)>>);

impl Execute for Arc<Executed> {
    fn execute(&self, _: Assignment, timing: Timing, wish: watch::Receiver<Wish>) {
        self.0.lock().unwrap().push((timing, wish));
    }
}

struct Scene {
    agent: Agent<Arc<Executed>>,
    executed: Arc<Executed>,
    load: watch::Receiver<Load>,
    _desk: Desk,
}

const LEASE: Duration = Duration::from_secs(60);

impl Scene {
    fn new(capacity: u32) -> Self {
        let executed = Arc::<Executed>::default();
        let parts = Parts {
            timing: Timing::USUAL,
            capacity,
            execute: Arc::clone(&executed),
            starts: Arc::default(),
            beats: Arc::default(),
        };
        let (desk, inbox, load_in, load) = ways();
        Self { agent: Agent::new(parts, inbox, load_in), executed, load, _desk: desk }
    }

    fn say(&mut self, input: Input) {
        self.agent.take(input);
        self.agent.publish();
    }

    /// The answer is how many places are told to be free.
    fn grant(&mut self, bytes: &[u8]) -> u32 {
        let assignments = bytes.iter().map(|byte| assignment(*byte)).collect();
        let (free, mut told) = oneshot::channel();
        self.say(Input::Granted { assignments, free });
        told.try_recv().unwrap()
    }

    fn hear(&mut self, byte: u8, event: Event) {
        self.say(Input::Heard { token: token(byte), event });
    }

    /// The leader lets it start.
    fn start(&mut self, byte: u8) {
        let verdict = Verdict::Ok { lease: LEASE };
        self.hear(byte, Event::Start { sent: clock::boot(), verdict });
    }

    fn beats(&mut self) -> (Vec<u8>, Vec<u8>) {
        let Beats { items, kill_failed, .. } = self.agent.beats();
        let names = |held: Vec<Held>| held.iter().map(|held| held.token.bytes()[0]).collect();
        (names(items), names(kill_failed))
    }

    fn wish(&self, at: usize) -> Wish {
        self.executed.0.lock().unwrap()[at].1.borrow().clone()
    }

    fn load(&self) -> (u32, usize, usize) {
        let Load { free, occupied, stuck: _, held } = *self.load.borrow();
        (free, occupied, held)
    }
}

fn token(byte: u8) -> Token {
    Token::from_bytes([byte; 16])
}

fn assignment(byte: u8) -> Assignment {
    Assignment {
        held: Held { run: RunId::from_raw(i64::from(byte)), token: token(byte) },
        fence: Fence::from_raw(1),
        number: 1,
        job: "a/b".to_owned(),
        lease: LEASE,
        timeout: None,
        kind: Kind::Shell,
        script: String::new(),
        environment: Vec::new(),
        files: Vec::new(),
    }
}

fn ended() -> Event {
    Event::Ended(Ended { code: Some(0), signal: None, stopped: None, problem: None })
}

#[test]
fn a_place_is_free_again_when_nothing_runs_and_not_when_the_end_is_taken() {
    let mut scene = Scene::new(3);
    assert_eq!(scene.load(), (3, 0, 0));
    assert_eq!(scene.grant(&[1, 2]), 1);
    scene.start(1);
    assert!(scene.wish(0).deadline.is_some() && scene.wish(1).deadline.is_none());
    assert_eq!(scene.beats(), (vec![1], vec![]), "what has not started is not beaten for");
    scene.hear(1, ended());
    assert_eq!(scene.load(), (2, 1, 2));
    assert_eq!(scene.beats().0, [1], "its end is not taken yet");
    scene.hear(1, Event::Finish(Verdict::Ok { lease: LEASE }));
    assert_eq!(scene.load(), (2, 1, 1));
    assert!(scene.wish(0).forget);
}

#[test]
fn a_grant_that_is_told_twice_is_executed_once() {
    let mut scene = Scene::new(3);
    assert_eq!(scene.grant(&[1]), 2);
    assert_eq!(scene.grant(&[1]), 2);
    assert_eq!(scene.executed.0.lock().unwrap().len(), 1);
}

#[test]
fn what_is_granted_under_a_new_leader_is_stopped_by_its_times() {
    let mut scene = Scene::new(3);
    scene.grant(&[1]);
    let slower = Timing { term: Duration::from_secs(30), ..Timing::USUAL };
    scene.say(Input::Timing(slower));
    scene.grant(&[2]);
    let executed = scene.executed.0.lock().unwrap();
    let told: Vec<Timing> = executed.iter().map(|(timing, _wish)| *timing).collect();
    assert_eq!(told, [Timing::USUAL, slower]);
}

#[test]
fn what_cannot_be_killed_is_told_once_never_beaten_for_and_lets_nothing_in() {
    let mut scene = Scene::new(3);
    scene.grant(&[1, 2]);
    scene.start(1);
    scene.start(2);
    scene.hear(1, Event::Heartbeat { sent: clock::boot(), verdict: Verdict::Cancel });
    assert_eq!(scene.wish(0).stop, Some(StopCause::Cancel));
    scene.hear(1, Event::KillFailed("pid 7".to_owned()));
    assert_eq!(scene.beats(), (vec![2], vec![1]));
    assert_eq!(scene.beats(), (vec![2], vec![]));
    assert_eq!(scene.load(), (0, 2, 2));
    assert!(!scene.load.borrow().is_over());
    scene.hear(2, ended());
    assert!(scene.load.borrow().is_over(), "a drain does not wait for it");
    // It ends after all.
    scene.hear(1, ended());
    assert_eq!(scene.load(), (3, 0, 2));
}

#[test]
fn a_drain_declines_what_has_not_started_and_stops_the_rest_only_when_told() {
    let mut scene = Scene::new(3);
    scene.grant(&[1, 2]);
    scene.start(1);
    scene.say(Input::Drain { stop: false });
    let declined = |wish: Wish| {
        matches!(wish.outcome, Some(Outcome::Release { cause: ReleaseCause::Declined, .. }))
    };
    assert!(declined(scene.wish(1)) && scene.wish(0).stop.is_none());
    // A grant that was on its way.
    assert_eq!(scene.grant(&[3]), 0);
    assert!(declined(scene.wish(2)));
    scene.say(Input::Drain { stop: true });
    assert_eq!(scene.wish(0).stop, Some(StopCause::Drain));
    assert_eq!(scene.load().0, 0);
}

#[test]
fn an_adopted_end_is_beaten_for_until_it_is_taken() {
    let mut scene = Scene::new(1);
    let held = assignment(9).held;
    let outcome = Outcome::Finish {
        end: hera_common::attempt::AttemptEnd::Succeeded,
        exit: hera_common::attempt::Exit::default(),
    };
    let wish = scene.agent.adopt(held, &outcome);
    assert_eq!(wish.borrow().outcome, Some(outcome));
    assert_eq!(scene.load(), (1, 0, 1));
    assert_eq!(scene.beats().0, [9]);
    scene.hear(9, Event::Finish(Verdict::Done));
    assert!(wish.borrow().forget);
}

#[test]
fn what_the_leader_wants_looked_at_makes_the_next_beat_due_once() {
    let mut scene = Scene::new(2);
    scene.grant(&[1]);
    scene.say(Input::Look(vec![token(1)]));
    assert!(!scene.agent.beats().at_once, "it has not started, and nothing beats for it");
    scene.start(1);
    assert!(!scene.agent.beats().at_once);
    scene.say(Input::Look(vec![token(7)]));
    assert!(!scene.agent.beats().at_once, "another's token");
    scene.say(Input::Look(vec![token(1), token(7)]));
    assert!(scene.agent.beats().at_once);
    assert!(!scene.agent.beats().at_once, "once");
}
