//! The calendars of an apply, and the jobs that go by them. Knows no row.

use std::collections::BTreeSet;
use std::sync::Arc;

use hera_common::calendar::CalendarRow;
use hera_common::doc::Applied;
use hera_common::id::JobId;
use hera_common::time::Version;

use super::{Drafted, Drafting};
use crate::apply::words::differences;
use crate::catalog::Job;
use crate::input::CalendarChange;

impl Drafting<'_> {
    pub(super) fn calendars(&mut self, applied: &Applied) {
        for (name, doc) in &applied.calendars {
            let before = self.before.calendars.get(name);
            if before == Some(doc) {
                continue;
            }
            let json = doc.to_json();
            self.draft.calendar_changes.push(CalendarChange {
                calendar: name.clone(),
                created: before.is_none(),
                details: before.map(|was| differences(&was.to_json(), &json)).unwrap_or_default(),
            });
            self.draft.calendars.push(CalendarRow {
                name: name.clone(),
                revision: self.before.calendars.next_revision(name),
                since: Version::at(self.now),
                spec: Some(json),
                actor: self.set.asked.actor.clone(),
                why: self.set.asked.why.clone(),
                created_at: self.now,
            });
        }
        if !self.draft.calendars.is_empty() {
            self.draft.catalog.calendars.extend(self.draft.calendars.iter().cloned());
        }
    }

    /// Jobs that go by a calendar that changes: their versions and bindings may be others now, and one
    /// that stood still for it goes on.
    pub(super) fn recounted(&mut self) {
        let changed: BTreeSet<String> =
            self.draft.calendars.iter().map(|row| row.name.clone()).collect();
        if changed.is_empty() {
            return;
        }
        let changed = self.draft.catalog.calendars.above(&changed);
        let revised: BTreeSet<JobId> = self.draft.jobs.iter().map(|job| job.id).collect();
        let catalog = &self.draft.catalog;
        let concerned: Vec<Arc<Job>> = catalog
            .jobs
            .values()
            .filter(|job| job.spec.is_some() && catalog.uses(job, &changed))
            .cloned()
            .collect();
        for job in concerned {
            self.draft.recounted.insert(job.row.id);
            if job.parked.is_some() && !revised.contains(&job.row.id) {
                let mut freed = (*job).clone();
                (freed.parked, freed.row.parked) = (None, None);
                self.draft.catalog.put(freed);
                let (id, was) = (job.row.id, Some(job.spec_json.clone()));
                self.draft.jobs.push(Drafted { id, new: false, revision: None, was, seen: false });
            }
        }
    }
}
