//! Decisions, pure: given what happened and what time it is, what shall be written and done. No IO, no async, no clock,
//! no randomness of its own.

pub mod apply;
pub mod catalog;
mod engine;
pub mod input;
pub mod plan;
pub mod time;

pub use engine::{Chance, Engine, Settings};
