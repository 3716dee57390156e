//! One open Poll, with a fresh token for each free place. Knows nothing of what it is granted.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hera_common::chain::Chain;
use hera_common::id::Token;
use hera_common::limits::POLL_TOKENS_MAX;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use crate::agent::Load;
use crate::batch::Line;
use crate::clock;
use crate::contract::Polled;
use crate::execute::Tools;
use crate::pause::{Backoff, jitter};

/// Between two tries of a Poll without an answer.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
/// The leader keeps a Poll open that gets nothing; one that it answers empty sooner is not repeated at once.
const EMPTY_MIN: Duration = Duration::from_secs(1);
/// A worker that has had no free place for so long listens, so that what it holds can be cancelled at once.
const LISTEN_AFTER: Duration = Duration::from_secs(1);
/// How often a machine that can take nothing is looked at.
const REFUSAL_PAUSE: Duration = Duration::from_secs(5);

/// How much room there must be for new attempts.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) path: PathBuf,
    pub(crate) min_free_bytes: u64,
}

impl Room {
    /// Why nothing is taken; None where the disk has room, or nobody can say.
    fn refuses(&self) -> Option<String> {
        const MIB: u64 = 1 << 20;
        let disk = rustix::fs::statvfs(&self.path).ok()?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        (free < self.min_free_bytes).then(|| {
            format!(
                "its disk has {} MiB free, less than {} MiB",
                free / MIB,
                self.min_free_bytes / MIB
            )
        })
    }
}

/// Polls until told to end.
pub(crate) async fn poll(
    line: Line,
    mut load: watch::Receiver<Load>,
    (room, tools): (Room, Arc<Tools>),
    end: CancellationToken,
) {
    let polling = async {
        let mut refused = false;
        // The owner goes when all ends.
        while let Some(places) = places(&line, &mut load).await {
            let refuses = match room.refuses() {
                None => tools.health.refuses(&tools.machine()).await,
                full => full,
            };
            let Some(why) = &refuses else {
                refused = false;
                tokio::select! {
                    told = once(&line, places, "") => if told.is_none() { return },
                    // What the open poll is given next could not be executed either.
                    () = tools.health.doubted() => {}
                }
                continue;
            };
            if !std::mem::replace(&mut refused, true) {
                warn!("takes no work: {why}");
            }
            tokio::select! {
                told = once(&line, 0, why) => if told.is_none() { return },
                () = tokio::time::sleep(REFUSAL_PAUSE) => {}
            }
        }
    };
    tokio::select! {
        () = polling => {}
        () = end.cancelled() => {}
    }
}

/// Waits for a free place, and answers how many there are; listens meanwhile. None where the owner has gone.
async fn places(line: &Line, load: &mut watch::Receiver<Load>) -> Option<u32> {
    // What is short frees its place sooner.
    if let Ok(free) = tokio::time::timeout(LISTEN_AFTER, free(load)).await {
        return free;
    }
    loop {
        tokio::select! {
            free = free(load) => return free,
            told = once(line, 0, "") => told?,
        }
    }
}

async fn free(load: &mut watch::Receiver<Load>) -> Option<u32> {
    load.wait_for(|load| load.free > 0).await.ok().map(|load| load.free)
}

/// One Poll, repeated with its tokens until it is answered; without places it only listens. None where the owner has
/// gone.
async fn once(line: &Line, places: u32, takes_nothing: &str) -> Option<()> {
    let places = usize::try_from(places).unwrap_or(POLL_TOKENS_MAX).min(POLL_TOKENS_MAX);
    let mut backoff = Backoff::new(PAUSE);
    let mut tokens = fresh(places);
    loop {
        let asked = clock::boot();
        let error = match line.link.poll(&tokens, takes_nothing).await {
            Ok(Polled { assignments, look, timing }) => {
                if let Some(timing) = timing {
                    line.desk.timing(timing).await;
                }
                let empty = assignments.is_empty();
                line.desk.granted(assignments).await?;
                if !look.is_empty() {
                    line.desk.look(look).await;
                }
                if empty && clock::boot().since(asked) < EMPTY_MIN {
                    tokio::time::sleep(backoff.next()).await;
                }
                return Some(());
            }
            Err(error) => error,
        };
        line.registrar.consider(&error);
        if tokens.is_empty() {
            tokens = fresh(places);
        }
        if !error.moved() {
            debug!(error = %Chain(&error), "could not ask for work");
            tokio::time::sleep(jitter(backoff.next())).await;
        }
    }
}

/// So many random tokens; none where the system has no chance to give.
fn fresh(places: usize) -> Vec<Token> {
    let mut bytes = vec![[0; 16]; places];
    match getrandom::fill(bytes.as_flattened_mut()) {
        Ok(()) => bytes.into_iter().map(Token::from_bytes).collect(),
        Err(problem) => {
            error!(error = %Chain(&problem), "no token can be made");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fresh;

    #[test]
    fn no_token_is_made_twice() {
        let mut tokens = fresh(64);
        tokens.extend(fresh(64));
        tokens.sort_unstable();
        tokens.dedup();
        assert_eq!(tokens.len(), 128);
    }
}
