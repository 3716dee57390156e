//! The wishes of a person or an operator that `hera dev` stop: INT, TERM and HUP.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Failure;

/// The three signals.
pub(crate) struct Stops {
    int: Signal,
    term: Signal,
    /// The terminal was closed.
    hup: Signal,
}

impl Stops {
    /// From now on the signals do not end the process by themselves.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            let failed = |error: io::Error| Failure::machine("signals cannot be heard", &error);
            signal(kind).map_err(failed)
        };
        Ok(Self {
            int: listen(SignalKind::interrupt())?,
            term: listen(SignalKind::terminate())?,
            hup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.int.recv() => {}
            _ = self.term.recv() => {}
            _ = self.hup.recv() => {}
        }
    }
}
