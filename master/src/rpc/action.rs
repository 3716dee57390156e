//! The service of actions.

use hera_common::time::Version;
use hera_proto::v1;
use tonic::{Request, Response, Status};
use v1::action_service_server::ActionService;

use super::status::status;
use super::{Rpc, from_wire, to_wire};
use crate::service::fault::Fault;
use crate::service::render::Rendered;

#[tonic::async_trait]
impl ActionService for Rpc {
    async fn list_actions(
        &self,
        request: Request<v1::ListActionsRequest>,
    ) -> Result<Response<v1::ListActionsResponse>, Status> {
        let v1::ListActionsRequest { filter, page, with_bindings } = request.into_inner();
        let (wanted, page) = (from_wire::actions(filter), from_wire::page(page).map_err(status)?);
        let piece = self.service.list_actions(&wanted, &page, with_bindings).await;
        let piece = piece.map_err(status)?;
        let actions = piece.rows.into_iter().map(to_wire::action).collect();
        Ok(Response::new(v1::ListActionsResponse { actions, next: piece.next }))
    }

    async fn get_action(
        &self,
        request: Request<v1::GetActionRequest>,
    ) -> Result<Response<v1::GetActionResponse>, Status> {
        let whole = self.service.get_action(&request.get_ref().action).await.map_err(status)?;
        let action = to_wire::action(whole.action);
        Ok(Response::new(v1::GetActionResponse {
            bindings: action.bindings.clone(),
            action: Some(action),
            runs: whole.runs.into_iter().map(to_wire::run).collect(),
            downstream: whole.downstream.into_iter().map(to_wire::binding).collect(),
            more_downstream: whole.more_downstream,
        }))
    }

    async fn run_action(
        &self,
        request: Request<v1::RunActionRequest>,
    ) -> Result<Response<v1::RunActionResponse>, Status> {
        let v1::RunActionRequest { asked, action, set } = request.into_inner();
        let asked = from_wire::asked(asked).map_err(status)?;
        let set = from_wire::config("set", set).map_err(status)?;
        let made = self.service.run_action(asked, &action, set).await.map_err(status)?;
        let (action, run) = (Some(to_wire::action(made.action)), Some(to_wire::run(made.run)));
        Ok(Response::new(v1::RunActionResponse { action, run, notes: made.notes }))
    }

    async fn recover_action(
        &self,
        request: Request<v1::RecoverActionRequest>,
    ) -> Result<Response<v1::RecoverActionResponse>, Status> {
        let v1::RecoverActionRequest { asked, action } = request.into_inner();
        let asked = from_wire::asked(asked).map_err(status)?;
        let made = self.service.recover_action(asked, &action).await.map_err(status)?;
        let (action, run) = (Some(to_wire::action(made.action)), Some(to_wire::run(made.run)));
        Ok(Response::new(v1::RecoverActionResponse { action, run, notes: made.notes }))
    }

    async fn cancel_action(
        &self,
        request: Request<v1::CancelActionRequest>,
    ) -> Result<Response<v1::CancelActionResponse>, Status> {
        let v1::CancelActionRequest { asked, action } = request.into_inner();
        let asked = from_wire::asked(asked).map_err(status)?;
        let cancelled = self.service.cancel_action(asked, &action).await.map_err(status)?;
        let action = Some(to_wire::action(cancelled.action));
        Ok(Response::new(v1::CancelActionResponse { action, pending: cancelled.pending }))
    }

    async fn why_action(
        &self,
        request: Request<v1::WhyActionRequest>,
    ) -> Result<Response<v1::WhyActionResponse>, Status> {
        let because = self.service.why_action(&request.get_ref().action).await.map_err(status)?;
        Ok(Response::new(v1::WhyActionResponse {
            action: Some(to_wire::action(because.action)),
            code: because.code.label().to_owned(),
            text: because.text,
            root: because.root,
            path: because.path,
            expected_start_ms: because.expected_start.map(hera_common::time::Wall::ms),
        }))
    }

    async fn render(
        &self,
        request: Request<v1::RenderRequest>,
    ) -> Result<Response<v1::RenderResponse>, Status> {
        let wanted = rendered(request.into_inner()).map_err(status)?;
        let text = self.service.render(&wanted).await.map_err(status)?;
        Ok(Response::new(v1::RenderResponse { text }))
    }
}

fn rendered(wire: v1::RenderRequest) -> Result<Rendered, Fault> {
    match wire.of {
        Some(v1::render_request::Of::Action(action)) => Ok(Rendered::Action(action)),
        Some(v1::render_request::Of::Text(v1::render_request::Text { text, at_ms, zone })) => {
            Ok(Rendered::Text { text, at: Version::from_ms(at_ms), zone })
        }
        None => Err(Fault::invalid("of", "must be set: an action or a text")),
    }
}
