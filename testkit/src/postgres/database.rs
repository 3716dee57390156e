//! A running server as tests see it, and a test's own database on it. Does not start or stop servers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

use super::wire::{Connection, Row};

/// The database that is always there; only the kit works in it.
const HOME: &str = "postgres";

/// Number of the next database of this process.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// A server that runs and is reached by a local socket. Clones are the same server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    socket_dir: PathBuf,
}

impl Server {
    pub(super) fn at(socket_dir: &Path) -> Self {
        Self { socket_dir: socket_dir.to_path_buf() }
    }

    /// Reads what [`Server::url`] writes.
    pub(super) fn from_url(url: &str) -> Result<Self> {
        let folder = url
            .split_once('?')
            .and_then(|(_, query)| query.split('&').find_map(|pair| pair.strip_prefix("host=/")))
            .with_context(|| format!("{url} does not name a local socket's folder (?host=/…)"))?;
        Ok(Self { socket_dir: Path::new("/").join(folder) })
    }

    /// The URL of the server's own database, in the form that `hera-master --store` takes.
    pub fn url(&self) -> String {
        self.url_of(HOME)
    }

    fn url_of(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user=postgres", self.socket_dir.display())
    }

    pub(super) fn connect(&self, purpose: &str) -> Result<Connection> {
        Connection::open(&self.socket_dir, HOME, purpose)
    }

    /// Makes an empty database for one test. It goes when the value is dropped.
    ///
    /// # Errors
    /// When the server has gone or has no connection left.
    pub fn fresh_database(&self) -> Result<Database> {
        let mut connection = self.connect("hera-testkit")?;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("test_{}_{number}", std::process::id());
            // template0, since nobody can be connected to it, which would refuse the copy.
            match connection.run(&format!("CREATE DATABASE {name} TEMPLATE template0")) {
                Ok(_) => return Ok(Database { server: self.clone(), name }),
                // A killed process of the same id left it behind: take the next number.
                Err(error) if format!("{error:#}").contains("42P04") => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// An empty database that one test has for itself.
#[derive(Debug)]
pub struct Database {
    server: Server,
    name: String,
}

impl Database {
    /// Its URL, in the form that `hera-master --store` takes.
    pub fn url(&self) -> String {
        self.server.url_of(&self.name)
    }

    /// Its name, unique on its server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs one statement in it and gives the rows, each column as text, nothing for NULL.
    ///
    /// # Errors
    /// What PostgreSQL says, with its code.
    pub fn sql(&self, statement: &str) -> Result<Vec<Row>> {
        Connection::open(&self.server.socket_dir, &self.name, "hera-testkit")?.run(statement)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // FORCE ends the sessions of pools that are not closed yet. An error is no matter: the database
        // goes with its server at the latest.
        let dropped = self
            .server
            .connect("hera-testkit")
            .and_then(|mut c| c.run(&format!("DROP DATABASE {} WITH (FORCE)", self.name)));
        drop(dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_leads_back_to_its_server() {
        let server = Server::at(Path::new("/tmp/hera-pg-x"));
        assert_eq!(server.url(), "postgres:///postgres?host=/tmp/hera-pg-x&user=postgres");
        assert_eq!(Server::from_url(&server.url()).unwrap(), server);
        assert!(Server::from_url("postgres://db.example/x").is_err());
    }
}
