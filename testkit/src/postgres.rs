//! PostgreSQL for tests: a server that is thrown away, and a database of its own for each test. Knows no
//! table of ours.
//!
//! `cargo xtask test` starts one server for all tests and gives its URL in `HERA_TEST_POSTGRES`. Without it
//! (one runs `cargo nextest run -p hera-store` by hand) the first test starts one that all test processes
//! of this user share. Whoever uses a server stays connected to it, and a session inside the server counts
//! who is connected: when nobody has been for the server's idle time, it stops the server and removes its
//! folder. So no way of dying, of a test or of a machine's user, leaves a server behind for long.

mod cluster;
mod database;
mod programs;
mod shared;
mod wire;

pub use cluster::{Flavour, ThrowAwayPostgres};
pub use database::{Database, Server};
pub use programs::{Programs, installed};
pub use shared::{ENV, fresh_database, shared, shared_url, stop_shared};
