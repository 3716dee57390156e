//! Actions, what they are bound to, and how they ended.

use hera_common::action::{Action, ActionEnd, ActionState, Binding, DataInterval};
use hera_common::id::{ActionId, JobId, Revision, RunId, Seq};
use hera_common::spec::On;
use hera_common::time::Version;

use super::{Changes, believed, maybe_wall, ms, version, wall};
use crate::sql::ask::Column;
use crate::sql::cells::{Reader, Unreadable};

/// Reads an action.
pub(crate) fn action(reader: &mut Reader<'_>) -> Result<Action, Unreadable> {
    Ok(Action {
        id: ActionId::from_raw(reader.int()?),
        job: JobId::from_raw(reader.int()?),
        version: version(reader)?,
        zone: reader.owned()?,
        data: DataInterval { from: version(reader)?, to: version(reader)?, date: reader.owned()? },
        state: state(reader)?,
        outcome: outcome(reader)?,
        counted_run: reader.maybe_int()?.map(RunId::from_raw),
        live_run: reader.maybe_int()?.map(RunId::from_raw),
        runs: reader.count()?,
        revision: Revision::from_raw(reader.int()?),
        seq: Seq::from_raw(reader.int()?),
        actor: reader.owned()?,
        created_at: wall(reader)?,
        decided_at: maybe_wall(reader)?,
        ended_at: maybe_wall(reader)?,
    })
}

fn state(reader: &mut Reader<'_>) -> Result<ActionState, Unreadable> {
    let (word, reason) = (reader.text()?, reader.maybe_text()?);
    ActionState::from_words(word, reason).ok_or_else(|| unknown("state", word, reason))
}

fn outcome(reader: &mut Reader<'_>) -> Result<Option<ActionEnd>, Unreadable> {
    let (word, reason) = (reader.maybe_text()?, reader.maybe_text()?);
    let Some(word) = word else { return Ok(None) };
    let end = ActionEnd::from_words(word, reason);
    end.map(Some).ok_or_else(|| unknown("outcome", word, reason))
}

/// The two words of an end that is there.
pub(crate) fn end(reader: &mut Reader<'_>) -> Result<ActionEnd, Unreadable> {
    let (word, reason) = (reader.text()?, reader.maybe_text()?);
    ActionEnd::from_words(word, reason).ok_or_else(|| unknown("outcome", word, reason))
}

pub(super) fn unknown(column: &str, word: &str, reason: Option<&str>) -> Unreadable {
    let reason = reason.unwrap_or_default();
    Unreadable(format!("`{column}` is `{word}({reason})`, which is unknown"))
}

/// All columns, for rows that are made.
pub(crate) fn action_inserts<'a>(changes: &'a Changes<'_, 'a, Action>) -> Vec<Column<'a>> {
    let rows = || changes.iter().map(|change| &*change.row);
    let mut columns = vec![
        Column::ints(rows().map(|a| a.id.raw())),
        Column::ints(rows().map(|a| a.job.raw())),
        Column::ints(rows().map(|a| a.version.ms())),
    ];
    columns.extend(moving(changes));
    columns.extend([
        Column::ints(rows().map(|a| a.created_at.ms())),
        Column::Ints(rows().map(|a| ms(a.decided_at)).collect()),
        Column::Ints(rows().map(|a| ms(a.ended_at)).collect()),
    ]);
    columns
}

/// What may change, after the key and what is believed.
pub(crate) fn action_updates<'a>(changes: &'a Changes<'_, 'a, Action>) -> Vec<Column<'a>> {
    let rows = || changes.iter().map(|change| &*change.row);
    let mut columns = vec![
        Column::ints(rows().map(|a| a.id.raw())),
        believed(changes),
        Column::ints(rows().map(|a| a.job.raw())),
        Column::ints(rows().map(|a| a.version.ms())),
    ];
    columns.extend(moving(changes));
    columns.extend([
        Column::Ints(rows().map(|a| ms(a.decided_at)).collect()),
        Column::Ints(rows().map(|a| ms(a.ended_at)).collect()),
    ]);
    columns
}

/// From the zone to the actor.
fn moving<'a>(changes: &'a Changes<'_, 'a, Action>) -> [Column<'a>; 14] {
    let rows = || changes.iter().map(|change| &*change.row);
    [
        Column::texts(rows().map(|a| a.zone.as_str())),
        Column::ints(rows().map(|a| a.data.from.ms())),
        Column::ints(rows().map(|a| a.data.to.ms())),
        Column::texts(rows().map(|a| a.data.date.as_str())),
        Column::texts(rows().map(|a| a.state.word())),
        Column::maybe_texts(rows().map(|a| a.state.reason())),
        Column::maybe_texts(rows().map(|a| a.outcome.map(ActionEnd::word))),
        Column::maybe_texts(rows().map(|a| a.outcome.and_then(ActionEnd::reason))),
        Column::Ints(rows().map(|a| a.counted_run.map(RunId::raw)).collect()),
        Column::Ints(rows().map(|a| a.live_run.map(RunId::raw)).collect()),
        Column::ints(rows().map(|a| i64::from(a.runs))),
        Column::ints(rows().map(|a| a.revision.raw())),
        Column::ints(rows().map(|a| a.seq.raw())),
        Column::texts(rows().map(|a| a.actor.as_str())),
    ]
}

/// Reads a binding.
pub(crate) fn binding(reader: &mut Reader<'_>) -> Result<Binding, Unreadable> {
    Ok(Binding {
        upstream: JobId::from_raw(reader.int()?),
        version: version(reader)?,
        on: on(reader)?,
    })
}

/// Reads which end of an upstream an edge wants.
pub(crate) fn on(reader: &mut Reader<'_>) -> Result<On, Unreadable> {
    reader.word(On::from_label)
}

/// All columns of bindings.
pub(crate) fn binding_inserts<'a>(lists: &[(ActionId, &'a [Binding])]) -> Vec<Column<'a>> {
    let rows = || lists.iter().flat_map(|(id, list)| list.iter().map(move |b| (id, b)));
    vec![
        Column::ints(rows().map(|(id, _)| id.raw())),
        Column::ints(rows().map(|(_, b)| b.upstream.raw())),
        Column::ints(rows().map(|(_, b)| Version::ms(b.version))),
        Column::texts(rows().map(|(_, b)| b.on.label())),
    ]
}
