//! The one clock of the kit, for limits on waiting. It must not be used to make anything happen.

use std::time::{Duration, Instant};

/// An instant from which a wait counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start(Instant);

impl Start {
    #[expect(clippy::disallowed_methods, reason = "the one place in the kit that reads a clock")]
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Lets `pause` go by between two looks at a value that the kit waits for.
#[expect(
    clippy::disallowed_methods,
    reason = "waiting on a value of another process; no runtime here"
)]
pub(crate) fn pause(pause: Duration) {
    std::thread::sleep(pause);
}
