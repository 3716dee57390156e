//! How this process becomes the worker of a name, and becomes it again where the leader has forgotten it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hera_common::chain::Chain;
use hera_common::id::Token;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::agent::Desk;
use crate::contract::Timing;
use crate::link::{CallError, Link, Registration};
use crate::pause::Backoff;
use crate::state_dir::random_hex;

/// Between two tries.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Registers this worker. Copies share one name.
#[derive(Debug, Clone)]
pub(crate) struct Registrar {
    link: Arc<Link>,
    registration: Arc<Mutex<Registration>>,
    /// The name was made up, and may be made longer.
    name_is_ours: bool,
    again: Arc<Notify>,
}

impl Registrar {
    /// For this registration, whose `keep` is of no matter.
    pub(crate) fn new(link: Arc<Link>, registration: Registration, name_is_ours: bool) -> Self {
        let registration = Arc::new(Mutex::new(registration));
        Self { link, registration, name_is_ours, again: Arc::new(Notify::new()) }
    }

    /// The name under which it is registered, or will be.
    pub(crate) fn name(&self) -> String {
        self.registration().name
    }

    /// Looks at why a call failed; where the leader does not know this worker, it registers again.
    pub(crate) fn consider(&self, error: &CallError) {
        if matches!(error, CallError::NotRegistered(_)) {
            self.again.notify_one();
        }
    }

    /// Registers, however long that takes.
    pub(crate) async fn register(&self, keep: Vec<Token>) -> Timing {
        let mut backoff = Backoff::new(PAUSE);
        loop {
            let registration = Registration { keep: keep.clone(), ..self.registration() };
            let pause = match self.link.register(&registration).await {
                Ok(timing) => {
                    info!(worker.name = registration.name, "registered");
                    return timing;
                }
                Err(error) if error.name_is_taken() && self.name_is_ours => {
                    self.rename(&registration.name);
                    continue;
                }
                Err(error) if error.moved() => continue,
                Err(error) => {
                    let pause = backoff.next();
                    warn!(
                        worker.name = registration.name,
                        error = %Chain(&error),
                        "could not register, tries again in {pause:.1?}"
                    );
                    pause
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Registers again whenever a call has shown that it must, until told to end.
    pub(crate) async fn serve(self, desk: Desk, end: CancellationToken) {
        let serving = async {
            loop {
                self.again.notified().await;
                let Some(keep) = desk.tokens().await else { return };
                desk.timing(self.register(keep).await).await;
            }
        };
        tokio::select! {
            () = serving => {}
            () = end.cancelled() => {}
        }
    }

    fn registration(&self) -> Registration {
        self.registration.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another worker holds work under the made-up name: this one does not wait for its leases.
    fn rename(&self, taken: &str) {
        let base = taken.split('~').next().unwrap_or(taken);
        let suffix = random_hex::<2>().unwrap_or_else(|_no_chance| "other".to_owned());
        let name = format!("{base}~{suffix}");
        warn!(worker.name = name, "another worker is called {taken}: takes a longer name");
        self.registration.lock().unwrap_or_else(PoisonError::into_inner).name = name;
    }
}
