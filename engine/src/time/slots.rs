//! The one function that computes due times: the slots of a schedule, strictly increasing. Timers,
//! generation, preview, catch-up, bindings and deadlines all ask here; it knows none of them.

use std::iter::FusedIterator;

use hera_common::time::Version;
use jiff::Timestamp;

use super::rule::Rule;
use super::schedule::Schedule;
use super::walk::{FIRST, LAST, Walk};
use super::zone::SECOND;

/// The first slot after `after`; none when the schedule has come to its end: its last year, or
/// [`LAST_YEAR`](super::cron::LAST_YEAR).
#[must_use]
pub fn next_after(schedule: &Schedule, after: Version) -> Option<Version> {
    let from = Version::from_ms(after.ms().checked_add(1)?);
    slots(schedule, from, Version::from_ms(i64::MAX)).next()
}

/// The last slot before `before`; none ahead of [`FIRST_YEAR`](super::cron::FIRST_YEAR).
#[must_use]
pub fn prev_before(schedule: &Schedule, before: Version) -> Option<Version> {
    let bounds = schedule.bounds();
    let newest = before.ms().checked_sub(1)?.min(bounds.to.ms());
    let second = newest.div_euclid(1000);
    let to = Timestamp::from_second(second.min(LAST.as_second() - 1)).ok()?;
    let last = |rule: &Rule| walk(schedule, rule, to).prev(to);
    let last = schedule.rules().iter().filter_map(last).max().map(Version::from_timestamp);
    last.filter(|slot| *slot >= bounds.from)
}

/// The slots in `[from, to)`, oldest first. A step costs one search for each rule that fires then.
#[must_use]
pub fn slots(schedule: &Schedule, from: Version, to: Version) -> Slots<'_> {
    let bounds = schedule.bounds();
    let from = from.max(bounds.from);
    let to = to.min(Version::from_ms(bounds.to.ms().saturating_add(1)));
    // Slots are whole seconds: the first one that is not before `from`.
    let second = from.ms().div_euclid(1000) + i64::from(from.ms().rem_euclid(1000) != 0);
    let heads = match Timestamp::from_second(second.max(FIRST.as_second())) {
        Ok(from) if from < LAST && from.as_millisecond() < to.ms() => heads(schedule, from),
        Ok(_) | Err(_) => Vec::new(),
    };
    Slots { heads, to }
}

fn heads(schedule: &Schedule, from: Timestamp) -> Vec<Head<'_>> {
    let head = |rule| {
        let mut walk = walk(schedule, rule, from);
        Some(Head { due: walk.next(from)?, walk })
    };
    schedule.rules().iter().filter_map(head).collect()
}

fn walk<'a>(schedule: &'a Schedule, rule: &'a Rule, at: Timestamp) -> Walk<'a> {
    Walk::new(rule, schedule, at)
}

/// Slots of one schedule in order; see [`slots`].
#[derive(Debug, Clone)]
pub struct Slots<'a> {
    heads: Vec<Head<'a>>,
    to: Version,
}

/// A rule and its slot to come.
#[derive(Debug, Clone)]
struct Head<'a> {
    due: Timestamp,
    walk: Walk<'a>,
}

impl Head<'_> {
    /// Goes on to the rule's next slot; whether there is one.
    fn advance(&mut self) -> bool {
        let next = self.due.checked_add(SECOND).ok().and_then(|from| self.walk.next(from));
        self.due = next.unwrap_or(self.due);
        next.is_some()
    }
}

impl Iterator for Slots<'_> {
    type Item = Version;

    fn next(&mut self) -> Option<Version> {
        let due = self.heads.iter().map(|head| head.due).min()?;
        let version = Version::from_timestamp(due);
        if version >= self.to {
            self.heads.clear();
            return None;
        }
        // Rules that meet on one instant make one slot.
        self.heads.retain_mut(|head| head.due > due || head.advance());
        Some(version)
    }
}

impl FusedIterator for Slots<'_> {}
