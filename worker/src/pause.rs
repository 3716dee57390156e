//! How long to wait before asking again: with chance, so that a thousand workers do not ask at once.

use std::time::Duration;

/// A span between four fifths and the whole of `span`.
pub(crate) fn jitter(span: Duration) -> Duration {
    let mut byte = [0];
    // Without chance all workers wait the same: slower for the leader, and right.
    let part = getrandom::fill(&mut byte).map_or(255, |()| u32::from(byte[0]));
    span * 4 / 5 + span / 5 * part / 255
}

/// Pauses that double.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    last: Duration,
    next: Duration,
}

impl Backoff {
    /// From `first` to `last`.
    pub(crate) fn new((first, last): (Duration, Duration)) -> Self {
        Self { first, last, next: first }
    }

    /// The pause before the next try.
    pub(crate) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.last);
        jitter(pause)
    }

    /// It went well.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_begin_anew() {
        let second = Duration::from_secs(1);
        let mut backoff = Backoff::new((second, second * 3));
        let within = |pause: Duration, of: Duration| pause >= of * 4 / 5 && pause <= of;
        for of in [1, 2, 3, 3] {
            assert!(within(backoff.next(), second * of));
        }
        backoff.reset();
        assert!(within(backoff.next(), second));
    }
}
