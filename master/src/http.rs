//! The one port: gRPC services, health, reflection, and the pages that probes and Prometheus ask for. It must not know any rule.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hera_proto::DESCRIPTORS;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::transport::server::TcpIncoming;
use tracing::info;

use crate::metrics::CONTENT_TYPE;
use crate::role::Role;
use crate::rpc;
use crate::service::Service;

/// A connection that does not answer is found within these.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
const KEEP_ALIVE_ANSWER: Duration = Duration::from_secs(5);
/// A worker has a poll, its heartbeat and a few more open at once; a page has its followers.
const STREAMS_MAX: u32 = 1_000;

/// Why the port is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("could not read the descriptors of the services")]
    Descriptors(#[source] tonic_reflection::server::Error),
    #[error("the port failed")]
    Port(#[source] tonic::transport::Error),
}

/// Serves until told to stop; then lets open requests end.
pub(crate) async fn serve(
    listener: TcpListener,
    service: Service,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .map_err(ServeError::Descriptors)?;
    let (health, health_service) = tonic_health::server::health_reporter();
    let routes = rpc::routes(&service).add_service(reflection).add_service(health_service);
    let router = routes
        .into_axum_router()
        .reset_fallback()
        .route("/healthz", get(async || "alive\n"))
        .route("/metrics", get(metrics).with_state(service.clone()))
        .route("/readyz", get(readyz).with_state(service.clone()))
        .fallback(unknown);
    let serving = tonic::transport::Server::builder()
        .accept_http1(true)
        .tcp_nodelay(true)
        .max_concurrent_streams(STREAMS_MAX)
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE_ANSWER))
        .add_routes(Routes::from(router))
        .serve_with_incoming_shutdown(
            TcpIncoming::from(listener).with_nodelay(Some(true)),
            stop.clone().cancelled_owned(),
        );
    let telling = tell_health(health, service, stop);
    let (served, ()) = tokio::join!(serving, telling);
    info!("the port is closed");
    served.map_err(ServeError::Port)
}

/// All services together serve while this master can say who leads; each of ours only on the leader.
async fn tell_health(
    health: tonic_health::server::HealthReporter,
    service: Service,
    stop: CancellationToken,
) {
    let mut role = service.role();
    loop {
        let (leads, knows) = match &*role.borrow_and_update() {
            Role::Leading(_) => (true, true),
            Role::Standby { leader } => (false, leader.is_some()),
            Role::Activating | Role::Stopping => (false, false),
        };
        let status = |serves: bool| match serves {
            true => tonic_health::ServingStatus::Serving,
            false => tonic_health::ServingStatus::NotServing,
        };
        health.set_service_status("", status(leads || knows)).await;
        for name in rpc::NAMES {
            health.set_service_status(name, status(leads)).await;
        }
        tokio::select! {
            changed = role.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

/// For Prometheus.
async fn metrics(service: axum::extract::State<Service>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], service.metrics().await)
}

/// Ready: this master leads, or knows who does.
async fn readyz(service: axum::extract::State<Service>) -> (StatusCode, String) {
    match &*service.role().borrow() {
        Role::Leading(_) => (StatusCode::OK, "leads\n".to_owned()),
        Role::Standby { leader: Some(leader) } => {
            (StatusCode::OK, format!("stands by, {leader} leads\n"))
        }
        Role::Standby { leader: None } | Role::Activating => {
            (StatusCode::SERVICE_UNAVAILABLE, "nobody leads yet\n".to_owned())
        }
        Role::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stops\n".to_owned()),
    }
}

/// An unknown method of gRPC is told as such; all else is an unknown page.
async fn unknown(request: Request) -> Result<Response, Infallible> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let grpc = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    Ok(if grpc {
        tonic::Status::unimplemented("this master has no such method").into_http()
    } else {
        (StatusCode::NOT_FOUND, "no such page\n").into_response()
    })
}
