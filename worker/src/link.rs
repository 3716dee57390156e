//! The way to the leader: the only room that knows the messages of the contract. Each call has a limit,
//! and none is repeated here; who asked decides that.

mod route;
mod wire;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use hera_common::chain::Chain;
use hera_common::id::Token;
use hera_proto::v1::worker_service_client::WorkerServiceClient;
use hera_proto::{LEADER_KEY, MESSAGE_BYTES_MAX, v1};
use tokio::sync::watch;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};

use crate::contract::{Finish, Held, Polled, Release, Timing, Verdict};
use route::{Route, with_scheme};
pub use wire::WireError;

/// How long a call may take before the leader has said how long.
const FIRST_LIMIT: Duration = Duration::from_secs(3);
/// How often a silent connection is tried, and how long it may then stay silent.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));

type Client = WorkerServiceClient<Channel>;

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Ask again; at once where another address is known now.
    #[error("the master asked does not lead")]
    NotLeading { moved: bool },
    /// Nobody knows whether it was done: ask again, unchanged.
    #[error("no answer from {address}: {}", status.message())]
    Unanswered { address: String, status: Box<Status> },
    /// This worker is not registered with the store that the leader has.
    #[error("the leader does not know this worker: {0}")]
    NotRegistered(String),
    #[error("refused: {0}")]
    Refused(Box<Status>),
    #[error("an answer that cannot be understood")]
    Wire(#[from] WireError),
    #[error("{address} is no address of a master")]
    Address {
        address: String,
        #[source]
        source: tonic::transport::Error,
    },
}

impl CallError {
    /// True where asking again at once makes sense.
    pub fn moved(&self) -> bool {
        matches!(self, Self::NotLeading { moved: true })
    }

    /// True where the name belongs to another worker.
    pub fn name_is_taken(&self) -> bool {
        matches!(self, Self::Refused(status) if status.code() == Code::AlreadyExists)
    }

    /// True where asking again, unchanged, gives the same.
    pub fn refused(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Wire(_))
    }

    /// True where what was asked for is not there.
    pub fn not_found(&self) -> bool {
        matches!(self, Self::Refused(status) if status.code() == Code::NotFound)
    }
}

/// What a worker says about itself.
#[derive(Debug, Clone)]
pub struct Registration {
    pub name: String,
    pub state_id: String,
    /// Tokens whose holds must be kept.
    pub keep: Vec<Token>,
    pub host_groups: Vec<String>,
    pub labels: Vec<String>,
    pub capacity: u32,
}

/// The way to whoever leads. Shared by all that ask.
#[derive(Debug)]
pub struct Link {
    instance_id: String,
    inside: Mutex<Inside>,
    /// The highest epoch that a master has answered with.
    term: watch::Sender<i64>,
}

#[derive(Debug)]
struct Inside {
    route: Route,
    channels: HashMap<String, Channel>,
    header: v1::WorkerHeader,
    rpc: Duration,
    poll: Duration,
}

/// One answer, and whether the term of the leader that gave it is over.
struct Answer<T> {
    message: T,
    stale: bool,
}

impl Link {
    /// To these masters; `instance_id` is made at each start of the process.
    ///
    /// # Errors
    /// Where an address is none.
    pub fn new(masters: &[String], instance_id: String) -> Result<Self, CallError> {
        let masters: Vec<String> = masters.iter().map(|master| with_scheme(master)).collect();
        for master in &masters {
            endpoint(master)?;
        }
        let inside = Inside {
            route: Route::new(masters),
            channels: HashMap::new(),
            header: v1::WorkerHeader::default(),
            rpc: FIRST_LIMIT,
            poll: FIRST_LIMIT,
        };
        let (term, _heard) = watch::channel(0);
        Ok(Self { instance_id, inside: Mutex::new(inside), term })
    }

    /// Makes this process the worker of its name.
    pub async fn register(&self, registration: &Registration) -> Result<Timing, CallError> {
        let Registration { name, state_id, keep, host_groups, labels, capacity } = registration;
        self.with(|inside| {
            inside.header.name.clone_from(name);
            inside.header.instance_id.clone_from(&self.instance_id);
        });
        let request = v1::RegisterRequest {
            header: self.header(),
            state_id: state_id.clone(),
            keep: keep.iter().map(|token| token.bytes().to_vec()).collect(),
            host_groups: host_groups.clone(),
            labels: labels.clone(),
            capacity: *capacity,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let call = |mut to: Client, request| async move { to.register(request).await };
        let message = self.call(request, None, call, |m| m.header.as_ref()).await?.message;
        let timing = wire::timing(message.timing)?;
        self.with(|inside| {
            inside.header.worker_id = message.worker_id;
            inside.header.incarnation = message.incarnation;
            // Where the store is another one, this is the moment at which the worker becomes its own.
            if let Some(header) = message.header {
                inside.header.store_id_seen = header.store_id;
                inside.header.max_epoch_seen = header.epoch;
            }
            inside.keep_to(&timing);
        });
        Ok(timing)
    }

    /// Waits for work under these tokens, until another call meets a leader of a later term: the one that
    /// was asked may be frozen, and would be waited for in vain. An assignment that cannot be understood is
    /// left to the leader, which takes it back.
    pub async fn poll(&self, tokens: &[Token], takes_nothing: &str) -> Result<Polled, CallError> {
        let mut term = self.term.subscribe();
        tokio::select! {
            answer = self.poll_here(tokens, takes_nothing) => answer,
            // The link holds the other end.
            _changed = term.changed() => Err(CallError::NotLeading { moved: true }),
        }
    }

    async fn poll_here(&self, tokens: &[Token], takes_nothing: &str) -> Result<Polled, CallError> {
        let tokens = tokens.iter().map(|token| token.bytes().to_vec()).collect();
        let takes_nothing = takes_nothing.to_owned();
        let request = v1::PollRequest { header: self.header(), tokens, takes_nothing };
        let call = |mut to: Client, request| async move { to.poll(request).await };
        let limit = self.with(|inside| inside.poll);
        let message = self.call(request, Some(limit), call, |m| m.header.as_ref()).await?.message;
        let mut assignments = Vec::new();
        for assignment in message.assignments {
            let fence = assignment.fence;
            match wire::assignment(assignment) {
                Ok(assignment) => assignments.push(assignment),
                Err(error) => {
                    tracing::error!(error = %Chain(&error), "attempt {fence} is not understood")
                }
            }
        }
        // One that cannot be understood is no reason to lose what was granted.
        let timing = message.timing.and_then(|timing| wire::timing(Some(timing)).ok());
        self.with(|inside| {
            timing.iter().for_each(|timing| inside.keep_to(timing));
            let fences = assignments.iter().map(|assignment| assignment.fence.raw());
            let seen = inside.header.max_fence_seen;
            inside.header.max_fence_seen = fences.fold(seen, i64::max);
        });
        // What is no token is nothing that this worker holds.
        let look = message.look.iter().filter_map(|bytes| wire::token("look", bytes).ok());
        Ok(Polled { assignments, look: look.collect(), timing })
    }

    /// Asks whether these may start; the verdicts are in their order.
    pub async fn start(&self, items: &[Held]) -> Result<Vec<Verdict>, CallError> {
        let wired = items.iter().map(wire::held).collect();
        let request = v1::StartRequest { header: self.header(), items: wired };
        let call = |mut to: Client, request| async move { to.start(request).await };
        let answer = self.call(request, None, call, |m| m.header.as_ref()).await?;
        Ok(wire::verdicts(items.iter(), &answer.message.verdicts, answer.stale))
    }

    /// Renews the leases of `items`; tells once of those that could not be killed.
    pub async fn heartbeat(
        &self,
        items: &[Held],
        kill_failed: &[Held],
    ) -> Result<Vec<Verdict>, CallError> {
        let request = v1::HeartbeatRequest {
            header: self.header(),
            items: items.iter().map(wire::held).collect(),
            kill_failed: kill_failed.iter().map(wire::held).collect(),
        };
        let call = |mut to: Client, request| async move { to.heartbeat(request).await };
        let answer = self.call(request, None, call, |m| m.header.as_ref()).await?;
        Ok(wire::verdicts(items.iter(), &answer.message.verdicts, answer.stale))
    }

    /// Reports ends; the verdicts are in their order.
    pub async fn finish(&self, items: &[Finish]) -> Result<Vec<Verdict>, CallError> {
        let wired = items.iter().map(wire::ended).collect();
        let request = v1::FinishRequest { header: self.header(), items: wired };
        let call = |mut to: Client, request| async move { to.finish(request).await };
        let answer = self.call(request, None, call, |m| m.header.as_ref()).await?;
        let held = items.iter().map(|item| &item.held);
        Ok(wire::verdicts(held, &answer.message.verdicts, answer.stale))
    }

    /// Gives attempts back; the verdicts are in their order.
    pub async fn release(&self, items: &[Release]) -> Result<Vec<Verdict>, CallError> {
        let wired = items.iter().map(wire::released).collect();
        let request = v1::ReleaseRequest { header: self.header(), items: wired };
        let call = |mut to: Client, request| async move { to.release(request).await };
        let answer = self.call(request, None, call, |m| m.header.as_ref()).await?;
        let held = items.iter().map(|item| &item.held);
        Ok(wire::verdicts(held, &answer.message.verdicts, answer.stale))
    }

    /// Says that this worker drains, or that it is gone.
    pub async fn deregister(&self, gone: bool) -> Result<(), CallError> {
        let request = v1::DeregisterRequest { header: self.header(), gone };
        let call = |mut to: Client, request| async move { to.deregister(request).await };
        self.call(request, None, call, |m| m.header.as_ref()).await.map(drop)
    }

    /// Adds a piece to a log; the answer is how many bytes are stored.
    pub async fn append_log(
        &self,
        token: Token,
        offset: u64,
        bytes: Bytes,
    ) -> Result<u64, CallError> {
        let header = self.header();
        let token = token.bytes().to_vec();
        let request = v1::AppendLogRequest { header, token, offset, bytes };
        let call = |mut to: Client, request| async move { to.append_log(request).await };
        Ok(self.call(request, None, call, |m| m.header.as_ref()).await?.message.size)
    }

    /// The content of a job's file.
    pub async fn fetch_file(&self, digest: &str) -> Result<Bytes, CallError> {
        let request = v1::FetchFileRequest { header: self.header(), digest: digest.to_owned() };
        let call = |mut to: Client, request| async move { to.fetch_file(request).await };
        Ok(self.call(request, None, call, |m| m.header.as_ref()).await?.message.content)
    }

    /// One call, of at most `limit`, to the master whose turn it is.
    async fn call<Q, A, F>(
        &self,
        request: Q,
        limit: Option<Duration>,
        call: impl FnOnce(Client, Request<Q>) -> F,
        header: impl FnOnce(&A) -> Option<&v1::MasterHeader>,
    ) -> Result<Answer<A>, CallError>
    where
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let (address, client, rpc) = self.client()?;
        let limit = limit.unwrap_or(rpc);
        let mut request = Request::new(request);
        request.set_timeout(limit);
        let answered = tokio::time::timeout(limit, call(client, request)).await;
        let status = match answered {
            Ok(Ok(response)) => {
                let message = response.into_inner();
                let (stale, epoch) = self.with(|inside| {
                    inside.route.answered();
                    (inside.saw(header(&message)), inside.header.max_epoch_seen)
                });
                self.term.send_if_modified(|known| std::mem::replace(known, epoch) < epoch);
                return Ok(Answer { message, stale });
            }
            Ok(Err(status)) => status,
            Err(_elapsed) => Status::deadline_exceeded("no answer in time"),
        };
        Err(self.refused(address, status))
    }

    /// What a status means, and where to go next.
    fn refused(&self, address: String, status: Status) -> CallError {
        if let Some(leader) = status.metadata().get(LEADER_KEY) {
            let leader = leader.to_str().unwrap_or_default();
            let moved = self.with(|inside| inside.route.not_leading(&address, leader));
            return CallError::NotLeading { moved };
        }
        match status.code() {
            Code::Aborted => CallError::NotRegistered(status.message().to_owned()),
            Code::AlreadyExists
            | Code::NotFound
            | Code::InvalidArgument
            | Code::FailedPrecondition
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::OutOfRange
            | Code::Unimplemented => CallError::Refused(Box::new(status)),
            Code::Ok
            | Code::Cancelled
            | Code::Unknown
            | Code::DeadlineExceeded
            | Code::ResourceExhausted
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss => {
                self.with(|inside| inside.route.failed(&address));
                CallError::Unanswered { address, status: Box::new(status) }
            }
        }
    }

    fn client(&self) -> Result<(String, Client, Duration), CallError> {
        self.with(|inside| {
            let address = inside.route.address().to_owned();
            let channel = match inside.channels.get(&address) {
                Some(channel) => channel.clone(),
                None => {
                    let channel = endpoint(&address)?.connect_lazy();
                    inside.channels.insert(address.clone(), channel.clone());
                    channel
                }
            };
            let client = Client::new(channel)
                .max_decoding_message_size(MESSAGE_BYTES_MAX)
                .max_encoding_message_size(MESSAGE_BYTES_MAX);
            Ok((address, client, inside.rpc))
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "the field of each request is optional")]
    fn header(&self) -> Option<v1::WorkerHeader> {
        Some(self.with(|inside| inside.header.clone()))
    }

    fn with<T>(&self, look: impl FnOnce(&mut Inside) -> T) -> T {
        // Nothing that is done under the lock can panic half-way.
        let mut inside = self.inside.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        look(&mut inside)
    }
}

impl Inside {
    /// How long calls may take from now on.
    fn keep_to(&mut self, timing: &Timing) {
        self.rpc = timing.rpc;
        self.poll = timing.poll_limit();
    }

    /// True where a leader of a later term has answered before.
    fn saw(&mut self, header: Option<&v1::MasterHeader>) -> bool {
        let Some(v1::MasterHeader { epoch, store_id, leader_address: _ }) = header else {
            return false;
        };
        if self.header.store_id_seen.is_empty() {
            self.header.store_id_seen.clone_from(store_id);
        }
        let stale = *epoch < self.header.max_epoch_seen;
        self.header.max_epoch_seen = self.header.max_epoch_seen.max(*epoch);
        stale
    }
}

fn endpoint(address: &str) -> Result<Endpoint, CallError> {
    let failed = |source| CallError::Address { address: address.to_owned(), source };
    let (interval, limit) = KEEP_ALIVE;
    Ok(Endpoint::from_shared(address.to_owned())
        .map_err(failed)?
        .connect_timeout(FIRST_LIMIT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(interval)
        .keep_alive_timeout(limit)
        .keep_alive_while_idle(true))
}
