//! Which data a version is about, and which intervals of one job lie in, or hold, those of another.
//! Knows no version and no edge.

use hera_common::limits::BINDINGS_MAX;
use hera_common::spec::{DataSpec, Period};
use hera_common::time::Version;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::memo::{Job, Planned, Seat, Stop};
use super::period::Index;
use super::zone::{MS_MAX, MS_MIN, Zone, date};
use super::{Plan, Slots};

/// The data that a version is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataInterval {
    pub period: Period,
    /// Its first day, or the day of its hour: the data date.
    pub first: Date,
    /// The day after its last one.
    pub until: Date,
    /// Its first instant.
    pub from: Version,
    /// The first instant after it.
    pub to: Version,
}

/// The data interval of a version by the job's zone and `data`: the period that holds the version's
/// instant, moved. A version that was made for an interval carries that one instead.
pub fn data_interval(zone: &TimeZone, data: DataSpec, version: Version) -> DataInterval {
    let mut zone = Zone::new(zone.clone());
    let at = version.ms().clamp(MS_MIN, MS_MAX);
    let index = index_at(&mut zone, data, at);
    shown(&mut zone, data.period, index)
}

/// The number of the data interval of an instant.
pub(super) fn index_at(zone: &mut Zone, data: DataSpec, at: i64) -> Index {
    let holding = zone.period_of(data.period, at);
    zone.later(data.period, holding, i64::from(data.offset))
}

/// The number of the data interval of a version.
pub(super) fn index_of(zone: &mut Zone, data: DataSpec, planned: Planned) -> Index {
    match planned.carried {
        Some(index) => index,
        None => index_at(zone, data, planned.at),
    }
}

/// A data interval in dates and instants.
pub(super) fn shown(zone: &mut Zone, period: Period, index: Index) -> DataInterval {
    let (from, to) = zone.span(period, index);
    let (first, until) = match period {
        Period::Hour => {
            let day = zone.day_of(from);
            (day, day + 1)
        }
        Period::Day | Period::BusinessDay | Period::Week | Period::Month => {
            (zone.first_day(period, index), zone.first_day(period, index.saturating_add(1)))
        }
    };
    DataInterval {
        period,
        first: date(first),
        until: date(until),
        from: Version::from_ms(from),
        to: Version::from_ms(to),
    }
}

/// How far an interval reaches: what another zone must know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Days, the first and the one after the last: dates are compared, each in its own zone.
    Days { first: i64, until: i64 },
    /// Instants: where one of the two periods is an hour.
    Instants { from: i64, to: i64 },
}

impl Extent {
    pub(super) fn new(zone: &mut Zone, mine: Period, index: Index, theirs: Period) -> Self {
        if mine == Period::Hour || theirs == Period::Hour {
            let (from, to) = zone.span(mine, index);
            return Self::Instants { from, to };
        }
        let until = zone.first_day(mine, index.saturating_add(1));
        Self::Days { first: zone.first_day(mine, index), until }
    }

    /// The periods of a zone that lie in it, the first and the last. An hour lies where its first
    /// instant lies; longer ones must lie inside wholly.
    pub(super) fn inside(self, zone: &mut Zone, theirs: Period) -> Option<(Index, Index)> {
        let (first, last) = match self {
            Self::Days { first, until } => {
                let holding = zone.of_day(theirs, first);
                let whole = zone.first_day(theirs, holding) == first;
                (holding + i64::from(!whole), zone.of_day(theirs, until) - 1)
            }
            Self::Instants { from, to } => {
                let (start, end) = zone.span(theirs, zone.hour(from).0);
                let first = if start >= from { start } else { end };
                (first, zone.hour(to.saturating_sub(1)).0)
            }
        };
        (first <= last).then_some((first, last))
    }

    /// The period of a zone in which it lies.
    pub(super) fn holding(self, zone: &mut Zone, theirs: Period) -> Option<Index> {
        match self {
            Self::Days { first, until } => {
                let holding = zone.of_day(theirs, first);
                let next = zone.first_day(theirs, holding.saturating_add(1));
                (until <= next).then_some(holding)
            }
            Self::Instants { from, .. } => Some(zone.period_of(theirs, from)),
        }
    }
}

impl<'a, S: Slots> Plan<'a, S> {
    /// The versions of an upstream job that `bind: data` binds to one of my intervals.
    pub(super) fn bind_data(
        &mut self,
        mine: Job<'a, S>,
        index: Index,
        theirs: Seat,
    ) -> Result<Vec<i64>, Stop> {
        let theirs = self.at(theirs)?;
        let (my_period, their_period) = (mine.node.data.period, theirs.node.data.period);
        let (my_facts, their_facts) = (self.facts(mine.seat)?, self.facts(theirs.seat)?);
        let extent = Extent::new(self.zone(&my_facts), my_period, index, their_period);
        let zone = self.zone(&their_facts);
        let found = if their_period > my_period {
            extent.holding(zone, their_period).map(|holding| (holding, holding))
        } else {
            extent.inside(zone, their_period)
        };
        match found {
            Some((first, last)) => self.of_intervals(theirs, first, last),
            None => Ok(Vec::new()),
        }
    }

    /// The versions of a job whose data intervals are numbered `first` to `last`.
    fn of_intervals(
        &mut self,
        job: Job<'a, S>,
        first: Index,
        last: Index,
    ) -> Result<Vec<i64>, Stop> {
        let DataSpec { period, offset } = job.node.data;
        let facts = self.facts(job.seat)?;
        if !facts.source.carries() {
            let back = i64::from(offset).saturating_neg();
            let zone = self.zone(&facts);
            let (first, last) = (zone.later(period, first, back), zone.later(period, last, back));
            let (from, to) = (zone.span(period, first).0, zone.span(period, last).1);
            return Ok(self
                .range_cut(job.seat, from, to, BINDINGS_MAX)?
                .into_iter()
                .map(|p| p.at)
                .collect());
        }
        let mut found = Vec::new();
        let mut index = first;
        while index <= last {
            found.extend(self.placed(job.seat, index)?);
            index = self.zone(&facts).later(period, index, 1);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// My data interval that binds one of theirs by `bind: data`, where theirs is not longer.
    pub(super) fn interval_that_binds(
        &mut self,
        mine: Job<'a, S>,
        theirs: Seat,
        planned: Planned,
    ) -> Result<Option<Index>, Stop> {
        let theirs = self.at(theirs)?;
        let (my_period, their_period) = (mine.node.data.period, theirs.node.data.period);
        let (my_facts, their_facts) = (self.facts(mine.seat)?, self.facts(theirs.seat)?);
        let zone = self.zone(&their_facts);
        let index = index_of(zone, theirs.node.data, planned);
        let extent = Extent::new(zone, their_period, index, my_period);
        Ok(extent.holding(self.zone(&my_facts), my_period))
    }
}
