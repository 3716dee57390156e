//! What a draft makes of the edges between jobs, and the rules that only the whole graph shows.

use std::collections::BTreeSet;

use hera_common::doc::FieldError;
use hera_common::id::JobId;
use hera_common::time::Version;

use super::Drafting;
use crate::catalog::schedule;
use crate::graph;
use crate::input::RefusalKind;

impl Drafting<'_> {
    /// Edges by id, then the rules between jobs.
    pub(super) fn link(&mut self) {
        let touched: BTreeSet<JobId> = self.draft.jobs.iter().map(|job| job.id).collect();
        let orphans = self.draft.deleted.iter().filter_map(|id| self.before.downstream.get(id));
        let orphans: BTreeSet<JobId> = orphans.flatten().copied().collect();
        for id in touched.union(&orphans).copied() {
            if self.draft.deleted.contains(&id) {
                continue;
            }
            if let Err(fault) = self.draft.catalog.link(id) {
                self.refuse_job(id, fault, RefusalKind::Conflict);
            }
        }
        // What only was seen is as it was, whatever would be refused of it today.
        let changed: BTreeSet<JobId> =
            self.draft.jobs.iter().filter(|job| !job.seen).map(|job| job.id).collect();
        for drafted in changed.iter().copied() {
            if let Err(fault) = self.check(drafted) {
                self.refuse_job(drafted, fault, RefusalKind::Invalid);
            }
        }
        if self.refusals.is_empty() {
            self.check_graph(&changed);
        }
    }

    /// The rules between jobs that only the whole graph shows. What was wrong before stops nobody
    /// who does not touch it.
    fn check_graph(&mut self, touched: &BTreeSet<JobId>) {
        let nodes = &self.draft.catalog.nodes;
        let mut faults = graph::check(nodes).err().unwrap_or_default();
        faults.retain(|fault| fault.jobs().iter().any(|id| touched.contains(id)));
        if faults.is_empty() {
            faults = graph::deadlocks(nodes, Version::at(self.now), touched);
        }
        for fault in faults {
            let concerned = fault.jobs().into_iter().filter(|id| touched.contains(id));
            let Some(at) = concerned.min_by_key(|id| (!self.places.contains_key(id), *id)) else {
                continue;
            };
            let field = match &fault {
                graph::Refusal::Cycle { path } => {
                    let names: Vec<String> = path
                        .iter()
                        .chain(path.first())
                        .map(|id| self.draft.catalog.name(*id))
                        .collect();
                    let names = names.join(" -> ");
                    FieldError::new("depends_on", format!("the jobs wait for one another: {names}"))
                }
                graph::Refusal::Deadlock { path } => {
                    let name = |(job, version): &(JobId, Version)| {
                        format!("{}@{version}", self.draft.catalog.name(*job))
                    };
                    let names: Vec<String> = path.iter().chain(path.first()).map(name).collect();
                    let problem = format!("versions wait for one another: {}", names.join(" -> "));
                    FieldError::new("depends_on", problem)
                }
                graph::Refusal::Job { reason, .. } => {
                    FieldError::new(reason.field(), reason.to_string())
                }
                graph::Refusal::Edge { edge, reason, .. } => {
                    FieldError::new(format!("depends_on[{edge}]"), reason.to_string())
                }
            };
            self.refuse_job(at, field, RefusalKind::Invalid);
        }
    }

    fn check(&self, id: JobId) -> Result<(), FieldError> {
        let Some(job) = self.draft.catalog.jobs.get(&id) else { return Ok(()) };
        let Some(spec) = &job.spec else { return Ok(()) };
        if let Some(spec) = &spec.schedule {
            let birth = Version::at(self.now);
            let read = schedule(spec)?;
            // One that has come to its end is no reason to refuse another edit of the job.
            let before = self.before.jobs.get(&id).and_then(|before| before.spec.as_ref());
            if before.and_then(|before| before.schedule.as_ref()) != Some(spec) {
                read.check_fires_from(birth).map_err(|fault| {
                    FieldError::new(format!("schedule.{}", fault.field()), fault.to_string())
                })?;
            }
        }
        let Some(node) = self.draft.catalog.nodes.get(&id) else { return Ok(()) };
        for (place, edge) in node.edges.iter().enumerate() {
            let upstream = self.draft.catalog.jobs.get(&edge.upstream);
            if let Some(upstream) = upstream.filter(|upstream| upstream.by_hand()) {
                let problem = format!(
                    "{} runs by hand only; an edge to such a job is not built yet",
                    upstream.row.path
                );
                return Err(FieldError::new(format!("depends_on[{place}]"), problem));
            }
        }
        Ok(())
    }
}
