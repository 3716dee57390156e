//! A loopback port that no other test takes meanwhile. Does not listen itself.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Result, bail};

use crate::temp;

/// Below the range from which Linux takes ports of outgoing connections (32768 and up): one of those could
/// be taken between the choice and the server's start.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port on 127.0.0.1 that is held for this test by a lock until the value is dropped, so that a server
/// can be killed and started again on it.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _lock: File,
}

impl Port {
    /// Chooses a port that is free now and that no other test of this user holds.
    ///
    /// # Errors
    /// When the locks' folder cannot be used, or no port of the range is free.
    pub fn free() -> Result<Self> {
        let locks = temp::own_dir("ports")?;
        // Tests of one run begin at different places, so that they seldom ask for the same lock.
        let first = u16::try_from(std::process::id() * 37 % u32::from(COUNT))?;
        for step in 0..COUNT {
            let number = FIRST + (first + step) % COUNT;
            let lock = File::create(locks.join(number.to_string()))?;
            let held = lock.try_lock().is_ok();
            if held && TcpListener::bind((Ipv4Addr::LOCALHOST, number)).is_ok() {
                return Ok(Self { number, _lock: lock });
            }
        }
        bail!("no port from {FIRST} on is free on 127.0.0.1")
    }

    /// The port's number.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.number))
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ports_held_at_once_differ_and_can_be_listened_on_twice_in_turn() {
        let ports: Vec<Port> = (0..20).map(|_| Port::free().unwrap()).collect();
        let numbers: BTreeSet<u16> = ports.iter().map(Port::number).collect();
        assert_eq!(numbers.len(), ports.len());
        for port in &ports {
            drop(TcpListener::bind(port.address()).unwrap());
            drop(TcpListener::bind(port.address()).unwrap());
        }
    }
}
