//! What can be wrong with an expression, where, and what to write instead. Knows nothing of jobs.

use thiserror::Error;

use super::{CronField, FIRST_YEAR, LAST_YEAR};

/// A refused expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}byte {position}: {fault}", place(*.field))]
pub struct CronError {
    /// The field that is at fault; none where the expression as a whole is.
    pub field: Option<CronField>,
    /// Bytes from the start of the text as it was given, from 0.
    pub position: usize,
    pub fault: CronFault,
}

fn place(field: Option<CronField>) -> String {
    field.map(|field| format!("{field}, ")).unwrap_or_default()
}

/// The reason; each message ends with what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CronFault {
    #[error(
        "{found} fields; write 5 (minute hour day-of-month month day-of-week), \
         6 (second first) or 7 (year last)"
    )]
    FieldCount { found: usize },
    #[error("unexpected `{found}`; write {expected}")]
    Unexpected { found: char, expected: &'static str },
    #[error("the value is missing; write {expected}")]
    Missing { expected: &'static str },
    #[error("{value} is out of range; write {least} to {most}")]
    OutOfRange { value: u64, least: u16, most: u16 },
    #[error("`{name}` is no name here; write {names}, or a number")]
    UnknownName { name: String, names: &'static str },
    #[error("`{mark}` has no meaning in this field; it belongs to {belongs}")]
    NotHere { mark: char, belongs: &'static str },
    #[error("`{mark}` stands alone in its field; give each such rule a cron of its own")]
    StandsAlone { mark: char },
    #[error("a range mixes a name and a number; write both ends in one way")]
    MixedRange,
    #[error("a step after names is not read by Quartz; write the range in numbers")]
    StepAfterName,
    #[error("a step of 0 never moves; leave it off, or write 1 or more")]
    StepOfZero,
    #[error("a step of {step} is above {limit}; write {limit} or less")]
    StepTooLong { step: u64, limit: u16 },
    #[error("the range ends in {last}, before it starts; years do not wrap: write {last}-{first}")]
    YearsBackwards { first: u16, last: u16 },
    #[error("`L-{back}` is ahead of every month; write L-0 to L-30")]
    LastTooFarBack { back: u64 },
    #[error("a month has no weekday number {nth}; write #1 to #5")]
    NthOutOfRange { nth: u64 },
    #[error("both day fields are set; with seconds, one of them must be `?`")]
    BothDays,
    #[error("both day fields are `?`; write `*` in one of them for every day")]
    NoDays,
    #[error(
        "it never fires: no date from {FIRST_YEAR} to {LAST_YEAR} matches; write days and months that meet"
    )]
    NeverFires,
}
