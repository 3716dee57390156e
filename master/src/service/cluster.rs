//! Looking at the cluster: the leader, its workers, its queue. It must not change anything.

use std::time::Duration;

use hera_common::worker::WorkerRow;
use hera_engine::input::{Input, QueueCode, QueuedRun, Reply, Standing, WorkerStanding};

use super::Service;
use super::fault::Fault;
use super::page::{List, Piece, Wanted};
use super::shown::{Shower, ShownRun};
use crate::role::Lead;

/// The leader and what it has in memory.
#[derive(Debug)]
pub(crate) struct ShownCluster {
    pub(crate) epoch: i64,
    pub(crate) store_now_ms: i64,
    pub(crate) jobs: u32,
    pub(crate) workers: u32,
    pub(crate) standing: Standing,
    pub(crate) warnings: Vec<String>,
}

/// A worker as shown.
#[derive(Debug)]
pub(crate) struct ShownWorker {
    pub(crate) row: WorkerRow,
    pub(crate) held: u32,
    pub(crate) state: &'static str,
    pub(crate) heard_ago: Option<Duration>,
    /// Why it takes nothing; empty: it takes work.
    pub(crate) takes_nothing: String,
}

/// A queued run as shown.
#[derive(Debug)]
pub(crate) struct ShownQueued {
    pub(crate) run: ShownRun,
    pub(crate) code: &'static str,
}

/// How long a look at the numbers waits for the leader's loop.
const STANDING_MAX: Duration = Duration::from_secs(2);
/// Parked jobs that are named in the warnings.
const PARKED_TOLD: usize = 20;

impl Service {
    /// The leader and its numbers.
    pub(crate) async fn get_cluster(&self) -> Result<ShownCluster, Fault> {
        let lead = self.lead()?;
        let standing = standing(&lead).await?;
        let mut warnings = Vec::new();
        if self.site().insecure {
            let address = &self.site().address;
            warnings.push(format!(
                "{address} speaks without TLS and tokens: whoever reaches it may run anything"
            ));
        }
        for (job, reason) in standing.parked.iter().take(PARKED_TOLD) {
            warnings.push(format!("job {job} is parked: {reason}"));
        }
        let more = standing.parked.len().saturating_sub(PARKED_TOLD);
        if more > 0 {
            warnings.push(format!("{more} more jobs are parked"));
        }
        let online = standing.workers.iter().filter(|worker| worker.here).count();
        Ok(ShownCluster {
            epoch: lead.epoch.get().raw(),
            store_now_ms: self.now().wall.ms(),
            jobs: u32::try_from(lead.catalog().jobs.len()).unwrap_or(u32::MAX),
            workers: u32::try_from(online).unwrap_or(u32::MAX),
            standing,
            warnings,
        })
    }

    /// What this master counts of itself; on the leader with what is in its memory.
    pub(crate) async fn metrics(&self) -> String {
        let asked = async {
            let lead = self.lead()?;
            Ok::<_, Fault>((lead.epoch.get().raw(), standing(&lead).await?))
        };
        // A leader whose loop stands still is shown without what is in its memory, at once.
        let told = tokio::time::timeout(STANDING_MAX, asked).await;
        let told = told.ok().and_then(Result::ok);
        self.around.metrics.text(told.as_ref().map(|(epoch, standing)| (*epoch, standing)))
    }

    /// Workers by name.
    pub(crate) async fn list_workers(&self, page: &Wanted) -> Result<Piece<ShownWorker>, Fault> {
        let lead = self.lead()?;
        let mut workers = standing(&lead).await?.workers;
        workers.sort_by(|a, b| a.row.name.cmp(&b.row.name));
        let list = List::new("workers", &());
        let piece = list.cut(workers.into_iter(), page, |worker| worker.row.name.clone())?;
        let shown = |worker: WorkerStanding| {
            let state = worker.state();
            let WorkerStanding { row, held, here: _, heard_ago, takes_nothing } = worker;
            ShownWorker { held, state, heard_ago, takes_nothing, row }
        };
        Ok(Piece { rows: piece.rows.into_iter().map(shown).collect(), next: piece.next })
    }

    /// Queued runs in the order in which they would be granted.
    pub(crate) async fn list_queue(&self, page: &Wanted) -> Result<Piece<ShownQueued>, Fault> {
        let lead = self.lead()?;
        let Reply::Queue(queue) = lead.desk.ask(Input::Queue).await? else {
            return Err(Fault::OtherReply);
        };
        let catalog = lead.catalog();
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        // Pages go by place: the order changes as runs come and go, and no row of it is kept.
        let rows = queue.into_iter().enumerate();
        let piece = List::new("queue", &()).cut(rows, page, |(place, _)| format!("{place:012}"))?;
        let shown = |(_place, queued): (usize, QueuedRun)| ShownQueued {
            run: shower.run(queued.run),
            code: code(queued.code),
        };
        Ok(Piece { rows: piece.rows.into_iter().map(shown).collect(), next: piece.next })
    }
}

async fn standing(lead: &Lead) -> Result<Standing, Fault> {
    let Reply::Standing(standing) = lead.desk.ask(Input::Standing).await? else {
        return Err(Fault::OtherReply);
    };
    Ok(standing)
}

/// Why a queued run is not granted now.
const fn code(code: QueueCode) -> &'static str {
    match code {
        QueueCode::Next => "next",
        QueueCode::RetryWait => "retry_wait",
        QueueCode::JobBusy => "job_busy",
        QueueCode::NoWorker => "no_worker",
        QueueCode::WorkersRefuse => "workers_refuse",
        QueueCode::Expired => "expired",
    }
}
