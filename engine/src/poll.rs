//! Open polls: which workers wait for work, and with how many places.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hera_common::id::{Incarnation, Token, WorkerId};
use hera_common::time::Boot;

use crate::input::{Grant, Tag};

/// A worker repeats a poll that was not answered for as long as it is cut off from all masters: rarely longer.
const SPENT_FOR: Duration = Duration::from_secs(3_600);

/// One open poll.
#[derive(Debug)]
pub struct Poll {
    pub tag: Tag,
    pub worker: WorkerId,
    pub incarnation: Incarnation,
    /// One for each free place, not used yet.
    pub tokens: Vec<Token>,
    /// What it has been given; it is answered at the end of the step.
    pub grants: Vec<Grant>,
    pub until: Boot,
}

/// All open polls, in the order in which they came.
#[derive(Debug, Default)]
pub struct Polls {
    open: BTreeMap<Tag, Poll>,
}

impl Polls {
    /// Opens a poll; an older one of the same worker is closed and comes back, to be answered empty.
    pub fn open(&mut self, poll: Poll) -> Option<Poll> {
        let before = self.open.values().find(|p| p.worker == poll.worker).map(|p| p.tag);
        let before = before.and_then(|tag| self.open.remove(&tag));
        self.open.insert(poll.tag, poll);
        before
    }

    /// Closes a poll whose caller is gone.
    pub fn close(&mut self, tag: Tag) -> Option<Poll> {
        self.open.remove(&tag)
    }

    /// An open poll.
    pub fn get_mut(&mut self, tag: Tag) -> Option<&mut Poll> {
        self.open.get_mut(&tag)
    }

    /// Closes the polls of a worker.
    pub fn close_worker(&mut self, worker: WorkerId) -> Vec<Poll> {
        self.take(|poll| poll.worker == worker)
    }

    /// Takes the poll of a worker that was given nothing.
    pub fn take_empty(&mut self, worker: WorkerId) -> Option<Poll> {
        self.take(|poll| poll.worker == worker && poll.grants.is_empty()).pop()
    }

    /// The poll with the most free places that `fits`: work spreads over workers; ties go to the one that came first.
    pub fn emptiest(&mut self, fits: impl Fn(WorkerId) -> bool) -> Option<&mut Poll> {
        self.open
            .values_mut()
            .filter(|poll| !poll.tokens.is_empty() && fits(poll.worker))
            .max_by_key(|poll| (poll.tokens.len(), std::cmp::Reverse(poll.tag)))
    }

    /// True where the worker has an open poll.
    pub fn has(&self, worker: WorkerId) -> bool {
        self.open.values().any(|poll| poll.worker == worker)
    }

    /// True where a poll has a free place.
    pub fn any_free(&self) -> bool {
        self.open.values().any(|poll| !poll.tokens.is_empty())
    }

    /// Takes the polls that have been given something, or have waited long enough.
    pub fn take_answered(&mut self, now: Boot) -> Vec<Poll> {
        self.take(|poll| !poll.grants.is_empty() || poll.until <= now)
    }

    /// When the next poll has waited long enough.
    pub fn next_end(&self) -> Option<Boot> {
        self.open.values().map(|poll| poll.until).min()
    }

    fn take(&mut self, which: impl Fn(&Poll) -> bool) -> Vec<Poll> {
        let tags: Vec<Tag> = self.open.values().filter(|p| which(p)).map(|p| p.tag).collect();
        tags.into_iter().filter_map(|tag| self.open.remove(&tag)).collect()
    }
}

/// Tokens that were on a row and are not any more: a poll that brings one again gets nothing for it.
#[derive(Debug, Default)]
pub struct Spent {
    tokens: BTreeMap<Token, Boot>,
    since: BTreeSet<(Boot, Token)>,
}

impl Spent {
    /// Takes note of a token that has left its row.
    pub fn add(&mut self, token: Token, now: Boot) {
        self.remove(token);
        self.tokens.insert(token, now);
        self.since.insert((now, token));
    }

    /// The token is on a row after all.
    pub fn remove(&mut self, token: Token) {
        if let Some(since) = self.tokens.remove(&token) {
            self.since.remove(&(since, token));
        }
    }

    /// True for a token that was on a row.
    pub fn has(&self, token: Token) -> bool {
        self.tokens.contains_key(&token)
    }

    /// Forgets those that nobody can still bring.
    pub fn forget(&mut self, now: Boot) {
        while let Some(&(since, token)) = self.since.first()
            && now.since(since) > SPENT_FOR
        {
            self.since.pop_first();
            self.tokens.remove(&token);
        }
    }
}

/// Until when a poll that is opened at `now` waits.
pub fn until(now: Boot, wait: Duration) -> Boot {
    now.plus(wait)
}
