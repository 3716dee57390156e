//! A set of small numbers in one word: what a cron field allows. Knows nothing of fields.

/// Numbers from 0 to 63.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bits(u64);

impl Bits {
    pub(super) const EMPTY: Self = Self(0);

    /// All numbers from `low` to `high`, both included.
    pub(super) fn span(low: u8, high: u8) -> Self {
        from(low).and(up_to(high))
    }

    pub(super) fn insert(&mut self, n: u8) {
        self.0 |= bit(n);
    }

    pub(super) fn has(self, n: u8) -> bool {
        self.0 & bit(n) != 0
    }

    pub(super) fn first(self) -> Option<u8> {
        (self.0 != 0).then(|| small(self.0.trailing_zeros()))
    }

    pub(super) fn last(self) -> Option<u8> {
        (self.0 != 0).then(|| small(63 - self.0.leading_zeros()))
    }

    /// The least member that is `n` or more.
    pub(super) fn at_or_after(self, n: u8) -> Option<u8> {
        self.and(from(n)).first()
    }

    /// The least member above `n`.
    pub(super) fn after(self, n: u8) -> Option<u8> {
        self.at_or_after(n.saturating_add(1))
    }

    /// The greatest member that is `n` or less.
    pub(super) fn at_or_before(self, n: u8) -> Option<u8> {
        self.and(up_to(n)).last()
    }

    /// The greatest member below `n`.
    pub(super) fn before(self, n: u8) -> Option<u8> {
        n.checked_sub(1).and_then(|below| self.at_or_before(below))
    }

    /// The set, of weekdays 0 to 6, laid out over the days from 1 of a month that begins on weekday
    /// `first`; it goes on past the month's end.
    pub(super) fn weeks_from(self, first: u8) -> Self {
        let turned = self.0.rotate_right(u32::from(first));
        let week = (turned | turned >> (64 - 7)) & 0x7f;
        Self((week | week << 7 | week << 14 | week << 21 | week << 28) << 1)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

fn bit(n: u8) -> u64 {
    1u64.checked_shl(u32::from(n)).unwrap_or(0)
}

fn from(n: u8) -> Bits {
    Bits(u64::MAX.checked_shl(u32::from(n)).unwrap_or(0))
}

fn up_to(n: u8) -> Bits {
    Bits(!from(n.saturating_add(1)).0)
}

fn small(n: u32) -> u8 {
    u8::try_from(n).expect("a bit of one word is below 64")
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn looks_up_neighbours_at_both_ends_of_the_word() {
        let mut set = Bits::EMPTY;
        for n in [0, 5, 63] {
            set.insert(n);
        }
        assert_eq!((set.first(), set.last()), (Some(0), Some(63)));
        assert_eq!((set.at_or_after(5), set.after(5)), (Some(5), Some(63)));
        assert_eq!((set.at_or_before(5), set.before(5)), (Some(5), Some(0)));
        assert_eq!((set.before(0), set.after(63), set.after(255)), (None, None, None));
        assert_eq!((set.has(64), Bits::EMPTY.last()), (false, None));
        assert_eq!(Bits::span(3, 63).before(63), Some(62));
    }
}
