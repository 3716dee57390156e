//! Whose hand changed a definition last, and which sources have seen it. Knows no document.

use std::collections::BTreeMap;

use crate::limits::SOURCES_MAX;
use crate::time::Wall;

/// Who changed a definition, from where, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hand {
    /// Where the files came from: a folder's absolute path, or a name.
    pub source: String,
    pub actor: String,
    pub at: Wall,
}

/// The hands on one definition. What a change of a group made of a job is no hand's change of the job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hands {
    /// Counts the changes; 0: nobody knows who made it.
    pub changes: u64,
    /// Who made the last change.
    pub last: Option<Hand>,
    /// For each source the change up to which it has seen the definition: it made that change, or brought the same.
    pub seen: BTreeMap<String, u64>,
}

impl Hands {
    /// Of a definition that is made now.
    pub fn first(hand: Hand) -> Self {
        let mut hands = Self::default();
        hands.change(hand);
        hands
    }

    /// Notes a change.
    pub fn change(&mut self, hand: Hand) {
        self.changes += 1;
        self.seen.insert(hand.source.clone(), self.changes);
        self.last = Some(hand);
        self.forget();
    }

    /// Notes that `source` knows the definition as it is now; false where that was known.
    pub fn see(&mut self, source: &str) -> bool {
        if self.seen.get(source) == Some(&self.changes) {
            return false;
        }
        self.seen.insert(source.to_owned(), self.changes);
        self.forget();
        true
    }

    /// Who changed the definition since `source` last applied it; None: nobody, or nobody knows.
    pub fn another(&self, source: &str) -> Option<&Hand> {
        let known = self.seen.iter().filter(|(seen, _change)| one_hand(seen, source));
        let known = known.map(|(_seen, change)| *change).max();
        self.last.as_ref().filter(|_hand| known.is_none_or(|change| change < self.changes))
    }

    /// True where `source` has applied the definition before.
    pub fn knows(&self, source: &str) -> bool {
        self.seen.keys().any(|seen| one_hand(seen, source))
    }

    /// Leaves out those that were not seen for longest.
    fn forget(&mut self) {
        while self.seen.len() > SOURCES_MAX {
            let oldest = self.seen.iter().min_by_key(|(source, change)| (**change, *source));
            let Some(oldest) = oldest.map(|(source, _change)| source.clone()) else { return };
            self.seen.remove(&oldest);
        }
    }
}

/// A folder and what lies in it are one hand: people apply the whole or a part of it.
fn one_hand(left: &str, right: &str) -> bool {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    within(left, right) || within(right, left)
}

#[cfg(test)]
mod tests {
    use super::{Hand, Hands, SOURCES_MAX};
    use crate::time::Wall;

    fn hand(source: &str) -> Hand {
        Hand { source: source.to_owned(), actor: "ada".to_owned(), at: Wall::from_ms(7) }
    }

    #[test]
    fn a_source_hears_of_changes_that_it_has_not_seen() {
        let mut hands = Hands::first(hand("/a"));
        assert_eq!(hands.another("/a"), None);
        assert_eq!(hands.another("/b"), Some(&hand("/a")), "it was never there");
        hands.change(hand("/b"));
        assert_eq!(hands.another("/a"), Some(&hand("/b")));
        assert_eq!(hands.another("/b"), None);
        assert!(hands.see("/a"));
        assert!(!hands.see("/a"), "it is known already");
        assert_eq!((hands.another("/a"), hands.another("/b")), (None, None));
        assert_eq!(Hands::default().another("/a"), None, "nobody knows who made it");
    }

    #[test]
    fn a_folder_and_a_file_in_it_are_one_hand() {
        let mut hands = Hands::first(hand("/jobs"));
        assert_eq!(hands.another("/jobs/a.yaml"), None);
        assert!(hands.another("/jobs2").is_some());
        hands.change(hand("/jobs/a.yaml"));
        assert_eq!(hands.another("/jobs"), None);
        assert!(hands.another("/jobs/b.yaml").is_some(), "another file of the folder is none");
    }

    #[test]
    fn the_sources_seen_last_are_kept() {
        let mut hands = Hands::first(hand("s00"));
        for number in 1..=SOURCES_MAX {
            hands.change(hand(&format!("s{number:02}")));
        }
        assert_eq!(hands.seen.len(), SOURCES_MAX);
        assert!(!hands.knows("s00"));
        assert!(hands.knows("s01"));
    }
}
