//! A job's schedule as a checked value: rules, zone, and what the zone's changes do to them. Knows no
//! job and no instant.

use std::fmt;
use std::str::FromStr;

use hera_common::time::Version;
use jiff::tz::TimeZone;
use thiserror::Error;

use super::cron::{Cron, CronError};
use super::rule::Rule;
use super::slots::slots;
use super::zone;

/// When a job is due. Slots of several rules are one series; two on one instant are one slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    rules: Vec<Rule>,
    zone: TimeZone,
    dst: DstPolicy,
}

/// What happens to a cron's local times that a change of the clocks leaves out or repeats. It does
/// not touch a cron that [fires at every instant](Cron::fires_every_instant).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DstPolicy {
    pub gap: DstGap,
    pub overlap: DstOverlap,
}

/// A local time that does not exist on that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DstGap {
    /// The first instant after the gap.
    #[default]
    Shift,
    Skip,
}

/// A local time that exists twice on that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DstOverlap {
    #[default]
    First,
    Second,
    Both,
}

/// A refused schedule. [`ScheduleError::field`] names the field, relative to the schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    #[error("the list of crons is empty; write one, or leave the schedule off")]
    NoCron,
    #[error("`{text}`: {fault}")]
    Cron { field: String, text: String, fault: CronError },
    #[error("`{name}` is no time zone; write an IANA name such as Asia/Shanghai or UTC")]
    UnknownZone { name: String },
    #[error("`{text}` never fires: it has no slot at or after {birth}; write a date to come")]
    NothingLeft { field: String, text: String, birth: Version },
    #[error("`{found}` is no policy for {field}; write {expected}")]
    UnknownPolicy { field: &'static str, found: String, expected: &'static str },
}

impl ScheduleError {
    /// `cron`, `cron[2]` (from 0), `every`, `at`, `zone`, `dst.gap` or `dst.overlap`.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::NoCron => "cron",
            Self::Cron { field, .. } | Self::NothingLeft { field, .. } => field,
            Self::UnknownZone { .. } => "zone",
            Self::UnknownPolicy { field, .. } => field,
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
        let mut rules = Vec::with_capacity(crons.len());
        for (index, text) in crons.iter().map(AsRef::as_ref).enumerate() {
            let field = cron_field(index, crons.len());
            let refused = |fault| ScheduleError::Cron { field, text: text.to_owned(), fault };
            rules.push(Rule::Cron(Cron::parse(text).map_err(refused)?));
        }
        Self::of(rules, zone, dst)
    }

    /// Any rules, which together make one series.
    ///
    /// # Errors
    /// No rule at all, or an unknown zone.
    pub fn of(rules: Vec<Rule>, zone: &str, dst: DstPolicy) -> Result<Self, ScheduleError> {
        if rules.is_empty() {
            return Err(ScheduleError::NoCron);
        }
        let unknown = || ScheduleError::UnknownZone { name: zone.to_owned() };
        Ok(Self { rules, zone: zone::find(zone).ok_or_else(unknown)?, dst })
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
            let alone = Self { rules: vec![rule.clone()], zone: self.zone.clone(), dst: self.dst };
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
            Some(Rule::At(_)) => "at".to_owned(),
            Some(Rule::Cron(_)) | None => {
                let before = self.rules.iter().take(index).filter(is_cron).count();
                cron_field(before, self.rules.iter().filter(is_cron).count())
            }
        }
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
}

fn cron_field(index: usize, count: usize) -> String {
    if count == 1 { "cron".to_owned() } else { format!("cron[{index}]") }
}

impl DstGap {
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Shift => "shift",
            Self::Skip => "skip",
        }
    }
}

impl DstOverlap {
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
            Self::Both => "both",
        }
    }
}

impl FromStr for DstGap {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Shift, Self::Skip].into_iter().find(|gap| gap.label() == text).ok_or_else(|| {
            let (field, expected) = ("dst.gap", "shift or skip");
            ScheduleError::UnknownPolicy { field, found: text.to_owned(), expected }
        })
    }
}

impl FromStr for DstOverlap {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::First, Self::Second, Self::Both];
        all.into_iter().find(|overlap| overlap.label() == text).ok_or_else(|| {
            let (field, expected) = ("dst.overlap", "first, second or both");
            ScheduleError::UnknownPolicy { field, found: text.to_owned(), expected }
        })
    }
}

impl fmt::Display for DstGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl fmt::Display for DstOverlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}
