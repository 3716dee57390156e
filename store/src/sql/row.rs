//! Rows and columns, and the types of the domain: the one place where each field of a table is named. The order
//! of fields here is that of the files under `queries`.

mod action;
mod attempt;
mod definition;
mod hands;
mod run;
mod worker;

pub(crate) use action::{
    action, action_inserts, action_updates, binding, binding_inserts, end, on,
};
pub(crate) use attempt::{ATTEMPT_COLUMNS, attempt, attempt_inserts, attempt_updates};
pub(crate) use definition::{
    audit, audit_inserts, calendar, calendar_inserts, cursor, cursor_inserts, cursor_updates, gap,
    gap_inserts, group, group_inserts, group_updates, job, job_inserts, job_updates, revision,
    revision_inserts,
};
pub(crate) use run::{run, run_inserts, run_updates};
pub(crate) use worker::{worker, worker_inserts, worker_updates};

use hera_common::id::Seq;
use hera_common::time::{Version, Wall};

use super::ask::Column;
use super::cells::{Reader, Unreadable};
use crate::admit::{Change, Marked};

/// Rows to write, with the number that each is believed to have.
pub(crate) type Changes<'c, 'a, R> = [&'c Change<'a, R>];

fn believed<'a, R: Marked<Mark = Seq>>(changes: &Changes<'_, '_, R>) -> Column<'a> {
    Column::Ints(changes.iter().map(|c| c.believed.map(Seq::raw)).collect())
}

fn wall(reader: &mut Reader<'_>) -> Result<Wall, Unreadable> {
    reader.int().map(Wall::from_ms)
}

fn maybe_wall(reader: &mut Reader<'_>) -> Result<Option<Wall>, Unreadable> {
    Ok(reader.maybe_int()?.map(Wall::from_ms))
}

fn version(reader: &mut Reader<'_>) -> Result<Version, Unreadable> {
    reader.int().map(Version::from_ms)
}

fn ms(wall: Option<Wall>) -> Option<i64> {
    wall.map(Wall::ms)
}
