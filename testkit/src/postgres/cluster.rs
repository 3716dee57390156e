//! A PostgreSQL server of our own: made, started, stopped, removed. Knows nothing of who shares it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::database::{Database, Server};
use super::programs::{Programs, installed};
use super::wire::Connection;
use crate::temp;

/// How long a server that one process owns outlives that process.
const IDLE_OWNED: Duration = Duration::from_secs(3);

/// How the watching session is called in `pg_stat_activity`; it does not count as a user of the server.
const WATCH: &str = "hera-testkit watch";

/// What the server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// For tests: `fsync = off`, so a crash of the machine would lose data, a crash of the server would not.
    Quick,
    /// For benchmarks: as durable as in production.
    Durable,
}

impl Flavour {
    fn settings(self) -> &'static str {
        match self {
            Self::Quick => {
                "fsync = off\nfull_page_writes = off\nwal_level = minimal\nmax_wal_senders = 0\n"
            }
            Self::Durable => "",
        }
    }
}

/// A server of the process that started it. It stops, and its folder goes, when the value is dropped, and
/// some seconds after the process dies in whatever way.
#[derive(Debug)]
pub struct ThrowAwayPostgres {
    cluster: Cluster,
    /// As long as it is open, the server knows that it is in use. None while the server is stopped.
    in_use: Option<Connection>,
}

impl ThrowAwayPostgres {
    /// Makes and starts a server that listens on a local socket only. It takes about a second.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or does not start; the message has its log.
    pub fn start(flavour: Flavour) -> Result<Self> {
        let cluster = Cluster::create(flavour)?;
        let mut server = Self { cluster, in_use: None };
        server.start_again()?;
        Ok(server)
    }

    /// The running server.
    pub fn server(&self) -> Server {
        self.cluster.server()
    }

    /// [`Server::fresh_database`] of this server.
    ///
    /// # Errors
    /// When the server has gone or has no connection left.
    pub fn fresh_database(&self) -> Result<Database> {
        self.server().fresh_database()
    }

    /// Stops it as a power cut would stop its processes, for tests of what happens meanwhile.
    ///
    /// # Errors
    /// When it does not stop.
    pub fn crash(&mut self) -> Result<()> {
        self.in_use = None;
        self.cluster.stop()
    }

    /// Starts it again after [`ThrowAwayPostgres::crash`], with its databases.
    ///
    /// # Errors
    /// When it does not start; the message has its log.
    pub fn start_again(&mut self) -> Result<()> {
        self.in_use = Some(self.cluster.start(IDLE_OWNED)?);
        Ok(())
    }
}

impl Drop for ThrowAwayPostgres {
    fn drop(&mut self) {
        // It may be stopped already, and a server that does not stop by this is stopped by its watch.
        drop(self.cluster.remove());
    }
}

/// A server's folder: `data/`, `log`, and the socket.
#[derive(Debug)]
pub(super) struct Cluster {
    programs: Programs,
    folder: PathBuf,
}

impl Cluster {
    /// Makes the folder and an empty cluster in it.
    pub(super) fn create(flavour: Flavour) -> Result<Self> {
        let programs = installed()?;
        // Open to the server's account and root alone: the server trusts everybody who reaches its socket.
        let folder = tempfile::Builder::new()
            .prefix("hera-pg-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(temp::ROOT)
            .context("could not make a folder in /tmp")?;
        programs.own(folder.path())?;
        let data = folder.path().join("data");
        let initdb = ["-A", "trust", "-U", "postgres", "--locale=C.UTF-8", "--no-sync", "-D"];
        programs.run("initdb", &[&initdb[..], &[path(&data)?]].concat())?;
        let file = data.join("postgresql.conf");
        let defaults = std::fs::read_to_string(&file)?;
        // After the crash of one session a server would come up again without its watch: it ends instead.
        let ours = format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\nport = 5432\n\
             max_connections = 400\ntimezone = 'UTC'\nrestart_after_crash = off\n{}",
            folder.path().display(),
            flavour.settings()
        );
        std::fs::write(&file, format!("{defaults}\n{ours}"))?;
        Ok(Self { programs, folder: folder.keep() })
    }

    /// One that a process of this user has made before.
    pub(super) fn found(folder: &Path) -> Result<Self> {
        Ok(Self { programs: installed()?, folder: folder.to_path_buf() })
    }

    pub(super) fn server(&self) -> Server {
        Server::at(&self.folder)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the server. It stays until nobody has been connected for `idle`; the connection that is
    /// returned is the first to count.
    pub(super) fn start(&self, idle: Duration) -> Result<Connection> {
        let (data, log) = (self.folder.join("data"), self.folder.join("log"));
        let arguments = ["-w", "-t", "60", "-D", path(&data)?, "-l", path(&log)?, "start"];
        self.programs.run("pg_ctl", &arguments).with_context(|| {
            let told = std::fs::read_to_string(&log).unwrap_or_else(|error| error.to_string());
            format!("PostgreSQL did not start; its log is:\n{told}")
        })?;
        let in_use = self.server().connect("hera-testkit")?;
        self.server().connect(WATCH)?.leave_running(&self.watch(idle))?;
        Ok(in_use)
    }

    /// A statement that ends when nobody has been connected for `idle`, and then stops the server.
    fn watch(&self, idle: Duration) -> String {
        let folder = self.folder.display();
        let stop = format!(
            "setsid -f sh -c \"{} -D {folder}/data -m immediate -w stop; rm -rf {folder}\" \
             </dev/null >/dev/null 2>&1",
            self.programs.path("pg_ctl").display()
        );
        // Looks are counted, not time, so that no jump of the clock ends the server. Each look has its own
        // transaction: it must see who is connected now, and hold back no cleaning of old rows.
        format!(
            "DO $$ DECLARE idle int := 0; BEGIN LOOP
               PERFORM pg_sleep(1);
               IF EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'client backend'
                          AND application_name <> '{WATCH}') THEN idle := 0;
               ELSIF idle >= {} THEN COPY (SELECT) TO PROGRAM '{stop}'; RETURN;
               ELSE idle := idle + 1; END IF;
               COMMIT;
             END LOOP; END $$",
            idle.as_secs()
        )
    }

    /// Stops the server at once; what it had not finished is undone at the next start.
    pub(super) fn stop(&self) -> Result<()> {
        let data = self.folder.join("data");
        self.programs.run("pg_ctl", &["-w", "-m", "immediate", "-D", path(&data)?, "stop"])?;
        Ok(())
    }

    /// Stops the server if it runs, and removes its folder.
    pub(super) fn remove(&self) -> Result<()> {
        let stopped = self.stop();
        // A server whose folder is gone ends by itself; one whose folder stays would be reported as running.
        std::fs::remove_dir_all(&self.folder)
            .with_context(|| format!("could not remove {}", self.folder.display()))?;
        stopped
    }
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::wait_for;

    const LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn two_databases_know_nothing_of_each_other_and_go_with_their_guards() {
        let postgres = ThrowAwayPostgres::start(Flavour::Quick).unwrap();
        let (one, two) = (postgres.fresh_database().unwrap(), postgres.fresh_database().unwrap());
        one.sql("CREATE TABLE seen (what text)").unwrap();
        one.sql("INSERT INTO seen VALUES ('in one'), (NULL)").unwrap();
        let seen = one.sql("SELECT what, 7 FROM seen ORDER BY what").unwrap();
        let row = |what: Option<&str>| vec![what.map(Into::into), Some("7".into())];
        assert_eq!(seen, [row(Some("in one")), row(None)]);
        let told = format!("{:#}", two.sql("SELECT what FROM seen").unwrap_err());
        assert!(told.contains("42P01"), "{told}");

        let all = "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'";
        assert_eq!(one.sql(all).unwrap().len(), 2);
        drop(two);
        assert_eq!(one.sql(all).unwrap(), [vec![Some(one.name().to_owned())]]);
    }

    #[test]
    fn a_stopped_server_is_gone_with_its_folder() {
        let postgres = ThrowAwayPostgres::start(Flavour::Quick).unwrap();
        let (server, folder) = (postgres.server(), postgres.cluster.folder.clone());
        server.connect("test").unwrap();
        let mode = folder.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "nobody else may reach a server that trusts everybody");
        drop(postgres);
        assert!(server.connect("test").is_err());
        assert!(!folder.exists());
    }

    #[test]
    fn what_was_committed_is_there_after_a_crash() {
        let mut postgres = ThrowAwayPostgres::start(Flavour::Durable).unwrap();
        let database = postgres.fresh_database().unwrap();
        database.sql("CREATE TABLE kept AS SELECT 42 AS answer").unwrap();
        postgres.crash().unwrap();
        assert!(database.sql("SELECT answer FROM kept").is_err());
        postgres.start_again().unwrap();
        assert_eq!(database.sql("SELECT answer FROM kept").unwrap(), [[Some("42".to_owned())]]);
    }

    #[test]
    fn a_server_whose_owner_died_stops_by_itself_and_leaves_nothing() {
        let mut postgres = ThrowAwayPostgres::start(Flavour::Quick).unwrap();
        let folder = postgres.cluster.folder.clone();
        // What is left of a killed owner: no open connection, and no drop.
        postgres.in_use = None;
        std::mem::forget(postgres);
        wait_for("the end of the server's folder", LIMIT, || (!folder.exists()).then_some(()))
            .unwrap();
    }
}
