//! What a job, or a group's `defaults`, may set, and how the nearest wins. Knows no group.

use serde::{Deserialize, Serialize};

use super::fields::{Fields, Names, Problems};
use super::label::{BackoffWord, TakeoverWord};
use super::schedule::{CalendarChoice, DstDoc};
use super::value::{Limit, Span, at_least_a_second, name, number, truth, zone};
use crate::limits::ATTEMPTS_MAX;
use crate::spec::{CatchUp, Overlap, Period};

/// The fields that a job and `defaults` share.
pub(super) const KNOWN: &[&str] = &[
    "at_most_once",
    "calendar",
    "catch_up",
    "data",
    "host_group",
    "lease",
    "max_lateness",
    "overlap",
    "restarts",
    "retries",
    "start_within",
    "takeover",
    "timeout",
    "urgency",
    "zone",
];
/// What only `defaults` has: a job writes it in its `schedule`.
pub(super) const DEFAULTS_ONLY: &[&str] = &["dst"];
/// Those that are not built yet.
pub(super) const LATER: &[&str] = &[
    "area",
    "areas",
    "expected_by",
    "give_up_after",
    "max_duration",
    "pool",
    "pools",
    "queue_max",
    "secrets",
    "wait_for",
];
pub(super) const DATA: Names = Names { known: &[&["period", "offset"]], later: &[] };
pub(super) const RETRIES: Names =
    Names { known: &[&["times", "delay", "backoff", "max_delay", "not_on"]], later: &[] };
/// Periods that a data interval may be moved: 10,000 hours are more than a year.
const DATA_OFFSET_MAX: i32 = 10_000;

/// What was written; nothing is filled in. Fields are in the order of the alphabet, so that the
/// JSON is canonical.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most_once: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar: Option<CalendarChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catch_up: Option<CatchUp>,
    /// Taken whole: an offset counts periods of its own length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataDoc>,
    /// Taken key by key.
    #[serde(skip_serializing_if = "DstDoc::is_empty")]
    pub dst: DstDoc,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lateness: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u32>,
    /// Taken key by key.
    #[serde(skip_serializing_if = "RetriesDoc::is_empty")]
    pub retries: RetriesDoc,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_within: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urgency: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// `data: { period, offset }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataDoc {
    #[serde(default)]
    pub offset: i32,
    pub period: Period,
}

/// `retries: { times, delay, backoff, max_delay, not_on }`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetriesDoc {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<BackoffWord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_on: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

impl Settings {
    /// What is set here, and else what `above` sets.
    #[must_use]
    pub fn or(self, above: &Self) -> Self {
        Self {
            at_most_once: self.at_most_once.or(above.at_most_once),
            calendar: self.calendar.or_else(|| above.calendar.clone()),
            catch_up: self.catch_up.or(above.catch_up),
            data: self.data.or(above.data),
            dst: self.dst.or(above.dst),
            host_group: self.host_group.or_else(|| above.host_group.clone()),
            lease: self.lease.or(above.lease),
            max_lateness: self.max_lateness.or(above.max_lateness),
            overlap: self.overlap.or(above.overlap),
            restarts: self.restarts.or(above.restarts),
            retries: self.retries.or(&above.retries),
            start_within: self.start_within.or(above.start_within),
            timeout: self.timeout.or(above.timeout),
            urgency: self.urgency.or(above.urgency),
            zone: self.zone.or_else(|| above.zone.clone()),
        }
    }

    /// Reads the shared fields of a mapping.
    pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Self {
        // There is one word so far, which changes nothing.
        let _takeover = fields.word::<TakeoverWord>("takeover", problems);
        Self {
            at_most_once: fields.one("at_most_once", problems, truth),
            calendar: CalendarChoice::read(fields, problems),
            catch_up: fields.word::<CatchUp>("catch_up", problems),
            data: data(fields, problems),
            dst: DstDoc::default(),
            host_group: fields.one("host_group", problems, name),
            lease: fields.one("lease", problems, at_least_a_second),
            max_lateness: fields.one("max_lateness", problems, Limit::parse),
            overlap: fields.word::<Overlap>("overlap", problems),
            restarts: fields.one("restarts", problems, |text| number(text, &(0..=ATTEMPTS_MAX))),
            retries: RetriesDoc::read(fields, problems),
            start_within: fields.one("start_within", problems, Limit::parse),
            timeout: fields.one("timeout", problems, Limit::parse),
            urgency: fields.one("urgency", problems, |text| number(text, &(1..=5))),
            zone: fields.one("zone", problems, zone),
        }
    }
}

impl RetriesDoc {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn or(self, above: &Self) -> Self {
        Self {
            backoff: self.backoff.or(above.backoff),
            delay: self.delay.or(above.delay),
            max_delay: self.max_delay.or(above.max_delay),
            not_on: self.not_on.or_else(|| above.not_on.clone()),
            times: self.times.or(above.times),
        }
    }

    fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Self {
        let opened = fields
            .node("retries")
            .and_then(|node| Fields::open(node, &fields.path("retries"), &RETRIES, problems));
        let Some(fields) = opened else { return Self::default() };
        Self {
            backoff: fields.word::<BackoffWord>("backoff", problems),
            delay: fields.one("delay", problems, Span::parse),
            max_delay: fields.one("max_delay", problems, at_least_a_second),
            not_on: fields.list("not_on", problems, |item, at, problems| {
                super::fields::one(item, at, problems, |text| number(text, &(1..=255)))
            }),
            times: fields.one("times", problems, |text| number(text, &(0..=ATTEMPTS_MAX))),
        }
    }
}

fn data(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<DataDoc> {
    let at = fields.path("data");
    let node = fields.node("data")?;
    let fields = Fields::open(node, &at, &DATA, problems)?;
    let range = -DATA_OFFSET_MAX..=DATA_OFFSET_MAX;
    let offset = fields.one("offset", problems, |text| number(text, &range)).unwrap_or(0);
    if fields.node("period").is_none() {
        problems.add(node.place, &at, "has no `period`: hour, day, week or month");
    }
    let period = fields.word::<Period>("period", problems)?;
    Some(DataDoc { offset, period })
}
