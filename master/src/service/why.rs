//! Why an action is where it is: one code, one answer in words, and the action at the end of the chain that holds it up.
//! It reads, and must not change anything.

mod chain;
mod place;

use std::collections::BTreeMap;

use hera_common::action::{Action, ActionState};
use hera_common::id::RunId;
use hera_common::time::Wall;
use hera_engine::input::{Input, QueueCode, Reply};

use super::Service;
use super::fault::Fault;
use super::shown::{Shower, ShownAction, name};
use crate::role::Lead;

/// One word for why an action is where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WhyCode {
    NotDue,
    JobClosed,
    JobParked,
    WaitsForUpstream,
    UpstreamFailed,
    UpstreamCancelled,
    UpstreamMissing,
    /// A run that does not count is live.
    LiveRun,
    QueueFull,
    Queued,
    QueuedNoWorker,
    WorkersRefuse,
    JobBusy,
    RetryWait,
    LeaseExpired,
    Starting,
    Running,
    Cancelling,
    Succeeded,
    Failed,
    Cancelled,
    Skipped,
}

/// The answer.
#[derive(Debug)]
pub(crate) struct Because {
    pub(crate) action: ShownAction,
    pub(crate) code: WhyCode,
    pub(crate) text: String,
    /// `job@version` of the action at the end of the chain; empty: itself.
    pub(crate) root: String,
    /// From this action to the root.
    pub(crate) path: Vec<String>,
    pub(crate) expected_start: Option<Wall>,
}

/// Where one action stands, by itself.
#[derive(Debug, Clone)]
struct Place {
    code: WhyCode,
    /// Fits after the action's name: `failed (exit code 3) on w1 …`.
    text: String,
    expected_start: Option<Wall>,
}

impl WhyCode {
    /// As told; part of the contract.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::NotDue => "not_due",
            Self::JobClosed => "job_closed",
            Self::JobParked => "job_parked",
            Self::WaitsForUpstream => "waits_for_upstream",
            Self::UpstreamFailed => "upstream_failed",
            Self::UpstreamCancelled => "upstream_cancelled",
            Self::UpstreamMissing => "upstream_missing",
            Self::LiveRun => "live_run",
            Self::QueueFull => "queue_full",
            Self::Queued => "queued",
            Self::QueuedNoWorker => "queued_no_worker",
            Self::WorkersRefuse => "workers_refuse",
            Self::JobBusy => "job_busy",
            Self::RetryWait => "retry_wait",
            Self::LeaseExpired => "lease_expired",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }

    /// Of several things that hold an action up, the one to tell: what needs a person comes first.
    const fn weight(self) -> u8 {
        match self {
            Self::Failed => 9,
            Self::Cancelled | Self::Skipped => 8,
            Self::JobParked => 7,
            Self::UpstreamMissing | Self::JobClosed => 6,
            Self::QueuedNoWorker | Self::WorkersRefuse | Self::LeaseExpired => 5,
            Self::RetryWait | Self::LiveRun | Self::QueueFull => 4,
            Self::Queued | Self::JobBusy | Self::Starting | Self::Running | Self::Cancelling => 3,
            Self::NotDue => 2,
            Self::WaitsForUpstream
            | Self::UpstreamFailed
            | Self::UpstreamCancelled
            | Self::Succeeded => 1,
        }
    }

    /// Of an action that waits for this.
    const fn seen_from_below(self) -> Self {
        match self {
            Self::Failed => Self::UpstreamFailed,
            Self::Cancelled => Self::UpstreamCancelled,
            Self::Skipped | Self::UpstreamMissing => Self::UpstreamMissing,
            Self::NotDue
            | Self::JobClosed
            | Self::JobParked
            | Self::WaitsForUpstream
            | Self::UpstreamFailed
            | Self::UpstreamCancelled
            | Self::LiveRun
            | Self::QueueFull
            | Self::Queued
            | Self::QueuedNoWorker
            | Self::WorkersRefuse
            | Self::JobBusy
            | Self::RetryWait
            | Self::LeaseExpired
            | Self::Starting
            | Self::Running
            | Self::Cancelling
            | Self::Succeeded => Self::WaitsForUpstream,
        }
    }
}

/// What is read once for one answer.
struct Looking<'a> {
    service: &'a Service,
    shower: Shower<'a>,
    /// Why queued runs are not granted now, and more about it in words.
    queue: BTreeMap<RunId, (QueueCode, String)>,
}

impl Service {
    /// Why the action is where it is.
    pub(crate) async fn why_action(&self, text: &str) -> Result<Because, Fault> {
        let lead = self.lead()?;
        let catalog = lead.catalog();
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let bound = self.find_action(&catalog, "action", text).await?;
        let shown = self.shown_action(bound.clone(), &shower).await?;
        let looking = Looking { service: self, shower, queue: queue(&lead).await? };
        let live = shown.live_run.as_ref().map(|run| &run.run);
        let here = looking.place(&bound.action, live).await?;
        if bound.action.state != ActionState::Waiting || here.code == WhyCode::LiveRun {
            return Ok(Because {
                text: format!("{} {}", own_name(&shown), here.text),
                code: here.code,
                root: String::new(),
                path: vec![own_name(&shown)],
                expected_start: here.expected_start,
                action: shown,
            });
        }
        let found = looking.follow(&bound, here).await?;
        Ok(Because {
            action: shown,
            code: found.code,
            text: found.text,
            root: found.root,
            path: found.path,
            expected_start: found.expected_start,
        })
    }
}

fn own_name(shown: &ShownAction) -> String {
    name(&shown.job, shown.action.version)
}

async fn queue(lead: &Lead) -> Result<BTreeMap<RunId, (QueueCode, String)>, Fault> {
    let Reply::Queue(queue) = lead.desk.ask(Input::Queue).await? else {
        return Err(Fault::OtherReply);
    };
    Ok(queue.into_iter().map(|queued| (queued.run.id, (queued.code, queued.detail))).collect())
}

impl Looking<'_> {
    fn name(&self, action: &Action) -> String {
        name(&self.shower.job(action.job), action.version)
    }
}
