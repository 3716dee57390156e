//! A statement and its values, before either database has seen them. The text is made of texts of this program
//! only, values travel beside it.

use std::borrow::Cow;

/// A value of a statement.
#[derive(Debug, Clone)]
pub(crate) enum Bind<'a> {
    Int(i64),
    Text(Cow<'a, str>),
    Bytes(&'a [u8]),
    /// A list to compare with: an array, or a document of one.
    Ints(Vec<i64>),
    Texts(Vec<&'a str>),
    /// Rows to write: an array for each column, or a document of all rows.
    Rows(Vec<Column<'a>>),
}

/// One column of rows to write; all columns of a statement have the same length.
#[derive(Debug, Clone)]
pub(crate) enum Column<'a> {
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<Cow<'a, str>>>),
    Flags(Vec<bool>),
    Bytes(Vec<&'a [u8]>),
}

impl<'a> Column<'a> {
    /// How many rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Ints(list) => list.len(),
            Self::Texts(list) => list.len(),
            Self::Flags(list) => list.len(),
            Self::Bytes(list) => list.len(),
        }
    }

    /// Whole numbers that are always there.
    pub(crate) fn ints(values: impl Iterator<Item = i64>) -> Self {
        Self::Ints(values.map(Some).collect())
    }

    /// Texts that are always there.
    pub(crate) fn texts(values: impl Iterator<Item = &'a str>) -> Self {
        Self::Texts(values.map(|text| Some(clean(text))).collect())
    }

    /// Texts that may be missing.
    pub(crate) fn maybe_texts(values: impl Iterator<Item = Option<&'a str>>) -> Self {
        Self::Texts(values.map(|text| text.map(clean)).collect())
    }
}

/// PostgreSQL keeps no NUL in a text and SQLite cuts the text there; a script's last words may hold one.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A statement with its values.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'a> {
    pub(crate) text: Cow<'static, str>,
    pub(crate) binds: Vec<Bind<'a>>,
}

impl<'a> Ask<'a> {
    /// The statement of a file.
    pub(crate) fn of(file: &'static str) -> Self {
        Self { text: Cow::Borrowed(file), binds: Vec::new() }
    }

    /// Adds the next value of a statement that names its places.
    #[must_use]
    pub(crate) fn bind(mut self, value: Bind<'a>) -> Self {
        self.binds.push(value);
        self
    }

    /// Goes on with `text`.
    pub(crate) fn push(&mut self, text: &'static str) {
        self.text.to_mut().push_str(text);
    }

    /// Goes on with `text` and a place for `value`.
    pub(crate) fn push_bind(&mut self, text: &'static str, value: Bind<'a>) {
        self.binds.push(value);
        let place = self.binds.len().to_string();
        let whole = self.text.to_mut();
        whole.push_str(text);
        whole.push('$');
        whole.push_str(&place);
    }

    /// Goes on with `text` (which ends with a column) and the condition that the column is in `list`.
    pub(crate) fn push_in(&mut self, text: &'static str, list: Bind<'a>, form: ListForm) {
        let (before, after) = match form {
            ListForm::Array => (" = ANY (", ")"),
            ListForm::Document => (" IN (SELECT value FROM json_each(", "))"),
        };
        self.push(text);
        self.push_bind(before, list);
        self.push(after);
    }
}

/// How a list travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListForm {
    Array,
    Document,
}

#[cfg(test)]
mod tests {
    use super::{Ask, Bind, ListForm, clean};

    #[test]
    fn values_get_their_places_in_order() {
        let mut ask = Ask::of("SELECT 1 WHERE TRUE");
        ask.push_bind(" AND a > ", Bind::Int(7));
        ask.push_in(" AND b", Bind::Ints(vec![1]), ListForm::Array);
        ask.push_in(" AND c", Bind::Ints(vec![1]), ListForm::Document);
        assert_eq!(
            ask.text,
            "SELECT 1 WHERE TRUE AND a > $1 AND b = ANY ($2) \
             AND c IN (SELECT value FROM json_each($3))"
        );
        assert_eq!(ask.binds.len(), 3);
    }

    #[test]
    fn a_nul_becomes_the_sign_for_what_is_no_character() {
        assert_eq!(clean("a\0b"), "a\u{fffd}b");
        assert_eq!(clean("ab"), "ab");
    }
}
