//! The service of groups.

use hera_proto::v1;
use tonic::{Request, Response, Status};
use v1::group_service_server::GroupService;

use super::status::status;
use super::{Rpc, from_wire};
use crate::service::job::ShownGroup;

#[tonic::async_trait]
impl GroupService for Rpc {
    async fn get_group(
        &self,
        request: Request<v1::GetGroupRequest>,
    ) -> Result<Response<v1::GetGroupResponse>, Status> {
        let path = from_wire::path("path", &request.get_ref().path).map_err(status)?;
        let group = self.service.get_group(&path).map_err(status)?;
        Ok(Response::new(v1::GetGroupResponse { group: Some(shown(group)) }))
    }

    async fn list_groups(
        &self,
        request: Request<v1::ListGroupsRequest>,
    ) -> Result<Response<v1::ListGroupsResponse>, Status> {
        let v1::ListGroupsRequest { group, page } = request.into_inner();
        let page = from_wire::page(page).map_err(status)?;
        let piece = self.service.list_groups(&group, &page).map_err(status)?;
        let groups = piece.rows.into_iter().map(shown).collect();
        Ok(Response::new(v1::ListGroupsResponse { groups, next: piece.next }))
    }
}

fn shown(group: ShownGroup) -> v1::Group {
    let ShownGroup { id, path, owner, config, spec_json, jobs } = group;
    let config = config.into_iter().collect();
    v1::Group { id: id.raw(), path: path.to_string(), owner, config, spec_json, jobs }
}
