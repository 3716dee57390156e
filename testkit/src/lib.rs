//! What tests share: a throw-away PostgreSQL, child processes, ports, folders, waiting. It knows nothing of
//! Hera itself, so that every crate can use it and no rule of the product can leak into its tests.

mod clock;
mod lines;
mod port;
pub mod postgres;
mod process;
mod temp;
mod wait;

pub use lines::Lines;
pub use port::Port;
pub use process::{Process, binary};
pub use temp::temp_dir;
pub use wait::{wait_for, wait_for_async};
