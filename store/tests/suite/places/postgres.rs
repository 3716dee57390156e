//! The suite's place on a PostgreSQL that is thrown away.

use std::sync::Arc;

use hera_store::{Options, SqlStore, Store, open, open_sql};
use hera_testkit::postgres::{Database, fresh_database};

use crate::world::Place;

pub(crate) struct Postgres {
    store: Arc<SqlStore>,
    pub(crate) database: Database,
}

impl Postgres {
    /// A connection past the store.
    pub(crate) async fn connect(&self) -> sqlx::PgConnection {
        <sqlx::PgConnection as sqlx::Connection>::connect(&self.database.url()).await.unwrap()
    }

    /// Runs a statement past the store; the error as the database words it.
    pub(crate) fn sql(&self, statement: &str) -> Result<(), String> {
        self.database.sql(statement).map(|_rows| ()).map_err(|error| format!("{error:#}"))
    }
}

#[async_trait::async_trait]
impl Place for Postgres {
    async fn fresh() -> Self {
        let database = fresh_database().unwrap();
        let store = open_sql(&database.url(), &Options::default()).await.unwrap();
        Self { store: Arc::new(store), database }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::<SqlStore>::clone(&self.store)
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        Some(open(&self.database.url(), &Options::default()).await.unwrap())
    }
}

impl crate::world::Counted for Postgres {
    fn statements(&self) -> u64 {
        self.store.statements()
    }
}
