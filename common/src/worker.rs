//! A worker's row: who registered, as which incarnation, with room for what.

use crate::id::{Incarnation, Seq, WorkerId};
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
