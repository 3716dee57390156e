//! Logs in PostgreSQL: rows of bytes, each with the place of its first one.

use std::collections::BTreeMap;

use hera_common::id::Fence;

use crate::StoreError;
use crate::read::LogRead;
use crate::sql::{
    Ask, Bind, Dialect, Fault, LOG_APPEND, LOG_READ, LOG_SIZES, Purpose, Session, end,
};

/// How often an append looks again after another writer of the same log was quicker.
const TRIES_MAX: u32 = 3;

/// Adds what lies beyond the end.
pub(super) async fn append(
    db: &dyn Dialect,
    fence: Fence,
    offset: u64,
    bytes: &[u8],
) -> Result<u64, StoreError> {
    let mut session = db.session(Purpose::WriteOnce).await?;
    let told = append_within(&mut *session, fence, offset, bytes).await;
    end(session, told).await
}

async fn append_within(
    session: &mut dyn Session,
    fence: Fence,
    offset: u64,
    bytes: &[u8],
) -> Result<u64, Fault> {
    let last = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    let mut size = 0;
    for _try in 0..TRIES_MAX {
        let ask = Ask::of(LOG_APPEND)
            .bind(Bind::Int(fence.raw()))
            .bind(Bind::Int(signed(offset)))
            .bind(Bind::Bytes(bytes));
        let mut sizes = (0, 0);
        session
            .each(ask, &mut |mut row| {
                sizes = (unsigned(row.int()?), unsigned(row.int()?));
                Ok(())
            })
            .await?;
        let (before, after) = sizes;
        size = after;
        if after > before || offset > before || last <= before {
            break;
        }
    }
    Ok(size)
}

/// Reads a piece, and how long the log is.
pub(super) async fn read(
    db: &dyn Dialect,
    fence: Fence,
    offset: u64,
    max: u32,
) -> Result<LogRead, StoreError> {
    // Two statements: a log only grows, so that a length that is read later is never too short.
    let mut session = db.session(Purpose::LookOnce).await?;
    let told = read_within(&mut *session, fence, offset, max).await;
    let bytes = end(session, told).await?;
    let size = sizes(db, &[fence]).await?.remove(&fence).unwrap_or(0);
    Ok(LogRead { bytes, size })
}

async fn read_within(
    session: &mut dyn Session,
    fence: Fence,
    offset: u64,
    max: u32,
) -> Result<Vec<u8>, Fault> {
    let ask = Ask::of(LOG_READ)
        .bind(Bind::Int(fence.raw()))
        .bind(Bind::Int(signed(offset)))
        .bind(Bind::Int(i64::from(max)));
    let most = usize::try_from(max).unwrap_or(usize::MAX);
    let mut piece = Vec::new();
    session
        .each(ask, &mut |mut row| {
            let (at, bytes) = (unsigned(row.int()?), row.bytes()?);
            let known = usize::try_from(offset.saturating_sub(at)).unwrap_or(usize::MAX);
            let free = most - piece.len();
            piece.extend(bytes.into_iter().skip(known).take(free));
            Ok(())
        })
        .await?;
    Ok(piece)
}

/// How long these logs are.
pub(super) async fn sizes(
    db: &dyn Dialect,
    fences: &[Fence],
) -> Result<BTreeMap<Fence, u64>, StoreError> {
    let fences = fences.iter().map(|fence| fence.raw()).collect();
    let mut session = db.session(Purpose::LookOnce).await?;
    let mut sizes = BTreeMap::new();
    let told = session
        .each(Ask::of(LOG_SIZES).bind(Bind::Ints(fences)), &mut |mut row| {
            sizes.insert(Fence::from_raw(row.int()?), unsigned(row.int()?));
            Ok(())
        })
        .await;
    end(session, told).await?;
    Ok(sizes)
}

/// A place so far that no log reaches it is as good as the farthest there is; half of it leaves room to add.
fn signed(place: u64) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX).min(i64::MAX / 2)
}

fn unsigned(place: i64) -> u64 {
    u64::try_from(place).unwrap_or(0)
}
