//! Where the suite runs.

pub(crate) mod memory;
pub(crate) mod postgres;
pub(crate) mod sqlite;
