//! A job's schedule over its revisions: each holds from its edit to the next. Knows no revision's
//! number and no job.

use hera_common::time::Version;
use thiserror::Error;

use super::schedule::Schedule;
use super::slots::{prev_before, slots};

/// A schedule by revision. Before the first piece there are no slots.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Piecewise {
    pieces: Vec<Piece>,
}

/// What holds from `since` (included) to the next piece.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub since: Version,
    /// None: in this revision the job has no schedule.
    pub schedule: Option<Schedule>,
}

/// A refused list of pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PiecewiseError {
    #[error("a piece since {since} does not follow the one since {previous}")]
    OutOfOrder { previous: Version, since: Version },
}

impl Piecewise {
    /// Takes pieces in order of their instants. Of two edits in one millisecond only the later one
    /// ever held: give that one.
    ///
    /// # Errors
    /// The first piece that is not after the one before it.
    pub fn new(pieces: Vec<Piece>) -> Result<Self, PiecewiseError> {
        let after = pieces.iter().skip(1);
        match pieces.iter().zip(after).find(|(piece, next)| piece.since >= next.since) {
            Some((Piece { since: previous, .. }, Piece { since, .. })) => {
                Err(PiecewiseError::OutOfOrder { previous: *previous, since: *since })
            }
            None => Ok(Self { pieces }),
        }
    }

    /// A schedule that was never edited.
    #[must_use]
    pub fn since(since: Version, schedule: Schedule) -> Self {
        Self { pieces: vec![Piece { since, schedule: Some(schedule) }] }
    }

    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The schedule in force at an instant.
    #[must_use]
    pub fn at(&self, at: Version) -> Option<&Schedule> {
        let piece = self.pieces.iter().rev().find(|piece| piece.since <= at)?;
        piece.schedule.as_ref()
    }

    /// The slots in `[from, to)`, oldest first.
    pub fn slots(&self, from: Version, to: Version) -> impl Iterator<Item = Version> {
        self.spans().flat_map(move |(schedule, since, until)| {
            slots(schedule, from.max(since), to.min(until))
        })
    }

    /// The first slot after `after`.
    #[must_use]
    pub fn next_after(&self, after: Version) -> Option<Version> {
        let from = Version::from_ms(after.ms().checked_add(1)?);
        self.slots(from, Version::from_ms(i64::MAX)).next()
    }

    /// The last slot before `before`.
    #[must_use]
    pub fn prev_before(&self, before: Version) -> Option<Version> {
        self.spans().rev().filter(|(_, since, _)| *since < before).find_map(
            |(schedule, since, until)| {
                prev_before(schedule, before.min(until)).filter(|slot| *slot >= since)
            },
        )
    }

    /// Whether there may be slots in `[from, to)` that nobody knows, since a calendar ends before.
    #[must_use]
    pub fn unknown_between(&self, from: Version, to: Version) -> bool {
        self.spans().any(|(schedule, since, until)| {
            let (from, to) = (from.max(since), to.min(until));
            from < to && schedule.unknown_between(from, to)
        })
    }

    /// Each schedule with the span `[since, until)` in which it holds.
    fn spans(&self) -> impl DoubleEndedIterator<Item = (&Schedule, Version, Version)> {
        let forever = Version::from_ms(i64::MAX);
        self.pieces.iter().enumerate().filter_map(move |(index, piece)| {
            let until = self.pieces.get(index + 1).map_or(forever, |next| next.since);
            Some((piece.schedule.as_ref()?, piece.since, until))
        })
    }
}
