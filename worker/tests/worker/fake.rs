//! A leader of one's own making: it grants what a test gives it, and says what a test wants said. Keeps no
//! leases and has no store.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hera_proto::LEADER_KEY;
use hera_proto::v1;
use hera_proto::v1::worker_service_server::{WorkerService, WorkerServiceServer};
use tokio::sync::Notify;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

/// How long an empty Poll stays open.
const POLL: Duration = Duration::from_millis(500);
pub(crate) const LEASE_MS: u32 = 3_000;

/// What has been said to the leader, and what it says.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) waiting: VecDeque<v1::Assignment>,
    /// Tokens that it takes for current, by run.
    pub(crate) held: BTreeMap<i64, Vec<u8>>,
    pub(crate) cancelled: BTreeSet<i64>,
    pub(crate) registered: Vec<v1::RegisterRequest>,
    pub(crate) started: Vec<i64>,
    pub(crate) beats: BTreeMap<i64, u32>,
    pub(crate) finished: Vec<v1::Ended>,
    /// Ends under tokens that were not current.
    pub(crate) late: Vec<v1::Ended>,
    pub(crate) released: Vec<v1::Released>,
    pub(crate) deregistered: Vec<bool>,
    pub(crate) logs: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Calls that get no answer.
    pub(crate) silent: BTreeSet<&'static str>,
    /// Polls that come now stay open and are never answered, as those of a leader that hangs.
    pub(crate) polls_hang: bool,
    /// How many of them there were.
    pub(crate) hanging_polls: u32,
    /// So many pieces of logs are stored, and the answer is lost.
    pub(crate) lost_answers: u32,
    /// Set where another one leads.
    pub(crate) leader: Option<String>,
    /// From TERM to KILL, where a test wants it other than usual.
    pub(crate) term_ms: Option<u32>,
    /// What the last poll said about why nothing is taken.
    pub(crate) takes_nothing: String,
    /// A name that another worker has.
    pub(crate) taken: Option<String>,
}

/// The leader, serving on a port of its own until it is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Fake {
    state: Arc<Mutex<State>>,
    more: Arc<Notify>,
    epoch: Arc<AtomicI64>,
    pub(crate) address: SocketAddr,
}

impl Fake {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let fake = Self {
            state: Arc::default(),
            more: Arc::default(),
            epoch: Arc::new(1.into()),
            address,
        };
        let server = tonic::transport::Server::builder()
            .add_service(WorkerServiceServer::new(fake.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(server);
        fake
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Lets the next Poll have this; runs are numbered by the test.
    pub(crate) fn grant(&self, run: i64, script: &str) {
        self.grant_as(v1::Assignment {
            run_id: run,
            script: script.to_owned(),
            kind: v1::Kind::Shell.into(),
            ..v1::Assignment::default()
        });
    }

    pub(crate) fn grant_as(&self, assignment: v1::Assignment) {
        let assignment = v1::Assignment {
            fence: assignment.run_id * 10,
            number: 1,
            job: "a/job".to_owned(),
            lease_ms: LEASE_MS,
            ..assignment
        };
        self.state().waiting.push_back(assignment);
        self.more.notify_one();
    }

    /// Looks at the state until it gives a value.
    pub(crate) async fn until<T>(&self, what: &str, look: impl Fn(&State) -> Option<T>) -> T {
        let limit = Duration::from_secs(20);
        hera_testkit::wait_for_async(what, limit, async || look(&self.state())).await.unwrap()
    }

    /// The end of a run, as soon as it is reported.
    pub(crate) async fn end_of(&self, run: i64) -> v1::Ended {
        let look = |state: &State| state.finished.iter().find(|end| end.run_id == run).cloned();
        self.until(&format!("the end of run {run}"), look).await
    }

    pub(crate) async fn release_of(&self, run: i64) -> v1::Released {
        let look = |state: &State| state.released.iter().find(|r| r.run_id == run).cloned();
        self.until(&format!("the release of run {run}"), look).await
    }

    pub(crate) async fn started(&self, run: i64) {
        let look = |state: &State| state.started.contains(&run).then_some(());
        self.until(&format!("the start of run {run}"), look).await;
    }

    pub(crate) fn log_of(&self, run: i64) -> Vec<u8> {
        let state = self.state();
        state.held.get(&run).and_then(|token| state.logs.get(token)).cloned().unwrap_or_default()
    }

    /// From now on it answers as the leader of a later term.
    pub(crate) fn begins_a_term(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    #[expect(clippy::unnecessary_wraps, reason = "the field of each answer is optional")]
    fn header(&self) -> Option<v1::MasterHeader> {
        let (epoch, store_id) = (self.epoch.load(Ordering::SeqCst), "fake".to_owned());
        Some(v1::MasterHeader { epoch, store_id, leader_address: String::new() })
    }

    fn answers(&self, call: &str) -> Result<(), Status> {
        let state = self.state();
        if let Some(leader) = &state.leader {
            let mut status = Status::failed_precondition("another leads");
            status.metadata_mut().insert(LEADER_KEY, leader.parse().unwrap());
            return Err(status);
        }
        if state.silent.contains(call) {
            return Err(Status::unavailable("as the test wants"));
        }
        Ok(())
    }
}

impl State {
    fn timing(&self) -> v1::WorkerTiming {
        v1::WorkerTiming {
            heartbeat_min_ms: 200,
            heartbeat_max_ms: 10_000,
            rpc_ms: 250,
            term_ms: self.term_ms.unwrap_or(200),
            kill_ms: 500,
            accept_ms: 2_000,
            rho_ppm: 10_000,
            poll_ms: 20_000,
        }
    }

    fn verdict(&self, run_id: i64, token: &[u8]) -> v1::VerdictKind {
        if self.held.get(&run_id).is_none_or(|held| held != token) {
            v1::VerdictKind::Lost
        } else if self.cancelled.contains(&run_id) {
            v1::VerdictKind::Cancel
        } else {
            v1::VerdictKind::Ok
        }
    }

    fn verdicts(&self, items: &[v1::Held]) -> Vec<v1::Verdict> {
        let verdict = |item: &v1::Held| {
            wire_verdict(item.run_id, &item.token, self.verdict(item.run_id, &item.token))
        };
        items.iter().map(verdict).collect()
    }
}

fn wire_verdict(run_id: i64, token: &[u8], kind: v1::VerdictKind) -> v1::Verdict {
    v1::Verdict { run_id, token: token.to_vec(), kind: kind.into(), lease_ms: LEASE_MS }
}

#[tonic::async_trait]
impl WorkerService for Fake {
    async fn register(
        &self,
        request: Request<v1::RegisterRequest>,
    ) -> Result<Response<v1::RegisterResponse>, Status> {
        self.answers("register")?;
        let request = request.into_inner();
        let mut state = self.state();
        let name = request.header.as_ref().map(|header| header.name.clone());
        if state.taken.is_some() && state.taken == name {
            return Err(Status::already_exists("another worker has this name"));
        }
        state.registered.push(request);
        Ok(Response::new(v1::RegisterResponse {
            header: self.header(),
            worker_id: 1,
            incarnation: i64::try_from(state.registered.len()).unwrap(),
            timing: Some(state.timing()),
        }))
    }

    async fn poll(
        &self,
        request: Request<v1::PollRequest>,
    ) -> Result<Response<v1::PollResponse>, Status> {
        self.answers("poll")?;
        let hangs = {
            let mut state = self.state();
            state.hanging_polls += u32::from(state.polls_hang);
            state.polls_hang
        };
        if hangs {
            std::future::pending::<()>().await;
        }
        let v1::PollRequest { tokens, takes_nothing, .. } = request.into_inner();
        self.state().takes_nothing = takes_nothing;
        let granted = || {
            let mut state = self.state();
            let mut granted = Vec::new();
            for token in &tokens {
                let Some(mut assignment) = state.waiting.pop_front() else { break };
                assignment.token.clone_from(token);
                state.held.insert(assignment.run_id, token.clone());
                granted.push(assignment);
            }
            granted
        };
        let mut assignments = granted();
        if assignments.is_empty() {
            let _nothing_came = tokio::time::timeout(POLL, self.more.notified()).await;
            assignments = granted();
        }
        let (header, timing) = (self.header(), Some(self.state().timing()));
        Ok(Response::new(v1::PollResponse { header, assignments, look: Vec::new(), timing }))
    }

    async fn start(
        &self,
        request: Request<v1::StartRequest>,
    ) -> Result<Response<v1::StartResponse>, Status> {
        self.answers("start")?;
        let items = request.into_inner().items;
        let mut state = self.state();
        state.started.extend(items.iter().map(|item| item.run_id));
        let verdicts = state.verdicts(&items);
        Ok(Response::new(v1::StartResponse { header: self.header(), verdicts }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        self.answers("heartbeat")?;
        let items = request.into_inner().items;
        let mut state = self.state();
        for item in &items {
            *state.beats.entry(item.run_id).or_default() += 1;
        }
        let verdicts = state.verdicts(&items);
        Ok(Response::new(v1::HeartbeatResponse { header: self.header(), verdicts }))
    }

    async fn finish(
        &self,
        request: Request<v1::FinishRequest>,
    ) -> Result<Response<v1::FinishResponse>, Status> {
        self.answers("finish")?;
        let items = request.into_inner().items;
        let mut state = self.state();
        let mut verdicts = Vec::new();
        for item in items {
            let current = state.held.get(&item.run_id) == Some(&item.token);
            let kind = if current { v1::VerdictKind::Ok } else { v1::VerdictKind::Fenced };
            verdicts.push(wire_verdict(item.run_id, &item.token, kind));
            if current { state.finished.push(item) } else { state.late.push(item) }
        }
        Ok(Response::new(v1::FinishResponse { header: self.header(), verdicts }))
    }

    async fn release(
        &self,
        request: Request<v1::ReleaseRequest>,
    ) -> Result<Response<v1::ReleaseResponse>, Status> {
        self.answers("release")?;
        let items = request.into_inner().items;
        let verdict =
            |item: &v1::Released| wire_verdict(item.run_id, &item.token, v1::VerdictKind::Ok);
        let verdicts = items.iter().map(verdict).collect();
        self.state().released.extend(items);
        Ok(Response::new(v1::ReleaseResponse { header: self.header(), verdicts }))
    }

    async fn deregister(
        &self,
        request: Request<v1::DeregisterRequest>,
    ) -> Result<Response<v1::DeregisterResponse>, Status> {
        self.answers("deregister")?;
        self.state().deregistered.push(request.into_inner().gone);
        Ok(Response::new(v1::DeregisterResponse { header: self.header() }))
    }

    async fn append_log(
        &self,
        request: Request<v1::AppendLogRequest>,
    ) -> Result<Response<v1::AppendLogResponse>, Status> {
        self.answers("append_log")?;
        let v1::AppendLogRequest { token, offset, bytes, .. } = request.into_inner();
        let mut state = self.state();
        let log = state.logs.entry(token).or_default();
        if usize::try_from(offset).unwrap() == log.len() {
            log.extend_from_slice(&bytes);
        }
        let size = u64::try_from(log.len()).unwrap();
        if state.lost_answers > 0 {
            state.lost_answers -= 1;
            return Err(Status::unavailable("the answer was lost"));
        }
        Ok(Response::new(v1::AppendLogResponse { header: self.header(), size }))
    }

    async fn fetch_file(
        &self,
        request: Request<v1::FetchFileRequest>,
    ) -> Result<Response<v1::FetchFileResponse>, Status> {
        self.answers("fetch_file")?;
        let found = self.state().files.get(&request.into_inner().digest).cloned();
        let content = found.ok_or_else(|| Status::not_found("no such file"))?.into();
        Ok(Response::new(v1::FetchFileResponse { header: self.header(), content }))
    }
}
