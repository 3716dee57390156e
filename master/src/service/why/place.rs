//! Where one action stands by itself, in words. It must not look at other actions.

use hera_common::action::{Action, ActionEnd, ActionState, SkipReason};
use hera_common::attempt::AttemptState;
use hera_common::run::{Run, RunState};
use hera_common::time::Wall;
use hera_engine::input::QueueCode;

use super::{Looking, Place, WhyCode};
use crate::service::fault::Fault;

impl Looking<'_> {
    /// Where the action stands.
    pub(super) async fn place(&self, action: &Action, live: Option<&Run>) -> Result<Place, Fault> {
        let plain = |code, text: &str| Place { code, text: text.to_owned(), expected_start: None };
        Ok(match action.state {
            ActionState::Planned { .. } => self.planned(action),
            ActionState::Waiting => match live {
                Some(run) => Place {
                    code: WhyCode::LiveRun,
                    text: format!("waits until run r{}, which does not count, has ended", run.id),
                    expected_start: None,
                },
                None => self.waiting(action),
            },
            ActionState::Active => match live {
                Some(run) => self.active(run).await?,
                None => plain(WhyCode::Queued, "is about to be queued"),
            },
            ActionState::Ended(ActionEnd::Succeeded { forced: false }) => {
                plain(WhyCode::Succeeded, &format!("succeeded{}", at(action.ended_at)))
            }
            ActionState::Ended(ActionEnd::Succeeded { forced: true }) => plain(
                WhyCode::Succeeded,
                &format!("was forced to succeed{}{}", by(&action.actor), at(action.ended_at)),
            ),
            ActionState::Ended(end @ ActionEnd::Failed(_)) => self.failed(action, end).await?,
            ActionState::Ended(ActionEnd::Cancelled) => plain(
                WhyCode::Cancelled,
                &format!("was cancelled{}{}", by(&action.actor), at(action.ended_at)),
            ),
            ActionState::Ended(ActionEnd::Skipped(reason)) => plain(
                WhyCode::Skipped,
                &format!("was skipped: {}{}", skipped(reason), by(&action.actor)),
            ),
        })
    }

    fn planned(&self, action: &Action) -> Place {
        let job = self.shower.catalog.jobs.get(&action.job);
        let due = job.map_or(action.version, |job| job.fires_at(action.version)).due();
        if let Some(stopped) = self.stopped(action) {
            return stopped;
        }
        let text = format!("is not due before {due}");
        Place { code: WhyCode::NotDue, text, expected_start: Some(due) }
    }

    /// Nothing of it is missing by itself: its upstream versions are looked at next.
    fn waiting(&self, action: &Action) -> Place {
        if let Some(stopped) = self.stopped(action) {
            return stopped;
        }
        let text = "waits for room in the queue of its job".to_owned();
        Place { code: WhyCode::QueueFull, text, expected_start: None }
    }

    fn stopped(&self, action: &Action) -> Option<Place> {
        let job = self.shower.catalog.jobs.get(&action.job)?;
        if let Some(reason) = &job.parked {
            let text = format!("stands still, since its job is parked: {reason}");
            return Some(Place { code: WhyCode::JobParked, text, expected_start: None });
        }
        let planned = action.state.planned();
        (planned && !job.row.open).then(|| Place {
            code: WhyCode::JobClosed,
            text: "will be skipped, since its job is closed".to_owned(),
            expected_start: None,
        })
    }

    fn queued(&self, run: &Run) -> Option<QueueCode> {
        self.queue.get(&run.id).map(|(code, _detail)| *code)
    }

    async fn active(&self, run: &Run) -> Result<Place, Fault> {
        let place = |code, text, expected_start| Place { code, text, expected_start };
        Ok(match run.state {
            RunState::Queued { not_before, .. } => match self.queued(run) {
                Some(QueueCode::RetryWait) => {
                    let last = self.last_attempt(run).await?;
                    let text = format!("is tried again at {not_before}{last}");
                    place(WhyCode::RetryWait, text, Some(not_before))
                }
                Some(QueueCode::JobBusy) => place(
                    WhyCode::JobBusy,
                    "is queued until another run of its job has ended".to_owned(),
                    None,
                ),
                Some(QueueCode::WorkersRefuse) => {
                    let detail =
                        self.queue.get(&run.id).map_or("", |(_code, detail)| detail.as_str());
                    place(WhyCode::WorkersRefuse, format!("is queued, and {detail}"), None)
                }
                Some(QueueCode::NoWorker) => place(
                    WhyCode::QueuedNoWorker,
                    "is queued, and no worker that could run it is there".to_owned(),
                    None,
                ),
                Some(QueueCode::Next | QueueCode::Expired) | None => place(
                    WhyCode::Queued,
                    "is queued, and waits for a worker with room".to_owned(),
                    None,
                ),
            },
            RunState::Leased(hold) => {
                let worker = self.shower.worker(hold.worker);
                place(WhyCode::Starting, format!("was given to worker {worker}"), None)
            }
            RunState::Running(hold) => {
                let worker = self.shower.worker(hold.worker);
                let since = run.started_at.map(|at| format!(" since {at}")).unwrap_or_default();
                if run.cancel.is_some() {
                    let text = format!("is being cancelled on worker {worker}");
                    return Ok(place(WhyCode::Cancelling, text, None));
                }
                if self.queued(run) == Some(QueueCode::Expired) {
                    let text = format!(
                        "ran on worker {worker}, which has not been heard for the length of the lease; the next worker with room takes over"
                    );
                    return Ok(place(WhyCode::LeaseExpired, text, None));
                }
                place(WhyCode::Running, format!("runs on worker {worker}{since}"), None)
            }
            RunState::Ended(_) => place(WhyCode::Running, "is about to end".to_owned(), None),
        })
    }

    async fn failed(&self, action: &Action, end: ActionEnd) -> Result<Place, Fault> {
        let code = WhyCode::Failed;
        let run = match action.counted_run {
            Some(id) => self.service.store().run(id).await?,
            None => None,
        };
        let last = match run {
            Some(view) => self.last_attempt(&view.run).await?,
            None => String::new(),
        };
        let reason = end.reason().unwrap_or("unknown");
        let text = format!("failed ({reason}){}{last}", at(action.ended_at));
        Ok(Place { code, text, expected_start: None })
    }

    /// `: attempt 2 ended with exit code 3 on worker w1`.
    async fn last_attempt(&self, run: &Run) -> Result<String, Fault> {
        let attempts = self.service.store().attempts(run.id).await?;
        let Some(view) = attempts.last() else { return Ok(String::new()) };
        let AttemptState::Ended { end, exit, .. } = &view.attempt.state else {
            return Ok(String::new());
        };
        let how = match (exit.code, exit.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => end.word().to_owned(),
        };
        let detail = exit.detail.as_ref().map(|detail| format!(" ({detail})"));
        let (number, detail) = (view.attempt.number, detail.unwrap_or_default());
        Ok(format!("; attempt {number} on worker {} ended with {how}{detail}", view.worker))
    }
}

fn at(ended: Option<Wall>) -> String {
    ended.map(|at| format!(" at {at}")).unwrap_or_default()
}

fn by(actor: &str) -> String {
    if actor.is_empty() { String::new() } else { format!(" by {actor}") }
}

const fn skipped(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Late => "it was reached too late",
        SkipReason::Overlap => "another run of its job was live",
        SkipReason::Superseded => "a newer version took its place",
        SkipReason::Calendar => "the calendar leaves its day out",
        SkipReason::Upstream => "an upstream that it needs was skipped",
        SkipReason::NotNeeded => "the end of the upstream that it waits for did not come",
        SkipReason::Closed => "its job was closed",
        SkipReason::Area => "it does not belong to this area",
        SkipReason::GaveUp => "it had waited for as long as its job allows",
        SkipReason::User => "a person or an edit left it out",
    }
}
