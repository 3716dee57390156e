//! What workers ask: to be known, to get work, to keep it, to report it. Verdicts are the engine's, or come from a look into
//! the store where the engine does not hold the attempt.

use std::collections::BTreeMap;

use hera_common::id::{Epoch, Fence, Incarnation, RunId, Token, WorkerId};
use hera_common::limits::LOG_CHUNK_BYTES_MAX;
use hera_engine::input::{
    Finish, Grant, Input, Registered, Registration, Release, Reply, Verdict, VerdictKind,
};

use super::fault::Fault;
use super::{Service, look};
use crate::role::{KnownWorker, Lead};

/// Who asks, and what it has seen.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) worker: WorkerId,
    pub(crate) incarnation: Incarnation,
    pub(crate) epoch_seen: Epoch,
    /// Empty: none yet.
    pub(crate) store_seen: String,
}

/// An answer, and the term in which it was given.
#[derive(Debug)]
pub(crate) struct Answered<T> {
    pub(crate) epoch: Epoch,
    pub(crate) value: T,
}

/// An end, and how long its log is.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) finish: Finish,
    pub(crate) log_bytes: Option<u64>,
}

/// What a poll brings.
#[derive(Debug)]
pub(crate) struct Polled {
    pub(crate) grants: Vec<Grant>,
    /// To beat for at once.
    pub(crate) look: Vec<Token>,
}

/// The verdict of one item; None: nobody knows.
pub(crate) type Said = (RunId, Token, Option<VerdictKind>);

impl Service {
    /// Makes a process the worker of its name.
    pub(crate) async fn register(
        &self,
        header: &Header,
        registration: Registration,
    ) -> Result<Answered<Registered>, Fault> {
        let lead = self.lead()?;
        warn_of_later_epoch(header, &lead);
        let name = registration.name.clone();
        let Reply::Registered(registered) = lead.desk.ask(Input::Register(registration)).await?
        else {
            return Err(Fault::OtherReply);
        };
        let registered = registered?;
        let known = KnownWorker { name, incarnation: registered.incarnation };
        lead.known.workers.insert(registered.worker, known);
        Ok(Answered { epoch: lead.epoch.get(), value: registered })
    }

    /// Waits for work.
    pub(crate) async fn poll(
        &self,
        header: &Header,
        tokens: Vec<Token>,
        takes_nothing: String,
    ) -> Result<Answered<Polled>, Fault> {
        let lead = self.lead()?;
        self.check(header, &lead)?;
        self.around.metrics.polled();
        let Header { worker, incarnation, .. } = *header;
        let input = Input::Poll { worker, incarnation, tokens, takes_nothing };
        let polled = match lead.desk.poll(input).await? {
            Reply::Granted(grants) => Polled { grants, look: Vec::new() },
            Reply::Look(look) => Polled { grants: Vec::new(), look },
            Reply::Done
            | Reply::Applied(_)
            | Reply::Deleted(_)
            | Reply::RunMade(_)
            | Reply::Cancelled(_)
            | Reply::Registered(_)
            | Reply::Verdicts(_)
            | Reply::Queue(_)
            | Reply::Standing(_) => return Err(Fault::OtherReply),
        };
        for grant in &polled.grants {
            lead.known.remember(grant.token, grant.fence);
        }
        Ok(Answered { epoch: lead.epoch.get(), value: polled })
    }

    /// Attempts are about to start.
    pub(crate) async fn start(
        &self,
        header: &Header,
        items: Vec<(RunId, Token)>,
    ) -> Result<Answered<Vec<Said>>, Fault> {
        let lead = self.lead()?;
        self.check(header, &lead)?;
        let input = Input::Start { items: items.clone() };
        self.verdicts(&lead, input, &items, look::Question::Held).await
    }

    /// Renews leases. Tokens alone decide, also of a registration that is over.
    pub(crate) async fn heartbeat(
        &self,
        header: &Header,
        items: Vec<(RunId, Token)>,
        kill_failed: Vec<(RunId, Token)>,
    ) -> Result<Answered<Vec<Said>>, Fault> {
        let lead = self.lead()?;
        warn_of_later_epoch(header, &lead);
        let input = Input::Heartbeat { items: items.clone(), kill_failed };
        self.verdicts(&lead, input, &items, look::Question::Held).await
    }

    /// Stores ends.
    pub(crate) async fn finish(
        &self,
        header: &Header,
        items: Vec<Ended>,
    ) -> Result<Answered<Vec<Said>>, Fault> {
        let lead = self.lead()?;
        warn_of_later_epoch(header, &lead);
        for Ended { finish, log_bytes } in &items {
            // Before the end is committed, so that a follower who hears of it knows where the log ends.
            if let (Some(bytes), Some(fence)) = (log_bytes, lead.known.fence(finish.token)) {
                self.around.changes.log_ends(fence, *bytes);
            }
        }
        let items: Vec<Finish> = items.into_iter().map(|ended| ended.finish).collect();
        let names: Vec<_> = items.iter().map(|item| (item.run, item.token)).collect();
        let ends = items.iter().map(|item| (item.token, look::report(item))).collect();
        let input = Input::Finish { items };
        self.verdicts(&lead, input, &names, look::Question::Ended(ends)).await
    }

    /// Takes attempts back.
    pub(crate) async fn release(
        &self,
        header: &Header,
        items: Vec<Release>,
    ) -> Result<Answered<Vec<Said>>, Fault> {
        let lead = self.lead()?;
        warn_of_later_epoch(header, &lead);
        let names: Vec<_> = items.iter().map(|item| (item.run, item.token)).collect();
        self.verdicts(&lead, Input::Release { items }, &names, look::Question::Held).await
    }

    /// A worker drains, or is gone.
    pub(crate) async fn deregister(
        &self,
        header: &Header,
        gone: bool,
    ) -> Result<Answered<()>, Fault> {
        let lead = self.lead()?;
        self.check(header, &lead)?;
        let Header { worker, incarnation, .. } = *header;
        let input = Input::Deregister { worker, incarnation, gone };
        let Reply::Done = lead.desk.ask(input).await? else {
            return Err(Fault::OtherReply);
        };
        Ok(Answered { epoch: lead.epoch.get(), value: () })
    }

    /// Adds a piece to an attempt's log; answers how long the log then is.
    pub(crate) async fn append_log(
        &self,
        token: Token,
        offset: u64,
        bytes: &[u8],
    ) -> Result<Answered<u64>, Fault> {
        if bytes.len() > LOG_CHUNK_BYTES_MAX {
            let problem = format!("must be at most {LOG_CHUNK_BYTES_MAX} bytes");
            return Err(Fault::invalid("bytes", problem));
        }
        let lead = self.lead()?;
        let fence = self.fence(&lead, token).await?;
        let size = self.store().append_log(fence, offset, bytes).await?;
        self.around.changes.log_grew(fence);
        Ok(Answered { epoch: lead.epoch.get(), value: size })
    }

    async fn fence(&self, lead: &Lead, token: Token) -> Result<Fence, Fault> {
        if let Some(fence) = lead.known.fence(token) {
            return Ok(fence);
        }
        let found = self.store().attempts_by_token(&[token]).await?.pop();
        let none = || Fault::NotFound("no attempt was granted under this token".to_owned());
        let fence = found.ok_or_else(none)?.fence;
        lead.known.remember(token, fence);
        Ok(fence)
    }

    /// A file of a job.
    pub(crate) async fn fetch_file(&self, digest: &str) -> Result<Answered<Vec<u8>>, Fault> {
        let lead = self.lead()?;
        let content = self.store().blob(digest).await?;
        let none = || Fault::NotFound(format!("no file has the digest {digest}"));
        Ok(Answered { epoch: lead.epoch.get(), value: content.ok_or_else(none)? })
    }

    /// Asks the engine, looks up what it does not hold, and puts the verdicts in the order of the items.
    async fn verdicts(
        &self,
        lead: &Lead,
        input: Input,
        items: &[(RunId, Token)],
        question: look::Question,
    ) -> Result<Answered<Vec<Said>>, Fault> {
        let Reply::Verdicts(verdicts) = lead.desk.ask(input).await? else {
            return Err(Fault::OtherReply);
        };
        // By pairs: a worker may hold two tokens of one run.
        let mut said: BTreeMap<(RunId, Token), VerdictKind> = BTreeMap::new();
        let mut unheld = Vec::new();
        for Verdict { run, token, kind, unit: _ } in verdicts {
            match kind {
                VerdictKind::Look => unheld.push((run, token)),
                VerdictKind::Ok { .. }
                | VerdictKind::Lost
                | VerdictKind::Cancel
                | VerdictKind::Done
                | VerdictKind::Fenced => {
                    said.insert((run, token), kind);
                }
            }
        }
        if !unheld.is_empty() {
            said.extend(self.look(lead, &unheld, &question).await?);
        }
        let value =
            items.iter().map(|(run, token)| (*run, *token, said.get(&(*run, *token)).copied()));
        Ok(Answered { epoch: lead.epoch.get(), value: value.collect() })
    }

    /// The registration must be the present one, with this store.
    fn check(&self, header: &Header, lead: &Lead) -> Result<(), Fault> {
        warn_of_later_epoch(header, lead);
        let store = &self.site().store_id;
        if !header.store_seen.is_empty() && header.store_seen != *store {
            let problem =
                format!("this is the store {store}, not {}: register again", header.store_seen);
            return Err(Fault::Stale(problem));
        }
        let Some(known) = lead.known.worker(header.worker) else {
            return Err(Fault::Stale(format!("no worker is {}: register again", header.worker)));
        };
        if known.incarnation == header.incarnation {
            return Ok(());
        }
        Err(Fault::Stale(format!(
            "worker {} has registered as incarnation {} since; this is {}",
            known.name, known.incarnation, header.incarnation
        )))
    }
}

/// Another master leads, or the store has forgotten: what we then write is refused by the store, or safe all the same.
fn warn_of_later_epoch(header: &Header, lead: &Lead) {
    if header.epoch_seen > lead.epoch.get() {
        tracing::warn!(
            leader.epoch = lead.epoch.get().raw(),
            seen_epoch = header.epoch_seen.raw(),
            worker.id = header.worker.raw(),
            "a worker has seen a later leader"
        );
    }
}
