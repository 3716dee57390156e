//! Taking calendars away, and jobs whose calendars end: parked with the reason, once nothing known is left to do.

use hera_common::audit::{Asked, AuditRow};
use hera_common::calendar::CalendarRow;
use hera_common::time::Version;
use hera_common::unit::Write;

use super::{At, Engine};
use crate::catalog::Job;
use crate::input::{Refusal, RefusalKind, Reply, Tag};
use std::sync::Arc;

/// How an edit of a calendar is noted.
pub(super) fn audit(row: &CalendarRow, verb: &str, old: Option<String>) -> AuditRow {
    AuditRow {
        at: row.created_at,
        asked: Asked { actor: row.actor.clone(), why: row.why.clone() },
        verb: verb.to_owned(),
        subject: format!("calendar {}", row.name),
        old,
        new: row.spec.clone(),
    }
}

impl Engine {
    pub(super) fn delete_calendar(
        &mut self,
        at: &mut At<'_>,
        tag: Tag,
        asked: &Asked,
        name: String,
    ) {
        let (after, reply) = match self.try_delete_calendar(at, asked, name) {
            Ok(unit) => (Some(unit), Ok(())),
            Err(refusal) => (None, Err(refusal)),
        };
        at.stage.answer(tag, after, Reply::Deleted(reply));
    }

    fn try_delete_calendar(
        &mut self,
        at: &mut At<'_>,
        asked: &Asked,
        name: String,
    ) -> Result<usize, Refusal> {
        let catalog = &self.catalog;
        let Some(doc) = catalog.calendars.get(&name) else {
            let problem = format!("there is no calendar `{name}`");
            return Err(Refusal::of(RefusalKind::NotFound, "name", problem));
        };
        let used = |job: &&Arc<Job>| {
            let spec = job.spec.as_ref().and_then(|spec| spec.calendar.as_ref());
            spec.is_some_and(|used| used.name == name)
        };
        let jobs = catalog.jobs.values().filter(used).map(|job| job.row.path.to_string());
        let others = catalog.calendars.iter().filter(|(_row, doc)| doc.of.contains(&name));
        let others = others.map(|(row, _doc)| format!("calendar {}", row.name));
        let groups = catalog.groups.values().filter(|group| {
            let used = group.doc.defaults.calendar.as_ref().and_then(|choice| choice.used());
            used.is_some_and(|used| used.name() == Some(name.as_str()))
        });
        let groups = groups.map(|group| format!("group {}", group.row.path));
        let users: Vec<String> = jobs.chain(groups).chain(others).collect();
        if !users.is_empty() {
            let problem = format!("calendar {name} is needed by {}", users.join(", "));
            return Err(Refusal::conflict("name", problem));
        }
        let row = CalendarRow {
            revision: catalog.calendars.next_revision(&name),
            name,
            since: Version::at(at.now.wall),
            spec: None,
            actor: asked.actor.clone(),
            why: asked.why.clone(),
            created_at: at.now.wall,
        };
        let old = Some(doc.to_json());
        let unit = at.stage.unit(None);
        at.stage.write(unit, Write::Audit(Box::new(audit(&row, "delete", old))));
        at.stage.write(unit, Write::Calendar(Box::new(row.clone())));
        let catalog = Arc::make_mut(&mut self.catalog);
        catalog.calendars.extend([row]);
        catalog.edition += 1;
        Ok(unit)
    }
}
