//! Why a job has no versions, in the words of the people who wrote it: paths and fields, no numbers of ours.

use hera_common::doc::FieldError;
use hera_common::limits::BINDINGS_MAX;

use super::Catalog;
use crate::calendars::LATEST;
use crate::plan::PlanError;

impl Catalog {
    /// The field at fault of [`PlanError::job`], and what to do about it.
    pub fn explain(&self, fault: PlanError) -> FieldError {
        match fault {
            PlanError::Unknown { job } => {
                let problem = format!("{} cannot be read, or was deleted", self.name(job));
                FieldError::new("depends_on", problem)
            }
            PlanError::Missing { upstream, .. } => {
                let upstream = self.name(upstream);
                let problem = format!("{upstream} stands still or is gone: mend it first");
                FieldError::new("depends_on", problem)
            }
            PlanError::NoSource { .. } => FieldError::new(
                "depends_on",
                "the job has neither a schedule nor an upstream whose versions it could take: \
                 give it a schedule, or name one of its upstream jobs as baseline",
            ),
            PlanError::Circle { .. } => {
                FieldError::new("depends_on", "the job's versions follow from its own")
            }
            PlanError::TooFar { .. } => FieldError::new(
                "depends_on",
                "the versions of its upstream jobs lie too far apart to be found: \
                 bind a job that has versions more often",
            ),
            PlanError::PastCalendar { job } => {
                let spec = self.jobs.get(&job).and_then(|job| job.spec.as_ref());
                let used = spec.and_then(|spec| spec.calendar.as_ref());
                let days = used.and_then(|used| self.calendars.days(used, LATEST));
                let until = days.and_then(|days| days.valid_until());
                let until = until.map(|until| format!(" after {until}")).unwrap_or_default();
                let name = used.map(|used| format!(" {}", used.name)).unwrap_or_default();
                let problem = format!(
                    "calendar{name} knows no day{until}, and a version needs one: apply the calendar \
                     with a later `valid_until`"
                );
                FieldError::new("calendar", problem)
            }
            PlanError::TooMany { edge, .. } => {
                let problem = format!(
                    "it binds more than {BINDINGS_MAX} versions: take a shorter window, or a job with fewer versions"
                );
                FieldError::new(format!("depends_on[{edge}]"), problem)
            }
        }
    }
}
