//! Why a request is not done, by what the caller can do about it. It must not know the wire.

use hera_engine::input::{Refusal, RefusalKind};
use hera_store::StoreError;
use tokio::task::JoinError;

use crate::desk::Unanswered;

/// One field that is at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The field of the request, or `file:line:column`.
    pub(crate) field: String,
    pub(crate) problem: String,
}

/// A request that is not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// Ask the leader.
    #[error("this master does not lead")]
    NotLeading { leader: Option<String> },
    #[error("this master is about to lead, ask again")]
    Activating,
    #[error("this master is stopping")]
    Stopping,
    /// Ask for something else.
    #[error("{}", list(.0))]
    Invalid(Vec<Violation>),
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    AlreadyExists(String),
    /// Change something first.
    #[error("{0}")]
    Conflict(String),
    /// Read again first.
    #[error("{0}")]
    Stale(String),
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
    #[error("the store does not answer as it should")]
    Store(#[source] StoreError),
    #[error("the engine answered something else than was asked")]
    OtherReply,
    /// A fault of this program: what worked on the request panicked.
    #[error("what worked on the request died")]
    Died(#[source] JoinError),
}

/// What the caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    Invalid,
    NotFound,
    AlreadyExists,
    Conflict,
    NotLeading,
    Stale,
    /// Nothing of it was done.
    Unavailable,
    /// It may have been done.
    Unknown,
    Internal,
}

impl Fault {
    /// One field that is at fault.
    pub(crate) fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid(vec![Violation { field: field.into(), problem: problem.into() }])
    }

    /// What the caller can do about it.
    pub(crate) const fn kind(&self) -> FaultKind {
        match self {
            Self::NotLeading { .. } => FaultKind::NotLeading,
            Self::Invalid(_) => FaultKind::Invalid,
            Self::NotFound(_) => FaultKind::NotFound,
            Self::AlreadyExists(_) => FaultKind::AlreadyExists,
            Self::Conflict(_) => FaultKind::Conflict,
            Self::Stale(_) => FaultKind::Stale,
            Self::Activating | Self::Stopping | Self::Unanswered(Unanswered::LeftOut) => {
                FaultKind::Unavailable
            }
            Self::Unanswered(Unanswered::Unknown | Unanswered::SteppedDown) => FaultKind::Unknown,
            Self::Store(error) => match error {
                StoreError::Unavailable(_) | StoreError::NotLeader => FaultKind::Unavailable,
                StoreError::Corrupt { .. } | StoreError::Unusable(_) | StoreError::BadMark(_) => {
                    FaultKind::Internal
                }
            },
            Self::OtherReply | Self::Died(_) => FaultKind::Internal,
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::BadMark(mark) => {
                Self::invalid("page.after", format!("`{mark}` is no mark of this list"))
            }
            StoreError::Unavailable(_)
            | StoreError::Corrupt { .. }
            | StoreError::NotLeader
            | StoreError::Unusable(_) => Self::Store(error),
        }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal.kind {
            RefusalKind::Invalid => Self::Invalid(vec![violation(refusal)]),
            RefusalKind::NotFound => Self::NotFound(words(&refusal)),
            RefusalKind::Conflict => Self::Conflict(words(&refusal)),
            RefusalKind::AlreadyExists => Self::AlreadyExists(words(&refusal)),
            RefusalKind::Stale => Self::Stale(words(&refusal)),
        }
    }
}

/// Bytes of a message: it travels as a header, which is short.
const WORDS_MAX: usize = 4_000;

/// Several refusals in one: all conflicts if there are any, else the first that is more than a bad field, else all
/// bad fields.
pub(crate) fn refused(mut refusals: Vec<Refusal>) -> Fault {
    let conflicts = refusals.iter().filter(|refusal| refusal.kind == RefusalKind::Conflict);
    let conflicts: Vec<String> = conflicts.map(placed).collect();
    if !conflicts.is_empty() {
        return Fault::Conflict(some_of(&conflicts));
    }
    match refusals.iter().position(|refusal| refusal.kind != RefusalKind::Invalid) {
        Some(place) => refusals.swap_remove(place).into(),
        None => Fault::Invalid(refusals.into_iter().map(violation).collect()),
    }
}

/// As many as a message takes, the first one whatever its length, and how many more there are.
fn some_of(all: &[String]) -> String {
    let mut text = String::new();
    for (number, one) in all.iter().enumerate() {
        if number > 0 && text.len() + one.len() > WORDS_MAX {
            text.extend(["\nand ", &(all.len() - number).to_string(), " more"]);
            break;
        }
        if number > 0 {
            text.push('\n');
        }
        text.extend(one.chars().take(WORDS_MAX));
    }
    text
}

fn placed(refusal: &Refusal) -> String {
    let words = words(refusal);
    if refusal.place.is_empty() { words } else { format!("{}: {words}", refusal.place) }
}

fn violation(refusal: Refusal) -> Violation {
    if refusal.place.is_empty() {
        return Violation { field: refusal.field, problem: refusal.problem };
    }
    let problem = words(&refusal);
    Violation { field: refusal.place, problem }
}

fn words(refusal: &Refusal) -> String {
    match refusal.field.as_str() {
        "" => refusal.problem.clone(),
        field => format!("{field}: {}", refusal.problem),
    }
}

/// The first violations in words; all of them travel beside.
fn list(violations: &[Violation]) -> String {
    const SHOWN: usize = 3;
    let one = |v: &Violation| match v.field.as_str() {
        "" => v.problem.clone(),
        field => format!("{field}: {}", v.problem),
    };
    let text = violations.iter().take(SHOWN).map(one).collect::<Vec<_>>().join("; ");
    match violations.len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use hera_engine::input::{Refusal, RefusalKind};

    use super::{FaultKind, refused};

    fn refusal(kind: RefusalKind, field: &str, place: &str) -> Refusal {
        let (field, place) = (field.to_owned(), place.to_owned());
        Refusal { kind, field, place, problem: "is odd".to_owned() }
    }

    #[test]
    fn all_bad_fields_are_told_and_a_conflict_wins_over_them() {
        let bad = |place| refusal(RefusalKind::Invalid, "cron", place);
        let fault = refused(vec![bad("a.yaml:1:2"), bad(""), bad("c"), bad("d"), bad("e")]);
        assert_eq!(
            fault.to_string(),
            "a.yaml:1:2: cron: is odd; cron: is odd; c: cron: is odd; and 2 more"
        );
        let fault = refused(vec![bad("a"), refusal(RefusalKind::Conflict, "", "")]);
        assert_eq!((fault.kind(), fault.to_string().as_str()), (FaultKind::Conflict, "is odd"));
        let conflict = |field, place| refusal(RefusalKind::Conflict, field, place);
        let fault = refused(vec![conflict("a", "x.yaml:1:1"), bad("a"), conflict("b", "")]);
        assert_eq!(fault.to_string(), "x.yaml:1:1: a: is odd\nb: is odd");
        let many = (0..1_000).map(|_| conflict("a", "")).collect();
        let text = refused(many).to_string();
        assert!(text.len() < 4_100 && text.ends_with("more"), "{text}");
    }
}
