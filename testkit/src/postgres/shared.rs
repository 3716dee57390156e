//! Which server a test uses: the one of the test run, else one that all test processes of this user share.
//! Makes no server itself.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

use super::cluster::{Cluster, Flavour};
use super::database::{Database, Server};
use super::wire::{Connection, NoServer};
use crate::temp;

/// The variable with the URL of the server that `cargo xtask test` started.
pub const ENV: &str = "HERA_TEST_POSTGRES";

/// How long a shared server outlives its last user: long enough for an edit between two test runs.
const IDLE_SHARED: Duration = Duration::from_secs(600);

/// The server of this process, and the connection that says that it is in use.
static IN_USE: Mutex<Option<(Server, Connection)>> = Mutex::new(None);

/// The server for the tests of this process; the first call may start it, which takes about a second.
///
/// # Errors
/// When PostgreSQL is not installed (`cargo xtask test` installs it), does not start, or the one that
/// `HERA_TEST_POSTGRES` names is not there.
pub fn shared() -> Result<Server> {
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((server, _)) = &*in_use {
        return Ok(server.clone());
    }
    let found = match std::env::var(ENV) {
        Ok(url) => {
            let server = Server::from_url(&url).with_context(|| format!("{ENV} is {url:?}"))?;
            let connection = server.connect("hera-testkit").context(ENV)?;
            (server, connection)
        }
        Err(_unset) => Shared::locked()?.find_or_start()?,
    };
    let server = found.0.clone();
    *in_use = Some(found);
    Ok(server)
}

/// An empty database for one test on the [`shared`] server. It goes when the value is dropped.
///
/// # Errors
/// Those of [`shared`] and [`Server::fresh_database`].
pub fn fresh_database() -> Result<Database> {
    shared()?.fresh_database()
}

/// The URL of the shared server if it runs.
///
/// # Errors
/// When the place where it is written down cannot be read.
pub fn shared_url() -> Result<Option<String>> {
    Ok(Shared::locked()?.running()?.map(|(server, _)| server.url()))
}

/// Stops the shared server; says whether one ran.
///
/// # Errors
/// When it does not stop.
pub fn stop_shared() -> Result<bool> {
    let shared = Shared::locked()?;
    let ran = shared.running()?.is_some();
    shared.clear()?;
    Ok(ran)
}

/// The place where the shared server's folder is written down, locked: two test processes that come at
/// once start one server, not two.
struct Shared {
    note: PathBuf,
    _lock: File,
}

impl Shared {
    fn locked() -> Result<Self> {
        Self::locked_in(&temp::own_dir("postgres")?)
    }

    fn locked_in(folder: &Path) -> Result<Self> {
        let lock = File::create(folder.join("lock"))?;
        lock.lock().context("could not lock the shared PostgreSQL")?;
        Ok(Self { note: folder.join("server"), _lock: lock })
    }

    fn find_or_start(&self) -> Result<(Server, Connection)> {
        if let Some(running) = self.running()? {
            return Ok(running);
        }
        self.clear()?;
        let cluster = Cluster::create(Flavour::Quick)?;
        let folder = cluster.folder().to_str().context("a folder of ours is UTF-8")?;
        // Written before the start, so that a start that is interrupted is cleared the next time.
        std::fs::write(&self.note, folder)?;
        let connection = cluster.start(IDLE_SHARED)?;
        Ok((cluster.server(), connection))
    }

    /// The folder that was written down last.
    fn folder(&self) -> Result<Option<PathBuf>> {
        match std::fs::read_to_string(&self.note) {
            Ok(folder) => Ok(Some(PathBuf::from(folder))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context("could not read which PostgreSQL is shared"),
        }
    }

    fn running(&self) -> Result<Option<(Server, Connection)>> {
        let Some(folder) = self.folder()? else { return Ok(None) };
        let server = Server::at(&folder);
        match server.connect("hera-testkit") {
            Ok(connection) => Ok(Some((server, connection))),
            Err(error) if error.is::<NoServer>() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stops what is written down and forgets it.
    fn clear(&self) -> Result<()> {
        if let Some(folder) = self.folder()? {
            if folder.exists() {
                let cluster = Cluster::found(&folder)?;
                // One that was interrupted at its start, or killed, cannot be stopped but must go.
                drop(cluster.stop());
                std::fs::remove_dir_all(&folder)?;
            }
            std::fs::remove_file(&self.note)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_comer_finds_the_server_of_the_first_and_a_new_one_follows_a_dead_one() {
        let place = crate::temp_dir().unwrap();
        let find = || Shared::locked_in(place.path()).unwrap().find_or_start().unwrap();
        let (first, _connection) = find();
        let (second, _connection) = find();
        assert_eq!(first, second);

        let shared = Shared::locked_in(place.path()).unwrap();
        let folder = shared.folder().unwrap().unwrap();
        Cluster::found(&folder).unwrap().stop().unwrap();
        drop(shared);
        let (third, connection) = find();
        assert_ne!(third, first);
        assert!(!folder.exists(), "what a dead server left is cleared");

        drop(connection);
        let shared = Shared::locked_in(place.path()).unwrap();
        shared.clear().unwrap();
        assert!(shared.running().unwrap().is_none());
    }

    #[test]
    fn a_test_gets_a_database_of_its_own() {
        let database = fresh_database().unwrap();
        let name = database.sql("SELECT current_database()").unwrap();
        assert_eq!(name, [[Some(database.name().to_owned())]]);
    }
}
