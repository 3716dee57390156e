//! The versions of a job on one day, and the one of a data interval: its source's, less those that an
//! edge with `empty: skip` takes away. Knows no caller.

use std::collections::BTreeSet;

use hera_common::spec::{Bind, DataSpec, Empty};

use super::interval::index_at;
use super::memo::{Job, Planned, Seat, Stop};
use super::period::Index;
use super::search::slots_of;
use super::source::Source;
use super::{Edge, Plan, PlanError, Slots};

impl<'a, S: Slots> Plan<'a, S> {
    pub(super) fn compute_day(&mut self, job: Job<'a, S>, day: i64) -> Result<Vec<Planned>, Stop> {
        let facts = self.facts(job.seat)?;
        let zone = self.zone(&facts);
        let (start, end) = (zone.day_start(day), zone.day_start(day + 1));
        let from = start.max(facts.floor);
        if from >= end {
            return Ok(Vec::new());
        }
        let candidates = match &facts.source {
            Source::Schedule | Source::Hand => slots_of(job.node, from, end, usize::MAX),
            Source::Baseline(_) => {
                let upstream = self.baseline(job)?;
                self.range(upstream, from, end)?
            }
            Source::Fewest(edges) => {
                let mut fewest = self.fewest(job, edges, start, end)?;
                fewest.retain(|planned| planned.at >= from);
                fewest
            }
            Source::Intervals(edges) => return self.intervals_ending(job, edges, from, end),
            Source::Nothing => return Err(PlanError::NoSource { job: job.node.id }.into()),
        };
        let mut versions = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            // An upstream's interval is its own: mine follows from the instant.
            let planned = Planned { at: candidate.at, carried: None };
            if self.kept(job, &facts.source, planned)? {
                versions.push(planned);
            }
        }
        Ok(versions)
    }

    /// On the day `[start, end)` the versions of the upstream that has the fewest; ties go to the
    /// later first version, then to the order of the edges.
    fn fewest(
        &mut self,
        job: Job<'a, S>,
        edges: &[usize],
        start: i64,
        end: i64,
    ) -> Result<Vec<Planned>, Stop> {
        let mut best: Option<Vec<Planned>> = None;
        let rank = |found: &[Planned]| {
            (found.len(), std::cmp::Reverse(found.first().map(|planned| planned.at)))
        };
        for edge in edges {
            let upstream = self.upstream(job, *edge)?;
            let found = self.range(upstream, start, end)?;
            if best.as_ref().is_none_or(|best| rank(&found) < rank(best)) {
                best = Some(found);
            }
        }
        Ok(best.unwrap_or_default())
    }

    /// The versions of a job placed by data intervals in `[from, end)`. Each is a version that some
    /// placing edge binds, so only the intervals of those need a look.
    fn intervals_ending(
        &mut self,
        job: Job<'a, S>,
        edges: &[usize],
        from: i64,
        end: i64,
    ) -> Result<Vec<Planned>, Stop> {
        let mut intervals = BTreeSet::new();
        for edge in edges {
            let upstream = self.upstream(job, *edge)?;
            for planned in self.range(upstream, from, end)? {
                intervals.extend(self.interval_placed_by(job, *edge, upstream, planned)?);
            }
        }
        let mut versions = Vec::with_capacity(intervals.len());
        for index in intervals {
            let at = self.placed(job.seat, index)?;
            let inside = at.filter(|at| (from..end).contains(at));
            versions.extend(inside.map(|at| Planned { at, carried: Some(index) }));
        }
        versions.sort_unstable();
        // Two intervals that end in one version are one action, of the earlier one.
        versions.dedup_by_key(|planned| planned.at);
        Ok(versions)
    }

    /// My data interval for which a placing edge binds an upstream version.
    fn interval_placed_by(
        &mut self,
        job: Job<'a, S>,
        edge: usize,
        upstream: Seat,
        planned: Planned,
    ) -> Result<Option<Index>, Stop> {
        let Some(edge) = job.node.edges.get(edge) else { return Ok(None) };
        match edge.bind {
            Bind::Data => self.interval_that_binds(job, upstream, planned),
            Bind::First { of } | Bind::Last { of } | Bind::All { of } => {
                let data = DataSpec { period: of, offset: job.node.data.offset };
                let facts = self.facts(job.seat)?;
                Ok(Some(index_at(self.zone(&facts), data, planned.at)))
            }
            Bind::Nearest
            | Bind::AtOrBefore
            | Bind::Same
            | Bind::Previous { .. }
            | Bind::Window { .. } => Ok(None),
        }
    }

    /// The version that a job placed by data intervals has for one of them: the newest that its
    /// placing edges bind, if each of them binds something.
    pub(super) fn compute_placed(
        &mut self,
        job: Job<'a, S>,
        index: Index,
    ) -> Result<Option<i64>, Stop> {
        let facts = self.facts(job.seat)?;
        let Source::Intervals(edges) = &facts.source else {
            return Ok(None);
        };
        let mut newest = None;
        for edge in edges {
            match self.bind_interval(job, *edge, index)?.last() {
                Some(last) => newest = newest.max(Some(*last)),
                None => return Ok(None),
            }
        }
        let Some(at) = newest.filter(|at| *at >= facts.floor) else {
            return Ok(None);
        };
        let kept = self.kept(job, &facts.source, Planned { at, carried: Some(index) })?;
        Ok(kept.then_some(at))
    }

    /// Whether each edge with `empty: skip` binds something.
    fn kept(&mut self, job: Job<'a, S>, source: &Source, planned: Planned) -> Result<bool, Stop> {
        for (number, edge) in job.node.edges.iter().enumerate() {
            let asked = edge.empty == Empty::Skip && edge.upstream != job.node.id;
            if asked && !known_to_bind(source, number, edge) && !self.binds(job, number, planned)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The source has seen already that the edge binds something.
fn known_to_bind(source: &Source, number: usize, edge: &Edge) -> bool {
    let unmoved = edge.offset.is_none();
    match source {
        Source::Baseline(baseline) => {
            let itself = matches!(edge.bind, Bind::Nearest | Bind::Same | Bind::AtOrBefore);
            unmoved && itself && edge.upstream == *baseline
        }
        // The day has versions of each of them.
        Source::Fewest(edges) => unmoved && edge.bind == Bind::Nearest && edges.contains(&number),
        Source::Intervals(edges) => edges.contains(&number),
        Source::Schedule | Source::Hand | Source::Nothing => false,
    }
}
