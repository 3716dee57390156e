//! The row of leadership. Judges no clock: who watches it does.

use hera_common::id::Epoch;
use hera_common::time::Wall;
use hera_common::unit::Leadership;

use super::ask::{Ask, Bind};
use super::catalog;
use super::dialect::{Dialect, Purpose, end};
use super::look;
use crate::StoreError;
use crate::store::{Candidate, Seen, advanced};

pub(crate) async fn look(db: &dyn Dialect) -> Result<Leadership, StoreError> {
    let row = look::one(db, Ask::of(catalog::LEADERSHIP), |reader| {
        Ok(Leadership {
            epoch: Epoch::from_raw(reader.int()?),
            holder: reader.maybe_owned()?,
            address: reader.owned()?,
            renew_seq: reader.int()?,
        })
    });
    row.await?.ok_or_else(|| missing("the row of leadership"))
}

pub(crate) async fn acquire(
    db: &dyn Dialect,
    seen: Seen,
    me: &Candidate,
) -> Result<Option<Epoch>, StoreError> {
    let ask = Ask::of(db.catalog().acquire)
        .bind(Bind::Int(seen.epoch.raw()))
        .bind(Bind::Int(seen.renew_seq))
        .bind(text(&me.name))
        .bind(text(&me.address));
    Ok(answer(db, ask).await?.map(Epoch::from_raw))
}

pub(crate) async fn renew(
    db: &dyn Dialect,
    epoch: Epoch,
    me: &Candidate,
) -> Result<Wall, StoreError> {
    let ask = Ask::of(db.catalog().renew).bind(Bind::Int(epoch.raw())).bind(text(&me.name));
    answer(db, ask).await?.map(Wall::from_ms).ok_or(StoreError::NotLeader)
}

pub(crate) async fn advance(
    db: &dyn Dialect,
    epoch: Epoch,
    me: &Candidate,
) -> Result<Epoch, StoreError> {
    let mut session = db.session(Purpose::WriteOnce).await?;
    let ask = Ask::of(catalog::ADVANCE).bind(Bind::Int(epoch.raw())).bind(text(&me.name));
    let told = session.execute(ask).await;
    if end(session, told).await? > 0 {
        return Ok(epoch.next());
    }
    // An earlier call whose answer was lost may have done it.
    advanced(&look(db).await?, epoch, me)
}

pub(crate) async fn resign(
    db: &dyn Dialect,
    epoch: Epoch,
    me: &Candidate,
) -> Result<(), StoreError> {
    let mut session = db.session(Purpose::WriteOnce).await?;
    let ask = Ask::of(catalog::RESIGN).bind(Bind::Int(epoch.raw())).bind(text(&me.name));
    let told = session.execute(ask).await;
    if end(session, told).await? == 0 { Err(StoreError::NotLeader) } else { Ok(()) }
}

/// The number that a changed row answers; None where no row was as it should be.
async fn answer(db: &dyn Dialect, ask: Ask<'_>) -> Result<Option<i64>, StoreError> {
    let mut session = db.session(Purpose::WriteOnce).await?;
    let mut found = None;
    let told = session
        .each(ask, &mut |mut row| {
            found = Some(row.int()?);
            Ok(())
        })
        .await;
    end(session, told).await?;
    Ok(found)
}

fn text(value: &str) -> Bind<'_> {
    Bind::Text(value.into())
}

pub(crate) fn missing(what: &str) -> StoreError {
    StoreError::Corrupt { what: format!("{what} is missing"), source: None }
}
