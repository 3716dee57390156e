//! Decisions, pure: given `now` and what is believed, they return what should be done.

pub mod time;
