//! The master and the worker of `hera dev`: where they keep their data, how they start and stop. Asks them
//! nothing.

use std::error::Error;
use std::fs::{self, DirBuilder};
use std::io::{self, IsTerminal as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use hera_common::chain::Chain;
use hera_common::doc::{GroupDoc, Settings};
use hera_common::limits::PORT;
use hera_common::spec::CatchUp;
use hera_master::config::{Place as StorePlace, Timing};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing_subscriber::EnvFilter;

use super::announce::{Announced, Announcement};
use super::place;
use crate::exit::{Exit, Failure};

/// The config key with the folder's absolute path, for data and results beside the jobs.
const DIR_KEY: &str = "hera.dir";

/// What is logged where HERA_LOG says nothing: the lines of `hera dev` itself tell what happens.
const LOG_FILTER: &str = "warn,sqlx=error";

/// How long a stop waits for what runs before its jobs are stopped, to be started again by the next start.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);

/// Where the jobs are, and where the data goes.
#[derive(Debug)]
pub(crate) struct Place {
    /// Absolute.
    folder: Option<PathBuf>,
    /// Absolute; exists.
    data_dir: PathBuf,
    base: PathBuf,
}

/// What others need to know of servers that run.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    /// HOST:PORT.
    pub address: String,
    pub folder: Option<PathBuf>,
    pub data_dir: PathBuf,
    /// To be cancelled when somebody watches: only then the worker takes work, so that all of it is told.
    pub watched: CancellationToken,
}

/// A master and a worker that run.
pub(crate) struct Servers {
    served: Served,
    master: MasterTask,
    /// Runs while [`Servers::ended`] or [`Servers::stop`] is waited for; its attempts in tasks of its own.
    worker: Pin<Box<dyn Future<Output = Result<(), hera_worker::RunError>>>>,
    worker_ended: bool,
    stop_master: CancellationToken,
    stop_worker: hera_worker::Stop,
    tasks: TaskTracker,
    /// Others find the servers as long as it lives.
    _announcement: Announcement,
}

impl Place {
    /// For the folder of jobs, and the folder of data where one was named.
    ///
    /// # Errors
    /// The first is no folder; the second cannot be made.
    pub(crate) fn new(folder: Option<&Path>, data_dir: Option<&Path>) -> Result<Self, Failure> {
        let folder = folder.map(jobs_folder).transpose()?;
        let base = place::own_base();
        let data_dir = data_dir.map_or_else(
            || base.join("dev").join(place::name(folder.as_deref())),
            Path::to_path_buf,
        );
        let failed = |error: io::Error| Failure::machine(data_dir.display(), &error);
        // Config and logs may hold what is not for others.
        DirBuilder::new().recursive(true).mode(0o700).create(&data_dir).map_err(failed)?;
        let data_dir = fs::canonicalize(&data_dir).map_err(failed)?;
        Ok(Self { folder, data_dir, base })
    }
}

fn jobs_folder(folder: &Path) -> Result<PathBuf, Failure> {
    let whole = fs::canonicalize(folder)
        .map_err(|error| Failure::new(Exit::NotFound, format!("{}: {error}", folder.display())))?;
    if whole.is_dir() {
        Ok(whole)
    } else {
        Err(Failure::bad_input(format!("{}: is no folder", folder.display())))
    }
}

impl Servers {
    /// Starts both, and tells others the address.
    ///
    /// # Errors
    /// Another `hera dev` uses the data; the store or the port cannot be opened.
    pub(crate) async fn start(place: Place) -> Result<Self, Failure> {
        log_to_stderr();
        let Place { folder, data_dir, base } = place;
        let mut announcement = Announcement::take(&base, &place::name(Some(&data_dir))).await?;
        let tasks = TaskTracker::new();
        let (stop_master, stop_worker) = (CancellationToken::new(), hera_worker::Stop::default());
        let config = master_config(&data_dir, folder.as_deref());
        let (master, address) = start_master(&tasks, config, &stop_master).await?;
        let address = address.to_string();
        let worker = worker_config(&data_dir, &address);
        let watched = CancellationToken::new();
        let worker = Box::pin(work(worker, stop_worker.clone(), watched.clone()));
        let served = Served {
            address: address.clone(),
            folder: folder.clone(),
            data_dir: data_dir.clone(),
            watched,
        };
        announcement.tell(&Announced { address, folder, data_dir })?;
        Ok(Self {
            served,
            master,
            worker,
            worker_ended: false,
            stop_master,
            stop_worker,
            tasks,
            _announcement: announcement,
        })
    }

    /// Where they are.
    pub(crate) fn served(&self) -> Served {
        self.served.clone()
    }

    /// Waits until one of them ends by itself, which neither should.
    pub(crate) async fn ended(&mut self) -> Failure {
        tokio::select! {
            ended = &mut self.master => master_ended(&ended),
            ended = &mut self.worker => {
                self.worker_ended = true;
                ended_early("worker", ended.as_ref().map_err(|error| -> &dyn Error { error }))
            }
        }
    }

    /// Stops the worker, which hands back what it holds, and then the master.
    pub(crate) async fn stop(&mut self) {
        self.stop_worker.drain.cancel();
        if !self.worker_ended {
            // How it ends does not matter any more: what it held is found by the next start.
            drop((&mut self.worker).await);
        }
        self.stop_master.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

type MasterTask = JoinHandle<Result<(), hera_master::RunError>>;

/// Starts a master and waits until it serves. The usual port is taken where it is free, so that an address seen once
/// stays right; else any.
async fn start_master(
    tasks: &TaskTracker,
    config: hera_master::Config,
    stop: &CancellationToken,
) -> Result<(MasterTask, SocketAddr), Failure> {
    let any = SocketAddr::from((config.listen.ip(), 0));
    let elsewhere = hera_master::Config { listen: any, ..config.clone() };
    let ended = match serving(tasks, config, stop).await {
        Err(Ok(Err(hera_master::RunError::Listen { source, .. })))
            if source.kind() == io::ErrorKind::AddrInUse =>
        {
            serving(tasks, elsewhere, stop).await
        }
        told => told,
    };
    ended.map_err(|ended| master_ended(&ended))
}

/// The master's task and its address; how it ended, where it ended before it served.
async fn serving(
    tasks: &TaskTracker,
    config: hera_master::Config,
    stop: &CancellationToken,
) -> Result<(MasterTask, SocketAddr), Result<Result<(), hera_master::RunError>, JoinError>> {
    let (tell, told) = oneshot::channel();
    let ready = move |ready: hera_master::Ready| {
        // Nobody listens any more only where this start was given up.
        let _given_up = tell.send(ready.address).is_err();
    };
    let master = tasks.spawn(hera_master::run(config, stop.clone(), ready));
    match told.await {
        Ok(address) => Ok((master, address)),
        // With its end it has let go of what tells.
        Err(_ended) => Err(master.await),
    }
}

/// The worker, once it is wanted.
async fn work(
    config: hera_worker::Config,
    stop: hera_worker::Stop,
    wanted: CancellationToken,
) -> Result<(), hera_worker::RunError> {
    tokio::select! {
        () = wanted.cancelled() => {}
        () = stop.drain.cancelled() => return Ok(()),
    }
    hera_worker::run(config, stop, |_name| ()).await
}

fn ended_early(part: &str, ended: Result<&(), &dyn Error>) -> Failure {
    let why =
        ended.map_or_else(|error| Chain(error).to_string(), |()| "it ended by itself".to_owned());
    Failure::new(Exit::Refused, format!("the {part} cannot go on: {why}"))
}

/// How the master's task ended.
fn master_ended(ended: &Result<Result<(), hera_master::RunError>, JoinError>) -> Failure {
    let ended = match ended {
        Ok(ended) => ended.as_ref().map_err(|error| -> &dyn Error { error }),
        Err(error) => Err::<&(), &dyn Error>(error),
    };
    ended_early("master", ended)
}

fn master_config(data_dir: &Path, folder: Option<&Path>) -> hera_master::Config {
    hera_master::Config {
        store: StorePlace::Folder(data_dir.to_owned()),
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
        insecure: false,
        advertise: None,
        timing: Timing::default(),
        base: base_group(folder),
    }
}

/// What holds above all groups. A laptop sleeps at night: what it missed is not all made up for.
fn base_group(folder: Option<&Path>) -> GroupDoc {
    let dir = folder.map(|folder| (DIR_KEY.to_owned(), folder.to_string_lossy().into_owned()));
    GroupDoc {
        config: dir.into_iter().collect(),
        defaults: Settings { catch_up: Some(CatchUp::Last), ..Settings::default() },
        owner: None,
    }
}

fn worker_config(data_dir: &Path, address: &str) -> hera_worker::Config {
    let masters = vec![format!("http://{address}")];
    hera_worker::Config {
        name: "dev".to_owned(),
        drain_within: Some(DRAIN_WITHIN),
        ..hera_worker::Config::new(masters, data_dir.join("worker"))
    }
}

/// Errors of the master and the worker, for the person at the terminal.
fn log_to_stderr() {
    let filter =
        EnvFilter::try_from_env("HERA_LOG").unwrap_or_else(|_unset| EnvFilter::new(LOG_FILTER));
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours);
    // A second subscriber in one process: the first one stays.
    drop(log.with_writer(io::stderr).try_init());
}
