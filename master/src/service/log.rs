//! Reading logs: pieces by range, and on as they grow until the attempt or the run has ended. It must not change anything.

use std::pin::Pin;
use std::time::Duration;

use hera_common::attempt::AttemptState;
use hera_common::id::RunId;
use hera_common::run::Run;
use hera_store::AttemptView;
use tokio::sync::futures::Notified;

use super::Service;
use super::fault::Fault;
use super::shown::{Words, run_words};
use crate::changes::LogBell;

/// Bytes of a piece where the caller does not say, and the most that it may ask for.
const PIECE: u32 = 64 << 10;
const PIECE_MAX: u32 = 1 << 20;
/// A follower looks again after this also where nothing has rung: a run may end without an attempt.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// A worker that lives sends the rest of a log within this.
const OLD: Duration = Duration::from_secs(30);
/// The log of an attempt that has ended is taken for whole once it has not grown for so many looks: a worker sends the rest
/// beside its report, and one that is dead sends nothing any more.
const QUIET_LOOKS: u32 = 2;
const QUIET_LOOK: Duration = Duration::from_millis(250);

/// A piece of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) attempt: u32,
    pub(crate) ended: bool,
}

/// What a follower is told.
#[derive(Debug)]
pub(crate) enum Followed {
    Piece(Piece),
    /// The last message: how the run stands.
    End {
        words: Words,
        attempt: u32,
        offset: u64,
    },
}

/// Where a follower is.
pub(crate) struct Follower {
    service: Service,
    run: RunId,
    attempt: u32,
    /// Goes on to the next attempt until the run has ended.
    through: bool,
    offset: u64,
    /// Looks since the log of an ended attempt last grew.
    quiet: u32,
    /// Keeps what is told of the log between two looks.
    bell: Option<LogBell>,
    done: bool,
}

impl Service {
    /// A piece of the log of one attempt; 0: the newest.
    pub(crate) async fn read_log(
        &self,
        name: &str,
        attempt: u32,
        offset: u64,
        max: u32,
    ) -> Result<Piece, Fault> {
        if max > PIECE_MAX {
            return Err(Fault::invalid("max", format!("must be at most {PIECE_MAX}")));
        }
        let catalog = self.catalog()?;
        let run = self.find_run(&catalog, "run", name).await?.run;
        let Some(view) = self.attempt(&run, attempt).await? else {
            return Err(match attempt {
                0 => Fault::NotFound(format!("run r{} has no attempt yet", run.id)),
                n => Fault::NotFound(format!("run r{} has no attempt {n}", run.id)),
            });
        };
        let max = if max == 0 { PIECE } else { max };
        self.piece(&view, offset, max).await
    }

    /// Follows the log of one attempt, or with 0 of the newest and on through retries.
    pub(crate) async fn follow_log(
        &self,
        name: &str,
        attempt: u32,
        offset: u64,
    ) -> Result<Follower, Fault> {
        let catalog = self.catalog()?;
        let run = self.find_run(&catalog, "run", name).await?.run;
        if attempt > run.counts.attempts {
            return Err(Fault::NotFound(format!("run r{} has no attempt {attempt}", run.id)));
        }
        let through = attempt == 0;
        let attempt = if through { run.counts.attempts } else { attempt };
        let service = self.clone();
        let (quiet, bell, done) = (0, None, false);
        Ok(Follower { service, run: run.id, attempt, through, offset, quiet, bell, done })
    }

    async fn attempt(&self, run: &Run, number: u32) -> Result<Option<AttemptView>, Fault> {
        let attempts = self.store().attempts(run.id).await?;
        Ok(match number {
            0 => attempts.into_iter().last(),
            number => attempts.into_iter().find(|view| view.attempt.number == number),
        })
    }

    async fn piece(&self, view: &AttemptView, offset: u64, max: u32) -> Result<Piece, Fault> {
        let read = self.store().read_log(view.attempt.fence, offset, max).await?;
        let ended = matches!(view.attempt.state, AttemptState::Ended { .. });
        let attempt = view.attempt.number;
        Ok(Piece { bytes: read.bytes, offset, size: read.size, attempt, ended })
    }
}

impl Follower {
    /// The next piece; None after the end.
    ///
    /// # Errors
    /// The store does not answer, or this master leads no more: the caller follows elsewhere from its offset.
    pub(crate) async fn next(&mut self) -> Result<Option<Followed>, Fault> {
        while !self.done {
            self.service.lead()?;
            let run = self.run().await?;
            let view = self.service.attempt(&run, self.attempt.max(1)).await?;
            let Some(view) = view else {
                // Not granted yet.
                if run.state.ended() {
                    return Ok(self.end(&run));
                }
                self.pause(None, LOOK_AGAIN).await?;
                continue;
            };
            self.attempt = view.attempt.number;
            let changes = self.service.around.changes.clone();
            let bell = changes.follow(view.attempt.fence);
            self.bell = Some(changes.follow(view.attempt.fence));
            let rings = bell.bell().notified();
            let mut rings = std::pin::pin!(rings);
            rings.as_mut().enable();
            let piece = self.service.piece(&view, self.offset, PIECE).await?;
            if !piece.bytes.is_empty() {
                let count = u64::try_from(piece.bytes.len()).unwrap_or(u64::MAX);
                (self.offset, self.quiet) = (self.offset.saturating_add(count), 0);
                return Ok(Some(Followed::Piece(piece)));
            }
            let whole = bell.whole().is_some_and(|size| self.offset >= size);
            if piece.ended && (whole || self.is_old(&view) || self.quiet >= QUIET_LOOKS) {
                let more = self.through && run.counts.attempts > self.attempt;
                if more {
                    (self.attempt, self.offset, self.quiet) = (self.attempt + 1, 0, 0);
                    continue;
                }
                if !self.through || run.state.ended() {
                    return Ok(self.end(&run));
                }
            }
            let pause = if piece.ended { QUIET_LOOK } else { LOOK_AGAIN };
            self.quiet = if piece.ended { self.quiet.saturating_add(1) } else { 0 };
            self.pause(Some(rings), pause).await?;
        }
        Ok(None)
    }

    /// An end of long ago: what was to come of its log has come.
    fn is_old(&self, view: &AttemptView) -> bool {
        let AttemptState::Ended { ended_at, .. } = &view.attempt.state else { return false };
        self.service.now().wall.since(*ended_at) > OLD
    }

    fn end(&mut self, run: &Run) -> Option<Followed> {
        self.done = true;
        let (attempt, offset) = (self.attempt, self.offset);
        Some(Followed::End { words: run_words(run), attempt, offset })
    }

    async fn run(&self) -> Result<Run, Fault> {
        let none = || Fault::NotFound(format!("run r{} does not exist", self.run));
        Ok(self.service.store().run(self.run).await?.ok_or_else(none)?.run)
    }

    async fn pause(
        &self,
        rings: Option<Pin<&mut Notified<'_>>>,
        pause: Duration,
    ) -> Result<(), Fault> {
        let look_again = tokio::time::sleep(pause);
        let stopping = self.service.around.tasks.shutdown().cancelled();
        match rings {
            Some(rings) => tokio::select! {
                () = rings => Ok(()),
                () = look_again => Ok(()),
                () = stopping => Err(Fault::Stopping),
            },
            None => tokio::select! {
                () = look_again => Ok(()),
                () = stopping => Err(Fault::Stopping),
            },
        }
    }
}
