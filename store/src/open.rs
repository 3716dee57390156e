//! Opens a store by its URL, with its tables brought up to date. The only place that reads such a URL.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::MigrateError;

use crate::sql::{Broke, SqlStore, fault};
use crate::store::Store;
use crate::{StoreError, postgres, sqlite};

/// How a store is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How long an answer may take; later it counts as none. 2 s: well under the lease of any job.
    pub patience: Duration,
    /// How long a list or a whole load may take.
    pub long_patience: Duration,
    /// Connections that read at the same time; those that write are four on PostgreSQL and one on SQLite.
    pub readers: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(2),
            long_patience: Duration::from_secs(30),
            readers: 8,
        }
    }
}

/// What a URL names.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// The folder of a SQLite store.
    Folder(PathBuf),
    Postgres,
}

/// Opens the store at `sqlite:FOLDER` or `postgres://…`, makes its tables or brings them up to date.
///
/// # Errors
/// [`StoreError::Unusable`]: another URL, a folder that another master uses or that lies on a network, a
/// database that a newer program has changed. [`StoreError::Unavailable`]: no answer.
pub async fn open(url: &str, options: &Options) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(open_sql(url, options).await?))
}

/// As [`open`], as the type that counts its statements.
///
/// # Errors
/// As [`open`].
pub async fn open_sql(url: &str, options: &Options) -> Result<SqlStore, StoreError> {
    match place(url)? {
        Place::Folder(folder) => sqlite::open(&folder, options).await,
        Place::Postgres => postgres::open(url, options).await,
    }
}

fn place(url: &str) -> Result<Place, StoreError> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        "sqlite" => {
            let folder = rest.strip_prefix("//").unwrap_or(rest);
            if folder.is_empty() {
                return Err(StoreError::Unusable("sqlite: names no folder".to_owned()));
            }
            Ok(Place::Folder(PathBuf::from(folder)))
        }
        "postgres" | "postgresql" => Ok(Place::Postgres),
        // The whole text may hold a password, and is not repeated.
        _ => Err(StoreError::Unusable(
            "the URL is neither sqlite:FOLDER nor postgres://USER@HOST/DATABASE".to_owned(),
        )),
    }
}

/// What an error while the tables were made means.
pub(crate) fn migrate_fault(error: MigrateError) -> StoreError {
    if let MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) = error {
        // Missing rights, above all: mended by people.
        return fault(error, Broke::Before).into();
    }
    let told = if let MigrateError::VersionMissing(number) = error {
        format!("were changed by a newer program (migration {number}): start that one")
    } else if let MigrateError::VersionMismatch(number) = error {
        format!("were made by another edition of migration {number}")
    } else {
        format!("cannot be made: {error}")
    };
    StoreError::Unusable(format!("its tables {told}"))
}

#[cfg(test)]
mod tests {
    use super::{Place, place};

    #[test]
    fn a_url_names_a_folder_or_a_server() {
        let folder = |text: &str| Place::Folder(text.into());
        assert_eq!(place("sqlite:data").unwrap(), folder("data"));
        assert_eq!(place("sqlite:/var/lib/hera").unwrap(), folder("/var/lib/hera"));
        assert_eq!(place("sqlite:///var/lib/hera").unwrap(), folder("/var/lib/hera"));
        assert_eq!(place("postgres://u:p@h/d").unwrap(), Place::Postgres);
        assert_eq!(place("postgresql:///d").unwrap(), Place::Postgres);
        for bad in ["sqlite:", "mysql://u:secret@h/d", "", "secret"] {
            let told = place(bad).unwrap_err().to_string();
            assert!(!told.contains("secret"), "{told}");
        }
    }
}
