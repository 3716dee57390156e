//! Where in which file a thing was written, and what is wrong with it. Knows no field by name.

use std::fmt;

/// A place in a text, both numbers from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    /// The start of a text.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl Default for Place {
    fn default() -> Self {
        Self::START
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A problem with one field of a document; the field is a path like `schedule.cron[1]`, empty for
/// the document itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{}{problem}", Prefix(.field))]
pub struct FieldError {
    pub field: String,
    pub problem: String,
}

impl FieldError {
    /// A problem of `field`.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

/// A problem with a place in a file. Sorts by file and place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{place}: {}{problem}", Prefix(.field))]
pub struct DocError {
    pub file: String,
    pub place: Place,
    /// A path like `jobs[2].schedule.cron`; empty where the whole file is meant.
    pub field: String,
    pub problem: String,
}

/// The field and a colon, or nothing.
struct Prefix<'a>(&'a str);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

/// The places of all fields of a file, as a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub(super) place: Place,
    pub(super) below: Below,
}

/// What lies below a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Below {
    Nothing,
    Items(Vec<Places>),
    Keys(Vec<(String, Places)>),
}

impl Places {
    /// The place of `field`, or of the nearest field above it that was written.
    pub fn find(&self, field: &str) -> Place {
        self.step(field).map_or(self.place, |(below, rest)| below.find(rest))
    }

    /// The tree of `field`, if it was written.
    pub(super) fn below(&self, field: &str) -> Option<&Self> {
        if field.is_empty() {
            return Some(self);
        }
        let (below, rest) = self.step(field)?;
        below.below(rest)
    }

    /// One step down towards `field`, and what is left to go.
    fn step<'f>(&self, field: &'f str) -> Option<(&Self, &'f str)> {
        let field = field.strip_prefix('.').unwrap_or(field);
        match &self.below {
            Below::Nothing => None,
            Below::Items(items) => {
                let (at, rest) = index(field)?;
                Some((items.get(at)?, rest))
            }
            // Keys of `config` may hold dots, so the names decide where a name ends.
            Below::Keys(keys) => keys.iter().find_map(|(key, below)| {
                let rest = field.strip_prefix(key.as_str())?;
                let ends = rest.is_empty() || rest.starts_with(['.', '[']);
                ends.then_some((below, rest))
            }),
        }
    }
}

/// Takes `[2]` off the front.
fn index(field: &str) -> Option<(usize, &str)> {
    let (number, rest) = field.strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest))
}

/// `below` under `above`, as a path of fields.
pub(super) fn join(above: &str, below: &str) -> String {
    match (above, below) {
        ("", below) => below.to_owned(),
        (above, "") => above.to_owned(),
        (above, below) if below.starts_with('[') => format!("{above}{below}"),
        (above, below) => format!("{above}.{below}"),
    }
}
