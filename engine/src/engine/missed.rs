//! Versions that came due while nobody planned: which of them catch-up may take, and the span of those before them. Its cost
//! follows what may be taken, not how many there were.

use hera_common::limits::{
    CATCH_UP_AGE_MAX, CATCH_UP_ROWS_MAX, GAP_COUNT_MAX, MISSED_AFTER, PLAN_AHEAD_ROWS_MAX,
};
use hera_common::spec::CatchUp;
use hera_common::time::{Version, Wall};

use super::generate::after;
use crate::catalog::Job;
use crate::handler::Span;
use crate::plan::{Plan, PlanError, PlannedVersion};

/// What came due from some instant on until now.
#[derive(Debug, Default)]
pub(super) struct Missed {
    /// The slots that no catch-up takes.
    pub(super) far: Option<Span>,
    /// The versions that it may take, and those that were not missed; oldest first.
    pub(super) recent: Vec<PlannedVersion>,
}

/// The versions of a job in `[from, now]`.
pub(super) fn missed(
    plan: &mut Plan<'_>,
    job: &Job,
    from: Version,
    now: Wall,
) -> Result<Missed, PlanError> {
    let id = job.row.id;
    let judged_at = now.minus(job.jitter());
    let mut recent = Vec::new();
    let mut takable = match job.catch_up() {
        // Each version of a closed job has its row.
        _ if !job.row.open => CATCH_UP_ROWS_MAX,
        CatchUp::All => CATCH_UP_ROWS_MAX,
        CatchUp::Last => 1,
        CatchUp::Skip => 0,
    };
    let mut before = after(Version::at(now));
    while let Some(planned) = plan.newest_between(id, from, before)? {
        let late = judged_at.since(planned.version.due());
        let missed = late > MISSED_AFTER;
        let over = (missed && takable == 0) || late > CATCH_UP_AGE_MAX;
        if over || recent.len() >= PLAN_AHEAD_ROWS_MAX {
            break;
        }
        takable -= usize::from(missed);
        before = planned.version;
        recent.push(planned);
    }
    recent.reverse();
    Ok(Missed { far: span(plan, job, from, before)?, recent })
}

/// The span of a job's slots in `[from, to)`.
pub(super) fn span(
    plan: &mut Plan<'_>,
    job: &Job,
    from: Version,
    to: Version,
) -> Result<Option<Span>, PlanError> {
    let id = job.row.id;
    let (first, count) = plan.count_cut(id, from, to, GAP_COUNT_MAX)?;
    let Some(first) = first else { return Ok(None) };
    let last = plan.newest_between(id, from, to)?.map_or(first, |planned| planned.version);
    Ok(Some(Span { from: first, to: last, count: u64::try_from(count).unwrap_or(u64::MAX) }))
}
