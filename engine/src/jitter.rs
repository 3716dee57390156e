//! How long a version's firing is held back: a fixed, even spread by job and version. No randomness.

use std::time::Duration;

use hera_common::id::JobId;
use hera_common::time::{Version, span_ms};

/// The delay of a version, in whole milliseconds, from zero to `most`.
#[must_use]
pub fn of(job: JobId, version: Version, most: Duration) -> Duration {
    let room = u64::try_from(span_ms(most)).unwrap_or(0).saturating_add(1);
    let mixed = mixed(mixed(job.raw().cast_unsigned()) ^ version.ms().cast_unsigned());
    Duration::from_millis(mixed % room)
}

/// Spreads the bits of a number over all of its bits, so that neighbours lie far apart.
fn mixed(number: u64) -> u64 {
    // An odd number near 2^64 divided by the golden ratio; two rounds of shift and multiply follow.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let stirred = number.wrapping_add(STEP);
    let stirred = (stirred ^ (stirred >> 32)).wrapping_mul(STEP);
    let stirred = (stirred ^ (stirred >> 29)).wrapping_mul(STEP);
    stirred ^ (stirred >> 32)
}

#[cfg(test)]
mod tests {
    use super::of;
    use hera_common::id::JobId;
    use hera_common::time::Version;
    use std::time::Duration;

    #[test]
    fn a_delay_depends_on_job_and_version_alone_and_is_spread_evenly() {
        let most = Duration::from_secs(600);
        let delay =
            |job: i64, day: i64| of(JobId::from_raw(job), Version::from_ms(day * 86_400_000), most);
        assert_eq!(delay(1, 1), delay(1, 1));
        assert_ne!(delay(1, 1), delay(2, 1));
        assert_ne!(delay(1, 1), delay(1, 2));
        let minutes = |delays: Vec<Duration>| {
            let mut counts = [0_u32; 10];
            for delay in delays {
                assert!(delay <= most);
                let minute = usize::try_from(delay.as_secs() / 60).unwrap().min(9);
                counts[minute] += 1;
            }
            counts
        };
        let jobs = minutes((0..10_000).map(|job| delay(job, 20_000)).collect());
        let days = minutes((0..10_000).map(|day| delay(7, day)).collect());
        for count in jobs.into_iter().chain(days) {
            assert!((850..1_150).contains(&count), "{jobs:?} {days:?}");
        }
    }
}
