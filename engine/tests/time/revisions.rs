//! Schedules by revision: each holds from its edit on.

use hera_common::time::Version;
use hera_engine::time::{Piece, Piecewise, PiecewiseError};

use super::{schedule, version};

fn piece(since: &str, cron: Option<&str>) -> Piece {
    Piece { since: version(since), schedule: cron.map(|cron| schedule(cron, "UTC")) }
}

fn history() -> Piecewise {
    let pieces = vec![
        piece("2026-05-01T12:00:00Z", Some("15 1 * * *")),
        piece("2026-05-03T01:45:00Z", Some("15 2 * * *")),
        piece("2026-05-05T02:15:00Z", None),
        piece("2026-05-07T02:15:00Z", Some("15 2 * * *")),
    ];
    Piecewise::new(pieces).expect("in order")
}

const SLOTS: [&str; 6] = [
    "2026-05-02T01:15:00Z",
    // An edit at 01:45 takes the new 02:15 of that day, and none of the past.
    "2026-05-03T01:15:00Z",
    "2026-05-03T02:15:00Z",
    "2026-05-04T02:15:00Z",
    // Closed on the 5th at the very instant of a slot, opened on the 7th at one.
    "2026-05-07T02:15:00Z",
    "2026-05-08T02:15:00Z",
];

#[test]
fn each_revision_gives_the_slots_of_its_own_time() {
    let (from, to) = (Version::from_ms(i64::MIN), version("2026-05-09T00:00:00Z"));
    let all: Vec<_> = history().slots(from, to).map(|slot| slot.to_string()).collect();
    assert_eq!(all, SLOTS);
}

#[test]
fn steps_go_over_edits_in_both_directions() {
    let history = history();
    let slots = SLOTS.map(version);
    assert_eq!(history.next_after(Version::from_ms(i64::MIN)), Some(slots[0]));
    assert_eq!(history.prev_before(slots[0]), None);
    for pair in slots.windows(2) {
        assert_eq!(history.next_after(pair[0]), Some(pair[1]));
        assert_eq!(history.prev_before(pair[1]), Some(pair[0]));
    }
}

#[test]
fn the_schedule_in_force_is_that_of_the_newest_edit() {
    let history = history();
    let text = |at: &str| history.at(version(at)).map(|s| s.rules().to_vec());
    assert_eq!(text("2026-05-01T11:59:59Z"), None);
    assert_eq!(text("2026-05-03T01:44:59Z"), Some(schedule("15 1 * * *", "UTC").rules().to_vec()));
    assert_eq!(text("2026-05-03T01:45:00Z"), Some(schedule("15 2 * * *", "UTC").rules().to_vec()));
    assert_eq!(text("2026-05-06T00:00:00Z"), None);
}

#[test]
fn pieces_out_of_order_are_refused() {
    let (first, second) = ("2026-05-03T00:00:00Z", "2026-05-01T00:00:00Z");
    let refused = Piecewise::new(vec![piece(first, None), piece(second, None)]);
    let fault = PiecewiseError::OutOfOrder { previous: version(first), since: version(second) };
    assert_eq!(refused, Err(fault));
    assert!(Piecewise::new(vec![piece(first, None), piece(first, None)]).is_err());
}

#[test]
fn a_job_without_revisions_has_no_slots() {
    let none = Piecewise::default();
    assert_eq!(none.next_after(Version::from_ms(0)), None);
    assert_eq!(none.prev_before(Version::from_ms(i64::MAX)), None);
    assert_eq!(none.slots(Version::from_ms(i64::MIN), Version::from_ms(i64::MAX)).next(), None);
}
