//! A batch, as statements of one transaction: the epoch first, then the rows that it believes something about,
//! then what `admit` planned, one statement for each kind of write. Judges nothing itself.

use hera_common::id::{ActionId, Epoch, Fence, GroupId, JobId, RunId, Seq, Token, WorkerId};
use hera_common::time::Wall;
use hera_common::unit::{Batch, Committed, Marks};

use super::ask::{Ask, Bind};
use super::catalog::Catalog;
use super::cells::{Reader, Unreadable};
use super::dialect::{Dialect, Fault, Purpose, Session};
use super::write::Writer;
use crate::StoreError;
use crate::admit::{Believed, Found, Needs, RunMark, admit};

/// How often a transaction that met another one is tried. Locks are taken in one order, so that a second try is
/// already rare.
const TRIES_MAX: u32 = 5;

/// From so many writes on a batch is one that may take long: applying thousands of jobs does, and a store that
/// took it for no answer would never let them in.
const MUCH: usize = 1_000;

/// What a batch is to its database.
pub(crate) fn purpose(batch: &Batch) -> Purpose {
    let writes: usize = batch.units.iter().map(|unit| unit.writes.len()).sum();
    if writes < MUCH { Purpose::Write } else { Purpose::WriteMuch }
}

/// How the guards are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A guard on a row that the batch changes is believed; the change finds it or not. Memory is nearly always
    /// right, and a look that locks costs as much as the write.
    Believing,
    /// All rows are read and locked, then judged.
    Looking,
}

/// Commits, as [`crate::Store::commit`] promises.
pub(crate) async fn commit(
    db: &dyn Dialect,
    epoch: Epoch,
    batch: &Batch,
) -> Result<Committed, StoreError> {
    let mut way = Way::Believing;
    let mut tries = 1;
    loop {
        match attempt(db, epoch, batch, way).await {
            // Something was not as believed, so that another row was written, or none: look at them all.
            Err(Fault::Doubted(_)) if way == Way::Believing => way = Way::Looking,
            Err(Fault::Again(_)) if tries < TRIES_MAX => {
                way = Way::Looking;
                tries += 1;
            }
            told => return told.map_err(StoreError::from),
        }
    }
}

async fn attempt(
    db: &dyn Dialect,
    epoch: Epoch,
    batch: &Batch,
    way: Way,
) -> Result<Committed, Fault> {
    let mut session = db.session(purpose(batch)).await?;
    match within(&mut *session, db.catalog(), (epoch, batch), way).await {
        Ok(committed) => {
            session.finish().await?;
            Ok(committed)
        }
        Err(fault) => {
            session.give_up().await;
            Err(fault)
        }
    }
}

async fn within(
    session: &mut dyn Session,
    catalog: &'static Catalog,
    (epoch, batch): (Epoch, &Batch),
    way: Way,
) -> Result<Committed, Fault> {
    let (store_now, marks) = guard(session, catalog, epoch).await?;
    let (needs, found) = match way {
        Way::Believing => Needs::believing(batch),
        Way::Looking => (Needs::of(batch), Found::default()),
    };
    let believed = Believed::of(&found);
    let mut seen = Seen { found: Found { marks, ..found }, paths: Vec::new() };
    look(session, catalog, &needs, &mut seen).await?;
    let plan = admit(batch, seen.found).map_err(|broken| Fault::Doubted(broken.into()))?;
    if !plan.proves(&believed) {
        let what = "a row was believed and not changed".to_owned();
        return Err(Fault::Doubted(StoreError::Corrupt { what, source: None }));
    }
    let mut writer = Writer { session, catalog, now: store_now };
    writer.plan(&plan, &seen.paths).await?;
    if let Some(higher) = raised(&marks, &batch.marks) {
        writer.raise(&higher).await?;
    }
    Ok(Committed { outcomes: plan.outcomes, store_now })
}

/// Holds the term, and reads the clock and the marks.
async fn guard(
    session: &mut dyn Session,
    catalog: &'static Catalog,
    epoch: Epoch,
) -> Result<(Wall, Marks), Fault> {
    let ask = Ask::of(catalog.guard).bind(Bind::Int(epoch.raw()));
    let mut found = None;
    session
        .each(ask, &mut |mut row| {
            found = Some((Wall::from_ms(row.int()?), marks(&mut row)?));
            Ok(())
        })
        .await?;
    found.ok_or(Fault::Fatal(StoreError::NotLeader))
}

/// Reads the highest ids in use.
pub(crate) fn marks(row: &mut Reader<'_>) -> Result<Marks, Unreadable> {
    Ok(Marks {
        job: JobId::from_raw(row.int()?),
        group: GroupId::from_raw(row.int()?),
        action: ActionId::from_raw(row.int()?),
        run: RunId::from_raw(row.int()?),
        fence: Fence::from_raw(row.int()?),
        worker: WorkerId::from_raw(row.int()?),
    })
}

/// The marks to write, if one of them is higher than what the store has.
fn raised(stored: &Marks, used: &Marks) -> Option<Marks> {
    let highest = stored.max(*used);
    (highest != *stored).then_some(highest)
}

/// The rows that a batch needs, and the paths of the jobs among them.
struct Seen {
    found: Found,
    paths: Vec<(JobId, String)>,
}

/// Reads and locks, in the one order: jobs, cursors, actions, runs, workers.
async fn look(
    session: &mut dyn Session,
    catalog: &'static Catalog,
    needs: &Needs,
    seen: &mut Seen,
) -> Result<(), Fault> {
    let Seen { found, paths } = seen;
    rows(session, catalog.job_lock, needs.jobs.iter().map(|id| id.raw()), &mut |row| {
        let id = JobId::from_raw(row.int()?);
        found.jobs.insert(id, Seq::from_raw(row.int()?));
        paths.push((id, row.owned()?));
        Ok(())
    })
    .await?;
    rows(session, catalog.cursor_lock, needs.cursors.iter().map(|id| id.raw()), &mut |row| {
        found.cursors.insert(JobId::from_raw(row.int()?), Seq::from_raw(row.int()?));
        Ok(())
    })
    .await?;
    rows(session, catalog.action_lock, needs.actions.iter().map(|id| id.raw()), &mut |row| {
        found.actions.insert(ActionId::from_raw(row.int()?), Seq::from_raw(row.int()?));
        Ok(())
    })
    .await?;
    rows(session, catalog.run_lock, needs.runs.iter().map(|id| id.raw()), &mut |row| {
        let id = RunId::from_raw(row.int()?);
        let hb_seq = Seq::from_raw(row.int()?);
        found.runs.insert(id, RunMark { hb_seq, token: row.maybe_word(Token::from_hex)? });
        Ok(())
    })
    .await?;
    rows(session, catalog.worker_lock, needs.workers.iter().map(|id| id.raw()), &mut |row| {
        found.workers.insert(WorkerId::from_raw(row.int()?), Seq::from_raw(row.int()?));
        Ok(())
    })
    .await
}

type ReadRow<'f> = dyn FnMut(&mut Reader<'_>) -> Result<(), Unreadable> + Send + 'f;

/// The rows with these ids; no statement where there is none to read.
async fn rows(
    session: &mut dyn Session,
    statement: &'static str,
    ids: impl Iterator<Item = i64>,
    read: &mut ReadRow<'_>,
) -> Result<(), Fault> {
    let ids: Vec<i64> = ids.collect();
    if ids.is_empty() {
        return Ok(());
    }
    let ask = Ask::of(statement).bind(Bind::Ints(ids));
    session.each(ask, &mut |mut row| Ok(read(&mut row)?)).await
}

#[cfg(test)]
mod tests {
    use hera_common::id::{ActionId, JobId, RunId};
    use hera_common::unit::{Batch, Marks, Unit, Write};

    use super::super::dialect::Purpose;
    use super::{MUCH, purpose, raised};

    #[test]
    fn a_batch_of_many_writes_may_take_longer() {
        let write = Write::DropPlanned(ActionId::from_raw(1));
        let unit = |count| Unit { writes: vec![write.clone(); count], ..Unit::default() };
        let batch = |units: Vec<Unit>| Batch { units, ..Batch::default() };
        assert_eq!(purpose(&batch(vec![unit(MUCH - 1)])), Purpose::Write);
        assert_eq!(purpose(&batch(vec![unit(MUCH / 2), unit(MUCH / 2)])), Purpose::WriteMuch);
    }

    #[test]
    fn marks_are_written_only_when_one_is_higher() {
        let stored = Marks { job: JobId::from_raw(5), ..Marks::default() };
        assert_eq!(raised(&stored, &Marks::default()), None);
        let used = Marks { run: RunId::from_raw(1), ..Marks::default() };
        assert_eq!(raised(&stored, &used), Some(Marks { run: RunId::from_raw(1), ..stored }));
    }
}
