//! Every span of time that an operator can set, with its default and the rules between them. It must not know who waits.

use std::time::Duration;

use clap::{Args, Parser as _};
use hera_engine::Settings;

use super::ConfigError;

/// Spans as written, milliseconds.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Timing (milliseconds)")]
pub struct TimingArgs {
    /// A leader that standbys do not see renewing for this long is replaced.
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    pub leader_lease_ms: u32,
    /// How often the leader renews.
    #[arg(long, value_name = "MS", default_value_t = 2_500)]
    pub leader_renew_ms: u32,
    /// A leader that could not renew for this long stops leading.
    #[arg(long, value_name = "MS", default_value_t = 7_000)]
    pub leader_give_up_ms: u32,
    /// Limit of one small call of the store.
    #[arg(long, value_name = "MS", default_value_t = 2_000)]
    pub store_ms: u32,
    /// A grant that is not started within this goes back to the queue.
    #[arg(long, value_name = "MS", default_value_t = Settings::ACCEPT_MS)]
    pub accept_ms: u32,
    /// Added to a lease before it is judged to have run out.
    #[arg(long, value_name = "MS", default_value_t = Settings::GRACE_MS)]
    pub grace_ms: u32,
    /// How long an open poll waits for work.
    #[arg(long, value_name = "MS", default_value_t = Settings::POLL_MS)]
    pub poll_ms: u32,
    /// From TERM to KILL, on workers.
    #[arg(long, value_name = "MS", default_value_t = 5_000)]
    pub term_ms: u32,
    /// From KILL to an empty process group, on workers.
    #[arg(long, value_name = "MS", default_value_t = 2_000)]
    pub kill_ms: u32,
    /// Limit of one call of a worker.
    #[arg(long, value_name = "MS", default_value_t = 3_000)]
    pub rpc_ms: u32,
    /// The shortest time between heartbeats.
    #[arg(long, value_name = "MS", default_value_t = 500)]
    pub heartbeat_min_ms: u32,
    /// The longest time between heartbeats.
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    pub heartbeat_max_ms: u32,
    /// How far a boot clock may run wrong, in parts per million.
    #[arg(long, value_name = "PPM", default_value_t = Settings::RHO_PPM)]
    pub rho_ppm: u32,
}

/// Spans as the program uses them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    pub leader: LeaderTiming,
    pub worker: WorkerTiming,
    pub accept: Duration,
    pub grace: Duration,
    pub rho_ppm: u32,
}

/// The leader's own lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderTiming {
    pub lease: Duration,
    pub renew: Duration,
    pub give_up: Duration,
    /// Limit of one small call of the store.
    pub store: Duration,
    pub rho_ppm: u32,
}

/// What workers are told at Register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerTiming {
    pub heartbeat_min: Duration,
    pub heartbeat_max: Duration,
    pub rpc: Duration,
    pub term: Duration,
    pub kill: Duration,
    /// How long a poll that gets nothing stays open.
    pub poll: Duration,
}

/// A clock that runs more than a tenth wrong is broken. None that runs at all is exact: with 0 a holder and its
/// observer would judge a lease to end in the same instant.
const RHO_PPM_MAX: u32 = 100_000;
/// Below this an empty process group cannot be told from a slow one.
const KILL_MS_MIN: u32 = 500;
/// More heartbeats than this are load without use.
const HEARTBEAT_MS_MIN: u32 = 500;
/// Between a poll that asks all the time and a connection that something in between has dropped.
const POLL_MS: std::ops::RangeInclusive<u32> = 500..=60_000;

impl TimingArgs {
    /// Checks each span and the rules between them.
    ///
    /// # Errors
    /// The first rule that does not hold, by the flag that should change.
    pub fn check(&self) -> Result<Timing, ConfigError> {
        self.check_leader()?;
        self.check_worker()?;
        let ms = |ms: u32| Duration::from_millis(u64::from(ms));
        Ok(Timing {
            leader: LeaderTiming {
                lease: ms(self.leader_lease_ms),
                renew: ms(self.leader_renew_ms),
                give_up: ms(self.leader_give_up_ms),
                store: ms(self.store_ms),
                rho_ppm: self.rho_ppm,
            },
            worker: WorkerTiming {
                heartbeat_min: ms(self.heartbeat_min_ms),
                heartbeat_max: ms(self.heartbeat_max_ms),
                rpc: ms(self.rpc_ms),
                term: ms(self.term_ms),
                kill: ms(self.kill_ms),
                poll: ms(self.poll_ms),
            },
            accept: ms(self.accept_ms),
            grace: ms(self.grace_ms),
            rho_ppm: self.rho_ppm,
        })
    }

    fn check_leader(&self) -> Result<(), ConfigError> {
        let Self { leader_lease_ms, leader_renew_ms, leader_give_up_ms, store_ms, rho_ppm, .. } =
            *self;
        let longest = |ms: u32| u64::from(ms) * u64::from(1_000_000 + rho_ppm);
        let shortest = |ms: u32| u64::from(ms) * u64::from(1_000_000 - rho_ppm);
        let check = |holds: bool, field, problem: String| {
            if holds { Ok(()) } else { Err(ConfigError::new(field, problem)) }
        };
        check(
            (1..=RHO_PPM_MAX).contains(&rho_ppm),
            "rho-ppm",
            format!("({rho_ppm}) must be 1 to {RHO_PPM_MAX}"),
        )?;
        check(leader_renew_ms > 0, "leader-renew-ms", "must not be 0".to_owned())?;
        check(store_ms > 0, "store-ms", "must not be 0".to_owned())?;
        check(
            shortest(leader_lease_ms) > longest(leader_give_up_ms),
            "leader-lease-ms",
            format!(
                "({leader_lease_ms}) must be longer than leader-give-up-ms ({leader_give_up_ms}), each by a clock that runs {rho_ppm} ppm wrong"
            ),
        )?;
        check(
            u64::from(leader_give_up_ms) >= 2 * u64::from(leader_renew_ms) + u64::from(store_ms),
            "leader-give-up-ms",
            format!(
                "({leader_give_up_ms}) must be at least twice leader-renew-ms ({leader_renew_ms}) and store-ms ({store_ms})"
            ),
        )?;
        check(
            2 * u64::from(store_ms) < u64::from(leader_give_up_ms),
            "store-ms",
            format!(
                "({store_ms}) must be less than half of leader-give-up-ms ({leader_give_up_ms})"
            ),
        )
    }

    fn check_worker(&self) -> Result<(), ConfigError> {
        let Self {
            accept_ms, poll_ms, kill_ms, rpc_ms, heartbeat_min_ms, heartbeat_max_ms, ..
        } = *self;
        let check = |holds: bool, field, problem: String| {
            if holds { Ok(()) } else { Err(ConfigError::new(field, problem)) }
        };
        check(
            heartbeat_min_ms >= HEARTBEAT_MS_MIN,
            "heartbeat-min-ms",
            format!("({heartbeat_min_ms}) must be at least {HEARTBEAT_MS_MIN}"),
        )?;
        check(
            heartbeat_max_ms >= heartbeat_min_ms,
            "heartbeat-max-ms",
            format!(
                "({heartbeat_max_ms}) must not be less than heartbeat-min-ms ({heartbeat_min_ms})"
            ),
        )?;
        check(
            rpc_ms > 0 && rpc_ms <= heartbeat_max_ms / 2,
            "rpc-ms",
            format!(
                "({rpc_ms}) must be 1 to half of heartbeat-max-ms ({heartbeat_max_ms}), so that two masters can be tried within a heartbeat"
            ),
        )?;
        check(
            u64::from(accept_ms) >= 3 * u64::from(rpc_ms),
            "accept-ms",
            format!("({accept_ms}) must be at least three times rpc-ms ({rpc_ms})"),
        )?;
        check(
            kill_ms >= KILL_MS_MIN,
            "kill-ms",
            format!("({kill_ms}) must be at least {KILL_MS_MIN}"),
        )?;
        check(
            POLL_MS.contains(&poll_ms),
            "poll-ms",
            format!("({poll_ms}) must be {} to {}", POLL_MS.start(), POLL_MS.end()),
        )
    }
}

/// The flags alone, to read their defaults from the one place where they stand.
#[derive(clap::Parser)]
struct Alone {
    #[command(flatten)]
    timing: TimingArgs,
}

impl Default for Timing {
    /// The spans of a master whose operator said nothing.
    fn default() -> Self {
        let alone = Alone::try_parse_from(["timing"]).expect("every flag has a default");
        alone.timing.check().expect("the defaults keep the rules, which a test tries")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Timing;

    #[test]
    fn the_defaults_keep_the_rules() {
        assert_eq!(Timing::default().leader.lease, Duration::from_secs(10));
    }
}
