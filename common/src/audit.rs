//! Who changed what, when and why: one row for each change that a person or a token asked for.

use crate::time::Wall;

/// Who asks, and why; travels with every request that changes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub actor: String,
    /// Optional words.
    pub why: String,
}

/// A row of the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub at: Wall,
    pub asked: Asked,
    /// The verb: `apply`, `run`, `recover`, `cancel`, `delete`, ….
    pub verb: String,
    /// What it was done to: a job's path, `job@version`, a group.
    pub subject: String,
    /// Before, in JSON; None where there was nothing.
    pub old: Option<String>,
    /// After, in JSON; None where there is nothing.
    pub new: Option<String>,
}
