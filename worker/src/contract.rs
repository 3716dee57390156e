//! What the worker and the leader tell each other, as values. `link` turns them into messages; nothing
//! here knows how they travel.

use std::time::Duration;

use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::id::{Fence, RunId, Token};
use hera_common::spec::{FileSpec, Kind};
use hera_common::worker::heartbeat;

/// One attempt that this worker was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub held: Held,
    pub fence: Fence,
    /// From 1 within the run.
    pub number: u32,
    /// The job's path, for people.
    pub job: String,
    pub lease: Duration,
    pub timeout: Option<Duration>,
    pub kind: Kind,
    /// Rendered.
    pub script: String,
    /// `HERA_*` and what else the job is given.
    pub environment: Vec<(String, String)>,
    pub files: Vec<FileSpec>,
}

/// An attempt in the leader's eyes: the run, and the proof of authority over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    pub run: RunId,
    pub token: Token,
}

/// What a poll brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polled {
    pub assignments: Vec<Assignment>,
    /// To be renewed at once: cancelled, or another worker's by now.
    pub look: Vec<Token>,
    /// The leader's numbers, where it says them; they hold for what it grants here.
    pub timing: Option<Timing>,
}

/// What the leader says about one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Renewed for this long, counted from before the request was sent; or stored.
    Ok { lease: Duration },
    /// The token is not on the row.
    Lost,
    /// Somebody wants it to end.
    Cancel,
    /// This token's end is stored already.
    Done,
    /// The end came from an old token, and was kept beside the history.
    Fenced,
    /// Ask again.
    Unknown,
}

/// What becomes of an attempt, once nothing of it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Finish {
        end: AttemptEnd,
        exit: Exit,
    },
    /// Somebody else shall have it.
    Release {
        cause: ReleaseCause,
        detail: String,
    },
}

/// Why an attempt is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseCause {
    /// Not started: draining, or too late to start safely.
    Declined,
    /// Stopped by a drain; costs nothing.
    Drain,
    /// Stopped at the worker's own deadline; costs a restart.
    Lease,
    /// Not started since the leader said CANCEL.
    Cancel,
}

impl ReleaseCause {
    const ALL: [Self; 4] = [Self::Declined, Self::Drain, Self::Lease, Self::Cancel];

    /// As written in the spool.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Declined => "declined",
            Self::Drain => "drain",
            Self::Lease => "lease",
            Self::Cancel => "cancel",
        }
    }

    /// Reads what [`ReleaseCause::word`] wrote.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.word() == word)
    }
}

/// An end on its way to the leader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    pub held: Held,
    pub end: AttemptEnd,
    pub exit: Exit,
    /// At most `OUTPUT_BYTES_MAX` bytes.
    pub output: Vec<u8>,
    /// How long its log is; None: nobody knows.
    pub log_bytes: Option<u64>,
}

/// An attempt on its way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    pub held: Held,
    pub cause: ReleaseCause,
    pub detail: String,
}

/// The numbers that both sides share; the leader gives them at registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    pub heartbeat_min: Duration,
    pub heartbeat_max: Duration,
    /// Limit of one call.
    pub rpc: Duration,
    /// From TERM to KILL.
    pub term: Duration,
    /// From KILL to an empty group.
    pub kill: Duration,
    /// A grant that is not started within this goes back to the queue.
    pub accept: Duration,
    /// How far a clock may run wrong, parts per million.
    pub rho_ppm: u32,
    /// How long the leader keeps a poll open that gets nothing.
    pub poll: Duration,
}

impl Timing {
    /// How often a lease is renewed.
    pub fn heartbeat(&self, lease: Duration) -> Duration {
        heartbeat(lease, self.heartbeat_min..=self.heartbeat_max)
    }

    /// How long a poll is waited for: open for its time, and then answered like any other call.
    pub fn poll_limit(&self) -> Duration {
        self.poll + self.rpc
    }

    /// How much of a lease its holder may count on: a clock may run slow by rho.
    pub fn safe(&self, lease: Duration) -> Duration {
        lease.saturating_sub(lease.saturating_mul(self.rho_ppm) / 1_000_000)
    }
}

#[cfg(test)]
impl Timing {
    /// What a master whose operator has set nothing says.
    pub(crate) const USUAL: Self = Self {
        heartbeat_min: Duration::from_millis(500),
        heartbeat_max: Duration::from_secs(10),
        rpc: Duration::from_secs(3),
        term: Duration::from_secs(5),
        kill: Duration::from_secs(2),
        accept: Duration::from_secs(10),
        rho_ppm: 10_000,
        poll: Duration::from_secs(20),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_the_leaders_numbers() {
        let timing = Timing::USUAL;
        assert_eq!(timing.heartbeat(Duration::from_secs(30)), Duration::from_secs(5));
        assert_eq!(timing.safe(Duration::from_secs(300)), Duration::from_secs(297));
        assert_eq!(timing.poll_limit(), Duration::from_secs(23));
        let patient = Timing { poll: Duration::from_secs(60), ..timing };
        assert!(patient.poll_limit() > patient.poll, "the leader answers first");
    }
}
