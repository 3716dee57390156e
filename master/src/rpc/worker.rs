//! The service of workers.

use hera_proto::v1;
use tonic::{Request, Response, Status};
use v1::worker_service_server::WorkerService;

use super::status::status;
use super::{Rpc, worker_wire as wire};

#[tonic::async_trait]
impl WorkerService for Rpc {
    async fn register(
        &self,
        request: Request<v1::RegisterRequest>,
    ) -> Result<Response<v1::RegisterResponse>, Status> {
        let (header, registration) = wire::registration(request.into_inner()).map_err(status)?;
        let answer = self.service.register(&header, registration).await.map_err(status)?;
        Ok(Response::new(wire::registered(self.service.site(), &answer)))
    }

    async fn poll(
        &self,
        request: Request<v1::PollRequest>,
    ) -> Result<Response<v1::PollResponse>, Status> {
        let (header, tokens, takes_nothing) = wire::poll(request.into_inner()).map_err(status)?;
        let answer = self.service.poll(&header, tokens, takes_nothing).await.map_err(status)?;
        Ok(Response::new(wire::polled(self.service.site(), answer)))
    }

    async fn start(
        &self,
        request: Request<v1::StartRequest>,
    ) -> Result<Response<v1::StartResponse>, Status> {
        let (header, items) = wire::start(request.into_inner()).map_err(status)?;
        let answer = self.service.start(&header, items).await.map_err(status)?;
        let (header, verdicts) = wire::verdicts(self.service.site(), answer);
        Ok(Response::new(v1::StartResponse { header, verdicts }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let (header, items, kill_failed) = wire::heartbeat(request.into_inner()).map_err(status)?;
        let answer = self.service.heartbeat(&header, items, kill_failed).await.map_err(status)?;
        let (header, verdicts) = wire::verdicts(self.service.site(), answer);
        Ok(Response::new(v1::HeartbeatResponse { header, verdicts }))
    }

    async fn finish(
        &self,
        request: Request<v1::FinishRequest>,
    ) -> Result<Response<v1::FinishResponse>, Status> {
        let (header, items) = wire::finish(request.into_inner()).map_err(status)?;
        let answer = self.service.finish(&header, items).await.map_err(status)?;
        let (header, verdicts) = wire::verdicts(self.service.site(), answer);
        Ok(Response::new(v1::FinishResponse { header, verdicts }))
    }

    async fn release(
        &self,
        request: Request<v1::ReleaseRequest>,
    ) -> Result<Response<v1::ReleaseResponse>, Status> {
        let (header, items) = wire::release(request.into_inner()).map_err(status)?;
        let answer = self.service.release(&header, items).await.map_err(status)?;
        let (header, verdicts) = wire::verdicts(self.service.site(), answer);
        Ok(Response::new(v1::ReleaseResponse { header, verdicts }))
    }

    async fn deregister(
        &self,
        request: Request<v1::DeregisterRequest>,
    ) -> Result<Response<v1::DeregisterResponse>, Status> {
        let v1::DeregisterRequest { header, gone } = request.into_inner();
        let header = wire::header(header).map_err(status)?;
        let answer = self.service.deregister(&header, gone).await.map_err(status)?;
        let header = wire::master(self.service.site(), answer.epoch);
        Ok(Response::new(v1::DeregisterResponse { header }))
    }

    async fn append_log(
        &self,
        request: Request<v1::AppendLogRequest>,
    ) -> Result<Response<v1::AppendLogResponse>, Status> {
        let v1::AppendLogRequest { header: _, token, offset, bytes } = request.into_inner();
        let token = super::from_wire::token("token", &token).map_err(status)?;
        let answer = self.service.append_log(token, offset, &bytes).await.map_err(status)?;
        let header = wire::master(self.service.site(), answer.epoch);
        Ok(Response::new(v1::AppendLogResponse { header, size: answer.value }))
    }

    async fn fetch_file(
        &self,
        request: Request<v1::FetchFileRequest>,
    ) -> Result<Response<v1::FetchFileResponse>, Status> {
        let v1::FetchFileRequest { header: _, digest } = request.into_inner();
        let answer = self.service.fetch_file(&digest).await.map_err(status)?;
        let header = wire::master(self.service.site(), answer.epoch);
        Ok(Response::new(v1::FetchFileResponse { header, content: answer.value.into() }))
    }
}
