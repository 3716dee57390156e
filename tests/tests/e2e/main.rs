//! End to end: masters, workers and the command line as real processes, treated as badly as machines are. What
//! ran is judged by the jobs' own journal and by the rows, not by what a program says of itself.
//!
//! One program for all: a debug build links it once.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what a test shares with others fails it, too"
)]

mod by_hand;
mod drain;
mod ends;
mod frozen_worker;
mod log_bytes;
mod lost_master;
mod lost_worker;
mod many_due;
mod night;
mod outages;
mod records;
mod refusals;
mod rename;
mod standby;
mod weather;
