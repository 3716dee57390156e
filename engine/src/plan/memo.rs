//! What a plan has computed already, and which questions are open. Knows no rule of versions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hera_common::id::JobId;
use hera_common::spec::Empty;
use jiff::tz::TimeZone;

use super::period::Index;
use super::source::Source;
use super::zone::{MS_MAX, MS_MIN, Zone};
use super::{Node, Plan, PlanError, Slots};
use crate::time::BusinessDays;

/// How many questions may be open inside one another on the stack of the caller, which may be one of
/// two megabytes; deeper ones are put off.
const DEPTH_MAX: usize = 48;

/// A version, and the data interval for which it was made, if it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Planned {
    /// Milliseconds.
    pub(super) at: i64,
    /// The number of the job's period.
    pub(super) carried: Option<Index>,
}

/// A question whose answer is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The versions on a day of the job's zone.
    Day { seat: Seat, day: i64 },
    /// The newest day before this one that has versions.
    DayBefore { seat: Seat, day: i64 },
    /// The version made for a data interval.
    Placed { seat: Seat, index: Index },
}

impl Need {
    pub(super) const fn seat(self) -> Seat {
        match self {
            Self::Day { seat, .. } | Self::DayBefore { seat, .. } | Self::Placed { seat, .. } => {
                seat
            }
        }
    }

    /// A job's own questions lead from a lower rank to a higher one. The same or a lower one comes
    /// back only by way of other jobs: then the job's versions follow from themselves.
    const fn rank(self) -> u8 {
        match self {
            Self::DayBefore { .. } => 1,
            Self::Day { .. } => 2,
            Self::Placed { .. } => 3,
        }
    }
}

/// Why a question has no answer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It never will have one.
    Fault(PlanError),
    /// This one must be answered first, from a fresh stack.
    Deep(Need),
}

impl From<PlanError> for Stop {
    fn from(fault: PlanError) -> Self {
        Self::Fault(fault)
    }
}

/// The versions of a day: shared, since many jobs ask for one upstream's.
pub(super) type Day = Arc<[Planned]>;

/// The place of a job in memory: found by its id once, then by this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seat(usize);

/// A job with its place. Copied freely.
#[derive(Debug)]
pub(super) struct Job<'a, S> {
    pub(super) node: &'a Node<S>,
    pub(super) seat: Seat,
}

impl<S> Clone for Job<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Job<'_, S> {}

/// What a plan remembers: its computed days, by job. Worth keeping from one plan of the same jobs to
/// the next; about half a kilobyte for each job and day that was looked at.
#[derive(Debug, Default)]
pub struct Memo {
    jobs: Vec<JobMemo>,
    seats: BTreeMap<JobId, Seat>,
    zones: Zones,
}

impl Memo {
    /// Forgets what followed from some jobs. After an edit these are the jobs that were made, changed
    /// or deleted, and all that are downstream of them, before or after it.
    pub fn forget(&mut self, jobs: &BTreeSet<JobId>) {
        for job in jobs {
            if let Some(seat) = self.seats.get(job).copied() {
                *self.job(seat) = JobMemo::new(*job);
            }
        }
    }

    fn seat(&mut self, job: JobId) -> Seat {
        let next = Seat(self.jobs.len());
        let seat = *self.seats.entry(job).or_insert(next);
        if seat == next {
            self.jobs.push(JobMemo::new(job));
        }
        seat
    }

    fn job(&mut self, seat: Seat) -> &mut JobMemo {
        self.jobs
            .get_mut(seat.0)
            .expect("a seat is handed out with its entry, and never taken back")
    }
}

/// What is known of one job.
#[derive(Debug)]
struct JobMemo {
    job: JobId,
    /// What its definition says; None until it is looked at.
    facts: Option<Arc<Facts>>,
    /// How far in the open question of this job lies ([`Need::rank`]); 0: none is open.
    open: u8,
    days: Known<Day>,
    before: Known<Option<i64>>,
    placed: Known<Option<i64>>,
}

impl JobMemo {
    fn new(job: JobId) -> Self {
        let (days, before, placed) = (Known::new(), Known::new(), Known::new());
        Self { job, facts: None, open: 0, days, before, placed }
    }
}

/// What the plan asks again and again of a job's definition.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) zone: usize,
    pub(super) source: Source,
    /// There are no versions before it, milliseconds.
    pub(super) floor: i64,
    /// The schedule, or the list of actions, says all about the job's versions.
    pub(super) plain: bool,
    /// The upstream of each edge.
    upstream: Vec<Seat>,
    baseline: Option<Seat>,
}

/// Answers by number: of few questions, so a sorted list is small and quick.
#[derive(Debug)]
struct Known<T>(Vec<(i64, Result<T, PlanError>)>);

impl<T: Clone> Known<T> {
    const fn new() -> Self {
        Self(Vec::new())
    }

    fn get(&self, number: i64) -> Option<Result<T, Stop>> {
        let place = self.0.binary_search_by_key(&number, |(known, _)| *known).ok()?;
        self.0.get(place).map(|(_, answer)| answer.clone().map_err(Stop::Fault))
    }

    fn insert(&mut self, number: i64, answer: Result<T, PlanError>) {
        if let Err(place) = self.0.binary_search_by_key(&number, |(known, _)| *known) {
            self.0.insert(place, (number, answer));
        }
    }
}

/// The zones of the jobs seen so far.
#[derive(Debug, Default)]
struct Zones {
    by_name: BTreeMap<String, usize>,
    zones: Vec<Zone>,
    /// Some zone was asked for business days past the end of its calendar.
    past: Arc<AtomicBool>,
}

impl Zones {
    /// Zones of one name and one set of rules share their days, and one calendar.
    fn number_of(&mut self, zone: &TimeZone, days: Option<&Arc<BusinessDays>>) -> usize {
        let same = |known: &Zone| known.time_zone() == zone && known.counts(days);
        let by_name = zone.iana_name().and_then(|name| self.by_name.get(name)).copied();
        if let Some(number) = by_name.filter(|number| self.zones.get(*number).is_some_and(same)) {
            return number;
        }
        let number = self.zones.iter().position(same).unwrap_or_else(|| {
            self.zones.push(Zone::with(zone.clone(), days.cloned(), Arc::clone(&self.past)));
            self.zones.len() - 1
        });
        if let Some(name) = zone.iana_name() {
            self.by_name.insert(name.to_owned(), number);
        }
        number
    }
}

impl<'a, S: Slots> Plan<'a, S> {
    /// A job by its id.
    pub(super) fn job(&mut self, id: JobId) -> Result<Job<'a, S>, Stop> {
        let node = self.nodes.get(&id).ok_or(PlanError::Unknown { job: id })?;
        Ok(Job { node, seat: self.memo.seat(id) })
    }

    /// A job by its place.
    pub(super) fn at(&mut self, seat: Seat) -> Result<Job<'a, S>, Stop> {
        let id = self.memo.job(seat).job;
        let node = self.nodes.get(&id).ok_or(PlanError::Unknown { job: id })?;
        Ok(Job { node, seat })
    }

    /// The upstream of an edge, by the edge's number.
    pub(super) fn upstream(&mut self, job: Job<'a, S>, edge: usize) -> Result<Seat, Stop> {
        let seat = self.facts(job.seat)?.upstream.get(edge).copied();
        self.there(job, seat)
    }

    /// The upstream that is the job's baseline.
    pub(super) fn baseline(&mut self, job: Job<'a, S>) -> Result<Seat, Stop> {
        let seat = self.facts(job.seat)?.baseline;
        self.there(job, seat)
    }

    /// An upstream's place, if it is there.
    fn there(&mut self, job: Job<'a, S>, seat: Option<Seat>) -> Result<Seat, Stop> {
        let fault = PlanError::NoSource { job: job.node.id };
        let seat = seat.ok_or(fault)?;
        match self.facts(seat) {
            Ok(_there) => Ok(seat),
            Err(_not_there) => {
                let upstream = self.id_of(seat);
                Err(PlanError::Missing { job: job.node.id, upstream }.into())
            }
        }
    }

    /// What a job's definition says; a fault where the job is not there.
    pub(super) fn facts(&mut self, seat: Seat) -> Result<Arc<Facts>, Stop> {
        if let Some(facts) = &self.memo.job(seat).facts {
            return Ok(Arc::clone(facts));
        }
        let Job { node, .. } = self.at(seat)?;
        let source = super::source(node, self.nodes);
        let skips = node.edges.iter().any(|e| e.empty == Empty::Skip && e.upstream != node.id);
        let facts = Arc::new(Facts {
            zone: self.memo.zones.number_of(&node.zone, node.calendar.as_ref()),
            floor: node.birth.ms().clamp(MS_MIN, MS_MAX),
            plain: source == Source::Hand || (source == Source::Schedule && !skips),
            source,
            upstream: node.edges.iter().map(|edge| self.memo.seat(edge.upstream)).collect(),
            baseline: node.baseline.map(|baseline| self.memo.seat(baseline)),
        });
        self.memo.job(seat).facts = Some(Arc::clone(&facts));
        Ok(facts)
    }

    /// A job's zone.
    pub(super) fn zone(&mut self, facts: &Facts) -> &mut Zone {
        let zone = self.memo.zones.zones.get_mut(facts.zone);
        zone.expect("a zone gets its number when it is kept, and is never taken back")
    }

    /// Answers a question and remembers the answer.
    pub(super) fn fulfil(&mut self, need: Need) -> Result<(), Stop> {
        match need {
            Need::Day { seat, day } => self.day(seat, day).map(drop),
            Need::DayBefore { seat, day } => self.day_before(seat, day).map(drop),
            Need::Placed { seat, index } => self.placed(seat, index).map(drop),
        }
    }

    /// The id of a job, for faults and people.
    pub(super) fn id_of(&mut self, seat: Seat) -> JobId {
        self.memo.job(seat).job
    }

    /// The versions of a job on a day of its zone.
    pub(super) fn day(&mut self, seat: Seat, day: i64) -> Result<Day, Stop> {
        if let Some(known) = self.memo.job(seat).days.get(day) {
            return known;
        }
        let answer = self.opened(Need::Day { seat, day }, |plan, job| {
            plan.compute_day(job, day).map(Day::from)
        })?;
        self.memo.job(seat).days.insert(day, answer.clone());
        answer.map_err(Stop::Fault)
    }

    /// The newest day before `day` on which a job has versions.
    pub(super) fn day_before(&mut self, seat: Seat, day: i64) -> Result<Option<i64>, Stop> {
        if let Some(known) = self.memo.job(seat).before.get(day) {
            return known;
        }
        let need = Need::DayBefore { seat, day };
        let answer = self.opened(need, |plan, job| plan.compute_day_before(job, day))?;
        self.memo.job(seat).before.insert(day, answer);
        answer.map_err(Stop::Fault)
    }

    /// The version that a job has for a data interval.
    pub(super) fn placed(&mut self, seat: Seat, index: Index) -> Result<Option<i64>, Stop> {
        if let Some(known) = self.memo.job(seat).placed.get(index) {
            return known;
        }
        let need = Need::Placed { seat, index };
        let answer = self.opened(need, |plan, job| plan.compute_placed(job, index))?;
        self.memo.job(seat).placed.insert(index, answer);
        answer.map_err(Stop::Fault)
    }

    /// An answer, if no calendar was asked for more than it knows.
    pub(super) fn known<T>(&mut self, job: Job<'a, S>, answer: T) -> Result<T, Stop> {
        if self.memo.zones.past.swap(false, Ordering::Relaxed) {
            return Err(PlanError::PastCalendar { job: job.node.id }.into());
        }
        Ok(answer)
    }

    /// Computes with the job's question open. The outer error is for now, the inner one for good.
    fn opened<T>(
        &mut self,
        need: Need,
        compute: impl FnOnce(&mut Self, Job<'a, S>) -> Result<T, Stop>,
    ) -> Result<Result<T, PlanError>, Stop> {
        if self.depth >= DEPTH_MAX {
            return Err(Stop::Deep(need));
        }
        let job = self.at(need.seat())?;
        let outer = self.memo.job(job.seat).open;
        if outer >= need.rank() {
            return Ok(Err(PlanError::Circle { job: job.node.id }));
        }
        self.memo.job(job.seat).open = need.rank();
        self.depth += 1;
        let answer = compute(self, job);
        self.depth -= 1;
        self.memo.job(job.seat).open = outer;
        match answer {
            Ok(answer) => match self.known(job, answer) {
                Ok(answer) => Ok(Ok(answer)),
                Err(Stop::Fault(fault)) => Ok(Err(fault)),
                Err(stop @ Stop::Deep(_)) => Err(stop),
            },
            Err(Stop::Fault(fault)) => Ok(Err(fault)),
            Err(Stop::Deep(need)) => Err(Stop::Deep(need)),
        }
    }
}
