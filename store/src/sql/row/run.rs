//! Runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use hera_common::id::{ActionId, Fence, Incarnation, JobId, Revision, RunId, Seq, Token, WorkerId};
use hera_common::run::{
    CancelReason, Hold, QueuedWhy, Run, RunCounts, RunEnd, RunLimits, RunState, Trigger,
};
use hera_common::time::{Wall, span_ms};

use super::action::unknown;
use super::{Changes, maybe_wall, ms, version, wall};
use crate::admit::RunMark;
use crate::sql::ask::Column;
use crate::sql::cells::{Reader, Unreadable};

/// Reads a run.
pub(crate) fn run(reader: &mut Reader<'_>) -> Result<Run, Unreadable> {
    let id = RunId::from_raw(reader.int()?);
    let (action, job) = (ActionId::from_raw(reader.int()?), JobId::from_raw(reader.int()?));
    let (version, number) = (version(reader)?, reader.count()?);
    let (trigger, actor) = (reader.word(Trigger::from_label)?, reader.owned()?);
    let (why, revision) = (reader.owned()?, Revision::from_raw(reader.int()?));
    let (set, urgency) = (config(reader.text()?)?, urgency(reader)?);
    let (exclusive, limits) = (reader.flag()?, limits(reader)?);
    let (word, reason, not_before) = (reader.text()?, reader.maybe_text()?, wall(reader)?);
    let hb_seq = Seq::from_raw(reader.int()?);
    let counts = RunCounts {
        attempts: reader.count()?,
        starts: reader.count()?,
        failures: reader.count()?,
        losses: reader.count()?,
    };
    let state = state(word, reason, not_before, hold(reader)?)?;
    Ok(Run {
        id,
        action,
        job,
        version,
        number,
        trigger,
        actor,
        why,
        revision,
        set,
        urgency,
        exclusive,
        limits,
        state,
        hb_seq,
        counts,
        cancel: reader.maybe_word(CancelReason::from_label)?,
        final_token: reader.maybe_word(Token::from_hex)?,
        queued_at: wall(reader)?,
        started_at: maybe_wall(reader)?,
        ended_at: maybe_wall(reader)?,
    })
}

fn config(text: &str) -> Result<BTreeMap<String, String>, Unreadable> {
    serde_json::from_str(text).map_err(|error| Unreadable(format!("`set_config`: {error}")))
}

fn urgency(reader: &mut Reader<'_>) -> Result<u8, Unreadable> {
    let count = reader.count()?;
    u8::try_from(count).map_err(|error| Unreadable(format!("`urgency`: {error}")))
}

fn limits(reader: &mut Reader<'_>) -> Result<RunLimits, Unreadable> {
    let lease = reader.int()?;
    let lease = u64::try_from(lease).map_err(|error| Unreadable(format!("`lease_ms`: {error}")))?;
    Ok(RunLimits {
        lease: Duration::from_millis(lease),
        retries: reader.count()?,
        restarts: reader.count()?,
        at_most_once: reader.flag()?,
        start_by: maybe_wall(reader)?,
    })
}

fn hold(reader: &mut Reader<'_>) -> Result<Option<Hold>, Unreadable> {
    let (token, fence) = (reader.maybe_word(Token::from_hex)?, reader.maybe_int()?);
    let (worker, incarnation) = (reader.maybe_int()?, reader.maybe_int()?);
    let Some(token) = token else { return Ok(None) };
    let missing = || Unreadable("a run is held by nobody".to_owned());
    Ok(Some(Hold {
        token,
        fence: Fence::from_raw(fence.ok_or_else(missing)?),
        worker: WorkerId::from_raw(worker.ok_or_else(missing)?),
        incarnation: Incarnation::from_raw(incarnation.ok_or_else(missing)?),
    }))
}

fn state(
    word: &str,
    reason: Option<&str>,
    not_before: Wall,
    hold: Option<Hold>,
) -> Result<RunState, Unreadable> {
    let state = match (word, reason, hold) {
        ("queued", Some(why), None) => {
            QueuedWhy::from_label(why).map(|why| RunState::Queued { not_before, why })
        }
        ("leased", None, Some(hold)) => Some(RunState::Leased(hold)),
        ("running", None, Some(hold)) => Some(RunState::Running(hold)),
        (word, reason, None) => RunEnd::from_words(word, reason).map(RunState::Ended),
        (_, _, Some(_)) => None,
    };
    state.ok_or_else(|| unknown("state", word, reason))
}

/// All columns, for rows that are made.
pub(crate) fn run_inserts<'a>(changes: &'a Changes<'_, 'a, Run>, now: Wall) -> Vec<Column<'a>> {
    let rows = || changes.iter().map(|change| &*change.row);
    let limits = || rows().map(|r| r.limits);
    let mut columns = vec![
        Column::ints(rows().map(|r| r.id.raw())),
        Column::ints(rows().map(|r| r.action.raw())),
        Column::ints(rows().map(|r| r.job.raw())),
        Column::ints(rows().map(|r| r.version.ms())),
        Column::ints(rows().map(|r| i64::from(r.number))),
        Column::texts(rows().map(|r| r.trigger.label())),
        Column::texts(rows().map(|r| r.actor.as_str())),
        Column::texts(rows().map(|r| r.why.as_str())),
        Column::ints(rows().map(|r| r.revision.raw())),
        Column::Texts(rows().map(|r| Some(document(&r.set))).collect()),
        Column::ints(rows().map(|r| i64::from(r.urgency))),
        Column::Flags(rows().map(|r| r.exclusive).collect()),
        Column::ints(limits().map(|l| span_ms(l.lease))),
        Column::ints(limits().map(|l| i64::from(l.retries))),
        Column::ints(limits().map(|l| i64::from(l.restarts))),
        Column::Flags(limits().map(|l| l.at_most_once).collect()),
        Column::Ints(limits().map(|l| ms(l.start_by)).collect()),
    ];
    columns.extend(moving(changes, now));
    columns
}

/// What may change, after the key and what is believed.
pub(crate) fn run_updates<'a>(changes: &'a Changes<'_, 'a, Run>, now: Wall) -> Vec<Column<'a>> {
    let rows = || changes.iter().map(|change| &*change.row);
    let believed = || changes.iter().map(|change| change.believed);
    let token = |mark: RunMark| mark.token.map(|token| Cow::Owned(token.hex()));
    let mut columns = vec![
        Column::ints(rows().map(|r| r.id.raw())),
        Column::Ints(believed().map(|mark| mark.map(|m| m.hb_seq.raw())).collect()),
        Column::Texts(believed().map(|mark| mark.and_then(token)).collect()),
        Column::ints(rows().map(|r| r.action.raw())),
        Column::ints(rows().map(|r| i64::from(r.urgency))),
    ];
    columns.extend(moving(changes, now));
    columns
}

/// From the state to the end.
fn moving<'a>(changes: &'a Changes<'_, 'a, Run>, now: Wall) -> [Column<'a>; 18] {
    let rows = || changes.iter().map(|change| &*change.row);
    let holds = || rows().map(|r| r.state.hold());
    let until = |run: &Run| run.state.hold().map(|_| now.plus(run.limits.lease).ms());
    [
        Column::texts(rows().map(|r| r.state.word())),
        Column::maybe_texts(rows().map(|r| r.state.reason())),
        Column::ints(rows().map(|r| not_before(r).ms())),
        Column::ints(rows().map(|r| r.hb_seq.raw())),
        Column::ints(rows().map(|r| i64::from(r.counts.attempts))),
        Column::ints(rows().map(|r| i64::from(r.counts.starts))),
        Column::ints(rows().map(|r| i64::from(r.counts.failures))),
        Column::ints(rows().map(|r| i64::from(r.counts.losses))),
        Column::Texts(holds().map(|h| h.map(|h| Cow::Owned(h.token.hex()))).collect()),
        Column::Ints(holds().map(|h| h.map(|h| h.fence.raw())).collect()),
        Column::Ints(holds().map(|h| h.map(|h| h.worker.raw())).collect()),
        Column::Ints(holds().map(|h| h.map(|h| h.incarnation.raw())).collect()),
        Column::Ints(rows().map(until).collect()),
        Column::maybe_texts(rows().map(|r| r.cancel.map(CancelReason::label))),
        Column::Texts(rows().map(|r| r.final_token.map(|t| Cow::Owned(t.hex()))).collect()),
        Column::ints(rows().map(|r| r.queued_at.ms())),
        Column::Ints(rows().map(|r| ms(r.started_at)).collect()),
        Column::Ints(rows().map(|r| ms(r.ended_at)).collect()),
    ]
}

/// Only a queued run waits for an instant; of others the column means nothing.
fn not_before(run: &Run) -> Wall {
    match run.state {
        RunState::Queued { not_before, .. } => not_before,
        RunState::Leased(_) | RunState::Running(_) | RunState::Ended(_) => run.queued_at,
    }
}

fn document(set: &BTreeMap<String, String>) -> Cow<'static, str> {
    if set.is_empty() {
        return Cow::Borrowed("{}");
    }
    let object = set.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    Cow::Owned(serde_json::Value::Object(object.collect()).to_string())
}
