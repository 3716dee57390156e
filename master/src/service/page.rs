//! Marks between the pages of a list: opaque to callers, and refused by any other list than the one that gave them.

use std::fmt::Debug;

use super::fault::Fault;

/// Which piece of a list.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) limit: u32,
    pub(crate) after: Option<String>,
}

/// A piece of a list.
#[derive(Debug)]
pub(crate) struct Piece<T> {
    pub(crate) rows: Vec<T>,
    /// Empty: the list ends here.
    pub(crate) next: String,
}

/// A list as a caller asked for it: its name, and a print of its filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    name: &'static str,
    print: u64,
}

impl List {
    /// The list of this name with this filter.
    pub(crate) fn new(name: &'static str, filter: &impl Debug) -> Self {
        Self { name, print: fnv(format!("{filter:?}").as_bytes()) }
    }

    /// What a caller brings back for the rows after `mark`.
    pub(crate) fn seal(self, mark: &str) -> String {
        let text = format!("{}:{:016x}:{mark}", self.name, self.print);
        let check = fnv(text.as_bytes());
        let bytes = text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("{bytes}{check:016x}")
    }

    /// The mark that was sealed.
    ///
    /// # Errors
    /// The text is not one of this list with this filter.
    pub(crate) fn open(self, wanted: &Wanted) -> Result<Option<String>, Fault> {
        let Some(text) = &wanted.after else { return Ok(None) };
        let mark = unseal(text).and_then(|plain| {
            let mark = plain.strip_prefix(self.name)?.strip_prefix(':')?;
            let (print, mark) = mark.split_once(':')?;
            (print == format!("{:016x}", self.print)).then(|| mark.to_owned())
        });
        let bad = || Fault::invalid("page.after", "is no mark of this list with this filter");
        mark.ok_or_else(bad).map(Some)
    }

    /// A piece of rows that are all at hand, ordered by the text that `mark` gives.
    pub(crate) fn cut<T>(
        self,
        rows: impl Iterator<Item = T>,
        wanted: &Wanted,
        mark: impl Fn(&T) -> String,
    ) -> Result<Piece<T>, Fault> {
        let after = self.open(wanted)?;
        let fresh = |row: &T| after.as_ref().is_none_or(|after| mark(row) > *after);
        let limit = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
        let mut rows: Vec<T> = rows.filter(fresh).take(limit.saturating_add(1)).collect();
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_row| more).map(|row| self.seal(&mark(row)));
        Ok(Piece { rows, next: next.unwrap_or_default() })
    }
}

fn unseal(text: &str) -> Option<String> {
    let (bytes, check) = text.split_at_checked(text.len().checked_sub(16)?)?;
    let pair = |at: usize| u8::from_str_radix(bytes.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..bytes.len()).step_by(2).map(pair).collect();
    let plain = String::from_utf8(bytes?).ok()?;
    (check == format!("{:016x}", fnv(plain.as_bytes()))).then_some(plain)
}

/// FNV-1a: tells filters apart and finds typing errors; nobody gains by forging a mark.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{List, Wanted};

    fn wanted(limit: u32, after: &str) -> Wanted {
        Wanted { limit, after: (!after.is_empty()).then(|| after.to_owned()) }
    }

    #[test]
    fn a_list_comes_whole_in_pieces() {
        let list = List::new("jobs", &"all");
        let rows = ["a", "b", "c", "d", "e"];
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let piece =
                list.cut(rows.into_iter(), &wanted(2, &after), |row| (*row).to_owned()).unwrap();
            seen.extend(piece.rows);
            after = piece.next;
            if after.is_empty() {
                break;
            }
        }
        assert_eq!(seen, rows);
    }

    #[test]
    fn a_mark_of_another_list_is_refused() {
        let list = List::new("jobs", &"all");
        let mark = list.seal("a/b:c");
        assert_eq!(list.open(&wanted(1, &mark)).unwrap().as_deref(), Some("a/b:c"));
        for other in [List::new("groups", &"all"), List::new("jobs", &"open")] {
            let fault = other.open(&wanted(1, &mark)).unwrap_err();
            assert_eq!(fault.to_string(), "page.after: is no mark of this list with this filter");
        }
        for bad in ["x", "é", "00", &mark[1..], &format!("{mark}0")] {
            assert!(list.open(&wanted(1, bad)).is_err(), "{bad}");
        }
    }
}
