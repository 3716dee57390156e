//! Tests of the whole product, and what they share.

pub mod sim;
