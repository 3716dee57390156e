//! A leader's memory and its store, by small stories: each is the smallest case of a way in which they came apart.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what tests share fails loudly, as tests do"
)]

mod by_hand;
mod closed;
mod desk;
mod edits;
mod grants;
mod hands;
mod memory;
mod missed;
mod workers;
