//! The gRPC border: each call is parse, ask, answer. Messages of the contract are named here and nowhere else.

mod action;
mod calendar;
mod cluster;
mod from_wire;
mod group;
mod job;
mod run;
mod status;
mod to_wire;
mod watch;
mod worker;
mod worker_wire;

use hera_proto::v1;
use hera_proto::{MESSAGE_BYTES_MAX, v1::action_service_server::ActionServiceServer};
use tonic::server::NamedService;
use tonic::service::Routes;
use v1::calendar_service_server::CalendarServiceServer;
use v1::cluster_service_server::ClusterServiceServer;
use v1::group_service_server::GroupServiceServer;
use v1::job_service_server::JobServiceServer;
use v1::run_service_server::RunServiceServer;
use v1::watch_service_server::WatchServiceServer;
use v1::worker_service_server::WorkerServiceServer;

use crate::service::Service;

/// One implementation of all services.
#[derive(Clone)]
pub(crate) struct Rpc {
    service: Service,
}

/// Our services by name, for health.
pub(crate) const NAMES: [&str; 8] = [
    ActionServiceServer::<Rpc>::NAME,
    CalendarServiceServer::<Rpc>::NAME,
    ClusterServiceServer::<Rpc>::NAME,
    GroupServiceServer::<Rpc>::NAME,
    JobServiceServer::<Rpc>::NAME,
    RunServiceServer::<Rpc>::NAME,
    WatchServiceServer::<Rpc>::NAME,
    WorkerServiceServer::<Rpc>::NAME,
];

/// All services of the contract.
pub(crate) fn routes(service: &Service) -> Routes {
    let rpc = Rpc { service: service.clone() };
    macro_rules! sized {
        ($server:ident) => {
            $server::new(rpc.clone())
                .max_decoding_message_size(MESSAGE_BYTES_MAX)
                .max_encoding_message_size(MESSAGE_BYTES_MAX)
        };
    }
    Routes::new(sized!(WorkerServiceServer))
        .add_service(sized!(JobServiceServer))
        .add_service(sized!(GroupServiceServer))
        .add_service(sized!(CalendarServiceServer))
        .add_service(sized!(ActionServiceServer))
        .add_service(sized!(RunServiceServer))
        .add_service(sized!(ClusterServiceServer))
        .add_service(sized!(WatchServiceServer))
}
