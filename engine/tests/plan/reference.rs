//! Versions and bindings by the rules as they are written, slowly: all versions of all jobs over some
//! months lie in lists, and an edge looks through the list of its upstream. Shares no code with the plan.

use std::collections::BTreeMap;

use hera_common::id::JobId;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, Empty, Period};
use hera_engine::plan::{Edge, Node, Source, source};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Hours begin and end, and clocks change, at quarters of an hour.
const QUARTER: i64 = 15 * 60_000;

/// Farther than any offset of these tests leads.
const AROUND: i64 = 100 * 86_400_000;

/// The data that a version is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Interval {
    /// Dates of a day or more; of an hour its own date, twice.
    first: Date,
    until: Date,
    /// Instants, milliseconds.
    from: i64,
    to: i64,
}

/// A version of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) at: i64,
    pub(crate) interval: Interval,
    /// It was made for its interval.
    carries: bool,
}

impl Version {
    pub(crate) fn data_date(&self) -> Date {
        self.interval.first
    }
}

/// All versions of all jobs within `[from, to)`.
pub(crate) struct Reference<'a> {
    nodes: &'a BTreeMap<JobId, Node>,
    from: i64,
    to: i64,
    versions: BTreeMap<JobId, Vec<Version>>,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(nodes: &'a BTreeMap<JobId, Node>, from: i64, to: i64) -> Self {
        let mut reference = Self { nodes, from, to, versions: BTreeMap::new() };
        nodes.keys().for_each(|job| reference.list(*job));
        reference
    }

    pub(crate) fn versions(&self, job: JobId) -> &[Version] {
        &self.versions[&job]
    }

    /// The upstream versions that a version waits for: job and instant.
    pub(crate) fn bindings(&self, job: JobId, version: &Version) -> Vec<(JobId, i64)> {
        let node = &self.nodes[&job];
        let bound = node.edges.iter().flat_map(|edge| {
            self.bind(node, edge, version).into_iter().map(|at| (edge.upstream, at))
        });
        let mut bound: Vec<(JobId, i64)> = bound.collect();
        bound.sort_unstable();
        bound.dedup();
        bound
    }

    /// Lists a job's versions, after those from which they follow.
    fn list(&mut self, job: JobId) {
        if self.versions.contains_key(&job) {
            return;
        }
        let node = &self.nodes[&job];
        let decides = |edge: &&Edge| {
            edge.upstream != job
                && (edge.empty == Empty::Skip || node.baseline == Some(edge.upstream))
        };
        let before: Vec<JobId> = node.edges.iter().filter(decides).map(|e| e.upstream).collect();
        before.into_iter().for_each(|upstream| self.list(upstream));
        let mut versions = self.candidates(node);
        versions.retain(|version| version.at >= node.birth.ms());
        versions.retain(|version| {
            let skips = |edge: &&Edge| edge.empty == Empty::Skip && edge.upstream != job;
            node.edges.iter().filter(skips).all(|edge| !self.bind(node, edge, version).is_empty())
        });
        versions.sort_unstable();
        versions.dedup_by_key(|version| version.at);
        self.versions.insert(job, versions);
    }

    fn candidates(&self, node: &Node) -> Vec<Version> {
        let bare = |at: i64| Version { at, interval: interval_at(node, at), carries: false };
        match source(node, self.nodes) {
            Source::Schedule => {
                let schedule = node.schedule.as_ref().expect("a schedule");
                let ends = [self.from, self.to].map(hera_common::time::Version::from_ms);
                schedule.slots(ends[0], ends[1]).map(|slot| bare(slot.ms())).collect()
            }
            Source::Hand => node.existing.iter().map(|version| bare(version.ms())).collect(),
            Source::Baseline(job) => self.versions[&job].iter().map(|v| bare(v.at)).collect(),
            Source::Fewest(edges) => {
                let days = dates(&node.zone, self.from, self.to);
                days.iter().flat_map(|day| self.fewest(node, &edges, *day)).map(bare).collect()
            }
            Source::Intervals(edges) => {
                // `data` with an offset leads out of the span, both ways.
                let intervals = intervals(node, self.from - AROUND, self.to + AROUND);
                intervals.iter().filter_map(|i| self.placed(node, &edges, *i)).collect()
            }
            Source::Nothing => panic!("job {} has no source", node.id),
        }
    }

    fn fewest(&self, node: &Node, edges: &[usize], day: Date) -> Vec<i64> {
        let (from, to) =
            (start(&node.zone, day), start(&node.zone, day.tomorrow().expect("a day")));
        let of_day = edges.iter().map(|edge| self.within(node.edges[*edge].upstream, from, to));
        let lists: Vec<Vec<i64>> = of_day.collect();
        let fewest = lists.iter().map(Vec::len).min().unwrap_or(0);
        let mut best: Option<Vec<i64>> = None;
        for list in lists.into_iter().filter(|list| list.len() == fewest) {
            if best.as_ref().is_none_or(|best| list.first() > best.first()) {
                best = Some(list);
            }
        }
        best.unwrap_or_default()
    }

    fn placed(&self, node: &Node, edges: &[usize], interval: Interval) -> Option<Version> {
        let mut newest = i64::MIN;
        for edge in edges {
            let version = Version { at: 0, interval, carries: true };
            let bound = self.bind(node, &node.edges[*edge], &version);
            newest = newest.max(*bound.last()?);
        }
        Some(Version { at: newest, interval, carries: true })
    }

    fn within(&self, job: JobId, from: i64, to: i64) -> Vec<i64> {
        let all = &self.versions[&job];
        let first = all.partition_point(|version| version.at < from);
        all[first..].iter().map(|v| v.at).take_while(|at| *at < to).collect()
    }

    fn bind(&self, node: &Node, edge: &Edge, version: &Version) -> Vec<i64> {
        let zone = &node.zone;
        let at = moved(zone, version.at, edge.offset);
        let nth_before = |before: i64, n: u32| {
            let all = &self.versions[&edge.upstream];
            let place = all.partition_point(|version| version.at < before);
            let place = place.checked_sub(usize::try_from(n).expect("a small number"));
            place.map(|place| all[place].at).into_iter().collect()
        };
        let of = |of: Period| {
            let at = if version.carries {
                moved(zone, undone(node, version.interval).from, edge.offset)
            } else {
                at
            };
            let period = period_at(zone, of, at);
            self.within(edge.upstream, period.from, period.to)
        };
        let last = |list: Vec<i64>| list.last().copied().into_iter().collect();
        match edge.bind {
            Bind::Nearest => {
                let day = period_at(zone, Period::Day, at);
                let mut list = self.within(edge.upstream, day.from, day.to);
                list.sort_by_key(|other| (other.abs_diff(at), *other));
                list.truncate(1);
                list
            }
            Bind::AtOrBefore => nth_before(at + 1, 1),
            Bind::Same => self.within(edge.upstream, at, at + 1),
            Bind::Previous { n } => nth_before(at, n),
            Bind::First { of: period } => of(period).first().copied().into_iter().collect(),
            Bind::Last { of: period } => last(of(period)),
            Bind::All { of: period } => of(period),
            Bind::Window { from, to } => {
                self.within(edge.upstream, moved(zone, at, from), moved(zone, at, to))
            }
            Bind::Data => self.bind_data(node, edge, version.interval),
        }
    }

    fn bind_data(&self, node: &Node, edge: &Edge, mut mine: Interval) -> Vec<i64> {
        if !edge.offset.is_none() {
            let first = moved(&node.zone, mine.from, edge.offset);
            mine = period_at(&node.zone, node.data.period, first);
        }
        let theirs = self.nodes[&edge.upstream].data.period;
        let hour = node.data.period == Period::Hour || theirs == Period::Hour;
        let longer = theirs > node.data.period;
        let binds = |other: &&Version| {
            let other = other.interval;
            let (inner, outer) = if longer { (mine, other) } else { (other, mine) };
            if hour {
                (outer.from..outer.to).contains(&inner.from)
            } else {
                outer.first <= inner.first && inner.until <= outer.until
            }
        };
        self.versions[&edge.upstream].iter().filter(binds).map(|version| version.at).collect()
    }
}

fn instant(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).expect("an instant of our years")
}

fn local(zone: &TimeZone, at: i64) -> DateTime {
    zone.to_datetime(instant(at))
}

/// The first instant of a date. The zones of these tests have no stranger gap than one at midnight.
fn start(zone: &TimeZone, date: Date) -> i64 {
    zone.to_timestamp(date.at(0, 0, 0, 0)).expect("a midnight").as_millisecond()
}

fn dates(zone: &TimeZone, from: i64, to: i64) -> Vec<Date> {
    let last = local(zone, to).date();
    let mut days = vec![local(zone, from).date()];
    while days[days.len() - 1] < last {
        days.push(days[days.len() - 1].tomorrow().expect("a day"));
    }
    days
}

/// The period of a zone that holds an instant. An hour is found by steps of a quarter.
fn period_at(zone: &TimeZone, period: Period, at: i64) -> Interval {
    let date = local(zone, at).date();
    let first = match period {
        Period::Hour => return hour_at(zone, at),
        Period::Day => date,
        Period::Week => {
            let since_monday = date.weekday().to_monday_zero_offset();
            date.checked_sub(i64::from(since_monday).days()).expect("a day")
        }
        Period::Month => date.first_of_month(),
        Period::BusinessDay => panic!("no calendars in these tests"),
    };
    let until = match period {
        Period::Hour | Period::Day | Period::BusinessDay => first.checked_add(1.day()),
        Period::Week => first.checked_add(7.days()),
        Period::Month => first.checked_add(1.month()),
    };
    let until = until.expect("a day");
    Interval { first, until, from: start(zone, first), to: start(zone, until) }
}

fn hour_at(zone: &TimeZone, at: i64) -> Interval {
    let shown = |at: i64| {
        let here = local(zone, at);
        (here.date(), here.hour(), zone.to_offset(instant(at)).seconds())
    };
    let whole = at.div_euclid(QUARTER) * QUARTER;
    let (mut from, mut to) = (whole, whole + QUARTER);
    while shown(from - QUARTER) == shown(at) {
        from -= QUARTER;
    }
    while shown(to) == shown(at) {
        to += QUARTER;
    }
    let first = local(zone, at).date();
    Interval { first, until: first, from, to }
}

/// The period `n` periods later.
fn later(zone: &TimeZone, period: Period, mut interval: Interval, n: i32) -> Interval {
    for _ in 0..n.unsigned_abs() {
        let beside = if n < 0 { interval.from - 1 } else { interval.to };
        interval = period_at(zone, period, beside);
    }
    interval
}

fn interval_at(node: &Node, at: i64) -> Interval {
    let holding = period_at(&node.zone, node.data.period, at);
    later(&node.zone, node.data.period, holding, node.data.offset)
}

/// The period from which the job's `data` leads to an interval.
fn undone(node: &Node, interval: Interval) -> Interval {
    later(&node.zone, node.data.period, interval, -node.data.offset)
}

/// All intervals of a job that touch a span.
fn intervals(node: &Node, from: i64, to: i64) -> Vec<Interval> {
    let mut found = vec![period_at(&node.zone, node.data.period, from)];
    while found[found.len() - 1].to < to {
        found.push(later(&node.zone, node.data.period, found[found.len() - 1], 1));
    }
    found
}

fn moved(zone: &TimeZone, at: i64, shift: Shift) -> i64 {
    let here = local(zone, at);
    let there = match shift {
        Shift::Elapsed { ms } => return at + ms,
        Shift::Slots { .. } | Shift::BusinessDays { .. } => {
            panic!("no slots and no calendars in these tests")
        }
        Shift::Days { n: 0 } | Shift::Months { n: 0 } => return at,
        Shift::Days { n } => here.checked_add(i64::from(n).days()),
        Shift::Months { n } => here.checked_add(i64::from(n).months()),
    };
    let there = there.expect("a time of our years");
    // In a gap: the first instant after it, found by stepping.
    let mut wanted = there;
    loop {
        let found = zone.to_timestamp(wanted).expect("an instant");
        if zone.to_datetime(found) == wanted {
            return found.as_millisecond();
        }
        let next = wanted.checked_add(1.minute()).expect("a time");
        wanted = next.with().second(0).subsec_nanosecond(0).build().expect("a time");
    }
}
