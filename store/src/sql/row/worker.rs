//! Workers.

use std::borrow::Cow;

use hera_common::id::{Incarnation, Seq, WorkerId};
use hera_common::worker::WorkerRow;

use super::{Changes, believed, wall};
use crate::sql::ask::{Column, clean};
use crate::sql::cells::{Reader, Unreadable};

/// Reads a worker.
pub(crate) fn worker(reader: &mut Reader<'_>) -> Result<WorkerRow, Unreadable> {
    Ok(WorkerRow {
        id: WorkerId::from_raw(reader.int()?),
        name: reader.owned()?,
        incarnation: Incarnation::from_raw(reader.int()?),
        state_id: reader.owned()?,
        instance_id: reader.owned()?,
        groups: list(reader)?,
        labels: list(reader)?,
        capacity: reader.count()?,
        program: reader.owned()?,
        draining: reader.flag()?,
        registered_at: wall(reader)?,
        seq: Seq::from_raw(reader.int()?),
    })
}

fn list(reader: &mut Reader<'_>) -> Result<Vec<String>, Unreadable> {
    let text = reader.text()?;
    serde_json::from_str(text).map_err(|error| Unreadable(format!("`{text}` is no list: {error}")))
}

/// All columns, for rows that are made.
pub(crate) fn worker_inserts<'a>(changes: &'a Changes<'_, 'a, WorkerRow>) -> Vec<Column<'a>> {
    let mut columns = vec![Column::ints(changes.iter().map(|c| c.row.id.raw()))];
    columns.extend(moving(changes));
    columns
}

/// What may change, after the key and what is believed.
pub(crate) fn worker_updates<'a>(changes: &'a Changes<'_, 'a, WorkerRow>) -> Vec<Column<'a>> {
    let mut columns = vec![Column::ints(changes.iter().map(|c| c.row.id.raw())), believed(changes)];
    columns.extend(moving(changes));
    columns
}

fn moving<'a>(changes: &'a Changes<'_, 'a, WorkerRow>) -> [Column<'a>; 11] {
    let rows = || changes.iter().map(|change| &*change.row);
    [
        Column::texts(rows().map(|w| w.name.as_str())),
        Column::ints(rows().map(|w| w.incarnation.raw())),
        Column::texts(rows().map(|w| w.state_id.as_str())),
        Column::texts(rows().map(|w| w.instance_id.as_str())),
        Column::Texts(rows().map(|w| Some(document(&w.groups))).collect()),
        Column::Texts(rows().map(|w| Some(document(&w.labels))).collect()),
        Column::ints(rows().map(|w| i64::from(w.capacity))),
        Column::texts(rows().map(|w| w.program.as_str())),
        Column::Flags(rows().map(|w| w.draining).collect()),
        Column::ints(rows().map(|w| w.registered_at.ms())),
        Column::ints(rows().map(|w| w.seq.raw())),
    ]
}

fn document(list: &[String]) -> Cow<'static, str> {
    let array = list.iter().map(|text| serde_json::Value::from(clean(text)));
    Cow::Owned(serde_json::Value::Array(array.collect()).to_string())
}
