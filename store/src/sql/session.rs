//! A connection in use, told once for both databases. Knows no table.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures::TryStreamExt;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Database, Pool, SqlSafeStr};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::ask::{Ask, Bind, Column, clean};
use super::cells::Reader;
use super::dialect::{Fault, OnRow, Session};
use super::fault::{Broke, fault};

/// Where the connections of one kind come from and go back to.
///
/// One of them can stand beside the pool: a pool asks a connection whether it lives each time it is given out and
/// given back, two more round trips for each commit.
#[derive(Debug)]
pub(crate) struct Home<DB: Database> {
    pool: Pool<DB>,
    beside: Arc<Mutex<Option<PoolConnection<DB>>>>,
    statements: Arc<AtomicU64>,
}

/// Which connection a session gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Any that is free, asked whether it lives.
    Pooled,
    /// The one beside the pool, or any where somebody has it.
    BesideFirst,
    /// The one beside the pool, waited for: there is no other.
    TheOne,
}

/// The right to the connection beside the pool.
type Seat<DB> = OwnedMutexGuard<Option<PoolConnection<DB>>>;

impl<DB: Database> Home<DB> {
    pub(crate) fn new(pool: Pool<DB>, statements: Arc<AtomicU64>) -> Self {
        Self { pool, beside: Arc::default(), statements }
    }

    async fn seat(&self, which: Which) -> Option<Seat<DB>> {
        match which {
            Which::Pooled => None,
            Which::BesideFirst => Arc::clone(&self.beside).try_lock_owned().ok(),
            Which::TheOne => Some(Arc::clone(&self.beside).lock_owned().await),
        }
    }

    pub(crate) async fn close(&self) {
        drop(self.beside.lock().await.take());
        self.pool.close().await;
    }

    fn count(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }
}

/// How a transaction begins; None: each statement is its own.
pub(crate) type Begin = Option<&'static str>;

macro_rules! session {
    ($name:ident, $database:ty, $arguments:ty, $add:path) => {
        /// A connection in use.
        pub(crate) struct $name {
            home: Arc<Home<$database>>,
            seat: Option<Seat<$database>>,
            /// None: given back.
            connection: Option<PoolConnection<$database>>,
            in_transaction: bool,
        }

        impl $name {
            /// Takes a connection and begins.
            pub(crate) async fn begin(
                home: &Arc<Home<$database>>,
                which: Which,
                begin: Begin,
            ) -> Result<Self, Fault> {
                let mut seat = home.seat(which).await;
                let kept = seat.as_mut().and_then(|seat| seat.take());
                let mut session = Self {
                    home: Arc::clone(home),
                    seat,
                    connection: kept,
                    in_transaction: begin.is_some(),
                };
                if session.connection.is_some() {
                    // It may have broken since its last use; nothing has begun, so a new one is as good.
                    if session.start(begin).await.is_ok() {
                        return Ok(session);
                    }
                    session.throw_away();
                }
                let fresh = home.pool.acquire().await;
                session.connection = Some(fresh.map_err(|error| fault(error, Broke::Before))?);
                session.start(begin).await?;
                Ok(session)
            }

            async fn start(&mut self, begin: Begin) -> Result<(), Fault> {
                match begin {
                    Some(text) => self.plain(text).await,
                    None => Ok(()),
                }
            }

            /// To its seat, or to the pool.
            fn give_back(&mut self) {
                if let Some(seat) = &mut self.seat {
                    **seat = self.connection.take();
                }
                self.connection = None;
            }

            fn throw_away(&mut self) {
                if let Some(connection) = self.connection.take() {
                    drop(connection.detach());
                }
            }

            /// A statement without values.
            async fn plain(&mut self, text: &'static str) -> Result<(), Fault> {
                self.home.count();
                let connection = taken(&mut self.connection)?;
                let done = sqlx::raw_sql(text).execute(&mut **connection).await;
                done.map(|_done| ()).map_err(|error| fault(error, Broke::Within))
            }
        }

        #[async_trait]
        impl Session for $name {
            async fn each(&mut self, ask: Ask<'_>, on_row: &mut OnRow<'_>) -> Result<(), Fault> {
                self.home.count();
                let connection = taken(&mut self.connection)?;
                let (text, fixed, arguments) = split::<$arguments>(ask, $add)?;
                let query = sqlx::query_with(text, arguments).persistent(fixed);
                let mut rows = query.fetch(&mut **connection);
                while let Some(row) =
                    rows.try_next().await.map_err(|error| fault(error, Broke::Within))?
                {
                    on_row(Reader::new(&row))?;
                }
                Ok(())
            }

            async fn execute(&mut self, ask: Ask<'_>) -> Result<u64, Fault> {
                self.home.count();
                let connection = taken(&mut self.connection)?;
                let (text, fixed, arguments) = split::<$arguments>(ask, $add)?;
                let query = sqlx::query_with(text, arguments).persistent(fixed);
                let done = query.execute(&mut **connection).await;
                done.map(|done| done.rows_affected()).map_err(|error| fault(error, Broke::Within))
            }

            async fn finish(mut self: Box<Self>) -> Result<(), Fault> {
                if self.in_transaction {
                    self.plain("COMMIT").await?;
                }
                self.give_back();
                Ok(())
            }

            async fn give_up(mut self: Box<Self>) {
                let rolled_back = !self.in_transaction || self.plain("ROLLBACK").await.is_ok();
                // A connection that cannot roll back is closed by the drop, which rolls back, too.
                if rolled_back {
                    self.give_back();
                }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // Nobody waited for the end: an answer may be under way that the next user must not get.
                self.throw_away();
            }
        }
    };
}

session!(PgSession, sqlx::Postgres, sqlx::postgres::PgArguments, add_postgres);
session!(SqliteSession, sqlx::Sqlite, sqlx::sqlite::SqliteArguments, add_sqlite);

/// The connection of a session that was not given back.
fn taken<T>(connection: &mut Option<T>) -> Result<&mut T, Fault> {
    let gone = || crate::rules::Broken("a session was used after its end".to_owned());
    connection.as_mut().ok_or_else(|| Fault::Fatal(gone().into()))
}

type Added = Result<(), sqlx::error::BoxDynError>;

/// The text, whether it is one of the files, and the values in a database's own form.
fn split<A: Default>(
    ask: Ask<'_>,
    add: fn(&mut A, Bind<'_>) -> Added,
) -> Result<(sqlx::SqlStr, bool, A), Fault> {
    let mut arguments = A::default();
    for bind in ask.binds {
        add(&mut arguments, bind).map_err(|error| {
            let what = "a value cannot be sent".to_owned();
            Fault::Fatal(crate::StoreError::Corrupt { what, source: Some(error) })
        })?;
    }
    Ok(match ask.text {
        std::borrow::Cow::Borrowed(file) => (file.into_sql_str(), true, arguments),
        // Made of texts of this program and of places for values: see `Ask`.
        std::borrow::Cow::Owned(built) => (AssertSqlSafe(built).into_sql_str(), false, arguments),
    })
}

fn add_postgres(arguments: &mut sqlx::postgres::PgArguments, bind: Bind<'_>) -> Added {
    use sqlx::Arguments;
    match bind {
        Bind::Int(int) => arguments.add(int),
        Bind::Text(text) => arguments.add(&*clean(&text)),
        Bind::Bytes(bytes) => arguments.add(bytes),
        Bind::Ints(list) => arguments.add(list),
        Bind::Texts(list) => arguments.add(list.into_iter().map(clean).collect::<Vec<_>>()),
        Bind::Rows(columns) => columns.into_iter().try_for_each(|column| match column {
            Column::Ints(list) => arguments.add(list),
            Column::Texts(list) => arguments.add(list),
            Column::Flags(list) => arguments.add(list),
            Column::Bytes(list) => arguments.add(list),
        }),
    }
}

fn add_sqlite(arguments: &mut sqlx::sqlite::SqliteArguments, bind: Bind<'_>) -> Added {
    use sqlx::Arguments;
    match bind {
        Bind::Int(int) => arguments.add(int),
        Bind::Text(text) => arguments.add(clean(&text).into_owned()),
        Bind::Bytes(bytes) => arguments.add(bytes.to_vec()),
        Bind::Ints(list) => arguments.add(serde_json::to_string(&list)?),
        Bind::Texts(list) => arguments.add(serde_json::to_string(&list)?),
        Bind::Rows(columns) => arguments.add(super::document::rows(&columns)?),
    }
}
