//! A master in this process, asked over real gRPC on loopback, with SQLite in a folder of its own.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod cost;
mod night;
mod pair;
mod port;
mod worker;
mod world;
