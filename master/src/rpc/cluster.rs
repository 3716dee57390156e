//! The service of the cluster.

use hera_common::audit::{Asked, AuditRow};
use hera_proto::v1;
use hera_store::AuditView;
use tonic::{Request, Response, Status};
use v1::cluster_service_server::ClusterService;

use super::status::status;
use super::{Rpc, from_wire, to_wire};
use crate::service::Site;
use crate::service::cluster::{ShownCluster, ShownQueued, ShownWorker};
use crate::service::history::AuditWanted;

#[tonic::async_trait]
impl ClusterService for Rpc {
    async fn get_cluster(
        &self,
        _request: Request<v1::GetClusterRequest>,
    ) -> Result<Response<v1::GetClusterResponse>, Status> {
        let cluster = self.service.get_cluster().await.map_err(status)?;
        Ok(Response::new(shown(self.service.site(), cluster)))
    }

    async fn list_workers(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        let page = from_wire::page(request.into_inner().page).map_err(status)?;
        let piece = self.service.list_workers(&page).await.map_err(status)?;
        let workers = piece.rows.into_iter().map(worker).collect();
        Ok(Response::new(v1::ListWorkersResponse { workers, next: piece.next }))
    }

    async fn list_queue(
        &self,
        request: Request<v1::ListQueueRequest>,
    ) -> Result<Response<v1::ListQueueResponse>, Status> {
        let page = from_wire::page(request.into_inner().page).map_err(status)?;
        let piece = self.service.list_queue(&page).await.map_err(status)?;
        let queued = |ShownQueued { run, code }| v1::Queued {
            run: Some(to_wire::run(run)),
            code: String::from(code),
        };
        let queued = piece.rows.into_iter().map(queued).collect();
        Ok(Response::new(v1::ListQueueResponse { queued, next: piece.next }))
    }

    async fn list_audit(
        &self,
        request: Request<v1::ListAuditRequest>,
    ) -> Result<Response<v1::ListAuditResponse>, Status> {
        let v1::ListAuditRequest { job, actor, page } = request.into_inner();
        let page = from_wire::page(page).map_err(status)?;
        let wanted = AuditWanted { job, actor };
        let piece = self.service.list_audit(&wanted, &page).await.map_err(status)?;
        let entries = piece.rows.into_iter().map(audit_entry).collect();
        Ok(Response::new(v1::ListAuditResponse { entries, next: piece.next }))
    }
}

fn audit_entry(view: AuditView) -> v1::AuditEntry {
    let AuditRow { at, asked: Asked { actor, why }, verb, subject, old, new } = view.row;
    v1::AuditEntry { at_ms: at.ms(), actor, why, verb, subject, old_json: old, new_json: new }
}

fn shown(site: &Site, cluster: ShownCluster) -> v1::GetClusterResponse {
    let ShownCluster { epoch, store_now_ms, jobs, workers, standing, warnings } = cluster;
    v1::GetClusterResponse {
        leader_address: site.address.clone(),
        epoch,
        store_id: site.store_id.clone(),
        store: site.store.label().to_owned(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        store_now_ms,
        jobs,
        workers,
        queued: standing.queued,
        held: standing.held,
        planned: standing.planned,
        waiting: standing.waiting,
        warnings,
        idle: standing.idle,
    }
}

fn worker(shown: ShownWorker) -> v1::Worker {
    let ShownWorker { row, held, state, heard_ago, takes_nothing } = shown;
    v1::Worker {
        id: row.id.raw(),
        name: row.name,
        incarnation: row.incarnation.raw(),
        host_groups: row.groups,
        labels: row.labels,
        capacity: row.capacity,
        held,
        state: state.to_owned(),
        program: row.program,
        heard_ms_ago: heard_ago.map(|ago| u64::try_from(ago.as_millis()).unwrap_or(u64::MAX)),
        takes_nothing,
    }
}
