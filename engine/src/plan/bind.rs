//! Which versions of its upstream an edge binds to a version of its job. Knows no state.

use std::collections::BTreeMap;

use hera_common::id::JobId;
use hera_common::limits::BINDINGS_MAX;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, DataSpec, On, Period};
use hera_common::time::Version;

use super::memo::{Planned, Stop};
use super::period::Index;
use super::zone::MS_MIN;
use super::{Bound, Edge, Node, Plan, PlanError, Slots, Source};

impl<'a, S: Slots> Plan<'a, S> {
    /// All that a version waits for.
    pub(super) fn bind_all(&mut self, job: JobId, at: i64) -> Result<Vec<Bound>, Stop> {
        let node = self.node(job)?;
        let planned = Planned { at, carried: self.carried(node, at)? };
        let mut edges: BTreeMap<(JobId, i64), usize> = BTreeMap::new();
        for (number, edge) in node.edges.iter().enumerate() {
            for version in self.bind(node, edge, planned)? {
                let first = edges.entry((edge.upstream, version)).or_insert(number);
                *first = preferred(node, *first, number);
            }
            if edges.len() > BINDINGS_MAX {
                return Err(Stop::Fault(PlanError::TooMany { job, edge: number }));
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
    fn carried(&mut self, node: &'a Node<S>, at: i64) -> Result<Option<Index>, Stop> {
        if !self.carries(node) {
            return Ok(None);
        }
        let day = self.zone_of(node).day_of(at);
        let versions = self.day(node.id, day)?;
        Ok(versions.iter().find(|planned| planned.at == at).and_then(|planned| planned.carried))
    }

    /// Whether versions of the job are made for data intervals.
    pub(super) fn carries(&mut self, node: &Node<S>) -> bool {
        matches!(*self.source_of(node), Source::Intervals(_))
    }

    /// Whether an edge binds anything.
    pub(super) fn binds(
        &mut self,
        node: &'a Node<S>,
        edge: &Edge,
        planned: Planned,
    ) -> Result<bool, Stop> {
        let upstream = self.upstream(node, edge.upstream)?;
        match self.question(node, edge, planned)? {
            Question::All { from, to } => Ok(self.first_from(upstream.id, from, to)?.is_some()),
            Question::Nearest { .. }
            | Question::First { .. }
            | Question::Last { .. }
            | Question::Previous { .. }
            | Question::Data { .. }
            | Question::Nothing => Ok(!self.bind(node, edge, planned)?.is_empty()),
        }
    }

    /// The versions that an edge binds, oldest first.
    fn bind(&mut self, node: &'a Node<S>, edge: &Edge, planned: Planned) -> Result<Vec<i64>, Stop> {
        let upstream = self.upstream(node, edge.upstream)?;
        let question = self.question(node, edge, planned)?;
        self.answer(node, upstream, question)
    }

    /// The versions that a placing edge binds for a data interval, oldest first.
    pub(super) fn bind_interval(
        &mut self,
        node: &'a Node<S>,
        edge: &Edge,
        index: Index,
    ) -> Result<Vec<i64>, Stop> {
        // By a data interval or a period the instant plays no part.
        self.bind(node, edge, Planned { at: MS_MIN, carried: Some(index) })
    }

    /// What an edge asks of its upstream.
    fn question(
        &mut self,
        node: &'a Node<S>,
        edge: &Edge,
        planned: Planned,
    ) -> Result<Question, Stop> {
        let of_period = |plan: &mut Self, of| plan.period_asked(node, edge.offset, of, planned);
        Ok(match edge.bind {
            Bind::Data => self.interval_asked(node, edge.offset, planned)?,
            Bind::First { of } => match of_period(self, of)? {
                Some((from, to)) => Question::First { from, to },
                None => Question::Nothing,
            },
            Bind::Last { of } => match of_period(self, of)? {
                Some((from, to)) => Question::Last { from, to },
                None => Question::Nothing,
            },
            Bind::All { of } => match of_period(self, of)? {
                Some((from, to)) => Question::All { from, to },
                None => Question::Nothing,
            },
            Bind::Nearest
            | Bind::AtOrBefore
            | Bind::Same
            | Bind::Previous { .. }
            | Bind::Window { .. } => {
                let Some(at) = self.moved(node, planned.at, edge.offset)? else {
                    return Ok(Question::Nothing);
                };
                self.question_at(node, edge.bind, at)
            }
        })
    }

    /// What a bind asks at an instant that has been moved already.
    fn question_at(&mut self, node: &Node<S>, bind: Bind, at: i64) -> Question {
        match bind {
            Bind::Nearest => {
                let zone = self.zone_of(node);
                let day = zone.day_of(at);
                Question::Nearest { at, from: zone.day_start(day), to: zone.day_start(day + 1) }
            }
            Bind::AtOrBefore => Question::Last { from: MS_MIN, to: at + 1 },
            Bind::Same => Question::Last { from: at, to: at + 1 },
            Bind::Previous { n } => Question::Previous { before: at, n },
            Bind::Window { from, to } => {
                let zone = self.zone_of(node);
                Question::All { from: zone.shifted(at, from), to: zone.shifted(at, to) }
            }
            Bind::Data | Bind::First { .. } | Bind::Last { .. } | Bind::All { .. } => {
                Question::Nothing
            }
        }
    }

    /// My data interval, moved by the offset: its first instant moves, my period there binds.
    fn interval_asked(
        &mut self,
        node: &'a Node<S>,
        offset: Shift,
        planned: Planned,
    ) -> Result<Question, Stop> {
        let period = node.data.period;
        let index = self.interval_of(node, planned);
        if offset.is_none() {
            return Ok(Question::Data { index });
        }
        let first = self.zone_of(node).span(period, index).0;
        Ok(match self.moved(node, first, offset)? {
            Some(at) => Question::Data { index: self.zone_of(node).period_of(period, at) },
            None => Question::Nothing,
        })
    }

    /// The instants of the period that `first`, `last` and `all` look at: it holds the moved version.
    /// One that was made for a data interval stands for the period from which `data` led to that one:
    /// the period's first instant moves.
    fn period_asked(
        &mut self,
        node: &'a Node<S>,
        offset: Shift,
        of: Period,
        planned: Planned,
    ) -> Result<Option<(i64, i64)>, Stop> {
        let at = match planned.carried {
            Some(index) => {
                let DataSpec { period, offset } = node.data;
                let zone = self.zone_of(node);
                let own = zone.later(period, index, i64::from(offset).saturating_neg());
                zone.span(period, own).0
            }
            None => planned.at,
        };
        let Some(at) = self.moved(node, at, offset)? else {
            return Ok(None);
        };
        let zone = self.zone_of(node);
        let index = zone.period_of(of, at);
        Ok(Some(zone.span(of, index)))
    }

    /// An instant moved by an offset; None where there are not so many slots.
    fn moved(&mut self, node: &'a Node<S>, at: i64, offset: Shift) -> Result<Option<i64>, Stop> {
        match offset {
            Shift::Slots { n } => self.slots_later(node, at, n),
            Shift::Elapsed { .. } | Shift::Days { .. } | Shift::Months { .. } => {
                Ok(Some(self.zone_of(node).shifted(at, offset)))
            }
        }
    }

    fn answer(
        &mut self,
        node: &Node<S>,
        upstream: &'a Node<S>,
        question: Question,
    ) -> Result<Vec<i64>, Stop> {
        let job = upstream.id;
        match question {
            Question::Nothing => Ok(Vec::new()),
            Question::Nearest { at, from, to } => {
                let day = self.range(job, from, to)?;
                // Versions come oldest first, and the first of two that are equally near stays.
                let nearest = day.iter().min_by_key(|planned| planned.at.abs_diff(at));
                Ok(nearest.map(|planned| planned.at).into_iter().collect())
            }
            Question::First { from, to } => one(self.first_from(job, from, to)?),
            Question::Last { from, to } => one(self.last_before(job, to, from)?),
            Question::All { from, to } => {
                Ok(self.range(job, from, to)?.into_iter().map(|planned| planned.at).collect())
            }
            Question::Previous { before, n } => {
                Ok(self.nth_before(job, before, n)?.into_iter().collect())
            }
            Question::Data { index } => self.bind_data(node, index, upstream),
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
