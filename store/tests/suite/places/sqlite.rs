//! The suite's place in a folder.

use std::sync::Arc;

use hera_store::{Options, SqlStore, Store, open_sql};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use tempfile::TempDir;

use crate::world::{Place, World};

pub(crate) struct Sqlite {
    store: Arc<SqlStore>,
    pub(crate) folder: TempDir,
}

impl Sqlite {
    pub(crate) fn url(&self) -> String {
        url(&self.folder)
    }

    /// A connection past the store.
    pub(crate) async fn connect(&self) -> SqliteConnection {
        let file = self.folder.path().join("data/hera.db");
        let options = SqliteConnectOptions::new().filename(file).foreign_keys(true);
        options.connect().await.unwrap()
    }

    /// Runs a statement past the store; the error as the database words it.
    pub(crate) async fn sql(&self, statement: &'static str) -> Result<(), String> {
        let told = sqlx::raw_sql(statement).execute(&mut self.connect().await).await;
        told.map(|_done| ()).map_err(|error| error.to_string())
    }

    /// Closes the store as the end of its process would; the folder stays.
    pub(crate) async fn closed(self, world: World) -> TempDir {
        drop(world);
        self.store.close().await;
        self.folder
    }
}

fn url(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("data").display())
}

#[async_trait::async_trait]
impl Place for Sqlite {
    async fn fresh() -> Self {
        let folder = hera_testkit::temp_dir().unwrap();
        let store = open_sql(&url(&folder), &Options::default()).await.unwrap();
        Self { store: Arc::new(store), folder }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::<SqlStore>::clone(&self.store)
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        None
    }
}

impl crate::world::Counted for Sqlite {
    fn statements(&self) -> u64 {
        self.store.statements()
    }
}
