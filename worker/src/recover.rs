//! What an earlier process of this worker left: ends that nobody has taken, and logs that are not whole.
//! Reads the disk; asks nobody.

use std::collections::BTreeMap;
use std::io;

use hera_common::chain::Chain;
use tracing::{info, warn};

use crate::attempt::{Ended, outcome_of};
use crate::attempt_dir::{AttemptDir, LeftOver};
use crate::contract::{Held, Outcome};
use crate::process::order::{Exit, StopCause};
use crate::spool::{Spool, Waiting};

/// One attempt of an earlier process. Nothing of it runs.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) held: Held,
    /// Of its end in the spool.
    pub(crate) name: String,
    pub(crate) dir: Option<AttemptDir>,
    /// To be told; None where the attempt was cut off, and another worker may have it at once.
    pub(crate) outcome: Option<Outcome>,
}

/// Looks through both folders. To be called when no process of the earlier worker is left.
pub(crate) fn find(attempts: &std::path::Path, spool: &Spool) -> io::Result<Vec<Found>> {
    let mut waiting: BTreeMap<String, Waiting> = spool.load()?.into_iter().collect();
    let mut found = Vec::new();
    for LeftOver { dir, exit } in AttemptDir::left_over(attempts)? {
        let name = dir.name().to_owned();
        match (waiting.remove(&name), exit) {
            (Some(Waiting { held, outcome }), _) => {
                found.push(Found { held, name, dir: Some(dir), outcome: Some(outcome) });
            }
            (None, Some((held, exit))) => {
                let outcome = end_of(&dir, &exit);
                info!(run.id = %held.run, "found an attempt of an earlier process: {outcome:?}");
                found.push(Found { held, name, dir: Some(dir), outcome });
            }
            (None, None) => {
                if let Err(error) = dir.remove() {
                    warn!(error = %Chain(&error), "what is left of an earlier attempt stays");
                }
            }
        }
    }
    let without_dir = waiting.into_iter().map(|(name, Waiting { held, outcome })| Found {
        held,
        name,
        dir: None,
        outcome: Some(outcome),
    });
    found.extend(without_dir);
    Ok(found)
}

/// How the attempt ended, as its shim wrote it; None where it was cut off.
fn end_of(dir: &AttemptDir, exit: &Exit) -> Option<Outcome> {
    match exit.stopped {
        // The registration of this process frees it: sooner than by giving it back.
        Some(StopCause::Lease | StopCause::Lost | StopCause::AgentGone) => return None,
        Some(StopCause::Timeout | StopCause::Cancel | StopCause::Drain) | None => {}
    }
    Some(outcome_of(&Ended {
        code: exit.code,
        signal: exit.signal,
        stopped: exit.stopped,
        problem: dir.output().err(),
    }))
}
