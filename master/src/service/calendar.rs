//! Calendars as people look at them, and taking them away. Making and changing them is an apply.

use hera_common::audit::Asked;
use hera_common::calendar::CalendarRow;
use hera_common::doc::CalendarDoc;
use hera_common::id::Revision;
use hera_common::schedule::{CalendarDays, CalendarUse, Roll};
use hera_common::time::Version;
use hera_engine::calendars::LATEST;
use hera_engine::catalog::{Catalog, Job};
use hera_engine::input::{Input, Reply};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::Service;
use super::fault::Fault;
use super::page::{List, Piece, Wanted};

/// How many of a calendar's days are shown, and how many days are looked through for them: two years.
const DAYS_SHOWN: usize = 20;
const DAYS_LOOKED: usize = 732;
/// So long before a calendar ends its jobs say so.
const ENDS_SOON_DAYS: i32 = 30;

/// A calendar.
#[derive(Debug, Clone)]
pub(crate) struct ShownCalendar {
    pub(crate) name: String,
    pub(crate) revision: Revision,
    pub(crate) description: String,
    pub(crate) valid_until: Option<Date>,
    pub(crate) of: Vec<String>,
    pub(crate) jobs: Vec<String>,
    pub(crate) spec_json: String,
}

/// A calendar with its next days and its history.
#[derive(Debug, Clone)]
pub(crate) struct WholeCalendar {
    pub(crate) calendar: ShownCalendar,
    pub(crate) days: Vec<Date>,
    pub(crate) revisions: Vec<CalendarRow>,
}

impl Service {
    /// Calendars by name.
    pub(crate) fn list_calendars(&self, page: &Wanted) -> Result<Piece<ShownCalendar>, Fault> {
        let catalog = self.catalog()?;
        let list = List::new("calendars", &());
        let piece = list.cut(catalog.calendars.iter(), page, |(row, _doc)| row.name.clone())?;
        let rows = piece.rows.into_iter().map(|(row, doc)| shown(&catalog, row, doc)).collect();
        Ok(Piece { rows, next: piece.next })
    }

    /// One calendar.
    pub(crate) fn get_calendar(&self, name: &str) -> Result<WholeCalendar, Fault> {
        let catalog = self.catalog()?;
        let found = catalog.calendars.iter().find(|(row, _doc)| row.name == name);
        let (row, doc) =
            found.ok_or_else(|| Fault::NotFound(format!("calendar {name} does not exist")))?;
        let today = TimeZone::UTC.to_datetime(self.now().wall.timestamp()).date();
        let days = catalog.calendars.days(&included(name), LATEST);
        let looked = std::iter::successors(Some(today), |day| day.tomorrow().ok());
        let days = days.into_iter().flat_map(|days| {
            let held = looked.clone().take(DAYS_LOOKED);
            held.filter(|day| days.holds(*day) == Some(true)).take(DAYS_SHOWN).collect::<Vec<_>>()
        });
        Ok(WholeCalendar {
            calendar: shown(&catalog, row, doc),
            days: days.collect(),
            revisions: catalog.calendars.revisions(name).to_vec(),
        })
    }

    /// Takes a calendar away; refused while something uses it.
    pub(crate) async fn delete_calendar(&self, asked: Asked, name: String) -> Result<(), Fault> {
        let lead = self.lead()?;
        let Reply::Deleted(deleted) = lead.desk.ask(Input::DeleteCalendar { asked, name }).await?
        else {
            return Err(Fault::OtherReply);
        };
        Ok(deleted?)
    }
}

/// What the job's calendar will soon no longer know.
pub(super) fn warnings(catalog: &Catalog, job: &Job, now: Version) -> Vec<String> {
    let used = job.spec.as_ref().and_then(|spec| spec.calendar.as_ref());
    let Some(used) = used else { return Vec::new() };
    let days = catalog.calendars.days(used, LATEST);
    let Some(until) = days.and_then(|days| days.valid_until()) else { return Vec::new() };
    let today = TimeZone::UTC.to_datetime(now.timestamp()).date();
    let left = today.until(until).map_or(i32::MAX, |span| span.get_days());
    if left > ENDS_SOON_DAYS {
        return Vec::new();
    }
    let name = &used.name;
    vec![format!(
        "calendar {name} ends on {until}: the job stands still before the first day after"
    )]
}

fn included(name: &str) -> CalendarUse {
    CalendarUse { name: name.to_owned(), days: CalendarDays::Include, roll: Roll::Skip }
}

fn shown(catalog: &Catalog, row: &CalendarRow, doc: &CalendarDoc) -> ShownCalendar {
    let used = |job: &&std::sync::Arc<Job>| {
        let used = job.spec.as_ref().and_then(|spec| spec.calendar.as_ref());
        used.is_some_and(|used| used.name == row.name)
    };
    let mut jobs: Vec<String> =
        catalog.jobs.values().filter(used).map(|job| job.row.path.to_string()).collect();
    jobs.sort_unstable();
    let days = catalog.calendars.days(&included(&row.name), LATEST);
    ShownCalendar {
        name: row.name.clone(),
        revision: row.revision,
        description: doc.description.clone(),
        valid_until: days.and_then(|days| days.valid_until()),
        of: doc.of.iter().cloned().collect(),
        jobs,
        spec_json: doc.to_json(),
    }
}
