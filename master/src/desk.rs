//! Where others hand their questions to the commit loop and wait for the answer. It must not know what is decided.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hera_engine::input::{Input, Reply, Tag};
use tokio::sync::{mpsc, oneshot};

/// How many questions may wait, and how many a batch takes. Full means that callers wait too: that is the brake.
pub(crate) const INBOX_MAX: usize = 1_000;

/// Why a question got no answer. What it asked for may have happened all the same, except where said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// Nothing of it was written.
    #[error("something else changed the same things first, ask again")]
    LeftOut,
    /// Nobody knows whether it was written.
    #[error("the store did not answer, ask again")]
    Unknown,
    #[error("this master stopped leading, ask again")]
    SteppedDown,
}

/// The answer, with what became of each unit that it may point to.
pub(crate) type Told = Result<Reply, Unanswered>;

/// One question on its way.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) tag: Tag,
    pub(crate) input: Input,
    /// None: nobody waits.
    pub(crate) reply: Option<oneshot::Sender<Told>>,
}

/// The handle of a leader's commit loop, for one term.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    inbox: mpsc::Sender<Ask>,
    tags: Arc<AtomicU64>,
}

impl Desk {
    /// A desk, and the queue behind it.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Ask>) {
        let (inbox, queue) = mpsc::channel(INBOX_MAX);
        (Self { inbox, tags: Arc::new(AtomicU64::new(1)) }, queue)
    }

    /// A tag that nobody else has in this term.
    pub(crate) fn tag(&self) -> Tag {
        Tag(self.tags.fetch_add(1, Ordering::Relaxed))
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// As [`Unanswered`] says.
    pub(crate) async fn ask(&self, input: Input) -> Told {
        let (reply, answer) = oneshot::channel();
        let ask = Ask { tag: self.tag(), input, reply: Some(reply) };
        self.inbox.send(ask).await.map_err(|_closed| Unanswered::SteppedDown)?;
        answer.await.map_err(|_dropped| Unanswered::SteppedDown)?
    }

    /// As [`Desk::ask`], of an open poll: tells the engine where the caller goes before the answer comes.
    pub(crate) async fn poll(&self, input: Input) -> Told {
        let (reply, answer) = oneshot::channel();
        let tag = self.tag();
        let ask = Ask { tag, input, reply: Some(reply) };
        self.inbox.send(ask).await.map_err(|_closed| Unanswered::SteppedDown)?;
        let mut open = OpenPoll { desk: self, tag, answered: false };
        let told = answer.await;
        open.answered = true;
        told.map_err(|_dropped| Unanswered::SteppedDown)?
    }

    /// Tells, and does not wait for an answer.
    pub(crate) async fn tell(&self, input: Input) {
        let ask = Ask { tag: self.tag(), input, reply: None };
        if self.inbox.send(ask).await.is_err() {
            tracing::debug!("the term is over, nobody hears");
        }
    }
}

/// Closes a poll in the engine when its caller goes away.
struct OpenPoll<'a> {
    desk: &'a Desk,
    tag: Tag,
    answered: bool,
}

impl Drop for OpenPoll<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let input = Input::PollGone { poll: self.tag };
        let ask = Ask { tag: self.desk.tag(), input, reply: None };
        // A full inbox: the poll stays open until its time is over, and a grant to it goes back to the queue unstarted.
        if self.desk.inbox.try_send(ask).is_err() {
            tracing::debug!("no room to say that a poll is gone");
        }
    }
}
