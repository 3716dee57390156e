//! Names of jobs and groups: `group/…/name`, checked once.

use std::fmt;

use crate::limits::{NAME_BYTES_MAX, PATH_DEPTH_MAX};

/// The path of a job or a group: names of letters, digits, `_`, `-` and `.`, joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(String);

/// Why a text is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("a name is empty")]
    Empty,
    #[error("the name `{0}` is longer than {NAME_BYTES_MAX} bytes")]
    Long(String),
    #[error("the name `{name}` holds `{found}`: letters, digits, `_`, `-` and `.` are allowed")]
    Character { name: String, found: char },
    #[error("the path has more than {PATH_DEPTH_MAX} names")]
    Deep,
}

impl Path {
    /// Checks `text`; one `/` at its start is dropped (an absolute path in a job file).
    ///
    /// # Errors
    /// The first name that may not be.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let text = text.strip_prefix('/').unwrap_or(text);
        for (depth, name) in text.split('/').enumerate() {
            check_name(name)?;
            if depth >= PATH_DEPTH_MAX {
                return Err(PathError::Deep);
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// `name` below this path.
    ///
    /// # Errors
    /// As [`Path::parse`].
    pub fn join(&self, name: &str) -> Result<Self, PathError> {
        Self::parse(&format!("{}/{name}", self.0))
    }

    /// As written, without a `/` at its start.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The path above; none at the top.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(above, _name)| Self(above.to_owned()))
    }
}

fn check_name(name: &str) -> Result<(), PathError> {
    if name.is_empty() || name.chars().all(|c| c == '.') {
        return Err(PathError::Empty);
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(PathError::Long(name.to_owned()));
    }
    // `@` and `*` would be read as a version or a pattern on the command line.
    let found = name.chars().find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
    found.map_or(Ok(()), |found| Err(PathError::Character { name: name.to_owned(), found }))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, PathError};

    #[test]
    fn a_path_is_names_joined_by_slashes() {
        let path = Path::parse("/warehouse/orders/extract").unwrap();
        assert_eq!(path.as_str(), "warehouse/orders/extract");
        assert_eq!(path.name(), "extract");
        assert_eq!(path.parent().unwrap().as_str(), "warehouse/orders");
        assert_eq!(Path::parse("a//b"), Err(PathError::Empty));
        assert_eq!(Path::parse("a/.."), Err(PathError::Empty));
        assert!(matches!(Path::parse("a@b"), Err(PathError::Character { found: '@', .. })));
    }
}
