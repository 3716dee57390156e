//! The one room with clocks: the boot clock of this host, and the store's wall clock by its measured offset.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use hera_common::time::{Boot, Now, Wall};

/// Reads both clocks. All copies share one offset.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    source: Source,
    /// The store's wall clock minus this host's boot clock, milliseconds.
    offset: Arc<AtomicI64>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    /// `CLOCK_BOOTTIME`: counts suspend, never steps.
    Host,
    /// The runtime's clock, which tests pause and move.
    #[cfg(test)]
    Runtime(tokio::time::Instant),
}

impl Clock {
    /// Of this host; until the store's clock has been measured, the host's own wall clock stands in.
    #[expect(clippy::disallowed_methods, reason = "the one room with clocks")]
    pub(crate) fn of_host() -> Self {
        let clock = Self { source: Source::Host, offset: Arc::default() };
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let wall = since_epoch.map_or(0, |s| i64::try_from(s.as_millis()).unwrap_or(i64::MAX));
        clock.offset.store(wall.saturating_sub(clock.boot().ms()), Ordering::Relaxed);
        clock
    }

    /// Of the runtime, from zero; `wall` is the store's clock at this moment.
    #[cfg(test)]
    #[expect(clippy::disallowed_methods, reason = "the one room with clocks")]
    pub(crate) fn of_runtime(wall: Wall) -> Self {
        let source = Source::Runtime(tokio::time::Instant::now());
        Self { source, offset: Arc::new(AtomicI64::new(wall.ms())) }
    }

    /// The boot clock.
    pub(crate) fn boot(&self) -> Boot {
        match self.source {
            Source::Host => {
                let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
                Boot::from_ms(time.tv_sec.saturating_mul(1000) + time.tv_nsec / 1_000_000)
            }
            #[cfg(test)]
            Source::Runtime(start) => Boot::from_ms(
                i64::try_from(start.elapsed().as_millis()).expect("a test is shorter than an age"),
            ),
        }
    }

    /// Both clocks.
    pub(crate) fn now(&self) -> Now {
        let boot = self.boot();
        let offset = self.offset.load(Ordering::Relaxed);
        Now { wall: Wall::from_ms(boot.ms().saturating_add(offset)), boot }
    }

    /// Learns that the store's clock was `store_now` at some moment between `sent` and now. An offset that this
    /// allows stays as it is, so that the wall clock does not tremble with the length of each call.
    pub(crate) fn measured(&self, sent: Boot, store_now: Wall) {
        let lowest = store_now.ms().saturating_sub(self.boot().ms());
        let highest = store_now.ms().saturating_sub(sent.ms()).max(lowest);
        let offset = self.offset.load(Ordering::Relaxed);
        self.offset.store(offset.clamp(lowest, highest), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Boot, Clock, Wall};

    #[tokio::test(start_paused = true)]
    async fn the_wall_clock_follows_the_store_and_does_not_tremble() {
        let clock = Clock::of_runtime(Wall::from_ms(5_000));
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(clock.now().wall, Wall::from_ms(5_100));

        // The store answered 5,060 to a call that went from 0 to 100: what we believe is possible.
        clock.measured(Boot::from_ms(0), Wall::from_ms(5_060));
        assert_eq!(clock.now().wall, Wall::from_ms(5_100));

        // It says an hour more: we follow, as little as the call allows.
        clock.measured(Boot::from_ms(90), Wall::from_ms(3_605_000));
        assert_eq!(clock.now().wall, Wall::from_ms(3_605_000));
        clock.measured(Boot::from_ms(90), Wall::from_ms(1_000));
        assert_eq!(clock.now().wall, Wall::from_ms(1_010));
    }
}
