//! Leases and fail-over, told as stories in the simulated cluster: one fault at the moment that matters, and what must
//! come of it. The checks of all invariants run beside each of them.

mod clock;
mod leader;
mod mutation;
mod store;
mod told;
mod worker;
