//! The two clocks of this process. The only room that reads one.

use hera_common::time::{Boot, Wall};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// The host's clock since boot; counts suspend. The same in every process of the host.
pub fn boot() -> Boot {
    Boot::from_ms(ms(clock_gettime(ClockId::Boottime)))
}

/// The host's wall clock, for people. Not the store's: no decision reads it.
pub fn wall() -> Wall {
    Wall::from_ms(ms(clock_gettime(ClockId::Realtime)))
}

fn ms(time: Timespec) -> i64 {
    let below = i64::from(i32::try_from(time.tv_nsec / 1_000_000).unwrap_or(0));
    time.tv_sec.saturating_mul(1_000).saturating_add(below)
}
