//! Reads the fields of a mapping one by one, and gathers all that is wrong. Knows no field by name.

use super::label::Label;
use super::near::nearest;
use super::place::{DocError, Place, join};
use super::yaml::{Key, Node, Value};

/// What is wrong in one file.
#[derive(Debug)]
pub(super) struct Problems<'f> {
    pub file: &'f str,
    pub found: Vec<DocError>,
}

impl Problems<'_> {
    pub(super) fn add(&mut self, place: Place, field: &str, problem: impl Into<String>) {
        self.found.push(DocError {
            file: self.file.to_owned(),
            place,
            field: field.to_owned(),
            problem: problem.into(),
        });
    }
}

/// The fields that a mapping may have.
pub(super) struct Names {
    pub known: &'static [&'static [&'static str]],
    /// Fields that will have a meaning and have none yet: refused by name, not as misspelt.
    pub later: &'static [&'static [&'static str]],
}

/// A mapping whose keys have been looked at.
pub(super) struct Fields<'n> {
    /// The path of the mapping itself.
    at: String,
    entries: &'n [(Key, Node)],
}

impl<'n> Fields<'n> {
    /// Takes `node` as a mapping with these names only. A node that holds nothing is an empty one.
    pub(super) fn open(
        node: &'n Node,
        at: &str,
        names: &Names,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let entries = entries(node, at, problems)?;
        for (key, _below) in entries {
            let known = || names.known.iter().copied().flatten().copied();
            if known().any(|name| name == key.name) {
                continue;
            }
            let name = &key.name;
            let field = join(at, name);
            if names.later.iter().copied().flatten().any(|later| later == name) {
                problems.add(key.place, &field, format!("`{name}` is not built yet"));
                continue;
            }
            let problem = match nearest(name, known()) {
                Some(near) => format!("there is no field `{name}`, did you mean `{near}`?"),
                None => format!("there is no field `{name}`"),
            };
            problems.add(key.place, &field, problem);
        }
        Some(Self { at: at.to_owned(), entries })
    }

    /// The path of the mapping itself.
    pub(super) fn at(&self) -> &str {
        &self.at
    }

    /// The path of the field `name`.
    pub(super) fn path(&self, name: &str) -> String {
        join(&self.at, name)
    }

    /// The node of the field `name`, where it is written.
    pub(super) fn node(&self, name: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(key, _node)| key.name == name).map(|(_key, node)| node)
    }

    /// The one value of the field `name`, read by `parse`.
    pub(super) fn one<T>(
        &self,
        name: &str,
        problems: &mut Problems<'_>,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        one(self.node(name)?, &self.path(name), problems, parse)
    }

    /// The word in the field `name`.
    pub(super) fn word<T: Label>(&self, name: &str, problems: &mut Problems<'_>) -> Option<T> {
        self.one(name, problems, |text| T::from_word(name, text))
    }

    /// The items of the list in the field `name`, each read by `parse`; None where the field is
    /// not written.
    pub(super) fn list<T>(
        &self,
        name: &str,
        problems: &mut Problems<'_>,
        mut parse: impl FnMut(&Node, &str, &mut Problems<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let node = self.node(name)?;
        let at = self.path(name);
        let items = match &node.value {
            Value::Nothing => &[],
            Value::List(items) => items.as_slice(),
            Value::Scalar(_) | Value::Map(_) => {
                problems.add(node.place, &at, "is not a list: write [a, b] or one item a line");
                return None;
            }
        };
        let read = items.iter().enumerate();
        Some(read.filter_map(|(i, item)| parse(item, &format!("{at}[{i}]"), problems)).collect())
    }
}

/// The entries of a mapping; none where the node holds nothing.
pub(super) fn entries<'n>(
    node: &'n Node,
    at: &str,
    problems: &mut Problems<'_>,
) -> Option<&'n [(Key, Node)]> {
    match &node.value {
        Value::Nothing => Some(&[]),
        Value::Map(entries) => Some(entries),
        Value::Scalar(_) | Value::List(_) => {
            problems.add(node.place, at, "is not a mapping: write { key: value }");
            None
        }
    }
}

/// One value, read by `parse`.
pub(super) fn one<T>(
    node: &Node,
    at: &str,
    problems: &mut Problems<'_>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    let read = match &node.value {
        // The databases keep no such text.
        Value::Scalar(text) if text.contains('\0') => Err("holds a NUL character".to_owned()),
        Value::Scalar(text) => parse(text),
        Value::Nothing => Err("has no value".to_owned()),
        Value::List(_) => Err("is one value, not a list".to_owned()),
        Value::Map(_) => Err("is one value, not a mapping".to_owned()),
    };
    read.map_err(|problem| problems.add(node.place, at, problem)).ok()
}
