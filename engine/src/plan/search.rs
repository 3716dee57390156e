//! Finding versions of a job near an instant: in a range, before it, after it. Knows no edge.

use std::sync::Arc;

use hera_common::time::Version;

use super::memo::{Facts, Job, Planned, Seat, Stop};
use super::source::Source;
use super::zone::{MS_MAX, MS_MIN};
use super::{Node, Plan, PlanError, Slots};

/// How many days with a candidate are looked through for one version. A job that is due on fewer
/// than one in five thousand of them, and is asked for the newest, is told that it lies too far.
const DAYS_MAX: usize = 5_000;
/// From this many days on a schedule is read without keeping its days in memory.
const DAYS_KEPT_MAX: i64 = 8;

/// A span that is not empty, with what is known of its job.
struct Within {
    facts: Arc<Facts>,
    from: i64,
    to: i64,
}

impl<'a, S: Slots> Plan<'a, S> {
    /// The versions of a job in `[from, to)`, oldest first.
    pub(super) fn range(&mut self, seat: Seat, from: i64, to: i64) -> Result<Vec<Planned>, Stop> {
        self.range_cut(seat, from, to, usize::MAX)
    }

    /// The same, oldest first, given up soon after `max`: of a job that is due each second a month holds millions.
    pub(super) fn range_cut(
        &mut self,
        seat: Seat,
        from: i64,
        to: i64,
        max: usize,
    ) -> Result<Vec<Planned>, Stop> {
        let Some(Within { facts, from, to }) = self.within(seat, from, to)? else {
            return Ok(Vec::new());
        };
        let node = self.at(seat)?.node;
        let unknown =
            |schedule: &S| schedule.unknown_between(Version::from_ms(from), Version::from_ms(to));
        if node.schedule.as_ref().is_some_and(unknown) {
            return Err(PlanError::PastCalendar { job: node.id }.into());
        }
        let (first, last) = self.days(&facts, from, to);
        if last - first >= DAYS_KEPT_MAX && facts.plain {
            let job = self.at(seat)?;
            return Ok(slots_of(job.node, from, to, max.saturating_add(1)));
        }
        let mut found = Vec::new();
        for day in first..=last {
            let versions = self.day(seat, day)?;
            found.extend(versions.iter().filter(|planned| (from..to).contains(&planned.at)));
            if found.len() > max {
                break;
            }
        }
        Ok(found)
    }

    /// The part of `[from, to)` in which the job can have versions.
    fn within(&mut self, seat: Seat, from: i64, to: i64) -> Result<Option<Within>, Stop> {
        let facts = self.facts(seat)?;
        let (from, to) = (from.max(facts.floor), to.min(MS_MAX));
        Ok((from < to).then_some(Within { facts, from, to }))
    }

    /// The days of the job's zone in which `[from, to)` begins and ends.
    fn days(&mut self, facts: &Facts, from: i64, to: i64) -> (i64, i64) {
        let zone = self.zone(facts);
        (zone.day_of(from), zone.day_of(to - 1))
    }

    /// The newest version of a job before an instant, and not before `lowest`.
    pub(super) fn last_before(
        &mut self,
        seat: Seat,
        before: i64,
        lowest: i64,
    ) -> Result<Option<Planned>, Stop> {
        let facts = self.facts(seat)?;
        let lowest = lowest.max(facts.floor);
        if before <= lowest {
            return Ok(None);
        }
        if facts.plain {
            let newest = slot_before(self.at(seat)?.node, before);
            let newest = newest.filter(|at| *at >= lowest);
            return Ok(newest.map(|at| Planned { at, carried: None }));
        }
        let day = self.zone(&facts).day_of(before - 1);
        let today = self.day(seat, day)?;
        let mut newest = today.iter().rev().find(|planned| planned.at < before).copied();
        if newest.is_none() && self.zone(&facts).day_start(day) > lowest {
            newest = match self.day_before(seat, day)? {
                Some(day) => self.day(seat, day)?.last().copied(),
                None => None,
            };
        }
        Ok(newest.filter(|planned| planned.at >= lowest))
    }

    /// The newest version of a job in `[from, to)`, looked for from its end on.
    pub(super) fn last_in(
        &mut self,
        seat: Seat,
        from: i64,
        to: i64,
    ) -> Result<Option<Planned>, Stop> {
        let Some(Within { facts, from, to }) = self.within(seat, from, to)? else {
            return Ok(None);
        };
        if facts.plain {
            return self.last_before(seat, to, from);
        }
        let (first, last) = self.days(&facts, from, to);
        for day in (first..=last).rev() {
            let versions = self.day(seat, day)?;
            if let Some(newest) = versions.iter().rev().find(|planned| planned.at < to) {
                return Ok(Some(*newest).filter(|planned| planned.at >= from));
            }
        }
        Ok(None)
    }

    /// The oldest version of a job in `[from, to)`.
    pub(super) fn first_from(
        &mut self,
        seat: Seat,
        from: i64,
        to: i64,
    ) -> Result<Option<Planned>, Stop> {
        let Some(Within { facts, from, to }) = self.within(seat, from, to)? else {
            return Ok(None);
        };
        if facts.plain {
            let oldest = slot_after(self.at(seat)?.node, from - 1).filter(|at| *at < to);
            return Ok(oldest.map(|at| Planned { at, carried: None }));
        }
        let (first, last) = self.days(&facts, from, to);
        for day in first..=last {
            let versions = self.day(seat, day)?;
            let oldest = versions.iter().find(|planned| planned.at >= from);
            if let Some(oldest) = oldest {
                return Ok(Some(*oldest).filter(|planned| planned.at < to));
            }
        }
        Ok(None)
    }

    /// The `n`-th newest version of a job before an instant, `n` from 1.
    pub(super) fn nth_before(
        &mut self,
        seat: Seat,
        before: i64,
        n: u32,
    ) -> Result<Option<i64>, Stop> {
        let mut at = before;
        for _ in 0..n {
            match self.last_before(seat, at, MS_MIN)? {
                Some(planned) => at = planned.at,
                None => return Ok(None),
            }
        }
        Ok(Some(at).filter(|at| *at < before))
    }

    /// An instant moved by slots of the job itself: of its schedule, or where it has none, by its
    /// versions. None: there are not so many.
    pub(super) fn slots_later(
        &mut self,
        job: Job<'a, S>,
        at: i64,
        n: i32,
    ) -> Result<Option<i64>, Stop> {
        let mut at = at;
        for _ in 0..n.unsigned_abs() {
            let next = match (job.node.schedule.is_some(), n < 0) {
                (true, true) => slot_before(job.node, at),
                (true, false) => slot_after(job.node, at),
                (false, true) => self.last_before(job.seat, at, MS_MIN)?.map(|p| p.at),
                (false, false) => self.version_after(job.seat, at)?,
            };
            match next {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// The oldest version of a job without a schedule after an instant.
    fn version_after(&mut self, seat: Seat, at: i64) -> Result<Option<i64>, Stop> {
        let facts = self.facts(seat)?;
        let zone = self.zone(&facts);
        let (first, last) = (zone.day_of(at + 1), zone.day_of(MS_MAX));
        for (looked, day) in (first..=last).enumerate() {
            if looked >= DAYS_MAX {
                return Err(PlanError::TooFar { job: self.id_of(seat) }.into());
            }
            let versions = self.day(seat, day)?;
            if let Some(next) = versions.iter().find(|planned| planned.at > at) {
                return Ok(Some(next.at));
            }
        }
        Ok(None)
    }

    /// Looks back day by day, from candidate to candidate.
    pub(super) fn compute_day_before(
        &mut self,
        job: Job<'a, S>,
        day: i64,
    ) -> Result<Option<i64>, Stop> {
        let facts = self.facts(job.seat)?;
        let mut day = day;
        for _ in 0..DAYS_MAX {
            let before = self.zone(&facts).day_start(day);
            let candidate = self.candidate_before(job, &facts.source, before)?;
            let Some(candidate) = candidate.filter(|candidate| *candidate >= facts.floor) else {
                return Ok(None);
            };
            day = self.zone(&facts).day_of(candidate);
            if !self.day(job.seat, day)?.is_empty() {
                return Ok(Some(day));
            }
        }
        Err(PlanError::TooFar { job: job.node.id }.into())
    }

    /// An instant at or after the newest version before `before`, which is the start of a day.
    fn candidate_before(
        &mut self,
        job: Job<'a, S>,
        source: &Source,
        before: i64,
    ) -> Result<Option<i64>, Stop> {
        match source {
            Source::Schedule | Source::Hand => Ok(slot_before(job.node, before)),
            Source::Baseline(_) => {
                let upstream = self.baseline(job)?;
                Ok(self.last_before(upstream, before, MS_MIN)?.map(|planned| planned.at))
            }
            // All of them have versions on a day that has one: the one that ends first decides.
            Source::Fewest(edges) => Ok(self.newest_of(job, edges, before)?.map(|(low, _)| low)),
            // The version is the newest of what all of them bind, and each binds something.
            Source::Intervals(edges) => {
                Ok(self.newest_of(job, edges, before)?.map(|(_, high)| high))
            }
            Source::Nothing => Err(PlanError::NoSource { job: job.node.id }.into()),
        }
    }

    /// The lowest and the highest of the edges' newest upstream versions; None where one has none.
    fn newest_of(
        &mut self,
        job: Job<'a, S>,
        edges: &[usize],
        before: i64,
    ) -> Result<Option<(i64, i64)>, Stop> {
        let mut ends: Option<(i64, i64)> = None;
        for edge in edges {
            let upstream = self.upstream(job, *edge)?;
            let Some(newest) = self.last_before(upstream, before, MS_MIN)? else {
                return Ok(None);
            };
            ends = Some(ends.map_or((newest.at, newest.at), |(low, high)| {
                (low.min(newest.at), high.max(newest.at))
            }));
        }
        Ok(ends)
    }
}

/// The slots of a job's schedule, or its existing actions, in `[from, to)`, `max` of them at most.
pub(super) fn slots_of<S: Slots>(node: &Node<S>, from: i64, to: i64, max: usize) -> Vec<Planned> {
    let bare = |version: Version| Planned { at: version.ms(), carried: None };
    let (from, to) = (Version::from_ms(from), Version::from_ms(to));
    match &node.schedule {
        Some(schedule) => schedule.between(from, to).take(max).map(bare).collect(),
        None => {
            let all = node.existing.iter().copied();
            all.filter(|version| (from..to).contains(version)).take(max).map(bare).collect()
        }
    }
}

fn slot_before<S: Slots>(node: &Node<S>, before: i64) -> Option<i64> {
    let before = Version::from_ms(before);
    let newest = match &node.schedule {
        Some(schedule) => schedule.newest_before(before),
        None => node.existing.iter().rev().copied().find(|version| *version < before),
    };
    newest.filter(|version| *version >= node.birth).map(Version::ms)
}

fn slot_after<S: Slots>(node: &Node<S>, after: i64) -> Option<i64> {
    let after = Version::from_ms(after.max(node.birth.ms().saturating_sub(1)));
    let oldest = match &node.schedule {
        Some(schedule) => schedule.oldest_after(after),
        None => node.existing.iter().copied().find(|version| *version > after),
    };
    oldest.map(Version::ms).filter(|at| *at < MS_MAX)
}
