//! Decisions, pure: given what happened and what time it is, what shall be written and done. No IO, no async, no clock,
//! no randomness of its own.

pub mod apply;
pub mod calendars;
pub mod catalog;
pub mod edge;
mod engine;
#[cfg(test)]
mod fixture;
pub mod graph;
pub mod handler;
pub mod input;
pub mod jitter;
pub mod lease;
pub mod outcome;
pub mod plan;
pub mod poll;
pub mod queue;
pub mod run;
mod stage;
pub mod template;
pub mod time;

pub use engine::{Chance, Engine, Settings};
