//! A worker from its start to its last word: puts the parts together, and takes them down in order.

use std::sync::Arc;
use std::time::Duration;

use hera_common::chain::Chain;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::agent::{Agent, Load, Parts, ways};
use crate::batch::{Batch, Line, ask_to_start, report};
use crate::beat::beat;
use crate::config::Config;
use crate::contract::{Held, Timing};
use crate::execute::{Remains, Tools};
use crate::files::{Files, prune};
use crate::health::Health;
use crate::link::{CallError, Link, Registration};
use crate::poll::{Room, poll};
use crate::process::launcher::{LaunchError, Launcher};
use crate::recover::{Found, find};
use crate::register::Registrar;
use crate::spool::Spool;
use crate::state_dir::{StateDir, StateDirError, random_hex};
use crate::tasks::Tasks;

/// How long a worker whose attempts have all ended waits for the leader to take their ends. What is not
/// taken by then lies in the spool.
const FAREWELL: Duration = Duration::from_secs(10);

/// How a worker is told to end. Cancelled in this order, or the second alone.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Takes no new work; what runs may end.
    pub drain: CancellationToken,
    /// What runs is stopped and given back.
    pub now: CancellationToken,
}

/// Why a worker cannot work.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    StateDir(#[from] StateDirError),
    #[error("no process can be started")]
    Launcher(#[from] LaunchError),
    #[error("the masters' addresses cannot be used")]
    Masters(#[from] CallError),
    #[error("what an earlier process left cannot be read")]
    Leftovers(#[source] std::io::Error),
    #[error("the system has no random numbers")]
    Random(#[from] getrandom::Error),
}

/// Works until told to end and everything has ended. `ready` is called with the worker's name when it
/// is registered.
///
/// # Errors
/// Where it cannot begin. A leader that cannot be reached is waited for.
pub async fn run(
    config: Config,
    stop: Stop,
    ready: impl FnOnce(&str) + Send,
) -> Result<(), RunError> {
    let state = StateDir::open(&config.state_dir)?;
    let spool = Spool::new(state.spool());
    let launcher = Launcher::start(config.spawner.as_deref(), state.lock_groups().await?).await?;
    let found = find(&state.attempts(), &spool).map_err(RunError::Leftovers)?;
    prune(&state.files()).map_err(RunError::Leftovers)?;
    // The number tells the leader which of two processes came later, whenever it hears of them.
    let instance_id = format!("{}-{}", state.starts(), random_hex::<8>()?);
    let link = Arc::new(Link::new(&config.masters, instance_id)?);
    let registrar = Registrar::new(
        Arc::clone(&link),
        Registration {
            name: config.name.clone(),
            state_id: state.id().to_owned(),
            keep: Vec::new(),
            host_groups: config.host_groups.clone(),
            labels: config.labels.clone(),
            capacity: config.capacity,
        },
        config.name_is_made_up,
    );
    let kept = found.iter().filter(|f| f.outcome.is_some()).map(|f| f.held.token).collect();
    let timing = tokio::select! {
        timing = registrar.register(kept) => timing,
        () = stop.told() => {
            info!("told to end before any master took it");
            return Ok(());
        }
    };
    ready(&registrar.name());
    let worker =
        Worker::start(&config, &state, Begun { launcher, link, registrar, timing, spool, found });
    worker.end(&config, &stop).await;
    Ok(())
}

impl Stop {
    /// Waits until either is cancelled.
    async fn told(&self) {
        tokio::select! {
            () = self.drain.cancelled() => {}
            () = self.now.cancelled() => {}
        }
    }
}

/// What is there before the first attempt.
struct Begun {
    launcher: Launcher,
    link: Arc<Link>,
    registrar: Registrar,
    timing: Timing,
    spool: Spool,
    found: Vec<Found>,
}

/// A registered worker.
struct Worker {
    tasks: Tasks,
    line: Line,
    load: watch::Receiver<Load>,
}

impl Worker {
    fn start(config: &Config, state: &StateDir, begun: Begun) -> Self {
        let Begun { launcher, link, registrar, timing, spool, found } = begun;
        let tasks = Tasks::default();
        let (desk, inbox, load_in, load) = ways();
        let tools = Arc::new(Tools {
            tasks: tasks.clone(),
            desk: desk.clone(),
            link: Arc::clone(&link),
            launcher,
            files: Files { folder: state.files(), link: Arc::clone(&link) },
            spool,
            attempts: state.attempts(),
            finishes: Batch::default(),
            releases: Batch::default(),
            kept: config.keep_dirs.then(|| state.kept()),
            health: Health::default(),
        });
        let starts: Arc<Batch<Held>> = Arc::default();
        let beats = Arc::new(Notify::new());
        let parts = Parts {
            timing,
            capacity: config.capacity,
            execute: Arc::clone(&tools),
            starts: Arc::clone(&starts),
            beats: Arc::clone(&beats),
        };
        let mut agent = Agent::new(parts, inbox, load_in);
        for found in found {
            Self::adopt(&tasks, &tools, &mut agent, found);
        }
        let line = Line { link, desk, registrar };
        tasks.spawn("own attempts", |end| agent.serve(end));
        let asking = line.clone();
        tasks.spawn("ask to start", |end| async move { ask_to_start(asking, &starts, end).await });
        let (finishing, finisher) = (line.clone(), Arc::clone(&tools));
        tasks.spawn("report ends", |end| async move {
            report(finishing, &finisher.finishes, end).await;
        });
        let poller = Arc::clone(&tools);
        let (releasing, releaser) = (line.clone(), tools);
        tasks.spawn("give back", |end| async move {
            report(releasing, &releaser.releases, end).await;
        });
        tasks.spawn("beat", |end| beat(line.clone(), beats, end));
        let room = Room { path: state.attempts(), min_free_bytes: config.min_free_bytes };
        tasks.spawn("poll", |end| poll(line.clone(), load.clone(), (room, poller), end));
        tasks.spawn("register again", |end| line.registrar.clone().serve(line.desk.clone(), end));
        Self { tasks, line, load }
    }

    /// Goes on with what an earlier process left.
    fn adopt(tasks: &Tasks, tools: &Arc<Tools>, agent: &mut Agent<Arc<Tools>>, found: Found) {
        let Found { held, name, dir, outcome } = found;
        let log = dir.as_ref().map(|dir| tools.ship(held, dir));
        // One that cannot be taken has failed the attempt already.
        let output = dir.as_ref().and_then(|dir| dir.output().ok()).unwrap_or_default();
        let tools = Arc::clone(tools);
        let wish = outcome.map(|outcome| agent.adopt(held, &outcome));
        tasks.spawn("conclude an earlier attempt", |end| async move {
            let concluding = async {
                match wish {
                    Some(wish) => {
                        tools
                            .conclude(
                                Remains { held, name, dir, log, output, written: false },
                                wish,
                            )
                            .await
                    }
                    None => tools.clear_away(dir, log).await,
                }
            };
            tokio::select! {
                () = concluding => {}
                () = end.cancelled() => {}
            }
        });
    }

    /// Waits until told to end, and ends in order.
    async fn end(mut self, config: &Config, stop: &Stop) {
        stop.told().await;
        info!("takes no more work");
        self.line.desk.drain(false).await;
        self.say_goodbye(false).await;
        let patience = async {
            match config.drain_within {
                Some(within) => tokio::time::sleep(within).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _none_left = self.load.wait_for(Load::is_over) => {}
            () = stop.now.cancelled() => self.line.desk.drain(true).await,
            () = patience => {
                info!("stops what still runs");
                self.line.desk.drain(true).await;
            }
        }
        // What is stopped is gone within the grace. What cannot be killed is not waited for: its shim goes
        // on, and the next worker in this folder waits for that.
        let over = self.load.wait_for(Load::is_over).await.is_ok();
        let all_told = over && self.all_told().await;
        if all_told {
            self.say_goodbye(true).await;
        } else {
            warn!("ends that no leader has taken are kept for the next start");
        }
        self.tasks.shut_down().await;
        info!("ended");
    }

    /// Waits for the verdicts on all ends; false where they do not come.
    async fn all_told(&mut self) -> bool {
        let none_left = self.load.wait_for(|load| load.held == 0);
        tokio::time::timeout(FAREWELL, none_left).await.is_ok()
    }

    /// Tells the leader, twice at most: it finds out by itself.
    async fn say_goodbye(&self, gone: bool) {
        for _ in 0..2 {
            match self.line.link.deregister(gone).await {
                Ok(()) => return,
                Err(error) => warn!(error = %Chain(&error), "could not say goodbye"),
            }
        }
    }
}
