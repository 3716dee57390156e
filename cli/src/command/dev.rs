//! `hera dev`: a master and a worker in one process, for the first hour and for small teams.

mod idle;
mod watch;

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use clap::Args;
use hera_common::time::Wall;
use hera_proto::v1;
use jiff::tz::TimeZone;
use tokio::time::MissedTickBehavior;

use super::apply::{Applied, apply, summary};
use super::cluster::cluster;
use crate::client::Client;
use crate::dev::lines::Teller;
use crate::dev::serve::{Place, Served, Servers};
use crate::dev::stops::Stops;
use crate::exit::{Exit, Failure};
use crate::session::Session;
use watch::Watch;

/// How far back a new job is looked at for its newest due version: a monthly job has one.
const LOOK_BACK: Duration = Duration::from_secs(32 * 24 * 3_600);

/// How often it is asked whether there is nothing more to do.
const IDLE_EVERY: Duration = Duration::from_millis(300);

/// How long the stream of changes must be silent, so that the last line is out before the end.
const QUIET: Duration = Duration::from_millis(300);

/// Serve a master and a worker on this machine, and load a folder of jobs
///
/// Everything is kept in a folder of its own, so that the next start goes on from there. Of a new job the
/// newest version that is due runs, with the versions of other jobs that it needs. Jobs that the folder does
/// not have any more are deleted, in the groups that its files name. Stop it with Ctrl-C.
#[derive(Debug, Args)]
pub(crate) struct Dev {
    /// The folder of jobs; without it nothing is loaded
    jobs_dir: Option<PathBuf>,
    /// Where to keep the data [default: a folder named after JOBS_DIR, below ~/.local/share/hera]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// End when all that is due has run: exit code 1 if an action is failed, cancelled or blocked
    #[arg(long)]
    until_idle: bool,
}

impl Dev {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let Self { jobs_dir, data_dir, until_idle } = self;
        let mut stops = Stops::listen()?;
        let mut servers =
            Servers::start(Place::new(jobs_dir.as_deref(), data_dir.as_deref())?).await?;
        let served = servers.served();
        let mut by_hand = false;
        let ended = {
            let mut story = pin!(story(session, &served, until_idle));
            tokio::select! {
                ended = &mut story => ended,
                failure = servers.ended() => Err(failure),
                () = stops.asked() => {
                    by_hand = true;
                    interrupted(until_idle)
                }
            }
        };
        if by_hand {
            session.out.note("stopping; once more Ctrl-C ends it at once");
        }
        tokio::select! {
            () = servers.stop() => ended,
            // The jobs end with this process: their shims see to it.
            () = stops.asked() => Err(Failure::new(Exit::Refused, "ended before all was put away")),
        }
    }
}

/// What a person's stop means to a script that waits.
fn interrupted(until_idle: bool) -> Result<Exit, Failure> {
    if until_idle {
        return Err(Failure::new(Exit::RunFailed, "stopped before all that is due had run"));
    }
    Ok(Exit::Done)
}

/// Loads the folder, tells each change, and ends when it is idle, if it shall.
async fn story(
    session: &mut Session<'_>,
    served: &Served,
    until_idle: bool,
) -> Result<Exit, Failure> {
    let client = Client::new(&served.address)?;
    session.out.note(&format!(
        "hera dev at http://{}, data in {}; stop it with Ctrl-C",
        served.address,
        served.data_dir.display()
    ));
    let mut watch = Watch::open(&client).await?;
    served.watched.cancel();
    let mut teller = Teller::new(session.out.look().style, TimeZone::system());
    let mut load = pin!(load(&client, served, session.actor()));
    let mut loaded = false;
    let mut tick = tokio::time::interval(IDLE_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            applied = &mut load, if !loaded => {
                loaded = true;
                tell_applied(session, applied?);
            }
            seen = watch.next() => tell(session, &mut watch, &mut teller, seen?).await?,
            _ = tick.tick(), if until_idle && loaded => {
                if cluster(&client).await?.idle {
                    break;
                }
            }
        }
    }
    // What was committed last is told before the end.
    while let Ok(seen) = tokio::time::timeout(QUIET, watch.next()).await {
        tell(session, &mut watch, &mut teller, seen?).await?;
    }
    let troubles = idle::troubles(&client).await?;
    if troubles.is_empty() {
        session.out.note("idle: all that is due has run");
        return Ok(Exit::Done);
    }
    Err(Failure { exit: Exit::RunFailed, lines: troubles })
}

async fn tell(
    session: &mut Session<'_>,
    watch: &mut Watch<'_>,
    teller: &mut Teller,
    (at, message): (Wall, v1::WatchResponse),
) -> Result<(), Failure> {
    let change = watch.change(message).await;
    match change.and_then(|change| teller.line(at, &change)) {
        Some(line) => session.out.raw(format!("{line}\n").as_bytes()),
        None => Ok(()),
    }
}

/// Applies the folder; None: there is none.
async fn load(client: &Client, served: &Served, actor: String) -> Result<Option<Applied>, Failure> {
    let Some(folder) = &served.folder else { return Ok(None) };
    let now = cluster(client).await?.now.0;
    let wish = v1::ApplyRequest {
        asked: Some(v1::Asked { actor, why: "hera dev".to_owned() }),
        prune: true,
        // The folder is what is meant to be there; what is lost is told.
        overwrite: true,
        since_ms: Some(now.minus(LOOK_BACK).ms()),
        first_load_newest: true,
        ..v1::ApplyRequest::default()
    };
    apply(client, folder, wish).await.map(Some)
}

fn tell_applied(session: &mut Session<'_>, applied: Option<Applied>) {
    let Some(Applied { changes, warnings, unchanged }) = applied else { return };
    for warning in &warnings {
        session.out.note(&format!("warning: {warning}"));
    }
    session.out.note(&summary(&changes, unchanged));
}
