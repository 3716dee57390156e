//! A job's schedule as a checked value: rules, zone, and what the zone's changes do to them. Knows no
//! job and no instant.

use std::sync::Arc;

use hera_common::schedule::{
    CalendarUse, DstPolicy, EverySpec, Interval, Moment, Roll, ScheduleSpec,
};
use hera_common::time::Version;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use thiserror::Error;

use super::business::BusinessDays;
use super::cron::{Cron, CronError};
use super::roll::OnDays;
use super::rule::{At, AtLocal, Every, Rule, RuleError};
use super::slots::slots;
use super::zone::{self, first_at, last_at};

/// When a job is due. Slots of several rules are one series; two on one instant are one slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    rules: Vec<Rule>,
    zone: TimeZone,
    dst: DstPolicy,
    bounds: Bounds,
    on_days: Option<OnDays>,
}

/// Where slots may stand: `from` and `to` are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) from: Version,
    pub(super) to: Version,
}

/// A refused schedule. [`ScheduleError::field`] names the field, relative to the schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    #[error("there is no rule; write a cron, `every` or `at`, or leave the schedule off")]
    NoRule,
    #[error("`{text}`: {fault}")]
    Cron { field: String, text: String, fault: CronError },
    #[error("`{name}` is no time zone; write an IANA name such as Asia/Shanghai or UTC")]
    UnknownZone { name: String },
    #[error("`{text}` never fires: it has no slot at or after {birth}; write a date to come")]
    NothingLeft { field: String, text: String, birth: Version },
    #[error("{fault}")]
    Rule { field: &'static str, fault: RuleError },
    #[error(
        "`{word}` moves slots to another day, and an interval below a day has slots there already; \
         leave it off, or write whole days"
    )]
    RollOfHours { word: &'static str },
    #[error("there is no calendar `{name}`")]
    UnknownCalendar { name: String },
    #[error("{end} is before {start}, the start")]
    EndsBeforeStart { start: Moment, end: Moment },
}

impl ScheduleError {
    /// `cron`, `cron[2]` (from 0), `every`, `at`, `zone`, `end`, `calendar` or `calendar.roll`.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::NoRule => "cron",
            Self::Cron { field, .. } | Self::NothingLeft { field, .. } => field,
            Self::UnknownZone { .. } => "zone",
            Self::Rule { field, .. } => field,
            Self::EndsBeforeStart { .. } => "end",
            Self::RollOfHours { .. } => "calendar.roll",
            Self::UnknownCalendar { .. } => "calendar",
        }
    }
}

impl Schedule {
    /// Reads crons and zone. One that is saved must also pass [`Schedule::check_fires_from`].
    ///
    /// # Errors
    /// The first field at fault.
    pub fn new<S: AsRef<str>>(
        crons: &[S],
        zone: &str,
        dst: DstPolicy,
    ) -> Result<Self, ScheduleError> {
        Self::of(read_crons(crons)?, zone, dst)
    }

    /// Any rules, which together make one series.
    ///
    /// # Errors
    /// No rule at all, or an unknown zone.
    pub fn of(rules: Vec<Rule>, zone: &str, dst: DstPolicy) -> Result<Self, ScheduleError> {
        if rules.is_empty() {
            return Err(ScheduleError::NoRule);
        }
        let bounds = Bounds { from: Version::from_ms(i64::MIN), to: Version::from_ms(i64::MAX) };
        Ok(Self { rules, zone: known(zone)?, dst, bounds, on_days: None })
    }

    /// Reads a job's schedule; `days` are the business days of its calendar. One that is saved must also pass [`Schedule::check_fires_from`].
    ///
    /// # Errors
    /// The first field at fault.
    pub fn read(
        spec: &ScheduleSpec,
        days: Option<Arc<BusinessDays>>,
    ) -> Result<Self, ScheduleError> {
        let zone = known(&spec.zone)?;
        let on_days = on_days(spec, days)?;
        let mut rules = read_crons(&spec.crons)?;
        if let Some(EverySpec { interval, anchor }) = spec.every {
            let every = Every::new(interval, anchor, &zone);
            rules.push(Rule::Every(every.map_err(in_field("every"))?));
        }
        let (mut instants, mut local) = (Vec::new(), Vec::new());
        for moment in &spec.at {
            match *moment {
                // One that its calendar may move is a local time.
                Moment::Instant(instant) if rolls(&on_days) => {
                    local.push(zone.to_datetime(instant.timestamp()));
                }
                Moment::Instant(instant) => instants.push(instant),
                Moment::Local(time) => local.push(time),
                Moment::Day(day) => local.push(day.at(0, 0, 0, 0)),
            }
        }
        if !instants.is_empty() {
            rules.push(Rule::At(At::new(instants).map_err(in_field("at"))?));
        }
        if !local.is_empty() {
            rules.push(Rule::AtLocal(AtLocal::new(local).map_err(in_field("at"))?));
        }
        if rules.is_empty() {
            return Err(ScheduleError::NoRule);
        }
        let bounds = bounds(spec, &zone)?;
        Ok(Self { rules, zone, dst: spec.dst, bounds, on_days })
    }

    /// Refuses a schedule in which some rule has no slot at or after its birth: it would never
    /// fire, however right it reads.
    ///
    /// # Errors
    /// The first such rule: it names a date that no year has, or only dates that have passed.
    pub fn check_fires_from(&self, birth: Version) -> Result<(), ScheduleError> {
        for (index, rule) in self.rules.iter().enumerate() {
            let (field, text) = (self.field_of(index), rule.to_string());
            if let Rule::Cron(cron) = rule
                && let Err(fault) = cron.check_fires()
            {
                return Err(ScheduleError::Cron { field, text, fault });
            }
            let alone = Self { rules: vec![rule.clone()], ..self.clone() };
            let at = |rule: &Rule| matches!(rule, Rule::At(_) | Rule::AtLocal(_));
            // Of single instants one to come is enough, however it is written.
            let others = self.rules.iter().any(|other| at(other) && other != rule);
            if at(rule) && others && self.first_at_from(birth).is_some() {
                continue;
            }
            if alone.first_from(birth).is_none() {
                return Err(ScheduleError::NothingLeft { field, text, birth });
            }
        }
        Ok(())
    }

    /// The name of a rule's field.
    fn field_of(&self, index: usize) -> String {
        let is_cron = |rule: &&Rule| matches!(rule, Rule::Cron(_));
        match self.rules.get(index) {
            Some(Rule::Every(_)) => "every".to_owned(),
            Some(Rule::At(_) | Rule::AtLocal(_)) => "at".to_owned(),
            Some(Rule::Cron(_)) | None => {
                let before = self.rules.iter().take(index).filter(is_cron).count();
                cron_field(before, self.rules.iter().filter(is_cron).count())
            }
        }
    }

    /// The first slot of the single instants.
    fn first_at_from(&self, birth: Version) -> Option<Version> {
        let at = |rule: &&Rule| matches!(rule, Rule::At(_) | Rule::AtLocal(_));
        let rules: Vec<Rule> = self.rules.iter().filter(at).cloned().collect();
        Self { rules, ..self.clone() }.first_from(birth)
    }

    fn first_from(&self, birth: Version) -> Option<Version> {
        slots(self, birth, Version::from_ms(i64::MAX)).next()
    }

    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    #[must_use]
    pub fn dst(&self) -> DstPolicy {
        self.dst
    }

    pub(super) fn on_days(&self) -> Option<&OnDays> {
        self.on_days.as_ref()
    }

    /// From when on nobody knows its slots, since its calendar ends; None: they are all known.
    #[must_use]
    pub fn known_until(&self) -> Option<Version> {
        let OnDays { days, roll } = self.on_days.as_ref()?;
        let until = days.valid_until()?;
        // What rolls on from the last days would have to know the next business day.
        let last = match roll {
            Roll::Next => days.at_or_before(until).unwrap_or(until),
            Roll::Skip | Roll::Previous => until,
        };
        let first_unknown = last.tomorrow().ok()?;
        Some(first_at(&self.zone, first_unknown.at(0, 0, 0, 0)))
    }

    /// Whether there may be slots in `[from, to)` that nobody knows.
    #[must_use]
    pub fn unknown_between(&self, from: Version, to: Version) -> bool {
        let Some(until) = self.known_until().filter(|until| *until < to) else { return false };
        let any_day = Self { on_days: None, ..self.clone() };
        slots(&any_day, from.max(until), to).next().is_some()
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }
}

fn rolls(on_days: &Option<OnDays>) -> bool {
    on_days.as_ref().is_some_and(|on_days| on_days.roll != Roll::Skip)
}

fn on_days(
    spec: &ScheduleSpec,
    days: Option<Arc<BusinessDays>>,
) -> Result<Option<OnDays>, ScheduleError> {
    let Some(CalendarUse { name, roll, .. }) = &spec.calendar else { return Ok(None) };
    let days = days.ok_or_else(|| ScheduleError::UnknownCalendar { name: name.clone() })?;
    let hours = matches!(spec.every, Some(EverySpec { interval: Interval::Seconds(_), .. }));
    if hours && *roll != Roll::Skip {
        return Err(ScheduleError::RollOfHours { word: roll.label() });
    }
    Ok(Some(OnDays { days, roll: *roll }))
}

/// Where the slots may stand. A local time that comes twice counts with both, one in a gap stands
/// for the first instant after it.
fn bounds(spec: &ScheduleSpec, zone: &TimeZone) -> Result<Bounds, ScheduleError> {
    let midnight = |day: Date| first_at(zone, day.at(0, 0, 0, 0));
    let from = spec.start.map_or(i64::MIN, |start| match start {
        Moment::Instant(instant) => instant.ms(),
        Moment::Local(local) => first_at(zone, local).ms(),
        Moment::Day(day) => midnight(day).ms(),
    });
    let to = spec.end.map_or(i64::MAX, |end| match end {
        Moment::Instant(instant) => instant.ms(),
        Moment::Local(local) => last_at(zone, local).ms(),
        Moment::Day(day) => day.tomorrow().map_or(i64::MAX, |next| midnight(next).ms() - 1),
    });
    match (spec.start, spec.end) {
        (Some(start), Some(end)) if to < from => Err(ScheduleError::EndsBeforeStart { start, end }),
        _ => Ok(Bounds { from: Version::from_ms(from), to: Version::from_ms(to) }),
    }
}

fn read_crons<S: AsRef<str>>(crons: &[S]) -> Result<Vec<Rule>, ScheduleError> {
    let mut rules = Vec::with_capacity(crons.len());
    for (index, text) in crons.iter().map(AsRef::as_ref).enumerate() {
        let field = cron_field(index, crons.len());
        let refused = |fault| ScheduleError::Cron { field, text: text.to_owned(), fault };
        rules.push(Rule::Cron(Cron::parse(text).map_err(refused)?));
    }
    Ok(rules)
}

fn in_field(field: &'static str) -> impl Fn(RuleError) -> ScheduleError {
    move |fault| ScheduleError::Rule { field, fault }
}

fn known(zone: &str) -> Result<TimeZone, ScheduleError> {
    zone::find(zone).ok_or_else(|| ScheduleError::UnknownZone { name: zone.to_owned() })
}

fn cron_field(index: usize, count: usize) -> String {
    if count == 1 { "cron".to_owned() } else { format!("cron[{index}]") }
}
