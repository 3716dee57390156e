//! What a draft makes of the edges between jobs, and the rules that only the whole graph shows.

use std::collections::BTreeSet;

use hera_common::doc::FieldError;
use hera_common::id::JobId;
use hera_common::time::Version;

use super::Drafting;
use crate::catalog::Catalog;
use crate::graph;
use crate::input::RefusalKind;

impl Drafting<'_> {
    /// Edges by id, then the rules between jobs.
    pub(super) fn link(&mut self) {
        let mut touched: BTreeSet<JobId> = self.draft.jobs.iter().map(|job| job.id).collect();
        touched.extend(&self.draft.recounted);
        let orphans = self.draft.deleted.iter().filter_map(|id| self.before.downstream.get(id));
        let orphans: BTreeSet<JobId> = orphans.flatten().copied().collect();
        let turned = self.turned(&touched);
        for id in touched.union(&orphans).chain(&turned).copied() {
            if self.draft.deleted.contains(&id) {
                continue;
            }
            if let Err(fault) = self.draft.catalog.link(id) {
                self.refuse_job(id, fault, RefusalKind::Conflict);
            }
        }
        // What only was seen is as it was, whatever would be refused of it today.
        let news = self.draft.jobs.iter().filter(|job| !job.seen).map(|job| job.id);
        let recounted = self.draft.recounted.iter().copied();
        let changed: BTreeSet<JobId> = news.chain(turned).chain(recounted).collect();
        for drafted in changed.iter().copied() {
            if let Err(fault) = self.check(drafted) {
                self.refuse_job(drafted, fault, RefusalKind::Invalid);
            }
        }
        if self.refusals.is_empty() {
            self.check_graph(&changed);
        }
    }

    /// Jobs that depend on one which runs by hand only from this edit on, or no longer: their edges to it mean something
    /// else.
    fn turned(&self, touched: &BTreeSet<JobId>) -> BTreeSet<JobId> {
        let by_hand = |catalog: &Catalog, id: &JobId| catalog.jobs.get(id).map(|job| job.by_hand());
        let turned = touched.iter().filter(|id| {
            let before = by_hand(self.before, id);
            before.is_some() && before != by_hand(&self.draft.catalog, id)
        });
        let below = turned.filter_map(|id| self.before.downstream.get(id)).flatten();
        below.copied().filter(|id| !self.draft.deleted.contains(id)).collect()
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
            let read = self.draft.catalog.schedule(spec, birth)?;
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
            let by_hand = upstream.filter(|upstream| upstream.by_hand());
            if let Some(upstream) = by_hand.filter(|_job| !edge.offset.is_none()) {
                let path = &upstream.row.path;
                let problem = format!(
                    "{path} runs by hand only: an edge takes its newest action, and no offset"
                );
                return Err(FieldError::new(format!("depends_on[{place}].offset"), problem));
            }
        }
        Ok(())
    }
}
