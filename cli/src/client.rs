//! The way to the leader: addresses in order, redirects, and what may be asked twice. Knows no message.

use std::error::Error as _;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hera_common::limits::PORT;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};

use crate::exit::{Exit, Failure};

/// A master that does not take a connection within this is passed over.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// Longest wait for an answer: the whole apply of a large installation.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

/// A connection on which nothing is heard for so long is probed, so that a follower of a log notices
/// a master that died.
const PROBE_EVERY: Duration = Duration::from_secs(10);

/// Redirects that are followed before the masters are taken to disagree.
const REDIRECTS_MAX: usize = 4;

/// How often all masters are asked again while they stand but none leads: an election takes seconds.
const ROUNDS_MAX: usize = 30;

/// Between two such rounds.
const ROUND_PAUSE: Duration = Duration::from_millis(500);

/// How often a wish is repeated that met another change: each time it is judged on what is there by then.
const CHANGES_MAX: u32 = 5;

/// Before the first of them; twice as long each time.
const CHANGE_PAUSE: Duration = Duration::from_millis(50);

/// Whether a request may be sent again after its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It changes nothing, or the same thing once.
    Safe,
    /// It may have been done.
    Unsafe,
}

/// Connections to the masters. The one that answered last is asked first.
#[derive(Debug)]
pub(crate) struct Client {
    addresses: Vec<String>,
    current: Mutex<Option<Connected>>,
}

#[derive(Debug, Clone)]
struct Connected {
    address: String,
    channel: Channel,
}

/// What became of one try.
enum Tried<T> {
    Answered(T),
    /// Another master leads.
    Leads(String),
    /// Nothing was done there; another may know more.
    Elsewhere {
        stands: bool,
        why: String,
    },
    /// Something else changed the same in that moment; nothing was done.
    Changed(Failure),
    Failed(Failure),
}

/// What asking every master once has shown.
#[derive(Debug, Default)]
struct Round {
    /// Why each did not answer.
    reasons: Vec<String>,
    redirects: usize,
    /// One of them runs, so that waiting may help.
    stands: bool,
}

impl Round {
    /// Whom to ask next.
    fn redirected(&mut self, from: &str, leader: String) -> Option<String> {
        self.stands = true;
        self.redirects += 1;
        if self.redirects > REDIRECTS_MAX || leader == from {
            self.reasons.push(format!("{from} (names {leader} as the leader)"));
            return None;
        }
        Some(leader)
    }

    fn passed(&mut self, target: &str, stands: bool, why: &str) {
        self.stands |= stands;
        self.reasons.push(format!("{target} ({why})"));
    }
}

impl Client {
    /// For addresses as a person writes them, separated by commas; no connection is made yet.
    ///
    /// # Errors
    /// An address that cannot be one.
    pub(crate) fn new(servers: &str) -> Result<Self, Failure> {
        let addresses = servers
            .split(',')
            .map(str::trim)
            .filter(|server| !server.is_empty())
            .map(address)
            .collect::<Result<Vec<_>, _>>()?;
        if addresses.is_empty() {
            return Err(Failure::bad_input("--server names no address; write HOST:PORT"));
        }
        Ok(Self { addresses, current: Mutex::new(None) })
    }

    /// Sends `request` to the leader, wherever it is, and gives its answer.
    ///
    /// # Errors
    /// What the leader refused; or that none can be reached.
    pub(crate) async fn ask<Req: Clone, Res>(
        &self,
        repeat: Repeat,
        request: Req,
        send: impl AsyncFn(Channel, Request<Req>) -> Result<Response<Res>, Status>,
    ) -> Result<Res, Failure> {
        let mut round = Round::default();
        let mut changes = 0;
        for _round in 0..ROUNDS_MAX {
            round = Round::default();
            let mut targets = self.targets();
            while let Some(target) = targets.pop() {
                match self.attempt(&target, repeat, request.clone(), &send).await {
                    Tried::Answered(answer) => return Ok(answer),
                    Tried::Changed(_again) if changes < CHANGES_MAX => {
                        tokio::time::sleep(CHANGE_PAUSE * 2_u32.pow(changes)).await;
                        changes += 1;
                        targets.push(target);
                    }
                    Tried::Changed(failure) | Tried::Failed(failure) => return Err(failure),
                    Tried::Leads(leader) => targets.extend(round.redirected(&target, leader)),
                    Tried::Elsewhere { stands, why } => round.passed(&target, stands, &why),
                }
            }
            if !round.stands {
                break;
            }
            tokio::time::sleep(ROUND_PAUSE).await;
        }
        Err(unreachable(&self.addresses, &round.reasons))
    }

    /// Whom to ask, the last one first.
    fn targets(&self) -> Vec<String> {
        let mut targets: Vec<_> = self.addresses.iter().rev().cloned().collect();
        if let Some(connected) = self.connected() {
            targets.retain(|target| *target != connected.address);
            targets.push(connected.address);
        }
        targets
    }

    async fn attempt<Req, Res>(
        &self,
        target: &str,
        repeat: Repeat,
        request: Req,
        send: &impl AsyncFn(Channel, Request<Req>) -> Result<Response<Res>, Status>,
    ) -> Tried<Res> {
        let channel = match self.channel(target).await {
            Ok(channel) => channel,
            Err(why) => return Tried::Elsewhere { stands: false, why },
        };
        match send(channel, Request::new(request)).await {
            Ok(response) => Tried::Answered(response.into_inner()),
            Err(status) => {
                let tried = judge(&status, repeat);
                if !matches!(tried, Tried::Changed(_)) {
                    self.forget();
                }
                tried
            }
        }
    }

    fn connected(&self) -> Option<Connected> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn forget(&self) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn channel(&self, target: &str) -> Result<Channel, String> {
        if let Some(connected) = self.connected()
            && connected.address == target
        {
            return Ok(connected.channel);
        }
        let channel = Endpoint::from_shared(format!("http://{target}"))
            .map_err(|error| error.to_string())?
            .connect_timeout(CONNECT_WITHIN)
            .timeout(ANSWER_WITHIN)
            .http2_keep_alive_interval(PROBE_EVERY)
            .keep_alive_timeout(PROBE_EVERY)
            .connect()
            .await
            .map_err(|error| root_cause(&error))?;
        let connected = Connected { address: target.to_owned(), channel: channel.clone() };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(connected);
        Ok(channel)
    }
}

/// What an error of the leader, of a standby or of the connection means.
fn judge<T>(status: &Status, repeat: Repeat) -> Tried<T> {
    // The key alone says that nothing was done there.
    let leader = status.metadata().get(hera_proto::LEADER_KEY);
    if let Some(leader) = leader {
        let leader = leader.to_str().ok().and_then(|leader| address(leader).ok());
        let nobody = || Tried::Elsewhere { stands: true, why: status.message().to_owned() };
        return leader.map_or_else(nobody, Tried::Leads);
    }
    // Only an error that was made on this side has a source.
    let lost = status.source().is_some();
    match (status.code(), lost, repeat) {
        // A master that hangs would hang again.
        (Code::Cancelled | Code::DeadlineExceeded, true, Repeat::Safe) => {
            Tried::Failed(Failure::new(
                Exit::NoLeader,
                format!("the master did not answer within {} s", ANSWER_WITHIN.as_secs()),
            ))
        }
        (Code::Unavailable, false, _) | (_, true, Repeat::Safe) => {
            let why = if lost { cause_of(status) } else { status.message().to_owned() };
            Tried::Elsewhere { stands: true, why }
        }
        (Code::DeadlineExceeded, false, Repeat::Safe) => {
            Tried::Elsewhere { stands: true, why: status.message().to_owned() }
        }
        (_, true, Repeat::Unsafe) => {
            Tried::Failed(unknown("the connection broke before the answer came", &cause_of(status)))
        }
        // The master itself does not know.
        (Code::DeadlineExceeded, false, Repeat::Unsafe) => {
            Tried::Failed(unknown("the answer was lost", status.message()))
        }
        (Code::Aborted, false, _) => Tried::Changed(Failure::refused(status)),
        (_, false, _) => Tried::Failed(Failure::refused(status)),
    }
}

fn unknown(what: &str, why: &str) -> Failure {
    let text =
        format!("{what} ({why}): it may have been done; look with `hera get`, then ask again");
    Failure::new(Exit::NoLeader, text)
}

fn unreachable(addresses: &[String], reasons: &[String]) -> Failure {
    let tried = if reasons.is_empty() { addresses.join(", ") } else { reasons.join(", ") };
    Failure::new(
        Exit::NoLeader,
        format!(
            "no leader can be reached: {tried}; start `hera dev DIR`, or name a master with --server or \
             HERA_SERVER"
        ),
    )
}

fn cause_of(status: &Status) -> String {
    status.source().map_or_else(|| status.message().to_owned(), root_cause)
}

/// The innermost cause, which says most: `Connection refused`.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// `HOST:PORT` from what a person wrote.
fn address(written: &str) -> Result<String, Failure> {
    let refuse = |problem: &dyn fmt::Display| {
        Failure::bad_input(format!("--server {written}: {problem}; write HOST:PORT"))
    };
    let bare = written.strip_prefix("http://").unwrap_or(written).trim_end_matches('/');
    if bare.starts_with("https://") {
        return Err(refuse(&"TLS is not built yet"));
    }
    let has_port = bare.rsplit_once(':').is_some_and(|(host, port)| {
        !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) && !host.ends_with(':')
    });
    if bare.is_empty() {
        return Err(refuse(&"it names no host"));
    }
    let full = if has_port { bare.to_owned() } else { format!("{bare}:{PORT}") };
    let checked: tonic::codegen::http::uri::Authority =
        full.parse().map_err(|error| refuse(&error))?;
    if checked.host().is_empty() || checked.port().is_none() {
        return Err(refuse(&"it names no host or no port"));
    }
    Ok(full)
}

#[cfg(test)]
mod tests {
    use super::{Client, Repeat, Tried, address, judge};
    use crate::exit::Exit;
    use tonic::Status;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let read = |text: &str| address(text).map_err(|failure| failure.exit);
        for (text, expected) in [
            ("127.0.0.1:9887", Ok("127.0.0.1:9887")),
            ("http://master-1:80/", Ok("master-1:80")),
            ("master-1", Ok("master-1:9887")),
            ("[::1]:7", Ok("[::1]:7")),
            ("[::1]", Ok("[::1]:9887")),
            ("https://master-1", Err(Exit::BadInput)),
            ("a b", Err(Exit::BadInput)),
            ("host:99999", Err(Exit::BadInput)),
        ] {
            assert_eq!(read(text), expected.map(str::to_owned), "{text}");
        }
        assert_eq!(Client::new(" a:1, b:2 ,").unwrap().targets(), ["b:2", "a:1"]);
        assert_eq!(Client::new(",").unwrap_err().exit, Exit::BadInput);
    }

    fn told(tried: &Tried<()>) -> String {
        match tried {
            Tried::Answered(()) => "answered".to_owned(),
            Tried::Leads(leader) => format!("leads {leader}"),
            Tried::Elsewhere { stands, why } => format!("elsewhere {stands} {why}"),
            Tried::Changed(failure) => format!("changed {failure}"),
            Tried::Failed(failure) => format!("{:?} {failure}", failure.exit),
        }
    }

    #[test]
    fn a_redirect_is_followed_and_a_lost_answer_is_never_repeated_unless_safe() {
        let mut standby = Status::failed_precondition("a standby");
        standby.metadata_mut().insert(hera_proto::LEADER_KEY, "http://m2:9887".parse().unwrap());
        assert_eq!(told(&judge(&standby, Repeat::Unsafe)), "leads m2:9887");
        standby.metadata_mut().insert(hera_proto::LEADER_KEY, "".parse().unwrap());
        assert_eq!(told(&judge(&standby, Repeat::Unsafe)), "elsewhere true a standby");

        let electing = Status::unavailable("nobody leads");
        assert_eq!(told(&judge(&electing, Repeat::Unsafe)), "elsewhere true nobody leads");

        let lost = || Status::from_error(Box::new(std::io::Error::other("reset by peer")));
        assert_eq!(told(&judge(&lost(), Repeat::Safe)), "elsewhere true reset by peer");
        let failed = told(&judge(&lost(), Repeat::Unsafe));
        assert!(failed.starts_with("NoLeader the connection broke"), "{failed}");

        let unknown = Status::deadline_exceeded("the store did not answer, ask again");
        assert!(told(&judge(&unknown, Repeat::Safe)).starts_with("elsewhere true the store"));
        let failed = told(&judge(&unknown, Repeat::Unsafe));
        assert!(failed.starts_with("NoLeader the answer was lost"), "{failed}");

        let changed = Status::aborted("it changed meanwhile, try again");
        let told_changed = told(&judge(&changed, Repeat::Unsafe));
        assert_eq!(told_changed, "changed it changed meanwhile, try again");

        let refused = Status::failed_precondition("run r42 is live");
        assert_eq!(told(&judge(&refused, Repeat::Safe)), "Refused run r42 is live");
    }

    #[tokio::test]
    async fn a_wish_that_met_another_change_is_repeated_by_itself_a_few_times() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client::new(&listener.local_addr().unwrap().to_string()).unwrap();
        let tries = std::cell::Cell::new(0);
        let send = async |_channel, _request: tonic::Request<()>| {
            tries.set(tries.get() + 1);
            if tries.get() < 3 {
                Err(Status::aborted("changed"))
            } else {
                Ok(tonic::Response::new(()))
            }
        };
        client.ask(Repeat::Unsafe, (), send).await.unwrap();
        assert_eq!(tries.take(), 3);
        let never = async |_channel, _request: tonic::Request<()>| {
            tries.set(tries.get() + 1);
            Err::<tonic::Response<()>, _>(Status::aborted("changed"))
        };
        let failure = client.ask(Repeat::Unsafe, (), never).await.unwrap_err();
        assert_eq!((failure.exit, tries.get()), (Exit::Refused, 1 + super::CHANGES_MAX));
    }

    #[tokio::test]
    async fn where_nobody_listens_the_failure_names_each_address() {
        // Port 1 is reserved; nothing of ours listens there.
        let client = Client::new("127.0.0.1:1").unwrap();
        let send = async |_channel, _request: tonic::Request<()>| Ok(tonic::Response::new(()));
        let failure = client.ask(Repeat::Safe, (), send).await.unwrap_err();
        assert_eq!(failure.exit, Exit::NoLeader);
        assert!(failure.to_string().contains("127.0.0.1:1 (Connection refused"), "{failure}");
    }
}
