//! Where a store is, and how it is opened, with its tables brought up to date.

use std::fmt;
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

/// Where a store is.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// The folder of a SQLite store.
    Folder(PathBuf),
    /// The URL of a PostgreSQL. It may hold a password, and is never shown.
    Postgres(String),
}

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    Sqlite,
    Postgres,
}

/// A text that names no store. It is not repeated: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPlace {
    #[error("names no directory: write sqlite:DIR")]
    NoFolder,
    #[error("must be sqlite:DIR or postgres://USER@HOST/DATABASE")]
    Unknown,
}

impl StoreKind {
    /// As shown in `hera cluster`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgresql",
        }
    }
}

impl Place {
    /// Reads `sqlite:DIR` (or `sqlite://DIR`), `postgres://…` or `postgresql://…`. The only reader of such texts.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(url: &str) -> Result<Self, BadPlace> {
        match url.split_once(':') {
            Some(("sqlite", rest)) => match rest.strip_prefix("//").unwrap_or(rest) {
                "" => Err(BadPlace::NoFolder),
                folder => Ok(Self::Folder(PathBuf::from(folder))),
            },
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Self::Postgres(url.to_owned()))
            }
            Some(_) | None => Err(BadPlace::Unknown),
        }
    }

    /// Which database.
    pub const fn kind(&self) -> StoreKind {
        match self {
            Self::Folder(_) => StoreKind::Sqlite,
            Self::Postgres(_) => StoreKind::Postgres,
        }
    }

    /// Opens the store there, makes its tables or brings them up to date.
    ///
    /// # Errors
    /// [`StoreError::Unusable`]: a URL that is none, a folder that another master uses or that lies on a network, a
    /// database that a newer program has changed. [`StoreError::Unavailable`]: no answer.
    pub async fn open(&self, options: &Options) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(self.open_sql(options).await?))
    }

    async fn open_sql(&self, options: &Options) -> Result<SqlStore, StoreError> {
        match self {
            Self::Folder(folder) => sqlite::open(folder, options).await,
            Self::Postgres(url) => postgres::open(url, options).await,
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => f.debug_tuple("Folder").field(folder).finish(),
            Self::Postgres(_) => f.debug_tuple("Postgres").finish_non_exhaustive(),
        }
    }
}

impl From<BadPlace> for StoreError {
    fn from(bad: BadPlace) -> Self {
        Self::Unusable(format!("its URL {bad}"))
    }
}

/// Opens the store that a URL names.
///
/// # Errors
/// As [`Place::parse`] and [`Place::open`].
pub async fn open(url: &str, options: &Options) -> Result<Arc<dyn Store>, StoreError> {
    Place::parse(url)?.open(options).await
}

/// As [`open`], as the type that counts its statements.
///
/// # Errors
/// As [`open`].
pub async fn open_sql(url: &str, options: &Options) -> Result<SqlStore, StoreError> {
    Place::parse(url)?.open_sql(options).await
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
    use super::{BadPlace, Place, StoreError};

    #[test]
    fn a_url_names_a_folder_or_a_server() {
        let folder = |text: &str| Ok(Place::Folder(text.into()));
        assert_eq!(Place::parse("sqlite:data"), folder("data"));
        assert_eq!(Place::parse("sqlite:/var/lib/hera"), folder("/var/lib/hera"));
        assert_eq!(Place::parse("sqlite:///var/lib/hera"), folder("/var/lib/hera"));
        for url in ["postgres://u:p@h/d", "postgresql:///d"] {
            assert_eq!(Place::parse(url), Ok(Place::Postgres(url.to_owned())));
        }
        for none in ["sqlite:", "sqlite://"] {
            assert_eq!(Place::parse(none), Err(BadPlace::NoFolder), "{none}");
        }
        for bad in ["mysql://u:secret@h/d", "", "secret", "sqlite", "postgres:secret", "postgres"] {
            assert_eq!(Place::parse(bad), Err(BadPlace::Unknown), "{bad}");
        }
        let told = StoreError::from(BadPlace::NoFolder).to_string();
        assert_eq!(told, "the store cannot be used: its URL names no directory: write sqlite:DIR");
    }

    #[test]
    fn a_password_is_never_shown() {
        let place = Place::parse("postgres://hera:secret@db/hera").unwrap();
        assert_eq!(format!("{place:?}"), "Postgres(..)");
    }
}
