//! A row that either database answers, read from left to right. Knows no table.

use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

use crate::StoreError;

/// Why a row cannot be read: written by a newer program, or by hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unreadable(pub(crate) String);

impl From<Unreadable> for StoreError {
    fn from(unreadable: Unreadable) -> Self {
        Self::Corrupt { what: unreadable.0, source: None }
    }
}

/// The values of a row, by place.
pub(crate) trait Cells: Send + Sync {
    fn int(&self, at: usize) -> Result<Option<i64>, sqlx::Error>;
    fn text(&self, at: usize) -> Result<Option<&str>, sqlx::Error>;
    fn flag(&self, at: usize) -> Result<bool, sqlx::Error>;
    fn bytes(&self, at: usize) -> Result<&[u8], sqlx::Error>;
    /// The name of the column, for people.
    fn name(&self, at: usize) -> String;
}

macro_rules! cells {
    ($($row:ty)+) => {$(
        impl Cells for $row {
            fn int(&self, at: usize) -> Result<Option<i64>, sqlx::Error> {
                self.try_get(at)
            }

            fn text(&self, at: usize) -> Result<Option<&str>, sqlx::Error> {
                self.try_get(at)
            }

            fn flag(&self, at: usize) -> Result<bool, sqlx::Error> {
                self.try_get(at)
            }

            fn bytes(&self, at: usize) -> Result<&[u8], sqlx::Error> {
                self.try_get(at)
            }

            fn name(&self, at: usize) -> String {
                self.try_column(at).map_or_else(
                    |_no_column| format!("column {at}"),
                    |column| sqlx::Column::name(column).to_owned(),
                )
            }
        }
    )+};
}

cells! { PgRow SqliteRow }

/// Reads a row, one column after the other.
pub(crate) struct Reader<'r> {
    row: &'r dyn Cells,
    at: usize,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(row: &'r dyn Cells) -> Self {
        Self { row, at: 0 }
    }

    /// The same row from its first column on.
    pub(crate) fn again(&self) -> Self {
        Self { row: self.row, at: 0 }
    }

    fn next(&mut self) -> usize {
        self.at += 1;
        self.at - 1
    }

    fn bad(&self, at: usize, why: &dyn std::fmt::Display) -> Unreadable {
        Unreadable(format!("`{}` {why}", self.row.name(at)))
    }

    pub(crate) fn maybe_int(&mut self) -> Result<Option<i64>, Unreadable> {
        let at = self.next();
        self.row.int(at).map_err(|error| self.bad(at, &error))
    }

    pub(crate) fn int(&mut self) -> Result<i64, Unreadable> {
        let at = self.at;
        self.maybe_int()?.ok_or_else(|| self.bad(at, &"is missing"))
    }

    /// A count: a whole number that is not negative and not large.
    pub(crate) fn count(&mut self) -> Result<u32, Unreadable> {
        let at = self.at;
        let int = self.int()?;
        u32::try_from(int).map_err(|error| self.bad(at, &error))
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<&'r str>, Unreadable> {
        let at = self.next();
        self.row.text(at).map_err(|error| self.bad(at, &error))
    }

    pub(crate) fn text(&mut self) -> Result<&'r str, Unreadable> {
        let at = self.at;
        self.maybe_text()?.ok_or_else(|| self.bad(at, &"is missing"))
    }

    pub(crate) fn owned(&mut self) -> Result<String, Unreadable> {
        self.text().map(str::to_owned)
    }

    pub(crate) fn maybe_owned(&mut self) -> Result<Option<String>, Unreadable> {
        Ok(self.maybe_text()?.map(str::to_owned))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Unreadable> {
        let at = self.next();
        self.row.flag(at).map_err(|error| self.bad(at, &error))
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, Unreadable> {
        let at = self.next();
        self.row.bytes(at).map(<[u8]>::to_vec).map_err(|error| self.bad(at, &error))
    }

    /// Leaves columns out.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.at += columns;
    }

    /// A word that `read` knows.
    pub(crate) fn word<T>(&mut self, read: fn(&str) -> Option<T>) -> Result<T, Unreadable> {
        let at = self.at;
        let word = self.text()?;
        read(word).ok_or_else(|| self.bad(at, &format!("is `{word}`, which is unknown")))
    }

    /// As [`Reader::word`], where there is one.
    pub(crate) fn maybe_word<T>(
        &mut self,
        read: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Unreadable> {
        let at = self.at;
        let Some(word) = self.maybe_text()? else { return Ok(None) };
        let known = read(word);
        known.map(Some).ok_or_else(|| self.bad(at, &format!("is `{word}`, which is unknown")))
    }
}
