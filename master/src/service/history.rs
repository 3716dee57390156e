//! What became of definitions, and who asked for it: revisions and the audit. It must not change anything.

use hera_common::job::RevisionRow;
use hera_common::path::Path;
use hera_engine::apply::differences;
use hera_store::{AuditFilter, AuditView};

use super::Service;
use super::fault::Fault;
use super::page::{List, Piece, Wanted};

/// A revision as shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownRevision {
    pub(crate) row: RevisionRow,
    /// What is different from the one before, in words.
    pub(crate) details: Vec<String>,
}

/// Which rows of the audit; empty is no limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuditWanted {
    /// What was done to this job, and to its actions.
    pub(crate) job: String,
    pub(crate) actor: String,
}

impl Service {
    /// The revisions of a job, the newest first.
    pub(crate) async fn list_revisions(
        &self,
        path: &Path,
        page: &Wanted,
    ) -> Result<Piece<ShownRevision>, Fault> {
        let lead = self.lead()?;
        let job = self.find_job(&lead.catalog(), path)?.row.id;
        let rows = self.store().revisions(job).await?;
        let before = rows.iter().skip(1).map(|row| row.spec.as_str());
        let specs = before.map(Some).chain([None]);
        let details = rows.iter().zip(specs).map(|(row, before)| {
            before.map_or_else(Vec::new, |before| differences(before, &row.spec))
        });
        let details: Vec<Vec<String>> = details.collect();
        let shown =
            rows.into_iter().zip(details).map(|(row, details)| ShownRevision { row, details });
        // Marks go up from page to page, and numbers go down.
        let mark = |shown: &ShownRevision| format!("{:020}", i64::MAX - shown.row.revision.raw());
        List::new("revisions", path).cut(shown, page, mark)
    }

    /// Changes that people asked for, the newest first.
    pub(crate) async fn list_audit(
        &self,
        wanted: &AuditWanted,
        page: &Wanted,
    ) -> Result<Piece<AuditView>, Fault> {
        // A standby would answer, too, and perhaps without what the leader has just written.
        self.lead()?;
        let list = List::new("audit", wanted);
        let AuditWanted { job, actor } = wanted;
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        let before = list.open(page)?.and_then(|mark| mark.parse().ok());
        let filter = AuditFilter { subject: some(job), actor: some(actor), before };
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let mut rows = self.store().audit(&filter, page.limit.saturating_add(1)).await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_row| more);
        let next = last.map(|view| list.seal(&view.number.to_string())).unwrap_or_default();
        Ok(Piece { rows, next })
    }
}
