//! The service of jobs.

use hera_common::limits::SOURCE_BYTES_MAX;
use hera_common::time::Version;
use hera_engine::apply::OthersChanges;
use hera_engine::input::{Applied, CalendarChange, GroupChange, JobChange, JobChangeKind};
use hera_proto::v1;
use tonic::{Request, Response, Status};
use v1::job_service_server::JobService;

use super::status::status;
use super::{Rpc, from_wire, to_wire};
use crate::service::apply::{Attached, Files, ToApply};
use crate::service::fault::Fault;
use crate::service::filter::JobsWanted;
use crate::service::history::ShownRevision;
use crate::service::job::{ShownJob, ShownSlot, SlotsOf};

#[tonic::async_trait]
impl JobService for Rpc {
    async fn apply(
        &self,
        request: Request<v1::ApplyRequest>,
    ) -> Result<Response<v1::ApplyResponse>, Status> {
        let to_apply = to_apply(request.into_inner()).map_err(status)?;
        let applied = self.service.apply(to_apply).await.map_err(status)?;
        Ok(Response::new(applied_to_wire(applied)))
    }

    async fn get_job(
        &self,
        request: Request<v1::GetJobRequest>,
    ) -> Result<Response<v1::GetJobResponse>, Status> {
        let path = from_wire::path("path", &request.get_ref().path).map_err(status)?;
        let job = self.service.get_job(&path).await.map_err(status)?;
        Ok(Response::new(v1::GetJobResponse { job: Some(shown(job)) }))
    }

    async fn list_jobs(
        &self,
        request: Request<v1::ListJobsRequest>,
    ) -> Result<Response<v1::ListJobsResponse>, Status> {
        let v1::ListJobsRequest { job, group, owner, state, page } = request.into_inner();
        let page = from_wire::page(page).map_err(status)?;
        let wanted = JobsWanted { job, group, owner };
        let piece = self.service.list_jobs(&wanted, &state, &page).map_err(status)?;
        let jobs = piece.rows.into_iter().map(shown).collect();
        Ok(Response::new(v1::ListJobsResponse { jobs, next: piece.next }))
    }

    async fn delete_job(
        &self,
        request: Request<v1::DeleteJobRequest>,
    ) -> Result<Response<v1::DeleteJobResponse>, Status> {
        let v1::DeleteJobRequest { asked, path } = request.into_inner();
        let asked = from_wire::asked(asked).map_err(status)?;
        let path = from_wire::path("path", &path).map_err(status)?;
        self.service.delete_job(asked, &path).await.map_err(status)?;
        Ok(Response::new(v1::DeleteJobResponse {}))
    }

    async fn list_revisions(
        &self,
        request: Request<v1::ListRevisionsRequest>,
    ) -> Result<Response<v1::ListRevisionsResponse>, Status> {
        let v1::ListRevisionsRequest { path, page } = request.into_inner();
        let path = from_wire::path("path", &path).map_err(status)?;
        let page = from_wire::page(page).map_err(status)?;
        let piece = self.service.list_revisions(&path, &page).await.map_err(status)?;
        let revisions = piece.rows.into_iter().map(revision).collect();
        Ok(Response::new(v1::ListRevisionsResponse { revisions, next: piece.next }))
    }

    async fn list_slots(
        &self,
        request: Request<v1::ListSlotsRequest>,
    ) -> Result<Response<v1::ListSlotsResponse>, Status> {
        let (of, after, count) = slots_of(request.into_inner()).map_err(status)?;
        let (slots, zone) = self.service.list_slots(&of, after, count).await.map_err(status)?;
        let slot = |ShownSlot { version, local, note }| v1::Slot {
            utc_ms: Version::ms(version),
            local,
            note,
        };
        let slots = slots.into_iter().map(slot).collect();
        Ok(Response::new(v1::ListSlotsResponse { slots, zone }))
    }
}

fn slots_of(wire: v1::ListSlotsRequest) -> Result<(SlotsOf, Option<Version>, u32), Fault> {
    let v1::ListSlotsRequest { zone, after_ms, n, of } = wire;
    let of = match of {
        Some(v1::list_slots_request::Of::Job(path)) => SlotsOf::Job(from_wire::path("job", &path)?),
        Some(v1::list_slots_request::Of::Cron(text)) => SlotsOf::Cron { text, zone },
        None => return Err(Fault::invalid("of", "must be set: a job or a cron expression")),
    };
    Ok((of, after_ms.map(Version::from_ms), n))
}

fn to_apply(wire: v1::ApplyRequest) -> Result<ToApply, Fault> {
    let v1::ApplyRequest {
        asked,
        files,
        attachments,
        dry_run,
        prune,
        since_ms,
        source,
        overwrite,
        first_load_newest,
    } = wire;
    let attached = |attachment: v1::Attachment| {
        let v1::Attachment { file, path, content, executable } = attachment;
        Attached { file, path, content, executable }
    };
    let asked = from_wire::asked(asked)?;
    from_wire::longest("source", source.len(), SOURCE_BYTES_MAX)?;
    // One that does not say where its files come from is a hand of its own.
    let source = if source.is_empty() { asked.actor.clone() } else { source };
    Ok(ToApply {
        asked,
        source,
        others: if overwrite { OthersChanges::Overwrite } else { OthersChanges::Keep },
        files: Files {
            texts: files.into_iter().map(|file| (file.name, file.text)).collect(),
            attached: attachments.into_iter().map(attached).collect(),
        },
        dry_run,
        prune,
        since: since_ms.map(Version::from_ms),
        first_load_newest,
    })
}

fn applied_to_wire(applied: Applied) -> v1::ApplyResponse {
    let Applied { changes, groups, calendars, unchanged, warnings } = applied;
    v1::ApplyResponse {
        changes: changes.into_iter().map(change).collect(),
        warnings,
        unchanged,
        groups: groups.into_iter().map(group_change).collect(),
        calendars: calendars.into_iter().map(calendar_change).collect(),
    }
}

fn calendar_change(change: CalendarChange) -> v1::CalendarChange {
    let CalendarChange { calendar, created, details } = change;
    v1::CalendarChange { calendar, created, details }
}

fn group_change(change: GroupChange) -> v1::GroupChange {
    let GroupChange { group, created, details } = change;
    v1::GroupChange { group, created, details }
}

fn change(change: JobChange) -> v1::Change {
    let JobChange { kind, job, was, revision, details } = change;
    let kind = match kind {
        JobChangeKind::Created => v1::ChangeKind::Created,
        JobChangeKind::Revised => v1::ChangeKind::Revised,
        JobChangeKind::Renamed => v1::ChangeKind::Renamed,
        JobChangeKind::Deleted => v1::ChangeKind::Deleted,
        JobChangeKind::Opened => v1::ChangeKind::Opened,
        JobChangeKind::Closed => v1::ChangeKind::Closed,
    };
    v1::Change { kind: kind.into(), job, was, revision: revision.raw(), details }
}

fn revision(shown: ShownRevision) -> v1::Revision {
    let ShownRevision { row, details } = shown;
    v1::Revision {
        number: row.revision.raw(),
        since_ms: row.since.ms(),
        created_at_ms: row.created_at.ms(),
        actor: row.actor,
        why: row.why,
        details,
    }
}

fn shown(shown: ShownJob) -> v1::Job {
    let ShownJob { job, state, zone, upstream, downstream, next_slots, warnings } = shown;
    let spec = job.spec.as_ref();
    let schedule = spec.and_then(|spec| spec.schedule.as_ref());
    v1::Job {
        id: job.row.id.raw(),
        path: job.row.path.to_string(),
        owner: spec.map(|spec| spec.owner.clone()).unwrap_or_default(),
        state: state.label().to_owned(),
        parked: job.parked.clone().unwrap_or_default(),
        revision: job.row.revision.raw(),
        spec_json: job.spec_json.clone(),
        upstream,
        downstream,
        next_slots_ms: to_wire::versions(&next_slots),
        zone,
        schedule: schedule.map(ToString::to_string).unwrap_or_default(),
        kind: spec.map(|spec| spec.kind.label().to_owned()).unwrap_or_default(),
        description: spec.map(|spec| spec.description.clone()).unwrap_or_default(),
        warnings,
    }
}
