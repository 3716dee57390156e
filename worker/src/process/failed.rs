//! A system call that failed, by name: the kernel says why, never what was tried. It must not judge whether that matters.

use std::io;

/// A system call that failed.
#[derive(Debug, thiserror::Error)]
#[error("{call} failed")]
pub(super) struct CallFailed {
    call: &'static str,
    #[source]
    source: io::Error,
}

/// Names the call to its error: `setsid().map_err(failed("setsid"))`.
pub(super) fn failed<E: Into<io::Error>>(call: &'static str) -> impl FnOnce(E) -> CallFailed {
    move |error| CallFailed { call, source: error.into() }
}
