//! One table in the walk over a batch: what the store has, what the units so far made of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use hera_common::action::Action;
use hera_common::attempt::Attempt;
use hera_common::id::{ActionId, Fence, GroupId, JobId, RunId, Seq, Token, WorkerId};
use hera_common::job::{Cursor, GroupRow, JobRow};
use hera_common::run::Run;
use hera_common::unit::Put;
use hera_common::worker::WorkerRow;

use crate::rules::Broken;

/// What a write believes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunMark {
    pub(crate) hb_seq: Seq,
    /// None where nobody holds it.
    pub(crate) token: Option<Token>,
}

impl RunMark {
    /// Of a row.
    pub(crate) fn of(run: &Run) -> Self {
        Self { hb_seq: run.hb_seq, token: run.state.hold().map(|hold| hold.token) }
    }
}

/// A row with an id, and with what a write believes of it.
pub(crate) trait Marked: Clone {
    const NOUN: &'static str;
    type Id: Copy + Ord + fmt::Display + fmt::Debug;
    type Mark: Copy + PartialEq + fmt::Debug;

    fn id(&self) -> Self::Id;
    fn mark(&self) -> Self::Mark;
}

macro_rules! marked {
    ($($row:ty: $noun:literal, $id:ty, $id_of:expr, $mark:ty, $mark_of:expr;)+) => {$(
        impl Marked for $row {
            const NOUN: &'static str = $noun;
            type Id = $id;
            type Mark = $mark;

            fn id(&self) -> $id {
                let of: fn(&$row) -> $id = $id_of;
                of(self)
            }

            fn mark(&self) -> $mark {
                let of: fn(&$row) -> $mark = $mark_of;
                of(self)
            }
        }
    )+};
}

marked! {
    Run: "run", RunId, |r| r.id, RunMark, RunMark::of;
    Action: "action", ActionId, |a| a.id, Seq, |a| a.seq;
    JobRow: "job", JobId, |j| j.id, Seq, |j| j.seq;
    Cursor: "cursor of job", JobId, |c| c.job, Seq, |c| c.seq;
    GroupRow: "group", GroupId, |g| g.id, (), |_| ();
    WorkerRow: "worker", WorkerId, |w| w.id, Seq, |w| w.seq;
    Attempt: "attempt", Fence, |a| a.fence, (), |_| ();
}

/// A row to write.
#[derive(Debug, Clone)]
pub(crate) struct Change<'a, R: Marked> {
    pub(crate) row: Cow<'a, R>,
    /// What the store's row must still hold. None: there is no row yet.
    pub(crate) believed: Option<R::Mark>,
}

/// What is known of one row.
enum Known<'a, R: Marked> {
    /// Read, and not written.
    Found(R::Mark),
    /// Written in this batch; `believed` as in [`Change`].
    Written { row: Cow<'a, R>, believed: Option<R::Mark> },
    /// Taken away in this batch; it was in the store where `stored`.
    Removed { stored: bool },
}

/// One table.
pub(crate) struct Table<'a, R: Marked> {
    rows: BTreeMap<R::Id, Known<'a, R>>,
    /// False: rows that are updated are taken to be there; the store counts them when it writes.
    read: bool,
}

impl<'a, R: Marked> Table<'a, R> {
    /// With the rows that the store has read.
    pub(crate) fn read(found: BTreeMap<R::Id, R::Mark>) -> Self {
        let rows = found.into_iter().map(|(id, mark)| (id, Known::Found(mark))).collect();
        Self { rows, read: true }
    }

    /// Of a table that no guard looks at.
    pub(crate) fn unread() -> Self {
        Self { rows: BTreeMap::new(), read: false }
    }

    /// What a guard is judged on; None where there is no such row.
    pub(crate) fn mark(&self, id: R::Id) -> Option<R::Mark> {
        match self.rows.get(&id)? {
            Known::Found(mark) => Some(*mark),
            Known::Written { row, .. } => Some(row.mark()),
            Known::Removed { .. } => None,
        }
    }

    /// The row as this batch wrote it.
    pub(crate) fn last(&self, id: R::Id) -> Option<&R> {
        match self.rows.get(&id)? {
            Known::Written { row, .. } => Some(row),
            Known::Found(_) | Known::Removed { .. } => None,
        }
    }

    /// As [`Table::last`], to be changed.
    pub(crate) fn last_mut(&mut self, id: R::Id) -> Option<&mut Cow<'a, R>> {
        match self.rows.get_mut(&id)? {
            Known::Written { row, .. } => Some(row),
            Known::Found(_) | Known::Removed { .. } => None,
        }
    }

    /// Takes a write; `may` judges it against what this batch wrote before.
    pub(crate) fn put(
        &mut self,
        put: Put,
        new: &'a R,
        may: fn(&R, &R) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        let id = new.id();
        let believed = match (put, self.rows.get(&id)) {
            (Put::Insert, None) => None,
            (Put::Insert, Some(_)) => {
                return Err(Broken(format!("{} {id} is made twice", R::NOUN)));
            }
            (Put::Update, Some(Known::Found(mark))) => Some(*mark),
            (Put::Update, Some(Known::Written { row, believed })) => {
                may(row, new)?;
                *believed
            }
            (Put::Update, None) if !self.read => Some(new.mark()),
            (Put::Update, None | Some(Known::Removed { .. })) => {
                return Err(Broken(format!("{} {id} is changed and not there", R::NOUN)));
            }
        };
        self.rows.insert(id, Known::Written { row: Cow::Borrowed(new), believed });
        Ok(())
    }

    /// Takes a row away.
    pub(crate) fn remove(&mut self, id: R::Id) -> Result<(), Broken> {
        let stored = match self.rows.get(&id) {
            Some(Known::Found(_)) => true,
            Some(Known::Written { believed, .. }) => believed.is_some(),
            None | Some(Known::Removed { .. }) => {
                return Err(Broken(format!("{} {id} is taken away and not there", R::NOUN)));
            }
        };
        self.rows.insert(id, Known::Removed { stored });
        Ok(())
    }

    /// The rows to write, and those to take away.
    pub(crate) fn changes(self) -> (Vec<Change<'a, R>>, Vec<R::Id>) {
        let (mut changes, mut removed) = (Vec::new(), Vec::new());
        for (id, known) in self.rows {
            match known {
                Known::Written { row, believed } => changes.push(Change { row, believed }),
                Known::Removed { stored: true } => removed.push(id),
                Known::Found(_) | Known::Removed { stored: false } => {}
            }
        }
        (changes, removed)
    }
}
