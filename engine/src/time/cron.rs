//! A cron expression as local wall-clock times: what it says, not in which zone or on which side of a
//! DST change. Knows civil dates only.

mod bits;
mod days;
mod error;
mod field;
mod item;
mod parse;
mod search;

use std::collections::BTreeSet;
use std::fmt;

use jiff::civil::DateTime;

use bits::Bits;
use days::Days;

pub use error::{CronError, CronFault};
pub use field::{CronField, CronForm};

/// The first year that a cron fires in; Quartz's own lower limit.
pub const FIRST_YEAR: i16 = 1970;

/// The last year that a cron fires in. Quartz takes "this year + 100", which needs a clock; a fixed
/// year keeps one expression equal to itself whenever it is asked, lies past every date that a job
/// of this century names, and holds a whole 28-year cycle of weekdays after it.
pub const LAST_YEAR: i16 = 2199;

/// A parsed expression: 5 fields (Unix) or 6 and 7 fields (Quartz).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: Box<str>,
    form: CronForm,
    seconds: Bits,
    minutes: Bits,
    hours: Bits,
    days: Days,
    months: Bits,
    years: Option<BTreeSet<i16>>,
    every_instant: bool,
}

impl Cron {
    /// Reads an expression.
    ///
    /// # Errors
    /// The first fault, with its byte position in `text`, its field, and what to write instead.
    /// A well-formed expression that names no date at all (30 February) is no fault here: ask
    /// [`Cron::check_fires`].
    pub fn parse(text: &str) -> Result<Self, CronError> {
        parse::parse(text)
    }

    /// The expression as it was written, without the white space around it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn form(&self) -> CronForm {
        self.form
    }

    /// Whether the minute or the hour field starts with `*` or is `0/n`. Such a cron fires at every
    /// real instant whose local time matches; the others go by the job's DST policy.
    #[must_use]
    pub fn fires_every_instant(&self) -> bool {
        self.every_instant
    }

    /// Refuses an expression that matches no local time from [`FIRST_YEAR`] to [`LAST_YEAR`].
    ///
    /// # Errors
    /// [`CronFault::NeverFires`], at the day field that the months and years never meet.
    pub fn check_fires(&self) -> Result<(), CronError> {
        if self.next_local(DateTime::MIN).is_some() {
            return Ok(());
        }
        let seconds = usize::from(self.form == CronForm::Quartz);
        let (field, index) = match self.days {
            Days::Month(_) | Days::Both(..) | Days::Either(..) => (CronField::DayOfMonth, 2),
            Days::Week(_) => (CronField::DayOfWeek, 4),
        };
        let position = item::words(&self.text).get(index + seconds).map_or(0, |word| word.0);
        Err(CronError { field: Some(field), position, fault: CronFault::NeverFires })
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
