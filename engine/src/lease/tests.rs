//! Windows of holds, by a boot clock that is given.

use std::time::Duration;

use hera_common::id::Seq;
use hera_common::run::{Run, RunState};
use hera_common::time::Boot;

use super::{Holds, Windows};
use crate::fixture::{hold, queued};

const WINDOWS: Windows =
    Windows { accept: Duration::from_secs(10), grace: Duration::from_secs(3), rho_ppm: 10_000 };

fn at(seconds: f64) -> Boot {
    Boot::from_ms(0).plus(Duration::from_secs_f64(seconds))
}

fn running(hb_seq: i64) -> Run {
    let state = RunState::Running(hold(1));
    Run { state, hb_seq: Seq::from_raw(hb_seq), ..queued(1, 1, 0) }
}

#[test]
fn a_window_begins_when_the_change_is_known_to_be_stored_not_when_it_was_asked_for() {
    let mut holds = Holds::default();
    holds.observe(&running(1), &WINDOWS);
    assert_eq!(holds.next_end(), None, "nothing is stored yet");
    holds.settle(at(100.0));
    // 30 s, one per cent, and the grace.
    assert_eq!(holds.next_end(), Some(at(133.3)));
    assert_eq!(holds.take_expired(at(133.2)), []);
    assert_eq!(holds.take_expired(at(133.3)), [running(1).id]);
}

#[test]
fn a_renewal_begins_the_window_anew_and_the_same_row_read_again_does_not() {
    let mut holds = Holds::default();
    holds.observe(&running(1), &WINDOWS);
    holds.settle(at(0.0));
    holds.observe(&running(1), &WINDOWS);
    holds.settle(at(20.0));
    assert_eq!(holds.next_end(), Some(at(33.3)));
    holds.observe(&running(2), &WINDOWS);
    holds.settle(at(20.0));
    assert_eq!(holds.next_end(), Some(at(53.3)));
}

#[test]
fn an_expired_hold_is_told_once_and_lives_again_when_it_changes() {
    let mut holds = Holds::default();
    holds.observe(&running(1), &WINDOWS);
    holds.settle(at(0.0));
    assert_eq!(holds.take_expired(at(40.0)).len(), 1);
    assert_eq!(holds.take_expired(at(400.0)), []);
    holds.observe(&running(2), &WINDOWS);
    holds.settle(at(400.0));
    assert_eq!(holds.take_expired(at(433.0)), []);
    assert_eq!(holds.take_expired(at(433.3)).len(), 1);
}

#[test]
fn a_grant_that_is_not_started_has_the_accept_window() {
    let mut holds = Holds::default();
    let leased = Run { state: RunState::Leased(hold(1)), ..queued(1, 1, 0) };
    holds.observe(&leased, &WINDOWS);
    holds.settle(at(0.0));
    assert_eq!(holds.next_end(), Some(at(13.0)));
}

#[test]
fn what_nobody_holds_is_not_watched() {
    let mut holds = Holds::default();
    holds.observe(&running(1), &WINDOWS);
    holds.settle(at(0.0));
    holds.observe(&queued(1, 1, 0), &WINDOWS);
    holds.settle(at(0.0));
    assert!(holds.is_empty());
    assert_eq!(holds.take_expired(at(1_000.0)), []);
}
