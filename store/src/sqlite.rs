//! The store in a folder: a SQLite file, the lock that makes its master the leader, and the logs. All that both
//! databases share is in `sql`.

mod folder;
mod log;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use hera_common::id::Fence;
use sqlx::Sqlite;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use crate::StoreError;
use crate::open::{Options, migrate_fault};
use crate::read::LogRead;
use crate::sql::{
    Broke, Catalog, Dialect, Fault, Home, ListForm, Purpose, SQLITE, Session, SqlStore,
    SqliteSession, Which, fault,
};
use folder::{Folder, OpenFile};
use log::Logs;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../migrations/sqlite");

/// The file in the folder.
const FILE: &str = "hera.db";

/// Rows that a reader may be ahead of its caller: a channel's hop for each row is dear, one for many is not.
const ROWS_AHEAD: usize = 1_024;

/// Pages that the writer keeps in memory, in KiB as a negative number, as SQLite wants it.
const CACHE: &str = "-65536";

#[derive(Debug)]
struct Database {
    writer: Arc<Home<Sqlite>>,
    readers: Arc<Home<Sqlite>>,
    statements: Arc<AtomicU64>,
    options: Options,
    logs: Logs,
    file: OpenFile,
    /// Held as long as the store lives: it is the leadership.
    _folder: Folder,
}

/// Opens the store in `path`, which is made where it is missing.
pub(crate) async fn open(path: &Path, options: &Options) -> Result<SqlStore, StoreError> {
    let folder = Folder::take(path)?;
    let file = SqliteConnectOptions::new()
        .filename(folder.path().join(FILE))
        .foreign_keys(true)
        .busy_timeout(options.patience)
        .row_buffer_size(ROWS_AHEAD);
    let writes = file
        .clone()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", CACHE);
    let pool = |connections: u32| {
        SqlitePoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(options.patience)
            // A connection costs nothing while it does nothing, and is dear to make.
            .idle_timeout(None)
            .max_lifetime(None)
    };
    let writer = pool(1).connect_with(writes).await.map_err(|e| fault(e, Broke::Before))?;
    let mut first = writer.acquire().await.map_err(|error| fault(error, Broke::Before))?;
    MIGRATIONS.run_direct(None, &mut *first, false).await.map_err(migrate_fault)?;
    drop(first);
    let readers = pool(options.readers.max(1)).connect_lazy_with(file.read_only(true));
    let statements = Arc::new(AtomicU64::new(0));
    Ok(SqlStore::new(Arc::new(Database {
        writer: Arc::new(Home::new(writer, Arc::clone(&statements))),
        readers: Arc::new(Home::new(readers, Arc::clone(&statements))),
        statements,
        options: options.clone(),
        logs: Logs::in_folder(folder.path()),
        file: OpenFile::at(folder.path().join(FILE))?,
        _folder: folder,
    })))
}

#[async_trait]
impl Dialect for Database {
    fn catalog(&self) -> &'static Catalog {
        &SQLITE
    }

    fn list_form(&self) -> ListForm {
        ListForm::Document
    }

    fn patience(&self, purpose: Purpose) -> Duration {
        match purpose {
            Purpose::Write | Purpose::WriteOnce | Purpose::Look | Purpose::LookOnce => {
                self.options.patience
            }
            Purpose::WriteMuch | Purpose::Browse | Purpose::Load => self.options.long_patience,
        }
    }

    async fn session(&self, purpose: Purpose) -> Result<Box<dyn Session>, Fault> {
        self.file.is_there()?;
        let (home, which, begin) = match purpose {
            // Not a deferred one: a transaction that reads first and then writes would fail at once where
            // another one wrote in between.
            Purpose::Write | Purpose::WriteMuch => {
                (&self.writer, Which::TheOne, Some("BEGIN IMMEDIATE"))
            }
            Purpose::WriteOnce => (&self.writer, Which::TheOne, None),
            Purpose::Look | Purpose::Load => (&self.readers, Which::Pooled, Some("BEGIN")),
            Purpose::LookOnce | Purpose::Browse => (&self.readers, Which::Pooled, None),
        };
        Ok(Box::new(SqliteSession::begin(home, which, begin).await?))
    }

    async fn append_log(&self, fence: Fence, offset: u64, bytes: &[u8]) -> Result<u64, StoreError> {
        self.logs.append(fence, offset, bytes.to_vec()).await
    }

    async fn read_log(&self, fence: Fence, offset: u64, max: u32) -> Result<LogRead, StoreError> {
        self.logs.read(fence, offset, max).await
    }

    async fn log_sizes(&self, fences: &[Fence]) -> Result<BTreeMap<Fence, u64>, StoreError> {
        self.logs.sizes(fences.to_vec()).await
    }

    fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    async fn close(&self) {
        // The last connection to go writes all that is in the log into the file; one that only reads could not.
        self.readers.close().await;
        self.writer.close().await;
    }
}
