//! What people define, and what is noted of it: groups, calendars, jobs, revisions, cursors, gaps, the audit.

use hera_common::audit::{Asked, AuditRow};
use hera_common::calendar::CalendarRow;
use hera_common::id::{GroupId, JobId, Revision, Seq};
use hera_common::job::{Cursor, Gap, GapReason, GroupRow, JobRow, RevisionRow};
use hera_common::path::Path;

use super::hands::{hands, hands_text};
use super::{Changes, believed, maybe_wall, ms, version, wall};
use crate::sql::ask::Column;
use crate::sql::cells::{Reader, Unreadable};

fn path(reader: &mut Reader<'_>) -> Result<Path, Unreadable> {
    let text = reader.text()?;
    Path::parse(text).map_err(|error| Unreadable(format!("`path` is `{text}`: {error}")))
}

/// Reads a group.
pub(crate) fn group(reader: &mut Reader<'_>) -> Result<GroupRow, Unreadable> {
    Ok(GroupRow {
        id: GroupId::from_raw(reader.int()?),
        path: path(reader)?,
        spec: reader.owned()?,
        seq: Seq::from_raw(reader.int()?),
        hands: hands(reader)?,
        created_at: wall(reader)?,
    })
}

/// All columns, for rows that are made.
pub(crate) fn group_inserts<'a>(changes: &'a Changes<'_, 'a, GroupRow>) -> Vec<Column<'a>> {
    let mut columns = group_updates(changes);
    columns.push(Column::ints(changes.iter().map(|c| c.row.created_at.ms())));
    columns
}

/// What may change, after the key.
pub(crate) fn group_updates<'a>(changes: &'a Changes<'_, 'a, GroupRow>) -> Vec<Column<'a>> {
    let rows = || changes.iter().map(|change| &*change.row);
    vec![
        Column::ints(rows().map(|g| g.id.raw())),
        Column::texts(rows().map(|g| g.path.as_str())),
        Column::texts(rows().map(|g| g.spec.as_str())),
        Column::ints(rows().map(|g| g.seq.raw())),
        Column::Texts(rows().map(|g| Some(hands_text(&g.hands))).collect()),
    ]
}

/// Reads a job.
pub(crate) fn job(reader: &mut Reader<'_>) -> Result<JobRow, Unreadable> {
    Ok(JobRow {
        id: JobId::from_raw(reader.int()?),
        path: path(reader)?,
        revision: Revision::from_raw(reader.int()?),
        seq: Seq::from_raw(reader.int()?),
        open: reader.flag()?,
        parked: reader.maybe_owned()?,
        hands: hands(reader)?,
        created_at: wall(reader)?,
        deleted_at: maybe_wall(reader)?,
    })
}

/// All columns, for rows that are made.
pub(crate) fn job_inserts<'a>(changes: &'a Changes<'_, 'a, JobRow>) -> Vec<Column<'a>> {
    let rows = || changes.iter().map(|change| &*change.row);
    let mut columns = vec![Column::ints(rows().map(|j| j.id.raw()))];
    columns.extend(job_moving(changes));
    columns.extend([
        Column::ints(rows().map(|j| j.created_at.ms())),
        Column::Ints(rows().map(|j| ms(j.deleted_at)).collect()),
    ]);
    columns
}

/// What may change, after the key and what is believed.
pub(crate) fn job_updates<'a>(changes: &'a Changes<'_, 'a, JobRow>) -> Vec<Column<'a>> {
    let rows = || changes.iter().map(|change| &*change.row);
    let mut columns = vec![Column::ints(rows().map(|j| j.id.raw())), believed(changes)];
    columns.extend(job_moving(changes));
    columns.push(Column::Ints(rows().map(|j| ms(j.deleted_at)).collect()));
    columns
}

fn job_moving<'a>(changes: &'a Changes<'_, 'a, JobRow>) -> [Column<'a>; 6] {
    let rows = || changes.iter().map(|change| &*change.row);
    [
        Column::texts(rows().map(|j| j.path.as_str())),
        Column::ints(rows().map(|j| j.revision.raw())),
        Column::ints(rows().map(|j| j.seq.raw())),
        Column::Flags(rows().map(|j| j.open).collect()),
        Column::maybe_texts(rows().map(|j| j.parked.as_deref())),
        Column::Texts(rows().map(|j| Some(hands_text(&j.hands))).collect()),
    ]
}

/// Reads an edit of a job. Its document is not read here: one that is none parks its job, not the store.
pub(crate) fn revision(reader: &mut Reader<'_>) -> Result<RevisionRow, Unreadable> {
    Ok(RevisionRow {
        job: JobId::from_raw(reader.int()?),
        revision: Revision::from_raw(reader.int()?),
        since: version(reader)?,
        spec: reader.owned()?,
        actor: reader.owned()?,
        why: reader.owned()?,
        source: reader.owned()?,
        created_at: wall(reader)?,
    })
}

/// All columns of edits.
pub(crate) fn revision_inserts<'a>(rows: &[&'a RevisionRow]) -> Vec<Column<'a>> {
    let rows = || rows.iter().copied();
    vec![
        Column::ints(rows().map(|r| r.job.raw())),
        Column::ints(rows().map(|r| r.revision.raw())),
        Column::ints(rows().map(|r| r.since.ms())),
        Column::texts(rows().map(|r| r.spec.as_str())),
        Column::texts(rows().map(|r| r.actor.as_str())),
        Column::texts(rows().map(|r| r.why.as_str())),
        Column::texts(rows().map(|r| r.source.as_str())),
        Column::ints(rows().map(|r| r.created_at.ms())),
    ]
}

/// Reads an edit of a calendar. Its document is not read here: one that is none has no days.
pub(crate) fn calendar(reader: &mut Reader<'_>) -> Result<CalendarRow, Unreadable> {
    Ok(CalendarRow {
        name: reader.owned()?,
        revision: Revision::from_raw(reader.int()?),
        since: version(reader)?,
        spec: reader.maybe_owned()?,
        actor: reader.owned()?,
        why: reader.owned()?,
        created_at: wall(reader)?,
    })
}

/// All columns of edits of calendars.
pub(crate) fn calendar_inserts<'a>(rows: &[&'a CalendarRow]) -> Vec<Column<'a>> {
    let rows = || rows.iter().copied();
    vec![
        Column::texts(rows().map(|c| c.name.as_str())),
        Column::ints(rows().map(|c| c.revision.raw())),
        Column::ints(rows().map(|c| c.since.ms())),
        Column::maybe_texts(rows().map(|c| c.spec.as_deref())),
        Column::texts(rows().map(|c| c.actor.as_str())),
        Column::texts(rows().map(|c| c.why.as_str())),
        Column::ints(rows().map(|c| c.created_at.ms())),
    ]
}

/// Reads a cursor.
pub(crate) fn cursor(reader: &mut Reader<'_>) -> Result<Cursor, Unreadable> {
    Ok(Cursor {
        job: JobId::from_raw(reader.int()?),
        decided_to: version(reader)?,
        planned_to: version(reader)?,
        seq: Seq::from_raw(reader.int()?),
    })
}

/// All columns, for rows that are made.
pub(crate) fn cursor_inserts<'a>(changes: &Changes<'_, '_, Cursor>) -> Vec<Column<'a>> {
    let mut columns = vec![Column::ints(changes.iter().map(|c| c.row.job.raw()))];
    columns.extend(cursor_moving(changes));
    columns
}

/// What may change, after the key and what is believed.
pub(crate) fn cursor_updates<'a>(changes: &Changes<'_, '_, Cursor>) -> Vec<Column<'a>> {
    let jobs = Column::ints(changes.iter().map(|c| c.row.job.raw()));
    let mut columns = vec![jobs, believed(changes)];
    columns.extend(cursor_moving(changes));
    columns
}

fn cursor_moving<'a>(changes: &Changes<'_, '_, Cursor>) -> [Column<'a>; 3] {
    let rows = || changes.iter().map(|change| &change.row);
    [
        Column::ints(rows().map(|c| c.decided_to.ms())),
        Column::ints(rows().map(|c| c.planned_to.ms())),
        Column::ints(rows().map(|c| c.seq.raw())),
    ]
}

/// Reads a gap.
pub(crate) fn gap(reader: &mut Reader<'_>) -> Result<Gap, Unreadable> {
    Ok(Gap {
        job: JobId::from_raw(reader.int()?),
        from: version(reader)?,
        to: version(reader)?,
        count: u64::try_from(reader.int()?).unwrap_or(0),
        reason: reader.word(GapReason::from_label)?,
        created_at: wall(reader)?,
    })
}

/// All columns of gaps.
pub(crate) fn gap_inserts<'a>(rows: &[&Gap]) -> Vec<Column<'a>> {
    let rows = || rows.iter().copied();
    vec![
        Column::ints(rows().map(|g| g.job.raw())),
        Column::ints(rows().map(|g| g.from.ms())),
        Column::ints(rows().map(|g| g.to.ms())),
        Column::ints(rows().map(|g| i64::try_from(g.count).unwrap_or(i64::MAX))),
        Column::texts(rows().map(|g| g.reason.label())),
        Column::ints(rows().map(|g| g.created_at.ms())),
    ]
}

/// Reads a row of the audit.
pub(crate) fn audit(reader: &mut Reader<'_>) -> Result<AuditRow, Unreadable> {
    Ok(AuditRow {
        at: wall(reader)?,
        asked: Asked { actor: reader.owned()?, why: reader.owned()? },
        verb: reader.owned()?,
        subject: reader.owned()?,
        old: reader.maybe_owned()?,
        new: reader.maybe_owned()?,
    })
}

/// All columns of the audit.
pub(crate) fn audit_inserts<'a>(rows: &[&'a AuditRow]) -> Vec<Column<'a>> {
    let rows = || rows.iter().copied();
    vec![
        Column::ints(rows().map(|a| a.at.ms())),
        Column::texts(rows().map(|a| a.asked.actor.as_str())),
        Column::texts(rows().map(|a| a.asked.why.as_str())),
        Column::texts(rows().map(|a| a.verb.as_str())),
        Column::texts(rows().map(|a| a.subject.as_str())),
        Column::maybe_texts(rows().map(|a| a.old.as_deref())),
        Column::maybe_texts(rows().map(|a| a.new.as_deref())),
    ]
}
