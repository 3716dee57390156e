//! What an error of a database means for the caller. Knows no table.

use sqlx::error::{DatabaseError, Error};
use sqlx::postgres::PgDatabaseError;

use super::dialect::Fault;
use crate::StoreError;

/// When it broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broke {
    /// Before there was a connection.
    Before,
    /// On a connection.
    Within,
}

/// What is wrong with the rows or with an order, not with the way to them.
fn corrupt(error: Error) -> StoreError {
    let told = error.as_database_error().map(|told| told.message().to_owned());
    let what = told.unwrap_or_else(|| error.to_string());
    StoreError::Corrupt { what, source: Some(Box::new(error)) }
}

fn unavailable(error: Error) -> Fault {
    Fault::Fatal(StoreError::Unavailable(Box::new(error)))
}

/// Sorts an error by what can be done about it.
pub(crate) fn fault(error: Error, broke: Broke) -> Fault {
    let told = error.as_database_error();
    if told.is_some_and(|told| told.try_downcast_ref::<PgDatabaseError>().is_some()) {
        return postgres(error, broke);
    }
    if told.is_some() {
        return sqlite(error);
    }
    let unreadable = matches!(
        error,
        Error::ColumnDecode { .. }
            | Error::Decode(_)
            | Error::ColumnNotFound(_)
            | Error::ColumnIndexOutOfBounds { .. }
            | Error::TypeNotFound { .. }
            | Error::Encode(_)
            | Error::RowNotFound
    );
    // All else is a way that broke, also what is new to us, until somebody knows better.
    if unreadable { Fault::Fatal(corrupt(error)) } else { unavailable(error) }
}

fn code(error: &Error) -> String {
    let told = error.as_database_error().and_then(DatabaseError::code);
    told.map(std::borrow::Cow::into_owned).unwrap_or_default()
}

fn postgres(error: Error, broke: Broke) -> Fault {
    let code = code(&error);
    let class = code.get(..2).unwrap_or_default();
    match (code.as_str(), class) {
        ("40001" | "40P01", _) => Fault::Again(StoreError::Unavailable(Box::new(error))),
        // A wrong password, an unknown role or database, a setting that is none: waiting will not help.
        (_, "28" | "3D" | "22" | "42") if broke == Broke::Before => {
            let why = error.as_database_error().map(DatabaseError::message).unwrap_or_default();
            Fault::Fatal(StoreError::Unusable(why.to_owned()))
        }
        // A broken rule, or raised by a trigger.
        (_, "23" | "P0") => Fault::Doubted(corrupt(error)),
        // Values that do not fit, names that are not there.
        (_, "22" | "42" | "0A" | "2F" | "39") => Fault::Fatal(corrupt(error)),
        // Cancelled by a limit of time, shutting down, read-only after a fail-over, out of something.
        _ => unavailable(error),
    }
}

/// SQLite's result codes, the low byte of what it tells.
mod sqlite_code {
    pub(super) const ERROR: u32 = 1;
    pub(super) const BUSY: u32 = 5;
    pub(super) const LOCKED: u32 = 6;
    pub(super) const CORRUPT: u32 = 11;
    pub(super) const TOO_BIG: u32 = 18;
    pub(super) const CONSTRAINT: u32 = 19;
    pub(super) const MISMATCH: u32 = 20;
    pub(super) const NOT_A_DATABASE: u32 = 26;
}

fn sqlite(error: Error) -> Fault {
    match code(&error).parse::<u32>().unwrap_or_default() & 0xff {
        sqlite_code::BUSY | sqlite_code::LOCKED => {
            Fault::Again(StoreError::Unavailable(Box::new(error)))
        }
        // A broken rule, or raised by a trigger.
        sqlite_code::CONSTRAINT => Fault::Doubted(corrupt(error)),
        sqlite_code::ERROR
        | sqlite_code::CORRUPT
        | sqlite_code::TOO_BIG
        | sqlite_code::MISMATCH
        | sqlite_code::NOT_A_DATABASE => Fault::Fatal(corrupt(error)),
        // The disk is full, cannot be read, is read-only: mended by people, not by another order.
        _ => unavailable(error),
    }
}
