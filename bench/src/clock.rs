//! The only room with clocks.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since 1970, by the wall clock that scripts read, too.
#[expect(clippy::disallowed_methods, reason = "the one place that reads this clock")]
pub(crate) fn micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Milliseconds since 1970.
pub(crate) fn millis() -> i64 {
    micros() / 1_000
}
