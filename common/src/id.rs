//! Ids with types of their own, so that a run is never taken for a job.

use std::fmt;

/// Makes id types: a private `i64`, no conversion that happens by itself.
macro_rules! ids {
    ($($(#[$doc:meta])+ $name:ident,)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// From the number in a row or a message.
            pub const fn from_raw(raw: i64) -> Self {
                Self(raw)
            }

            /// The number, for a row or a message.
            pub const fn raw(self) -> i64 {
                self.0
            }

            /// The id after this one.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    /// A job: what its owner wants done, and when. Never changes, so that a rename keeps history.
    JobId,
    /// A group: a folder in the tree of jobs.
    GroupId,
    /// An action: a job's instance for one slot.
    ActionId,
    /// A run: one decision to execute an action.
    RunId,
    /// The number of an attempt in the whole store. It grows with every grant, so that a resource
    /// outside can refuse a lower one than the highest it has seen; it is the attempt's key, too.
    Fence,
    /// A worker: a named process that executes attempts.
    WorkerId,
    /// The number of the leader's term; every write of a leader is conditional on it.
    Epoch,
    /// Counts the changes of a row; a write names the number that it believes.
    Seq,
    /// The number of a job's edit, from 1.
    Revision,
    /// The number of a worker's registration: a new process with the same name gets the next one.
    Incarnation,
}

impl Seq {
    /// Of a row that has just been made.
    pub const FIRST: Self = Self(1);
}

/// The random 128 bits that prove the right to change one attempt; made by the worker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u128);

impl Token {
    /// From sixteen random bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// The sixteen bytes, as they travel.
    pub const fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// 32 lower-case hexadecimal digits, as stored.
    pub fn hex(self) -> String {
        format!("{:032x}", self.0)
    }

    /// Reads what [`Token::hex`] wrote.
    pub fn from_hex(text: &str) -> Option<Self> {
        (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten().map(Self)
    }
}

/// A token is authority: logs show four digits of it, enough to compare by eye.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:04x}…)", self.0 >> 112)
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn a_token_survives_its_stored_form_and_hides_in_logs() {
        let token = Token::from_bytes([7; 16]);
        assert_eq!(Token::from_hex(&token.hex()), Some(token));
        assert_eq!(Token::from_hex("07"), None);
        assert_eq!(format!("{token:?}"), "Token(0707…)");
    }
}
