//! A leader's memory and its store, by small stories: each was a fault that the simulator found.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test helpers"
)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail loudly")]

mod desk;
mod grants;
mod memory;
