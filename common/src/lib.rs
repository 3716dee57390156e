//! The nouns of the domain, and what makes them valid. No IO, no async, no clock, no randomness.

pub mod action;
pub mod attempt;
pub mod audit;
pub mod calendar;
pub mod chain;
pub mod doc;
pub mod hand;
pub mod id;
pub mod job;
pub mod limits;
pub mod path;
pub mod run;
pub mod schedule;
pub mod shift;
pub mod shown;
pub mod snapshot;
pub mod spec;
pub mod time;
pub mod unit;
pub mod worker;
