//! Versions and bindings as a whole: against values from outside, and for large and deep sets.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what goes wrong in a test must fail, with the place"
)]

mod deep;
mod oracle;
mod random;
mod reference;
