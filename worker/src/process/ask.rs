//! What the agent asks of the spawner: so many bytes, and one descriptor with them. No IO.

use std::time::Duration;

/// How many bytes each has.
pub(super) const SIZE: usize = 13;

/// One wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// A new shim, which gets the descriptor.
    Shim {
        number: u64,
        /// How long it may take to end its job when the agent has gone.
        grace: Duration,
    },
    /// The end of a shim and of all below it. The descriptor hears a byte when nothing of it is left.
    End { number: u64 },
}

impl Ask {
    pub(super) fn bytes(self) -> [u8; SIZE] {
        let (kind, number, grace) = match self {
            Self::Shim { number, grace } => (b's', number, grace),
            Self::End { number } => (b'e', number, Duration::ZERO),
        };
        let grace_ms = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        let mut bytes = [kind; SIZE];
        let fields = number.to_le_bytes().into_iter().chain(grace_ms.to_le_bytes());
        bytes.iter_mut().skip(1).zip(fields).for_each(|(byte, field)| *byte = field);
        bytes
    }

    /// None where the bytes are no wish.
    pub(super) fn read(bytes: [u8; SIZE]) -> Option<Self> {
        let [kind, fields @ ..] = bytes;
        let (number, grace_ms) = fields.split_first_chunk()?;
        let number = u64::from_le_bytes(*number);
        match kind {
            b's' => {
                let ms = u32::from_le_bytes(*grace_ms.first_chunk()?);
                Some(Self::Shim { number, grace: Duration::from_millis(u64::from(ms)) })
            }
            b'e' => Some(Self::End { number }),
            _unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_read_as_it_was_said() {
        let grace = Duration::from_millis(7_000);
        for ask in [Ask::Shim { number: u64::MAX - 1, grace }, Ask::End { number: 1 << 40 }] {
            assert_eq!(Ask::read(ask.bytes()), Some(ask));
        }
        assert_eq!(Ask::read([b'x'; SIZE]), None);
    }
}
