//! A whole Hera as a user has it: masters, workers and the command line as real processes on loopback, over a
//! database of their own. It knows the programs' flags and messages, and none of their code.

mod ask;
mod clock;
mod command;
mod jobs;
mod journal;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hera_testkit::postgres::{Database, fresh_database};
use hera_testkit::{Port, Process, binary, temp_dir, wait_for_async};
use tempfile::TempDir;
use tonic::transport::{Channel, Endpoint};

pub use command::{Told, tell};
pub use jobs::{JobFile, cron_at};
pub use journal::{Journal, Line, alive};

/// How long anything may take before a test gives up: far longer than it needs on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(40);

/// Quick enough for a test to see a lease of three seconds end.
const QUICK: &[&str] = &[
    "--leader-lease-ms=1500",
    "--leader-renew-ms=300",
    "--leader-give-up-ms=1000",
    "--store-ms=400",
    "--rpc-ms=250",
    "--term-ms=200",
    "--kill-ms=500",
    "--heartbeat-max-ms=500",
    "--accept-ms=1000",
    "--grace-ms=200",
];

/// Heartbeats so seldom that no test sees the second one.
const SELDOM: &[&str] = &["--heartbeat-max-ms=600000", "--term-ms=200", "--kill-ms=500"];

/// Where jobs and runs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    Postgres,
    Sqlite,
}

/// How patient masters and workers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// That of a test that waits for a lease to end.
    Quick,
    /// That of a test which must not be helped by a heartbeat.
    Seldom,
    /// The defaults.
    Usual,
}

/// One master, which may have been killed: its address stays its own.
#[derive(Debug)]
pub struct Master {
    process: Option<Process>,
    port: Port,
    channel: Channel,
}

/// Masters, workers and a store. Everything stops when it is dropped; after a failed test it tells the last
/// words of each.
#[derive(Debug)]
pub struct Cluster {
    workers: BTreeMap<String, Process>,
    masters: Vec<Master>,
    patience: Patience,
    database: Option<Database>,
    dir: TempDir,
}

impl Cluster {
    /// A master that leads, and no worker.
    ///
    /// # Errors
    /// When a program is not built or does not come up.
    pub async fn start(store: Store, patience: Patience) -> Result<Self> {
        let dir = temp_dir()?;
        let database = match store {
            Store::Postgres => Some(fresh_database()?),
            Store::Sqlite => None,
        };
        let (workers, masters) = (BTreeMap::new(), Vec::new());
        let mut cluster = Self { workers, masters, patience, database, dir };
        fs::create_dir(cluster.gates())?;
        journal::prepare(&cluster)?;
        cluster.add_master().await?;
        Ok(cluster)
    }

    /// A cluster with quick timings and these workers, each with a capacity of four.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub async fn quick(store: Store, workers: &[&str]) -> Result<Self> {
        let mut cluster = Self::start(store, Patience::Quick).await?;
        for name in workers {
            cluster.add_worker(name, &[]).await?;
        }
        Ok(cluster)
    }

    /// The folder of this cluster; tests keep their own files there, too.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The PostgreSQL database.
    ///
    /// # Errors
    /// With SQLite there is none.
    pub fn database(&self) -> Result<&Database> {
        self.database.as_ref().context("this cluster keeps its rows in SQLite")
    }

    fn gates(&self) -> PathBuf {
        self.dir.path().join("gates")
    }

    /// Lets all scripts pass that wait at the gate of this name, now and later.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn open_gate(&self, name: &str) -> Result<()> {
        fs::write(self.gates().join(name), b"").with_context(|| format!("gate {name}"))
    }

    /// What a master is started with.
    pub fn master_command(&self, address: &str) -> Result<Command> {
        let store = match &self.database {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.dir.path().join("store").display()),
        };
        let mut command = Command::new(binary("hera-master")?);
        command.args(["--store", &store, "--listen", address]);
        command.args(match self.patience {
            Patience::Quick => QUICK,
            Patience::Seldom => SELDOM,
            Patience::Usual => &[],
        });
        Ok(command)
    }

    /// Starts one more master, and waits until it answers, as leader or not.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn add_master(&mut self) -> Result<usize> {
        let port = Port::free()?;
        let channel = Endpoint::from_shared(port.url())?.connect_timeout(LIMIT).connect_lazy();
        self.masters.push(Master { process: None, port, channel });
        let number = self.masters.len() - 1;
        self.start_master(number).await?;
        Ok(number)
    }

    /// Starts a master again that was killed, at its old address.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn start_master(&mut self, number: usize) -> Result<()> {
        let address = self.master(number)?.port.address();
        let mut command = self.master_command(&address.to_string())?;
        let process = Process::spawn(&format!("master {number}"), &mut command)?;
        let master = self.masters.get_mut(number).context("there is such a master")?;
        master.process = Some(process);
        wait_for_async("the master's port", LIMIT, || async {
            let answers = tokio::net::TcpStream::connect(address).await.is_ok();
            // One that has ended will not answer any more.
            (answers || self.has_ended(number)).then_some(())
        })
        .await?;
        ensure!(!self.has_ended(number), "master {number} has ended:\n{}", self.last_words());
        self.led().await?;
        Ok(())
    }

    fn has_ended(&self, number: usize) -> bool {
        let process = self.masters.get(number).and_then(|master| master.process.as_ref());
        process.is_none_or(|process| !alive(process.pid()))
    }

    /// A master's process.
    ///
    /// # Errors
    /// When it does not run.
    pub fn master_process(&mut self, number: usize) -> Result<&mut Process> {
        let master = self.masters.get_mut(number).context("there is no such master")?;
        master.process.as_mut().context("the master was killed")
    }

    /// Kills a master without warning.
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill_master(&mut self, number: usize) -> Result<()> {
        self.master_process(number)?.kill()?;
        Ok(())
    }

    /// `127.0.0.1:PORT` of a master.
    ///
    /// # Errors
    /// When there is none of this number.
    pub fn address(&self, number: usize) -> Result<String> {
        Ok(self.master(number)?.port.address().to_string())
    }

    fn master(&self, number: usize) -> Result<&Master> {
        self.masters.get(number).context("there is no such master")
    }

    /// The addresses of all masters, as commands and workers take them.
    pub fn servers(&self) -> String {
        let all: Vec<String> = self.masters.iter().map(|m| m.port.address().to_string()).collect();
        all.join(",")
    }

    /// Starts a worker, or starts one again with its old state, and waits until the leader knows it.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn add_worker(&mut self, name: &str, flags: &[&str]) -> Result<()> {
        ensure!(
            self.workers.get_mut(name).is_none_or(|old| old.ended().is_ok_and(|e| e.is_some())),
            "{name} runs already"
        );
        let mut command = Command::new(binary("hera-worker")?);
        command.args(["--master", &self.servers(), "--name", name, "--state-dir"]);
        command.arg(self.dir.path().join(name)).args(["--min-free-mb", "0"]);
        if !flags.contains(&"--capacity") {
            command.args(["--capacity", "4"]);
        }
        command.args(flags);
        let before = self.incarnation(name).await;
        let process = Process::spawn(name, &mut command)?;
        self.workers.insert(name.to_owned(), process);
        wait_for_async(&format!("{name} to be known"), LIMIT, || async {
            self.incarnation(name).await.filter(|now| Some(*now) != before)
        })
        .await
        .with_context(|| self.last_words())?;
        Ok(())
    }

    /// A worker's process.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn worker(&mut self, name: &str) -> Result<&mut Process> {
        self.workers.get_mut(name).with_context(|| format!("there is no worker {name}"))
    }

    /// The name of another worker than this one.
    ///
    /// # Errors
    /// When there is only one.
    pub fn other_worker(&self, name: &str) -> Result<String> {
        let other = self.workers.keys().find(|other| *other != name);
        other.cloned().context("there is only one worker")
    }

    /// The last words of all programs.
    fn last_words(&self) -> String {
        let masters = self.masters.iter().enumerate().filter_map(|(number, master)| {
            let words = master.process.as_ref()?.stderr().last(40);
            Some(format!("master {number}:\n{words}\n"))
        });
        let workers = self
            .workers
            .iter()
            .map(|(name, worker)| format!("{name}:\n{}\n", worker.stderr().last(20)));
        masters.chain(workers).collect()
    }
}

impl Drop for Cluster {
    #[expect(clippy::print_stderr, reason = "a failed test tells what the programs last said")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let journal =
                fs::read_to_string(self.dir.path().join(journal::FILE)).unwrap_or_default();
            eprintln!("{}the jobs' journal:\n{journal}", self.last_words());
        }
    }
}
