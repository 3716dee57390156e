//! The words of job files for what is chosen from a few, those that are not built yet among them.
//! Knows no field.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::near::nearest;
use crate::calendar::WeekDay;
use crate::schedule::{DstGap, DstOverlap, Roll};
use crate::spec::{CatchUp, Empty, Kind, On, Overlap, Period};

/// What is chosen by a word.
pub(super) trait Label: Copy + PartialEq + 'static {
    /// All words, and what they mean.
    const WORDS: &'static [(&'static str, Self)];
    /// Words that will have a meaning and have none yet: refused by name, not as misspelt.
    const LATER: &'static [&'static str];

    /// The word.
    fn word(self) -> &'static str {
        // Every value is in the table: the macro below makes both from one list.
        Self::WORDS.iter().find(|(_word, value)| *value == self).map_or("", |(word, _value)| word)
    }

    /// Reads the word in the field `name`.
    fn from_word(name: &str, text: &str) -> Result<Self, String> {
        if let Some((_word, value)) = Self::WORDS.iter().find(|(word, _value)| *word == text) {
            return Ok(*value);
        }
        let words: Vec<&str> = Self::WORDS.iter().map(|(word, _value)| *word).collect();
        let choice = choice(&words);
        if Self::LATER.contains(&text) {
            return Err(format!("`{name}: {text}` is not built yet: {choice}"));
        }
        Err(match nearest(text, words) {
            Some(near) => format!("`{text}` is unknown, did you mean `{near}`?"),
            None => format!("`{text}` is unknown: {choice}"),
        })
    }
}

/// `a, b or c`.
fn choice(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("only {only} is"),
        [first @ .., last] => format!("use {} or {last}", first.join(", ")),
    }
}

macro_rules! labels {
    ($($name:ty: { $($word:literal => $value:expr),+ $(,)? } later [$($later:literal),*];)+) => {$(
        impl Label for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
            const LATER: &'static [&'static str] = &[$($later),*];
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::from_word("value", &text).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

/// How an edge binds, without its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindWord {
    Nearest,
    AtOrBefore,
    Same,
    Previous,
    Data,
    First,
    Last,
    All,
    Window,
}

/// How the delay grows, without its cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackoffWord {
    Constant,
    Exponential,
}

/// Which worker may take over lost work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakeoverWord {
    Always,
}

/// Whether a job shall be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateWord {
    Open,
    Closed,
}

labels! {
    Kind: { "shell" => Self::Shell, "noop" => Self::Noop }
        later ["command", "python", "sql", "spark-sql", "spark-submit", "hive", "http", "external"];
    BindWord: {
        "nearest" => Self::Nearest, "at_or_before" => Self::AtOrBefore,
        "same" => Self::Same, "previous" => Self::Previous, "data" => Self::Data,
        "first" => Self::First, "last" => Self::Last, "all" => Self::All,
        "window" => Self::Window,
    } later [];
    On: { "success" => Self::Success, "finished" => Self::Finished, "failed" => Self::Failed }
        later [];
    Empty: { "skip" => Self::Skip, "ignore" => Self::Ignore } later [];
    Period: {
        "hour" => Self::Hour, "day" => Self::Day, "business_day" => Self::BusinessDay,
        "week" => Self::Week, "month" => Self::Month,
    } later [];
    CatchUp: { "all" => Self::All, "last" => Self::Last, "skip" => Self::Skip } later [];
    Overlap: { "queue" => Self::Queue, "allow" => Self::Allow }
        later ["queue_newest", "skip", "cancel_running"];
    DstGap: { "shift" => Self::Shift, "skip" => Self::Skip } later [];
    DstOverlap: { "first" => Self::First, "second" => Self::Second, "both" => Self::Both } later [];
    Roll: { "skip" => Self::Skip, "next" => Self::Next, "previous" => Self::Previous } later [];
    WeekDay: {
        "MON" => Self::Mon, "TUE" => Self::Tue, "WED" => Self::Wed, "THU" => Self::Thu,
        "FRI" => Self::Fri, "SAT" => Self::Sat, "SUN" => Self::Sun,
    } later [];
    BackoffWord: { "constant" => Self::Constant, "exponential" => Self::Exponential } later [];
    TakeoverWord: { "always" => Self::Always } later ["newest"];
    StateWord: { "open" => Self::Open, "closed" => Self::Closed } later [];
}

#[cfg(test)]
mod tests {
    use super::{BindWord, Label as _, TakeoverWord};
    use expect_test::expect;

    #[test]
    fn a_word_is_read_refused_or_corrected() {
        let answer = |text: &str| match BindWord::from_word("bind", text) {
            Ok(value) => format!("{value:?} {}\n", value.word()),
            Err(problem) => format!("{problem}\n"),
        };
        let answers: String =
            ["same", "at_or_before", "previus", "Same", "yesterday", ""].map(answer).concat();
        expect![[r#"
            Same same
            AtOrBefore at_or_before
            `previus` is unknown, did you mean `previous`?
            `Same` is unknown, did you mean `same`?
            `yesterday` is unknown: use nearest, at_or_before, same, previous, data, first, last, all or window
            `` is unknown: use nearest, at_or_before, same, previous, data, first, last, all or window
        "#]]
        .assert_eq(&answers);
        expect!["`takeover: newest` is not built yet: only always is"]
            .assert_eq(&TakeoverWord::from_word("takeover", "newest").unwrap_err());
    }
}
