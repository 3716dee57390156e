//! Tests of the whole product, and what they share.

pub mod cluster;
pub mod sim;
