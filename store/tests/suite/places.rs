//! Where the suite runs.

pub(crate) mod memory;
