//! Limits that are part of the contract with users, each with its reason.

use std::time::Duration;

/// Bytes of one name: it becomes a folder name on workers (255 on Linux) with room for a suffix.
pub const NAME_BYTES_MAX: usize = 100;
/// Bytes of a config key: `${key}` is looked for no further in a script.
pub const KEY_BYTES_MAX: usize = 200;
/// Names in a path: a tree that people still read.
pub const PATH_DEPTH_MAX: usize = 16;
/// Bytes of a script's text, before and after rendering.
pub const SCRIPT_BYTES_MAX: usize = 1 << 20;
/// Bytes of one file that travels with a job.
pub const FILE_BYTES_MAX: usize = 1 << 20;
/// Bytes of all files of a job.
pub const FILES_BYTES_MAX: usize = 16 << 20;
/// Bytes of the outputs of an attempt: they travel in Finish, in its transaction.
pub const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Bytes of a reason that a person gives.
pub const WHY_BYTES_MAX: usize = 4_000;
/// Bytes of the name of an actor.
pub const ACTOR_BYTES_MAX: usize = 200;
/// Bytes of the name of a source: the path of a folder, mostly.
pub const SOURCE_BYTES_MAX: usize = 1_000;
/// Sources that are kept of one definition: more hands than that on one job are no longer told apart.
pub const SOURCES_MAX: usize = 16;
/// Jobs in one apply: all of a large installation at once.
pub const APPLY_JOBS_MAX: usize = 100_000;
/// Newest actions of a job that runs by hand only among which an edge to it finds its version.
pub const BY_HAND_MAX: usize = 1_000;
/// Edges of one job.
pub const EDGES_MAX: usize = 1_000;
/// Upstream versions that one action may be bound to.
pub const BINDINGS_MAX: usize = 10_000;
/// Bytes of one AppendLog, well under gRPC's default limit of 4 MiB.
pub const LOG_CHUNK_BYTES_MAX: usize = 256 << 10;
/// Attempts that a worker may take at once.
pub const CAPACITY_MAX: u32 = 10_000;
/// The port of a master where nobody names another.
pub const PORT: u16 = 9887;
/// Where a master listens, and is sought, where nobody says.
pub const ADDRESS: &str = "127.0.0.1:9887";
/// Tokens in one Poll: one for each free place.
pub const POLL_TOKENS_MAX: usize = 64;
/// Rows in one page of a list.
pub const PAGE_MAX: u32 = 1_000;
/// Rows in a page where the caller does not say.
pub const PAGE_DEFAULT: u32 = 100;
/// Runs of a job that may be queued at once; more wait as actions.
pub const QUEUE_MAX: u32 = 100;
/// Grants of one run, a hard stop for grants that never start.
pub const ATTEMPTS_MAX: u32 = 50;
/// How far ahead rows are planned: two nights and two hours.
pub const PLAN_AHEAD: Duration = Duration::from_secs(50 * 3600);
/// How many rows are planned ahead for a job that fires often.
pub const PLAN_AHEAD_ROWS_MAX: usize = 2_000;
/// A version that is reached later than this after its instant was missed, and goes through catch-up.
pub const MISSED_AFTER: Duration = Duration::from_secs(60);
/// How old a missed version may be for catch-up `all`.
pub const CATCH_UP_AGE_MAX: Duration = Duration::from_secs(3 * 24 * 3600);
/// How many missed versions of a job catch-up `all` takes.
pub const CATCH_UP_ROWS_MAX: usize = 100;
/// How many slots of a gap are counted; a gap of so many holds these or more.
pub const GAP_COUNT_MAX: usize = 100_000;
/// A version is not decided earlier than this before its instant by the store's clock.
pub const EARLY: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::{ADDRESS, PORT};

    #[test]
    fn the_usual_address_has_the_usual_port() {
        assert_eq!(ADDRESS, format!("127.0.0.1:{PORT}"));
    }
}
