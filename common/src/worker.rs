//! A worker's row: who registered, as which incarnation, with room for what; and how often it says that it lives.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::id::{Incarnation, Seq, WorkerId};
use crate::limits::NAME_BYTES_MAX;
use crate::time::Wall;

/// A worker's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    pub id: WorkerId,
    /// Unique.
    pub name: String,
    pub incarnation: Incarnation,
    /// Made once for a state directory: proves that a newcomer is the same worker.
    pub state_id: String,
    /// Made at each start of the process.
    pub instance_id: String,
    /// Host groups that it serves.
    pub groups: Vec<String>,
    /// `key=value`, for people and for choosing.
    pub labels: Vec<String>,
    /// How many attempts it takes at once.
    pub capacity: u32,
    /// Of its program.
    pub program: String,
    pub draining: bool,
    pub registered_at: Wall,
    pub seq: Seq,
}

/// How often a lease is renewed: three may be lost, and half of it is still left. Both sides reckon with it.
pub fn heartbeat(lease: Duration, within: RangeInclusive<Duration>) -> Duration {
    (lease / 6).clamp(*within.start(), *within.end())
}

/// Checks a worker's name: it is shown, typed, and a part of names of files.
///
/// # Errors
/// What a name may be, in words that follow it.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | ':' | '@');
    let good = (1..=NAME_BYTES_MAX).contains(&name.len())
        && !name.starts_with('.')
        && name.chars().all(fits);
    let may = format!(
        "must be 1 to {NAME_BYTES_MAX} bytes of letters, digits and . _ - ~ : @, and begin with no dot"
    );
    if good { Ok(()) } else { Err(may) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{check_name, heartbeat};

    #[test]
    fn a_heartbeat_is_a_sixth_of_the_lease_within_bounds() {
        let within = Duration::from_millis(500)..=Duration::from_secs(10);
        let beats = |s| heartbeat(Duration::from_secs(s), within.clone());
        assert_eq!(beats(300), Duration::from_secs(10));
        assert_eq!(beats(30), Duration::from_secs(5));
        assert_eq!(beats(1), Duration::from_millis(500));
    }

    #[test]
    fn a_workers_name_is_one_word_that_hides_nothing() {
        for good in ["w1", "node-3.rack_2", "host~1f2e", "worker@10.0.0.1:9000", "büro"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "w".repeat(101);
        for bad in ["", "a b", "a\nb", "../x", "a/b", "..", "w\u{202e}1", "w\0", &long] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
