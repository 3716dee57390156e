//! One heartbeat for all that this worker holds, in time for the shortest lease. Knows no process.

use std::sync::Arc;
use std::time::Duration;

use hera_common::time::Boot;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::attempt::Event;
use crate::batch::Line;
use crate::clock;
use crate::contract::{Held, Verdict};
use crate::pause::jitter;

/// After a beat without an answer; the next master is asked then.
const AGAIN: Duration = Duration::from_millis(250);

/// What there is to beat for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beats {
    pub(crate) items: Vec<Held>,
    /// To be told once.
    pub(crate) kill_failed: Vec<Held>,
    /// Of the shortest lease held.
    pub(crate) every: Duration,
    /// The leader wants it now.
    pub(crate) at_once: bool,
}

/// Beats until told to end. `changed` says that there is something to beat for, or more often.
pub(crate) async fn beat(line: Line, changed: Arc<Notify>, end: CancellationToken) {
    let mut untold: Vec<Held> = Vec::new();
    let mut due: Option<Boot> = None;
    loop {
        let Some(beats) = line.desk.beats().await else { return };
        let now = clock::boot();
        let news = !beats.kill_failed.is_empty() || beats.at_once;
        untold.extend(beats.kill_failed);
        due = if news {
            Some(now)
        } else if beats.items.is_empty() && untold.is_empty() {
            None
        } else {
            // A new attempt may want it sooner; nothing makes it later.
            let fresh = now.plus(jitter(beats.every));
            Some(due.map_or(fresh, |due| due.min(fresh)))
        };
        if due.is_some_and(|at| at <= now) {
            due = Some(match send(&line, &beats.items, &untold).await {
                Sent::Answered => {
                    untold.clear();
                    now.plus(jitter(beats.every))
                }
                Sent::Elsewhere => now,
                Sent::Unanswered => clock::boot().plus(AGAIN),
            });
            continue;
        }
        tokio::select! {
            () = changed.notified() => {}
            () = sleep(due.map(|at| at.since(now))) => {}
            () = end.cancelled() => return,
        }
    }
}

/// For ever where there is nothing to wait for.
async fn sleep(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}

enum Sent {
    Answered,
    /// Another master leads, and is known.
    Elsewhere,
    Unanswered,
}

async fn send(line: &Line, items: &[Held], kill_failed: &[Held]) -> Sent {
    // Read before the request is sent: the renewed leases count from here.
    let sent = clock::boot();
    let answer = line.link.heartbeat(items, kill_failed).await;
    let result = match &answer {
        Ok(_) => Sent::Answered,
        Err(error) if error.moved() => Sent::Elsewhere,
        Err(_) => Sent::Unanswered,
    };
    let verdicts = line.heard(answer, items.len());
    for (held, verdict) in items.iter().zip(verdicts) {
        if verdict != Verdict::Unknown {
            line.desk.heard(held.token, Event::Heartbeat { sent, verdict }).await;
        }
    }
    result
}
