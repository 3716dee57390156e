//! Instants of three kinds that do not convert: a version, the store's wall clock, a boot clock.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

/// Makes an instant type: milliseconds in an `i64`.
macro_rules! instants {
    ($($(#[$doc:meta])+ $name:ident,)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(i64);

        impl $name {
            /// From milliseconds.
            pub const fn from_ms(ms: i64) -> Self {
                Self(ms)
            }

            /// Milliseconds.
            pub const fn ms(self) -> i64 {
                self.0
            }

            /// Later by `span`; stands still at the end of the range.
            #[must_use]
            pub fn plus(self, span: Duration) -> Self {
                Self(self.0.saturating_add(span_ms(span)))
            }

            /// Earlier by `span`; stands still at the start of the range.
            #[must_use]
            pub fn minus(self, span: Duration) -> Self {
                Self(self.0.saturating_sub(span_ms(span)))
            }

            /// How long after `earlier`; zero where it is not after.
            pub fn since(self, earlier: Self) -> Duration {
                Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
            }
        }
    )+};
}

instants! {
    /// The identity of an action within its job: the slot's UTC instant, milliseconds since 1970.
    Version,
    /// The store's wall clock, UTC milliseconds since 1970. Judges slots and lateness, never leases.
    Wall,
    /// A process's clock since its host's boot (`CLOCK_BOOTTIME`), which counts suspend. Judges leases,
    /// time-outs and durations; means nothing on another host.
    Boot,
}

/// A span in whole milliseconds, at most `i64::MAX`.
pub fn span_ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// Both clocks, read together. The types do not convert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// The store's clock, by the offset measured at the last commit.
    pub wall: Wall,
    /// This process's boot clock.
    pub boot: Boot,
}

impl Version {
    /// The instant, for calendar arithmetic; an instant outside of jiff's years gives the nearest end.
    pub fn timestamp(self) -> Timestamp {
        let end = if self.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Timestamp::from_millisecond(self.0).unwrap_or(end)
    }

    /// From an instant; what is below a millisecond is cut off.
    pub fn from_timestamp(instant: Timestamp) -> Self {
        Self(instant.as_millisecond())
    }

    /// The version that is due at `wall`.
    pub const fn at(wall: Wall) -> Self {
        Self(wall.0)
    }

    /// The instant at which this version is due.
    pub const fn due(self) -> Wall {
        Wall(self.0)
    }
}

impl Wall {
    /// The instant, for people.
    pub fn timestamp(self) -> Timestamp {
        Version(self.0).timestamp()
    }
}

/// RFC 3339 in UTC: to the second, or with `.SSS` where it is no whole second.
fn rfc3339(ms: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let instant = Version(ms).timestamp();
    if ms.rem_euclid(1000) == 0 { write!(f, "{instant:.0}") } else { write!(f, "{instant:.3}") }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        rfc3339(self.0, f)
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        rfc3339(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn a_version_is_shown_to_the_second_unless_it_has_milliseconds() {
        assert_eq!(Version::from_ms(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Version::from_ms(1_500).to_string(), "1970-01-01T00:00:01.500Z");
        assert_eq!(Version::from_ms(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }
}
