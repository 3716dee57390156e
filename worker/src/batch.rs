//! What queues while a call is in flight is the next batch. No timer: what is alone goes at once.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hera_common::chain::Chain;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::agent::Desk;
use crate::attempt::Event;
use crate::clock;
use crate::contract::{Finish, Held, Release, Verdict};
use crate::link::{CallError, Link};
use crate::pause::{Backoff, jitter};
use crate::register::Registrar;

/// Items of one call: outputs of 64 KiB each stay far below the largest message.
const ITEMS_MAX: usize = 256;
/// After a Start without an answer.
const START_PAUSE: Duration = Duration::from_millis(500);
/// Between two reports of an end that nobody takes.
const REPORT_PAUSE: (Duration, Duration) = (Duration::from_millis(400), Duration::from_secs(5));

/// A queue that is emptied at once. Bounded by what this worker may hold: each attempt is in it once.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    queue: Mutex<Vec<T>>,
    more: Notify,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self { queue: Mutex::new(Vec::new()), more: Notify::new() }
    }
}

impl<T> Batch<T> {
    /// Adds one.
    pub(crate) fn push(&self, item: T) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(item);
        self.more.notify_one();
    }

    /// All that is there now.
    fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All that is there, once something is.
    async fn wait(&self) -> Vec<T> {
        loop {
            let items = self.take();
            if !items.is_empty() {
                return items;
            }
            self.more.notified().await;
        }
    }
}

/// What the loops of this room share.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) link: std::sync::Arc<Link>,
    pub(crate) desk: Desk,
    pub(crate) registrar: Registrar,
}

/// Asks whether attempts may start, until told to end. An unanswered one is asked again by its owner.
pub(crate) async fn ask_to_start(line: Line, batch: &Batch<Held>, end: CancellationToken) {
    loop {
        let items = tokio::select! {
            items = batch.wait() => items,
            () = end.cancelled() => return,
        };
        // Read before the request is sent: a lease counts from here.
        let sent = clock::boot();
        let answer = line.link.start(&items).await;
        let at_once = answer.as_ref().err().is_none_or(CallError::moved);
        let verdicts = line.heard(answer, items.len());
        let unknown = verdicts.contains(&Verdict::Unknown);
        for (held, verdict) in items.iter().zip(verdicts) {
            line.desk.heard(held.token, Event::Start { sent, verdict }).await;
        }
        if unknown && !at_once {
            tokio::time::sleep(jitter(START_PAUSE)).await;
        }
    }
}

/// Something that is reported until there is a verdict.
pub(crate) trait Report: Sized + Send + Sync {
    fn held(&self) -> Held;
    fn event(verdict: Verdict) -> Event;
    fn call(
        link: &Link,
        items: &[Self],
    ) -> impl Future<Output = Result<Vec<Verdict>, CallError>> + Send;
}

impl Report for Finish {
    fn held(&self) -> Held {
        self.held
    }

    fn event(verdict: Verdict) -> Event {
        Event::Finish(verdict)
    }

    fn call(
        link: &Link,
        items: &[Self],
    ) -> impl Future<Output = Result<Vec<Verdict>, CallError>> + Send {
        link.finish(items)
    }
}

impl Report for Release {
    fn held(&self) -> Held {
        self.held
    }

    fn event(verdict: Verdict) -> Event {
        Event::Release(verdict)
    }

    fn call(
        link: &Link,
        items: &[Self],
    ) -> impl Future<Output = Result<Vec<Verdict>, CallError>> + Send {
        link.release(items)
    }
}

/// Reports until told to end; what has no verdict then lies in the spool.
pub(crate) async fn report<T: Report>(line: Line, batch: &Batch<T>, end: CancellationToken) {
    let mut pending: Vec<T> = Vec::new();
    let mut backoff = Backoff::new(REPORT_PAUSE);
    loop {
        if pending.is_empty() {
            tokio::select! {
                items = batch.wait() => pending = items,
                () = end.cancelled() => return,
            }
        } else {
            pending.extend(batch.take());
        }
        let rest = pending.split_off(pending.len().min(ITEMS_MAX));
        let answer = T::call(&line.link, &pending).await;
        let at_once = answer.as_ref().err().is_none_or(CallError::moved);
        let verdicts = line.heard(answer, pending.len());
        let mut unknown = Vec::new();
        for (item, verdict) in pending.into_iter().zip(verdicts) {
            if verdict == Verdict::Unknown {
                unknown.push(item);
            } else {
                line.desk.heard(item.held().token, T::event(verdict)).await;
            }
        }
        let pause = (!unknown.is_empty() && !at_once).then(|| backoff.next());
        if unknown.is_empty() {
            backoff.reset();
        }
        pending = rest;
        pending.extend(unknown);
        if let Some(pause) = pause {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = end.cancelled() => return,
            }
        }
    }
}

impl Line {
    /// The verdicts; where the call gave none, nobody knows.
    pub(crate) fn heard(
        &self,
        answer: Result<Vec<Verdict>, CallError>,
        items: usize,
    ) -> Vec<Verdict> {
        answer.unwrap_or_else(|error| {
            self.registrar.consider(&error);
            tracing::debug!(error = %Chain(&error), "{items} attempts got no verdict");
            vec![Verdict::Unknown; items]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Batch;

    #[tokio::test]
    async fn what_queues_meanwhile_is_the_next_batch() {
        let batch = Batch::default();
        batch.push(1);
        assert_eq!(batch.wait().await, [1]);
        batch.push(2);
        batch.push(3);
        assert_eq!(batch.wait().await, [2, 3]);
        let (waited, ()) = tokio::join!(batch.wait(), async { batch.push(4) });
        assert_eq!(waited, [4]);
    }
}
