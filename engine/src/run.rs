//! The run's life: every change of a run's row is made here, from the row and what happened. Knows no queue and no action.

use std::time::Duration;

use hera_common::attempt::AttemptEnd;
use hera_common::id::Token;
use hera_common::limits::ATTEMPTS_MAX;
use hera_common::run::{CancelReason, FailReason, Hold, QueuedWhy, Run, RunEnd, RunState};
use hera_common::spec::{Backoff, Retries};
use hera_common::time::Wall;

use crate::input::ReleaseCause;

/// Before the next grant of a run that a worker could not execute; five times as long after each further one. The
/// worker that could not may be the only one with room, and sick.
const UNSPAWNED_PAUSE: Duration = Duration::from_secs(2);
/// So many grants that were not started are made again at once: a worker that drains has declined them.
const DECLINES_FREE: u32 = 3;
/// After more of them; doubled after each further one.
const DECLINED_PAUSE: Duration = Duration::from_secs(1);
/// No such pause is longer.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// What may happen to a run; `docs/run-states.md` draws it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEvent {
    /// A worker's poll gets it: from the queue, or from a holder whose lease has run out.
    Granted(Hold),
    /// The holder says that it starts; again: a renewal.
    Started { token: Token },
    /// The holder beats.
    Renewed { token: Token },
    /// The holder reports an end; `retry_in` is the delay if there is to be a retry.
    Finished { token: Token, end: AttemptEnd, retry_in: Option<Duration> },
    /// The holder gives it back.
    Released { token: Token, cause: ReleaseCause },
    /// The grant was not taken in time.
    NotTaken,
    /// The lease has run out; a run that has a restart left stays as it is.
    Expired,
    /// The worker came back without it.
    WorkerReturned,
    /// Somebody wants it to end.
    Cancel(CancelReason),
    /// Its script cannot be rendered at the grant.
    Unrenderable,
}

/// What a change made of the run, and of the attempt that was on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub run: Run,
    /// How the attempt that was on the row ended; None: it goes on, or there was none.
    pub attempt: Option<AttemptEnd>,
}

/// The event has no meaning in the state: a repeated report, an old token, a late thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run that is {state} takes no such event")]
pub struct Illegal {
    pub state: &'static str,
}

/// The one place where a run changes.
///
/// # Errors
/// [`Illegal`]: nothing changes.
pub fn apply(run: &Run, event: RunEvent, now: Wall) -> Result<Changed, Illegal> {
    let illegal = Illegal { state: run.state.word() };
    let changed = match run.state {
        RunState::Queued { not_before, .. } => of_queued(run, not_before, event, now),
        RunState::Leased(hold) => of_leased(run, hold, event, now),
        RunState::Running(hold) => of_running(run, hold, event, now),
        RunState::Ended(_) => None,
    };
    changed.map(|changed| bounded(run, changed, event, now)).ok_or(illegal)
}

/// A run that has used up all grants is not queued again: nobody could ever grant it.
fn bounded(run: &Run, changed: Changed, event: RunEvent, now: Wall) -> Changed {
    let queued = matches!(changed.run.state, RunState::Queued { .. });
    if !queued || changed.run.counts.attempts < ATTEMPTS_MAX {
        return changed;
    }
    let (reason, reporter) = match event {
        RunEvent::Finished { token, end: AttemptEnd::Failed(reason), .. } => (reason, Some(token)),
        RunEvent::Finished { token, end: AttemptEnd::TimedOut, .. } => {
            (FailReason::Timeout, Some(token))
        }
        RunEvent::Finished { token, .. } => (FailReason::Exit, Some(token)),
        RunEvent::Released { token, .. } => (FailReason::Interrupted, Some(token)),
        RunEvent::Granted(_)
        | RunEvent::Started { .. }
        | RunEvent::Renewed { .. }
        | RunEvent::NotTaken
        | RunEvent::Expired
        | RunEvent::WorkerReturned
        | RunEvent::Cancel(_)
        | RunEvent::Unrenderable => (FailReason::Lost, None),
    };
    let mut last = ended(run, RunEnd::Failed(reason), changed.attempt, now);
    last.run.counts = changed.run.counts;
    last.run.final_token = reporter;
    last
}

fn of_queued(run: &Run, not_before: Wall, event: RunEvent, now: Wall) -> Option<Changed> {
    match event {
        RunEvent::Granted(hold) => {
            let free =
                run.cancel.is_none() && not_before <= now && run.counts.attempts < ATTEMPTS_MAX;
            free.then(|| granted(run, hold, None))
        }
        RunEvent::Cancel(reason) => Some(ended(run, RunEnd::Cancelled(reason), None, now)),
        RunEvent::Started { .. }
        | RunEvent::Renewed { .. }
        | RunEvent::Finished { .. }
        | RunEvent::Released { .. }
        | RunEvent::NotTaken
        | RunEvent::Expired
        | RunEvent::WorkerReturned
        | RunEvent::Unrenderable => None,
    }
}

fn of_leased(run: &Run, hold: Hold, event: RunEvent, now: Wall) -> Option<Changed> {
    match event {
        RunEvent::Started { token } if token == hold.token && run.cancel.is_none() => {
            let mut next = stepped(run);
            next.state = RunState::Running(hold);
            next.counts.starts += 1;
            next.started_at = run.started_at.or(Some(now));
            Some(Changed { run: next, attempt: None })
        }
        RunEvent::Released { token, .. } if token == hold.token => Some(not_taken(run, now)),
        RunEvent::NotTaken => Some(not_taken(run, now)),
        RunEvent::WorkerReturned => Some(cancelled_or(run, now, AttemptEnd::Lost, |run| {
            requeued(run, QueuedWhy::WorkerRestart, now)
        })),
        RunEvent::Cancel(reason) => flagged(run, reason),
        RunEvent::Unrenderable => {
            let end = FailReason::Render;
            let attempt = Some(AttemptEnd::Failed(end));
            Some(ended(run, RunEnd::Failed(end), attempt, now))
        }
        RunEvent::Granted(_)
        | RunEvent::Started { .. }
        | RunEvent::Renewed { .. }
        | RunEvent::Finished { .. }
        | RunEvent::Released { .. }
        | RunEvent::Expired => None,
    }
}

fn of_running(run: &Run, hold: Hold, event: RunEvent, now: Wall) -> Option<Changed> {
    match event {
        RunEvent::Granted(hold) => can_take_over(run).then(|| {
            let mut changed = granted(run, hold, Some(AttemptEnd::Lost));
            changed.run.counts.losses += 1;
            changed
        }),
        RunEvent::Started { token } | RunEvent::Renewed { token } => {
            (token == hold.token).then(|| Changed { run: stepped(run), attempt: None })
        }
        RunEvent::Finished { token, end, retry_in } => {
            (token == hold.token).then(|| finished(run, token, end, retry_in, now))
        }
        RunEvent::Released { token, cause } => {
            (token == hold.token).then(|| released(run, token, cause, now))
        }
        RunEvent::Expired => (!can_take_over(run)).then(|| lost(run, now)),
        RunEvent::WorkerReturned if can_take_over(run) => {
            let mut next = requeued(run, QueuedWhy::WorkerRestart, now);
            next.counts.losses += 1;
            Some(Changed { run: next, attempt: Some(AttemptEnd::Lost) })
        }
        RunEvent::WorkerReturned => Some(lost(run, now)),
        RunEvent::Cancel(reason) => flagged(run, reason),
        RunEvent::NotTaken | RunEvent::Unrenderable => None,
    }
}

/// The holder hears of it at its next call; a second wish changes nothing.
fn flagged(run: &Run, reason: CancelReason) -> Option<Changed> {
    if run.cancel.is_some() {
        return None;
    }
    let mut next = stepped(run);
    next.cancel = Some(reason);
    Some(Changed { run: next, attempt: None })
}

/// True where an expired run may be given to another worker.
pub fn can_take_over(run: &Run) -> bool {
    run.cancel.is_none()
        && !run.limits.at_most_once
        && run.counts.losses < run.limits.restarts
        && run.counts.attempts < ATTEMPTS_MAX
}

/// How long to wait before the next try, if the end is worth one. `quarter` is a random number below a quarter, in
/// parts per million, for the jitter of exponential delays.
pub fn retry_delay(
    retries: &Retries,
    failures_before: u32,
    code: Option<i32>,
    quarter: u32,
) -> Option<Duration> {
    if failures_before >= retries.times || code.is_some_and(|code| retries.not_on.contains(&code)) {
        return None;
    }
    Some(match retries.backoff {
        Backoff::Constant => retries.delay,
        Backoff::Exponential { max } => {
            let doubled = retries
                .delay
                .saturating_mul(1_u32.checked_shl(failures_before).unwrap_or(u32::MAX));
            let full = doubled.min(max);
            full.saturating_sub(full.saturating_mul(quarter) / 1_000_000)
        }
    })
}

fn stepped(run: &Run) -> Run {
    Run { hb_seq: run.hb_seq.next(), ..run.clone() }
}

fn granted(run: &Run, hold: Hold, before: Option<AttemptEnd>) -> Changed {
    let mut next = stepped(run);
    next.state = RunState::Leased(hold);
    next.counts.attempts += 1;
    Changed { run: next, attempt: before }
}

fn requeued(run: &Run, why: QueuedWhy, not_before: Wall) -> Run {
    let mut next = stepped(run);
    next.state = RunState::Queued { not_before, why };
    next
}

fn ended(run: &Run, end: RunEnd, attempt: Option<AttemptEnd>, now: Wall) -> Changed {
    let mut next = stepped(run);
    next.state = RunState::Ended(end);
    next.ended_at = Some(now);
    Changed { run: next, attempt }
}

/// An end that the holder reported itself: its token is kept, so that a repeated report is told the same.
fn reported(run: &Run, token: Token, end: RunEnd, attempt: AttemptEnd, now: Wall) -> Changed {
    let mut changed = ended(run, end, Some(attempt), now);
    changed.run.final_token = Some(token);
    changed
}

fn lost(run: &Run, now: Wall) -> Changed {
    let end = run.cancel.map_or(RunEnd::Failed(FailReason::Lost), RunEnd::Cancelled);
    let mut changed = ended(run, end, Some(AttemptEnd::Lost), now);
    changed.run.counts.losses += 1;
    changed
}

fn cancelled_or(
    run: &Run,
    now: Wall,
    attempt: AttemptEnd,
    otherwise: impl FnOnce(&Run) -> Run,
) -> Changed {
    match run.cancel {
        Some(reason) => ended(run, RunEnd::Cancelled(reason), Some(attempt), now),
        None => Changed { run: otherwise(run), attempt: Some(attempt) },
    }
}

fn not_taken(run: &Run, now: Wall) -> Changed {
    cancelled_or(run, now, AttemptEnd::Unaccepted, |run| {
        requeued(run, QueuedWhy::Unaccepted, now.plus(declined_pause(run)))
    })
}

/// Grants cost nothing until one starts, and would be used up in seconds where every worker declines.
fn declined_pause(run: &Run) -> Duration {
    let further = run.counts.attempts.checked_sub(DECLINES_FREE + 1);
    further.map_or(Duration::ZERO, |further| grown(DECLINED_PAUSE, 2, further))
}

fn grown(first: Duration, factor: u32, further: u32) -> Duration {
    first.saturating_mul(factor.checked_pow(further).unwrap_or(u32::MAX)).min(PAUSE_MAX)
}

fn released(run: &Run, token: Token, cause: ReleaseCause, now: Wall) -> Changed {
    let attempt = AttemptEnd::Interrupted;
    if let Some(reason) = run.cancel {
        return reported(run, token, RunEnd::Cancelled(reason), AttemptEnd::Cancelled, now);
    }
    let costs = match cause {
        // A drain's release costs nothing; what was declined after Start did not run.
        ReleaseCause::Drain | ReleaseCause::Declined | ReleaseCause::Cancel => 0,
        ReleaseCause::Lease => 1,
    };
    let ran = cause != ReleaseCause::Declined;
    let losses = run.counts.losses + costs;
    if losses > run.limits.restarts || (ran && run.limits.at_most_once) {
        let mut changed =
            reported(run, token, RunEnd::Failed(FailReason::Interrupted), attempt, now);
        changed.run.counts.losses = losses;
        return changed;
    }
    let pause = if ran { Duration::ZERO } else { declined_pause(run) };
    let mut next = requeued(run, QueuedWhy::Released, now.plus(pause));
    next.counts.losses = losses;
    Changed { run: next, attempt: Some(attempt) }
}

fn finished(
    run: &Run,
    token: Token,
    end: AttemptEnd,
    retry_in: Option<Duration>,
    now: Wall,
) -> Changed {
    match end {
        AttemptEnd::Succeeded => reported(run, token, RunEnd::Succeeded, end, now),
        AttemptEnd::Failed(FailReason::Spawn) => unspawned(run, token, now),
        AttemptEnd::Failed(reason) => failed(run, token, end, reason, retry_in, now),
        AttemptEnd::TimedOut => failed(run, token, end, FailReason::Timeout, retry_in, now),
        AttemptEnd::NotYet => failed(run, token, end, FailReason::Exit, retry_in, now),
        AttemptEnd::Cancelled => match run.cancel {
            Some(reason) => reported(run, token, RunEnd::Cancelled(reason), end, now),
            // Nobody asked for it here: the worker stopped it, which is an interruption.
            None => released(run, token, ReleaseCause::Lease, now),
        },
        AttemptEnd::Interrupted | AttemptEnd::Lost | AttemptEnd::Unaccepted => {
            released(run, token, ReleaseCause::Lease, now)
        }
    }
}

/// The machine's fault: another worker may try, and no retry is spent. Nothing ran, so at-most-once allows it.
fn unspawned(run: &Run, token: Token, now: Wall) -> Changed {
    let attempt = AttemptEnd::Failed(FailReason::Spawn);
    let losses = run.counts.losses + 1;
    let mut changed = match run.cancel {
        Some(reason) => reported(run, token, RunEnd::Cancelled(reason), attempt, now),
        None if losses > run.limits.restarts => {
            reported(run, token, RunEnd::Failed(FailReason::Spawn), attempt, now)
        }
        None => {
            let at = now.plus(grown(UNSPAWNED_PAUSE, 5, run.counts.losses));
            Changed { run: requeued(run, QueuedWhy::Released, at), attempt: Some(attempt) }
        }
    };
    changed.run.counts.losses = losses;
    changed
}

fn failed(
    run: &Run,
    token: Token,
    attempt: AttemptEnd,
    reason: FailReason,
    retry_in: Option<Duration>,
    now: Wall,
) -> Changed {
    let retry = retry_in.filter(|_delay| run.cancel.is_none() && !run.limits.at_most_once);
    let mut changed = match retry {
        Some(delay) => Changed {
            run: requeued(run, QueuedWhy::Retry, now.plus(delay)),
            attempt: Some(attempt),
        },
        None => reported(run, token, RunEnd::Failed(reason), attempt, now),
    };
    changed.run.counts.failures += 1;
    changed
}

#[cfg(test)]
mod tests;
