//! Attempts.

use std::borrow::Cow;

use hera_common::attempt::{Attempt, AttemptEnd, AttemptState, Exit};
use hera_common::id::{Epoch, Fence, Incarnation, RunId, Token, WorkerId};
use hera_common::time::Wall;

use super::action::unknown;
use super::{Changes, maybe_wall, ms, wall};
use crate::admit::Change;
use crate::sql::ask::Column;
use crate::sql::cells::{Reader, Unreadable};

/// How many columns [`attempt`] reads.
pub(crate) const ATTEMPT_COLUMNS: usize = 17;

/// Reads an attempt.
pub(crate) fn attempt(reader: &mut Reader<'_>) -> Result<Attempt, Unreadable> {
    let (fence, run) = (Fence::from_raw(reader.int()?), RunId::from_raw(reader.int()?));
    let (number, token) = (reader.count()?, reader.word(Token::from_hex)?);
    let worker = WorkerId::from_raw(reader.int()?);
    let incarnation = Incarnation::from_raw(reader.int()?);
    let epoch = Epoch::from_raw(reader.int()?);
    let (word, end) = (reader.text()?, (reader.maybe_text()?, reader.maybe_text()?));
    let exit = Exit { code: small(reader)?, signal: small(reader)?, detail: reader.maybe_owned()? };
    let (leased_at, started_at) = (wall(reader)?, maybe_wall(reader)?);
    let state = state(word, end, exit, maybe_wall(reader)?)?;
    Ok(Attempt {
        fence,
        run,
        number,
        token,
        worker,
        incarnation,
        epoch,
        state,
        leased_at,
        started_at,
        late_report: reader.maybe_owned()?,
    })
}

fn small(reader: &mut Reader<'_>) -> Result<Option<i32>, Unreadable> {
    let int = reader.maybe_int()?;
    let small = int.map(i32::try_from).transpose();
    small.map_err(|error| Unreadable(format!("the code of an exit: {error}")))
}

fn state(
    word: &str,
    end: (Option<&str>, Option<&str>),
    exit: Exit,
    ended_at: Option<Wall>,
) -> Result<AttemptState, Unreadable> {
    let state = match (word, end, ended_at) {
        ("leased", (None, None), None) => Some(AttemptState::Leased),
        ("started", (None, None), None) => Some(AttemptState::Started),
        ("ended", (Some(end), reason), Some(ended_at)) => AttemptEnd::from_words(end, reason)
            .map(|end| AttemptState::Ended { end, exit, ended_at }),
        _ => None,
    };
    state.ok_or_else(|| unknown("state", word, end.0))
}

/// All columns, for rows that are made.
pub(crate) fn attempt_inserts<'a>(changes: &'a Changes<'_, 'a, Attempt>) -> Vec<Column<'a>> {
    let rows = || changes.iter().map(|change| &*change.row);
    let mut columns = vec![
        Column::ints(rows().map(|a| a.fence.raw())),
        Column::ints(rows().map(|a| a.run.raw())),
        Column::ints(rows().map(|a| i64::from(a.number))),
        Column::Texts(rows().map(|a| Some(Cow::Owned(a.token.hex()))).collect()),
        Column::ints(rows().map(|a| a.worker.raw())),
        Column::ints(rows().map(|a| a.incarnation.raw())),
        Column::ints(rows().map(|a| a.epoch.raw())),
    ];
    columns.extend(ending(changes));
    columns.push(Column::ints(rows().map(|a| a.leased_at.ms())));
    columns.extend(times(changes));
    columns
}

/// What may change, after the key.
pub(crate) fn attempt_updates<'a>(changes: &'a Changes<'_, 'a, Attempt>) -> Vec<Column<'a>> {
    let token = |change: &&Change<'_, Attempt>| Some(Cow::Owned(change.row.token.hex()));
    let mut columns = vec![
        Column::ints(changes.iter().map(|c| c.row.fence.raw())),
        Column::Texts(changes.iter().map(token).collect()),
    ];
    columns.extend(ending(changes));
    columns.extend(times(changes));
    columns
}

/// What is known of an end.
fn ended(attempt: &Attempt) -> Option<(AttemptEnd, &Exit, Wall)> {
    match &attempt.state {
        AttemptState::Ended { end, exit, ended_at } => Some((*end, exit, *ended_at)),
        AttemptState::Leased | AttemptState::Started => None,
    }
}

fn ending<'a>(changes: &'a Changes<'_, 'a, Attempt>) -> [Column<'a>; 6] {
    let rows = || changes.iter().map(|change| &*change.row);
    let ends = || rows().map(|a| ended(a).map(|(end, _, _)| end));
    let exits = || rows().map(|a| ended(a).map(|(_, exit, _)| exit));
    [
        Column::texts(rows().map(|a| a.state.word())),
        Column::maybe_texts(ends().map(|end| end.map(AttemptEnd::word))),
        Column::maybe_texts(ends().map(|end| end.and_then(AttemptEnd::reason))),
        Column::Ints(exits().map(|e| e.and_then(|e| e.code).map(i64::from)).collect()),
        Column::Ints(exits().map(|e| e.and_then(|e| e.signal).map(i64::from)).collect()),
        Column::maybe_texts(exits().map(|e| e.and_then(|e| e.detail.as_deref()))),
    ]
}

fn times<'a>(changes: &'a Changes<'_, 'a, Attempt>) -> [Column<'a>; 3] {
    let rows = || changes.iter().map(|change| &*change.row);
    [
        Column::Ints(rows().map(|a| ms(a.started_at)).collect()),
        Column::Ints(rows().map(|a| ended(a).map(|(_, _, at)| at.ms())).collect()),
        Column::maybe_texts(rows().map(|a| a.late_report.as_deref())),
    ]
}
