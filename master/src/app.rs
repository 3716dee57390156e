//! Puts a master together: store, election, port; and takes it apart in order. It must not know what is served.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hera_engine::Settings;
use hera_store::{Candidate, Options, Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::chance;
use crate::changes::Changes;
use crate::clock::Clock;
use crate::commit::Around;
use crate::config::{Config, StoreKind};
use crate::http;
use crate::lead::{Hopeless, Leading};
use crate::metrics::Metrics;
use crate::role::Role;
use crate::service::{Service, Site};
use crate::tasks::Tasks;

/// How long open requests may take to end once the master stops; after that they are cut.
const CLOSE_MAX: Duration = Duration::from_secs(5);

/// What is known once the port is open.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Where it listens.
    pub address: SocketAddr,
    /// As workers and clients are told.
    pub advertised: String,
}

/// Why a master ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("could not open the store")]
    Open(#[source] StoreError),
    #[error("could not listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    #[error("could not serve the port")]
    Serve(#[source] http::ServeError),
    #[error(transparent)]
    Hopeless(#[from] Hopeless),
    /// A fault of this program: a part of it panicked.
    #[error("the {part} died")]
    Died {
        part: &'static str,
        #[source]
        source: JoinError,
    },
}

/// Runs a master until `shutdown` is cancelled: then it stops accepting, finishes the commit in flight and resigns.
///
/// # Errors
/// The store cannot be opened, the port is taken, the store turned out to be of no use, or a part of the master died.
pub async fn run(
    config: Config,
    shutdown: CancellationToken,
    ready: impl FnOnce(Ready) + Send,
) -> Result<(), RunError> {
    // The port first: a second master on one host is told of the port, and leaves the store alone.
    let port = listen(config.listen).await?;
    let store = open(&config).await.map_err(RunError::Open)?;
    let ended = serve(config, Arc::clone(&store), port, (shutdown, ready)).await;
    if tokio::time::timeout(CLOSE_MAX, store.close()).await.is_err() {
        warn!("the store is still in use, and is left as it is");
    }
    ended
}

/// As [`run`], on a store that is open already.
///
/// # Errors
/// The port is taken, the store turned out to be of no use, or a part of the master died.
pub async fn run_on(
    store: Arc<dyn Store>,
    config: Config,
    shutdown: CancellationToken,
    ready: impl FnOnce(Ready) + Send,
) -> Result<(), RunError> {
    let port = listen(config.listen).await?;
    serve(config, store, port, (shutdown, ready)).await
}

async fn listen(wanted: SocketAddr) -> Result<(TcpListener, SocketAddr), RunError> {
    let failed = |source| RunError::Listen { address: wanted, source };
    let listener = TcpListener::bind(wanted).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

async fn serve(
    config: Config,
    store: Arc<dyn Store>,
    (listener, address): (TcpListener, SocketAddr),
    (shutdown, ready): (CancellationToken, impl FnOnce(Ready) + Send),
) -> Result<(), RunError> {
    let advertised = config.advertise.clone().unwrap_or_else(|| reachable(address));
    if config.insecure {
        warn!(%address, "the port speaks without TLS and tokens: whoever reaches it may run anything");
    }
    // The tasks outlive the signal, so that the commit in flight is finished; `stopping` reaches open requests.
    let stopping = shutdown.child_token();
    let tasks = Tasks::new(stopping.child_token());
    let around = Around {
        store: Arc::clone(&store),
        clock: Clock::of_host(),
        changes: Changes::new(),
        metrics: Metrics::new(),
        tasks: tasks.clone(),
    };
    let site = Site {
        store_id: store.store_id().await.map_err(RunError::Open)?,
        store: config.store.kind(),
        address: advertised.clone(),
        insecure: config.insecure,
        timing: config.timing.worker.clone(),
        accept: config.timing.accept,
        rho_ppm: config.timing.rho_ppm,
    };
    info!(
        store.id = site.store_id,
        store.kind = site.store.label(),
        address = advertised,
        "opened the store"
    );
    let (role, roles) = watch::channel(Role::Standby { leader: None });
    let service = Service::new(roles, around.clone(), site);
    let leading = Leading {
        around,
        me: Candidate { name: chance::unique_name(), address: advertised.clone() },
        timing: config.timing.leader.clone(),
        settings: settings(&config),
        alone: config.store.kind() == StoreKind::Sqlite,
        role,
    };
    let port = tasks.spawn("port", |stop| http::serve(listener, service, stop));
    let stop = stopping.clone();
    let lead = tasks.spawn("lead", |_stop| async move { leading.run(stop).await });
    ready(Ready { address, advertised });
    let ended = tokio::select! {
        led = lead => joined(led, "election").and_then(|led| led.map_err(RunError::from)),
        served = port => joined(served, "port").and_then(|served| served.map_err(RunError::Serve)),
    };
    stopping.cancel();
    if tokio::time::timeout(CLOSE_MAX, tasks.shut_down()).await.is_err() {
        warn!("requests are still open, they are cut");
    }
    info!("stopped");
    ended
}

fn joined<T>(ended: Result<T, JoinError>, part: &'static str) -> Result<T, RunError> {
    ended.map_err(|source| RunError::Died { part, source })
}

async fn open(config: &Config) -> Result<Arc<dyn Store>, StoreError> {
    let options = Options { patience: config.timing.leader.store, ..Options::default() };
    config.store.open(&options).await
}

fn settings(config: &Config) -> Settings {
    let timing = &config.timing;
    Settings {
        accept: timing.accept,
        grace: timing.grace,
        rho_ppm: timing.rho_ppm,
        poll: timing.worker.poll,
        base: config.base.clone(),
    }
}

/// How others reach this host: by its name where the port is open on all addresses.
fn reachable(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        let host = rustix::system::uname();
        return format!("http://{}:{}", host.nodename().to_string_lossy(), address.port());
    }
    format!("http://{address}")
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::{RunError, joined};
    use crate::tasks::Tasks;
    use hera_common::chain::Chain;

    #[tokio::test]
    async fn a_part_that_dies_is_why_the_master_ends() {
        let tasks = Tasks::new(CancellationToken::new());
        let ended = tasks.spawn("port", |_stop| async { panic!("a hole in the rules") }).await;
        let died = joined::<()>(ended, "port").unwrap_err();
        assert!(matches!(died, RunError::Died { part: "port", .. }), "{died:?}");
        let told = Chain(&died).to_string();
        assert!(told.contains("the port died") && told.contains("a hole in the rules"), "{told}");
    }
}
