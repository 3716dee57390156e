//! Which versions of its upstream an edge binds to a version of its job. Knows no state.

use std::collections::BTreeMap;

use hera_common::id::JobId;
use hera_common::limits::BINDINGS_MAX;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, DataSpec, On, Period};
use hera_common::time::Version;

use super::interval::index_of;
use super::memo::{Job, Planned, Seat, Stop};
use super::period::Index;
use super::zone::{MS_MIN, Zone};
use super::{Bound, Edge, Node, Plan, PlanError, Slots};

impl<'a, S: Slots> Plan<'a, S> {
    /// All that a version waits for.
    pub(super) fn bind_all(&mut self, job: Job<'a, S>, at: i64) -> Result<Vec<Bound>, Stop> {
        let node = job.node;
        let planned = Planned { at, carried: self.carried(job, at)? };
        let mut edges: BTreeMap<(JobId, i64), usize> = BTreeMap::new();
        for (number, edge) in node.edges.iter().enumerate() {
            for version in self.bind(job, number, planned)? {
                let first = edges.entry((edge.upstream, version)).or_insert(number);
                *first = preferred(node, *first, number);
            }
            if edges.len() > BINDINGS_MAX {
                return Err(PlanError::TooMany { job: node.id, edge: number }.into());
            }
        }
        let mut bound: Vec<Bound> = edges
            .into_iter()
            .map(|((upstream, version), edge)| Bound {
                edge,
                upstream,
                version: Version::from_ms(version),
            })
            .collect();
        bound.sort_unstable();
        Ok(bound)
    }

    /// The interval for which a version was made; None where it follows from the instant.
    fn carried(&mut self, job: Job<'a, S>, at: i64) -> Result<Option<Index>, Stop> {
        let facts = self.facts(job.seat)?;
        if !facts.source.carries() {
            return Ok(None);
        }
        let day = self.zone(&facts).day_of(at);
        let versions = self.day(job.seat, day)?;
        Ok(versions.iter().find(|planned| planned.at == at).and_then(|planned| planned.carried))
    }

    /// Whether an edge binds anything.
    pub(super) fn binds(
        &mut self,
        job: Job<'a, S>,
        edge: usize,
        planned: Planned,
    ) -> Result<bool, Stop> {
        let upstream = self.upstream(job, edge)?;
        let question = self.question(job, edge, planned)?;
        // Of many, the first is enough.
        if let Question::All { from, to } = question {
            return Ok(self.first_from(upstream, from, to)?.is_some());
        }
        Ok(!self.answer(job, upstream, question)?.is_empty())
    }

    /// The versions that an edge binds, oldest first.
    fn bind(&mut self, job: Job<'a, S>, edge: usize, planned: Planned) -> Result<Vec<i64>, Stop> {
        let upstream = self.upstream(job, edge)?;
        let question = self.question(job, edge, planned)?;
        let bound = self.answer(job, upstream, question)?;
        if bound.len() > BINDINGS_MAX {
            return Err(PlanError::TooMany { job: job.node.id, edge }.into());
        }
        Ok(bound)
    }

    /// The versions that a placing edge binds for a data interval, oldest first.
    pub(super) fn bind_interval(
        &mut self,
        job: Job<'a, S>,
        edge: usize,
        index: Index,
    ) -> Result<Vec<i64>, Stop> {
        // By a data interval or a period the instant plays no part.
        self.bind(job, edge, Planned { at: MS_MIN, carried: Some(index) })
    }

    /// What an edge asks of its upstream.
    fn question(
        &mut self,
        job: Job<'a, S>,
        edge: usize,
        planned: Planned,
    ) -> Result<Question, Stop> {
        let Some(edge) = job.node.edges.get(edge) else { return Ok(Question::Nothing) };
        let asked = match edge.bind {
            Bind::Data => self.interval_asked(job, edge.offset, planned)?,
            Bind::First { of } => {
                let period = self.period_asked(job, edge.offset, of, planned)?;
                period.map(|(from, to)| Question::First { from, to })
            }
            Bind::Last { of } => {
                let period = self.period_asked(job, edge.offset, of, planned)?;
                period.map(|(from, to)| Question::Last { from, to })
            }
            Bind::All { of } => {
                let period = self.period_asked(job, edge.offset, of, planned)?;
                period.map(|(from, to)| Question::All { from, to })
            }
            Bind::Nearest
            | Bind::AtOrBefore
            | Bind::Same
            | Bind::Previous { .. }
            | Bind::Window { .. } => {
                let facts = self.facts(job.seat)?;
                let at = self.moved(job, planned.at, edge.offset)?;
                at.map(|at| question_at(self.zone(&facts), edge.bind, at))
            }
        };
        Ok(asked.unwrap_or(Question::Nothing))
    }

    /// My data interval, moved by the offset: its first instant moves, my period there binds.
    fn interval_asked(
        &mut self,
        job: Job<'a, S>,
        offset: Shift,
        planned: Planned,
    ) -> Result<Option<Question>, Stop> {
        let facts = self.facts(job.seat)?;
        let zone = self.zone(&facts);
        let index = index_of(zone, job.node.data, planned);
        if offset.is_none() {
            return Ok(Some(Question::Data { index }));
        }
        let period = job.node.data.period;
        let first = zone.span(period, index).0;
        let at = self.moved(job, first, offset)?;
        Ok(at.map(|at| Question::Data { index: self.zone(&facts).period_of(period, at) }))
    }

    /// The instants of the period that `first`, `last` and `all` look at: it holds the moved version.
    /// One that was made for a data interval stands for the period from which `data` led to that one:
    /// the period's first instant moves.
    fn period_asked(
        &mut self,
        job: Job<'a, S>,
        offset: Shift,
        of: Period,
        planned: Planned,
    ) -> Result<Option<(i64, i64)>, Stop> {
        let facts = self.facts(job.seat)?;
        let at = match planned.carried {
            Some(index) => {
                let DataSpec { period, offset } = job.node.data;
                let zone = self.zone(&facts);
                let own = zone.later(period, index, i64::from(offset).saturating_neg());
                zone.span(period, own).0
            }
            None => planned.at,
        };
        let at = self.moved(job, at, offset)?;
        let zone = self.zone(&facts);
        Ok(at.map(|at| {
            let index = zone.period_of(of, at);
            zone.span(of, index)
        }))
    }

    /// An instant moved by an offset; None where there are not so many slots.
    fn moved(&mut self, job: Job<'a, S>, at: i64, offset: Shift) -> Result<Option<i64>, Stop> {
        match offset {
            Shift::Slots { n } => self.slots_later(job, at, n),
            Shift::Elapsed { .. }
            | Shift::Days { .. }
            | Shift::BusinessDays { .. }
            | Shift::Months { .. } => {
                let facts = self.facts(job.seat)?;
                Ok(Some(self.zone(&facts).shifted(at, offset)))
            }
        }
    }

    fn answer(
        &mut self,
        job: Job<'a, S>,
        upstream: Seat,
        question: Question,
    ) -> Result<Vec<i64>, Stop> {
        match question {
            Question::Nothing => Ok(Vec::new()),
            Question::Nearest { at, from, to } => {
                let day = self.range(upstream, from, to)?;
                // Versions come oldest first, and the first of two that are equally near stays.
                let nearest = day.iter().min_by_key(|planned| planned.at.abs_diff(at));
                Ok(nearest.map(|planned| planned.at).into_iter().collect())
            }
            Question::First { from, to } => one(self.first_from(upstream, from, to)?),
            Question::Last { from, to } => one(self.last_before(upstream, to, from)?),
            Question::All { from, to } => {
                let found = self.range_cut(upstream, from, to, BINDINGS_MAX)?;
                Ok(found.into_iter().map(|planned| planned.at).collect())
            }
            Question::Previous { before, n } => {
                Ok(self.nth_before(upstream, before, n)?.into_iter().collect())
            }
            Question::Data { index } => self.bind_data(job, index, upstream),
        }
    }
}

/// Which of two edges counts that bind the same version: the first, but `on: success` goes before
/// what a failure would meet as well.
fn preferred<S>(node: &Node<S>, first: usize, second: usize) -> usize {
    let success =
        |number: usize| node.edges.get(number).is_some_and(|edge: &Edge| edge.on == On::Success);
    if success(second) && !success(first) { second } else { first }
}

/// What a bind asks at an instant that has been moved already.
fn question_at(zone: &mut Zone, bind: Bind, at: i64) -> Question {
    match bind {
        Bind::Nearest => {
            let day = zone.day_of(at);
            Question::Nearest { at, from: zone.day_start(day), to: zone.day_start(day + 1) }
        }
        Bind::AtOrBefore => Question::Last { from: MS_MIN, to: at + 1 },
        Bind::Same => Question::Last { from: at, to: at + 1 },
        Bind::Previous { n } => Question::Previous { before: at, n },
        Bind::Window { from, to } => {
            Question::All { from: zone.shifted(at, from), to: zone.shifted(at, to) }
        }
        Bind::Data | Bind::First { .. } | Bind::Last { .. } | Bind::All { .. } => Question::Nothing,
    }
}

fn one(planned: Option<Planned>) -> Result<Vec<i64>, Stop> {
    Ok(planned.map(|planned| planned.at).into_iter().collect())
}

/// What an edge asks of its upstream, with everything moved and cut to instants.
#[derive(Debug, Clone, Copy)]
enum Question {
    /// The one in `[from, to)` that is nearest to `at`.
    Nearest { at: i64, from: i64, to: i64 },
    /// The oldest in `[from, to)`.
    First { from: i64, to: i64 },
    /// The newest in `[from, to)`.
    Last { from: i64, to: i64 },
    /// All in `[from, to)`.
    All { from: i64, to: i64 },
    /// The `n`-th newest before an instant.
    Previous { before: i64, n: u32 },
    /// Those of my data interval.
    Data { index: Index },
    /// There is no such instant.
    Nothing,
}
