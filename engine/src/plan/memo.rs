//! What a plan has computed already, and which questions are open. Knows no rule of versions.

use std::collections::BTreeMap;
use std::rc::Rc;

use hera_common::id::JobId;
use jiff::tz::TimeZone;

use super::period::Index;
use super::source::Source;
use super::zone::Zone;
use super::{Node, Plan, PlanError, Slots};

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
    Day { job: JobId, day: i64 },
    /// The newest day before this one that has versions.
    DayBefore { job: JobId, day: i64 },
    /// The version made for a data interval.
    Placed { job: JobId, index: Index },
}

impl Need {
    pub(super) const fn job(self) -> JobId {
        match self {
            Self::Day { job, .. } | Self::DayBefore { job, .. } | Self::Placed { job, .. } => job,
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
pub(super) type Day = Rc<[Planned]>;

/// What is known of one job.
#[derive(Debug)]
pub(super) struct JobMemo {
    zone: usize,
    source: Rc<Source>,
    /// How far in the open question of this job lies ([`Need::rank`]); 0: none is open.
    open: u8,
    days: BTreeMap<i64, Result<Day, PlanError>>,
    before: BTreeMap<i64, Result<Option<i64>, PlanError>>,
    placed: BTreeMap<Index, Result<Option<i64>, PlanError>>,
}

/// The zones of the jobs seen so far.
#[derive(Debug)]
pub(super) struct Zones {
    by_name: BTreeMap<String, usize>,
    zones: BTreeMap<usize, Zone>,
}

impl Zones {
    pub(super) const fn new() -> Self {
        Self { by_name: BTreeMap::new(), zones: BTreeMap::new() }
    }

    /// Zones of one name and one set of rules share their days.
    fn number_of(&mut self, zone: &TimeZone) -> usize {
        let same = |known: &Zone| known.time_zone() == zone;
        let by_name = zone.iana_name().and_then(|name| self.by_name.get(name)).copied();
        if let Some(number) = by_name.filter(|number| self.zones.get(number).is_some_and(same)) {
            return number;
        }
        let known = self.zones.iter().find(|(_, known)| same(known)).map(|(number, _)| *number);
        let number = known.unwrap_or(self.zones.len());
        self.zones.entry(number).or_insert_with(|| Zone::new(zone.clone()));
        if let Some(name) = zone.iana_name() {
            self.by_name.insert(name.to_owned(), number);
        }
        number
    }
}

impl<'a, S: Slots> Plan<'a, S> {
    fn memo(&mut self, node: &Node<S>) -> &mut JobMemo {
        let (zones, nodes) = (&mut self.zones, self.nodes);
        self.memo.entry(node.id).or_insert_with(|| JobMemo {
            zone: zones.number_of(&node.zone),
            source: Rc::new(super::source(node, nodes)),
            open: 0,
            days: BTreeMap::new(),
            before: BTreeMap::new(),
            placed: BTreeMap::new(),
        })
    }

    /// The job's zone.
    pub(super) fn zone_of(&mut self, node: &Node<S>) -> &mut Zone {
        let number = self.memo(node).zone;
        self.zones.zones.entry(number).or_insert_with(|| Zone::new(node.zone.clone()))
    }

    /// Where the job's versions come from.
    pub(super) fn source_of(&mut self, node: &Node<S>) -> Rc<Source> {
        Rc::clone(&self.memo(node).source)
    }

    /// Answers a question and remembers the answer.
    pub(super) fn fulfil(&mut self, need: Need) -> Result<(), Stop> {
        match need {
            Need::Day { job, day } => self.day(job, day).map(drop),
            Need::DayBefore { job, day } => self.day_before(job, day).map(drop),
            Need::Placed { job, index } => self.placed(job, index).map(drop),
        }
    }

    /// The versions of a job on a day of its zone.
    pub(super) fn day(&mut self, job: JobId, day: i64) -> Result<Day, Stop> {
        let node = self.node(job)?;
        if let Some(known) = self.memo(node).days.get(&day) {
            return known.clone().map_err(Stop::Fault);
        }
        let answer = self.opened(Need::Day { job, day }, node, |plan| {
            plan.compute_day(node, day).map(Day::from)
        })?;
        self.memo(node).days.insert(day, answer.clone());
        answer.map_err(Stop::Fault)
    }

    /// The newest day before `day` on which a job has versions.
    pub(super) fn day_before(&mut self, job: JobId, day: i64) -> Result<Option<i64>, Stop> {
        let node = self.node(job)?;
        if let Some(known) = self.memo(node).before.get(&day) {
            return known.map_err(Stop::Fault);
        }
        let need = Need::DayBefore { job, day };
        let answer = self.opened(need, node, |plan| plan.compute_day_before(node, day))?;
        self.memo(node).before.insert(day, answer);
        answer.map_err(Stop::Fault)
    }

    /// The version that a job has for a data interval.
    pub(super) fn placed(&mut self, job: JobId, index: Index) -> Result<Option<i64>, Stop> {
        let node = self.node(job)?;
        if let Some(known) = self.memo(node).placed.get(&index) {
            return known.map_err(Stop::Fault);
        }
        let need = Need::Placed { job, index };
        let answer = self.opened(need, node, |plan| plan.compute_placed(node, index))?;
        self.memo(node).placed.insert(index, answer);
        answer.map_err(Stop::Fault)
    }

    /// Computes with the job's question open. The outer error is for now, the inner one for good.
    fn opened<T>(
        &mut self,
        need: Need,
        node: &'a Node<S>,
        compute: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<Result<T, PlanError>, Stop> {
        if self.depth >= DEPTH_MAX {
            return Err(Stop::Deep(need));
        }
        let outer = self.memo(node).open;
        if outer >= need.rank() {
            return Ok(Err(PlanError::Circle { job: node.id }));
        }
        self.memo(node).open = need.rank();
        self.depth += 1;
        let answer = compute(self);
        self.depth -= 1;
        self.memo(node).open = outer;
        match answer {
            Ok(answer) => Ok(Ok(answer)),
            Err(Stop::Fault(fault)) => Ok(Err(fault)),
            Err(Stop::Deep(need)) => Err(Stop::Deep(need)),
        }
    }
}
