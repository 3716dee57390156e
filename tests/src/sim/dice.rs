//! Chance from a seed: the same seed throws the same numbers, on every machine. Knows no meaning of them.

use hera_engine::Chance;
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// A source of numbers.
#[derive(Debug, Clone)]
pub(super) struct Dice(Pcg64Mcg);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Another source, which is used up apart from this one.
    pub(super) fn fork(&mut self) -> Self {
        Self::new(self.0.next_u64())
    }

    /// In `[0, limit)`; 0 where the limit is not above 0.
    pub(super) fn below(&mut self, limit: i64) -> i64 {
        let limit = u64::try_from(limit).unwrap_or(0).max(1);
        i64::try_from(self.0.next_u64() % limit).unwrap_or(0)
    }

    /// In `[from, to]`.
    pub(super) fn between(&mut self, from: i64, to: i64) -> i64 {
        from + self.below(to - from + 1)
    }

    /// True so many times in a thousand.
    pub(super) fn permille(&mut self, times: i64) -> bool {
        self.below(1000) < times
    }

    /// One of them.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.index(of.len())).copied()
    }

    /// A place in a list of this length.
    pub(super) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(i64::try_from(len).unwrap_or(0))).unwrap_or(0)
    }

    pub(super) fn bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        self.0.fill_bytes(&mut bytes);
        bytes
    }
}

impl Chance for Dice {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
