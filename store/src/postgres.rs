//! The store on PostgreSQL: its connections and its logs. All that both databases share is in `sql`.

mod log;

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use hera_common::id::Fence;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgConnection, Postgres};

use crate::StoreError;
use crate::open::{Options, migrate_fault};
use crate::read::LogRead;
use crate::sql::{
    Ask, Bind, Broke, Catalog, DURABLE, Dialect, Fault, Home, ListForm, PATIENCE, POSTGRES,
    PgSession, Purpose, Session, SqlStore, Which, fault,
};

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../migrations/postgres");

/// Connections that write: a commit, a renewal, two logs.
const WRITERS: u32 = 4;

/// How long the tables may take to be made, another master's turn included.
const MIGRATE_WITHIN: Duration = Duration::from_secs(300);

/// A pool of connections that write, and one of those that read, so that no list keeps a commit waiting.
#[derive(Debug)]
struct Database {
    writers: Arc<Home<Postgres>>,
    readers: Arc<Home<Postgres>>,
    statements: Arc<AtomicU64>,
    options: Options,
}

/// A server that does not answer, by its name; the URL may hold a password.
#[derive(Debug, thiserror::Error)]
#[error("could not connect to PostgreSQL at {at}")]
struct Unreachable {
    at: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// Opens the database at `url`.
pub(crate) async fn open(url: &str, options: &Options) -> Result<SqlStore, StoreError> {
    // The error may repeat a part of the URL.
    let server = PgConnectOptions::from_str(url)
        .map_err(|_may_tell| StoreError::Unusable("the URL of PostgreSQL is none".to_owned()))?
        .application_name("hera");
    let at = address(&server);
    let migrated = tokio::time::timeout(MIGRATE_WITHIN, migrate(&server)).await;
    let migrated = migrated.unwrap_or_else(|_elapsed| {
        Err(StoreError::Unusable("its tables are locked by somebody".to_owned()))
    });
    migrated.map_err(|error| named(&at, error))?;
    let statements = Arc::new(AtomicU64::new(0));
    let pool = |connections: u32, to: PgConnectOptions| {
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(options.patience)
            .after_connect(|connection, _meta| Box::pin(durable(connection)))
            .connect_lazy_with(to);
        Arc::new(Home::new(pool, Arc::clone(&statements)))
    };
    let writers = pool(WRITERS, by_key(limited(server.clone(), options.patience)));
    let readers = pool(options.readers.max(1), limited(server, options.long_patience));
    let options = options.clone();
    Ok(SqlStore::new(Arc::new(Database { writers, readers, statements, options })))
}

async fn migrate(server: &PgConnectOptions) -> Result<(), StoreError> {
    let mut connection = server.connect().await.map_err(|error| fault(error, Broke::Before))?;
    // It says of each start that its own table is there already: no news for anybody.
    let quiet = sqlx::raw_sql("SET client_min_messages = warning").execute(&mut connection).await;
    quiet.map_err(|error| fault(error, Broke::Within))?;
    // The migrator holds an advisory lock, so that two masters can start together.
    let told = MIGRATIONS.run_direct(None, &mut connection, false).await;
    told.map_err(migrate_fault)?;
    let closed = connection.close().await;
    closed.map_err(|error| fault(error, Broke::Within).into())
}

/// Puts the server's name before what went wrong.
fn named(at: &str, error: StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(source) => {
            StoreError::Unavailable(Box::new(Unreachable { at: at.to_owned(), source }))
        }
        StoreError::Unusable(why) => StoreError::Unusable(format!("PostgreSQL at {at}: {why}")),
        StoreError::Corrupt { .. } | StoreError::NotLeader | StoreError::BadMark(_) => error,
    }
}

fn address(server: &PgConnectOptions) -> String {
    match server.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => format!("{}:{}", server.get_host(), server.get_port()),
    }
}

/// A commit that was answered is on disk, whatever the database has as its default; where standbys are waited
/// for, that stays.
async fn durable(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query(DURABLE).execute(connection).await.map(|_done| ())
}

/// As PostgreSQL wants a span of time; 0 would be none.
fn ms(span: Duration) -> String {
    span.as_millis().max(1).to_string()
}

/// The server itself gives up what takes too long, and notices when this program has gone.
fn limited(server: PgConnectOptions, patience: Duration) -> PgConnectOptions {
    let seconds = |span: Duration| span.as_secs().max(1).to_string();
    server.options([
        ("statement_timeout", ms(patience)),
        // Under the statement's, so that the answer says what was waited for.
        ("lock_timeout", ms(patience * 3 / 4)),
        ("idle_in_transaction_session_timeout", ms(patience * 2)),
        ("tcp_user_timeout", ms(patience * 2)),
        ("tcp_keepalives_idle", seconds(patience * 2)),
        ("tcp_keepalives_interval", seconds(patience)),
        ("tcp_keepalives_count", "3".to_owned()),
        // It would compile a statement for longer than the statement runs.
        ("jit", "off".to_owned()),
    ])
}

/// What writes finds its rows by their keys, however many there are. So one plan is right for all batches and for
/// tables of any size: also one that was made while they were empty, which nobody makes anew for a minute.
fn by_key(server: PgConnectOptions) -> PgConnectOptions {
    server.options([
        ("plan_cache_mode", "force_generic_plan"),
        ("enable_seqscan", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
    ])
}

#[async_trait]
impl Dialect for Database {
    fn catalog(&self) -> &'static Catalog {
        &POSTGRES
    }

    fn list_form(&self) -> ListForm {
        ListForm::Array
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
        // Not what the database has as its default: the guard needs to see what others commit meanwhile.
        const WRITE: &str = "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE";
        const SNAPSHOT: &str = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
        let (home, which, begin) = match purpose {
            Purpose::Write | Purpose::WriteMuch => (&self.writers, Which::BesideFirst, Some(WRITE)),
            Purpose::WriteOnce => (&self.writers, Which::Pooled, None),
            Purpose::Look | Purpose::Load => (&self.readers, Which::Pooled, Some(SNAPSHOT)),
            Purpose::LookOnce | Purpose::Browse => (&self.readers, Which::Pooled, None),
        };
        let mut session = PgSession::begin(home, which, begin).await?;
        if purpose == Purpose::WriteMuch {
            let patience = Bind::Text(ms(self.options.long_patience).into());
            session.execute(Ask::of(PATIENCE).bind(patience)).await?;
        }
        Ok(Box::new(session))
    }

    async fn append_log(&self, fence: Fence, offset: u64, bytes: &[u8]) -> Result<u64, StoreError> {
        log::append(self, fence, offset, bytes).await
    }

    async fn read_log(&self, fence: Fence, offset: u64, max: u32) -> Result<LogRead, StoreError> {
        log::read(self, fence, offset, max).await
    }

    async fn log_sizes(&self, fences: &[Fence]) -> Result<BTreeMap<Fence, u64>, StoreError> {
        log::sizes(self, fences).await
    }

    fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    async fn close(&self) {
        self.writers.close().await;
        self.readers.close().await;
    }
}
