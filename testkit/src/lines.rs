//! The lines that a child writes, read as they come so that its pipe never fills. Knows nothing of the child.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;

use crate::wait::wait_for;

/// How many lines are kept; older ones go. More than any test reads, less than hurts.
const KEPT_MAX: usize = 100_000;

/// All that was written to one pipe so far, line by line. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    kept: Arc<Mutex<VecDeque<String>>>,
}

impl Lines {
    /// Reads `pipe` to its end in a thread of its own. Bytes that are no UTF-8 become U+FFFD.
    pub(crate) fn read(pipe: impl Read + Send + 'static) -> Self {
        let lines = Self::default();
        let reader = lines.clone();
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            let mut line = Vec::new();
            // A pipe that breaks has ended, as one that was closed.
            while matches!(pipe.read_until(b'\n', &mut line), Ok(1..)) {
                reader.push(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).into());
                line.clear();
            }
        });
        lines
    }

    fn push(&self, line: String) {
        let mut kept = self.lock();
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(line);
    }

    /// The first line that contains `text`, if one was written already.
    pub fn find(&self, text: &str) -> Option<String> {
        self.lock().iter().find(|line| line.contains(text)).cloned()
    }

    /// How many lines contain `text`.
    pub fn count(&self, text: &str) -> usize {
        self.lock().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits for a line that contains `text`, which may have been written before the call.
    ///
    /// # Errors
    /// When `limit` has passed; the message ends with the last lines.
    pub fn wait_for(&self, text: &str, limit: Duration) -> Result<String> {
        wait_for(&format!("a line with {text:?}"), limit, || self.find(text))
            .map_err(|error| error.context(format!("the last lines are:\n{}", self.last(20))))
    }

    /// The last `count` lines as one text.
    pub fn last(&self, count: usize) -> String {
        let kept = self.lock();
        let skipped = kept.len().saturating_sub(count);
        kept.iter().skip(skipped).cloned().collect::<Vec<_>>().join("\n")
    }

    /// All lines as one text.
    pub fn text(&self) -> String {
        self.last(KEPT_MAX)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        // Lines are pushed whole: a panic elsewhere leaves no half-made state.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_bytes_are_kept_in_order_the_last_without_its_end_too() {
        let lines = Lines::read(&b"one\r\n\xfftwo\n\nlast one"[..]);
        lines.wait_for("last one", Duration::from_secs(10)).unwrap();
        assert_eq!(lines.text(), "one\n\u{fffd}two\n\nlast one");
        assert_eq!(lines.find("one").as_deref(), Some("one"));
        assert_eq!(lines.count("one"), 2);
        assert_eq!(lines.last(1), "last one");
    }
}
