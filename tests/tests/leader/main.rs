//! A leader's memory and its store, by small stories: each was a fault that the simulator found.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what tests share fails loudly, as tests do"
)]

mod desk;
mod edits;
mod grants;
mod memory;
