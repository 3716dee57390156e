//! What the agent and a shim say to each other: one JSON object a line, each way. No IO.

use serde::{Deserialize, Serialize};

/// What to execute, and by when it must be gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// An absolute path, or a name for `PATH`.
    pub program: String,
    pub args: Vec<String>,
    /// Added to the worker's own environment, less its `HERA_*` variables.
    pub env: Vec<(String, String)>,
    /// The directory in which the job runs.
    pub work: String,
    /// The file to which the job's stdout and stderr are appended, in their order.
    pub log: String,
    /// The file that will say how the job ended; complete as soon as it is there.
    pub exit: String,
    /// Goes into the exit file as it is.
    pub note: String,
    /// By this instant of the boot clock, milliseconds, nothing of the tree may be left.
    pub deadline_ms: i64,
    /// Between TERM and KILL, milliseconds.
    pub term_ms: u64,
    /// How long the kernel may need to carry out a KILL, milliseconds.
    pub kill_ms: u64,
    /// How long the job may run, milliseconds.
    pub timeout_ms: Option<u64>,
}

/// From the agent to the shim. The end of the stream is an order too: the agent is gone, stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The first one, once.
    Launch(Launch),
    /// The lease was renewed. Ignored when the job is being stopped.
    Deadline {
        boot_ms: i64,
    },
    Stop {
        cause: StopCause,
    },
}

/// Why a job is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// It ran for longer than it may.
    Timeout,
    /// A person or a policy wants it to end.
    Cancel,
    /// The worker stops.
    Drain,
    /// The lease could not be renewed in time.
    Lease,
    /// The lease belongs to another attempt.
    Lost,
    /// The agent died.
    AgentGone,
}

impl StopCause {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Timeout, Self::Cancel, Self::Drain, Self::Lease, Self::Lost, Self::AgentGone];
}

/// From the shim to the agent. The end of the stream without [`Report::Ended`], [`Report::Refused`]
/// or [`Report::NotSpawned`] before it means that the shim was killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Started {
        pid: i32,
        boot_ms: i64,
    },
    /// Not executed: the deadline was too near.
    Refused,
    /// Not executed: the machine could not.
    NotSpawned {
        detail: String,
    },
    /// The stop sequence has begun.
    Stopping {
        cause: StopCause,
    },
    /// Something of the tree outlived the KILL; said once. An end may still follow.
    KillFailed {
        detail: String,
    },
    /// Nothing of the tree is left.
    Ended(Exit),
}

/// How a job's own process ended, as in the exit file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Exit {
    /// Of the launch.
    pub note: String,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Set where the stop sequence had begun before the process ended.
    pub stopped: Option<StopCause>,
    pub started_wall_ms: i64,
    pub ended_wall_ms: i64,
    /// By the boot clock, milliseconds.
    pub run_ms: u64,
    pub user_ms: u64,
    pub system_ms: u64,
    pub max_rss_kib: u64,
}

/// Why bytes are no message.
#[derive(Debug, thiserror::Error)]
#[error("a message between the worker and its shim cannot be read")]
pub struct BadMessage(#[source] serde_json::Error);

/// One message as a line, with its end.
pub(super) fn line<T: Serialize>(message: &T) -> Result<Vec<u8>, BadMessage> {
    let mut bytes = serde_json::to_vec(message).map_err(BadMessage)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Bytes as they come in, cut into messages.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
    /// How much of `pending` was searched for a line's end.
    searched: usize,
}

impl Lines {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next whole message, if one is there.
    pub(super) fn next<T: for<'de> Deserialize<'de>>(&mut self) -> Result<Option<T>, BadMessage> {
        let unsearched = self.pending.get(self.searched..).unwrap_or_default();
        let Some(at) = unsearched.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.pending.len();
            return Ok(None);
        };
        let rest = self.pending.split_off(self.searched + at + 1);
        let whole = std::mem::replace(&mut self.pending, rest);
        self.searched = 0;
        serde_json::from_slice(&whole).map(Some).map_err(BadMessage)
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, Order, StopCause, line};

    #[test]
    fn messages_are_found_however_the_bytes_arrive() {
        let orders = [Order::Deadline { boot_ms: 7 }, Order::Stop { cause: StopCause::Drain }];
        let bytes: Vec<u8> = orders.iter().flat_map(|o| line(o).unwrap()).collect();
        for size in 1..=bytes.len() {
            let mut lines = Lines::default();
            let found: Vec<Order> = bytes
                .chunks(size)
                .flat_map(|chunk| {
                    lines.add(chunk);
                    std::iter::from_fn(|| lines.next().unwrap()).collect::<Vec<_>>()
                })
                .collect();
            assert_eq!(found, orders, "chunks of {size}");
        }
    }
}
