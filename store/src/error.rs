//! What can go wrong between a master and its store, by what the caller does about it.

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No answer, or none in time. Of a write nobody knows whether it was made: read again.
    #[error("the store is not reachable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store answered with something that cannot be: a row that does not parse, a broken rule.
    #[error("the store holds something that cannot be: {what}")]
    Corrupt {
        what: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// This master does not lead: its epoch is not the store's.
    #[error("another master leads")]
    NotLeader,
    /// The store is not one that this program can use; starting again will not help.
    #[error("the store cannot be used: {0}")]
    Unusable(String),
    /// A list was asked to go on after a mark that it never gave.
    #[error("`{0}` is no mark of this list")]
    BadMark(String),
}

/// A commit that failed as a whole; a unit whose guard did not hold is no failure.
pub type CommitError = StoreError;
