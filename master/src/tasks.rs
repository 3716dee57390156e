//! No task is orphaned: each has a name, hears of the shutdown, and is waited for. It must not know what they do.

use std::future::Future;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument as _, info_span};

/// The tasks of one master. Copies share them.
#[derive(Debug, Clone)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    shutdown: CancellationToken,
}

impl Tasks {
    /// No tasks yet; they hear of `shutdown`.
    pub(crate) fn new(shutdown: CancellationToken) -> Self {
        Self { tracker: TaskTracker::new(), shutdown }
    }

    /// Starts a task that must end soon after the token that it is given is cancelled.
    pub(crate) fn spawn<F>(
        &self,
        name: &'static str,
        start: impl FnOnce(CancellationToken) -> F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let task = start(self.shutdown.clone());
        self.tracker.spawn(task.instrument(info_span!("task", task.name = name)))
    }

    /// What is cancelled when all shall end.
    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Tells all tasks to end, and waits until they have.
    pub(crate) async fn shut_down(&self) {
        self.shutdown.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}
