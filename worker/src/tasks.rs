//! No task is orphaned: each has a name, hears of the end, and is waited for. Knows nothing of what they do.

use std::future::Future;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument as _, info_span};

/// The tasks of one worker. Copies share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    end: CancellationToken,
}

impl Tasks {
    /// Starts a task that must return soon after the token that it is given is cancelled.
    pub(crate) fn spawn<F>(
        &self,
        name: &'static str,
        start: impl FnOnce(CancellationToken) -> F,
    ) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let task = start(self.end.clone());
        // Not a part of what its starter does.
        let span = info_span!(parent: None, "task", task.name = name);
        self.tracker.spawn(task.instrument(span))
    }

    /// Tells all tasks to end, and waits until they have.
    pub(crate) async fn shut_down(&self) {
        self.end.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}
