//! One execution of a command: whom it asks, who asks, and where it prints. Knows no message.

use hera_common::limits::{ACTOR_BYTES_MAX, ADDRESS};

use crate::args::Global;
use crate::client::Client;
use crate::dev::announce;
use crate::exit::Failure;
use crate::output::Out;

/// What each command is given.
pub(crate) struct Session<'a> {
    global: Global,
    pub out: &'a mut Out,
}

impl<'a> Session<'a> {
    /// For what was typed.
    pub(crate) const fn new(global: Global, out: &'a mut Out) -> Self {
        Self { global, out }
    }

    /// The masters to ask: those named, else the `hera dev` that runs, else the usual address.
    ///
    /// # Errors
    /// An address that cannot be one; several `hera dev` of which none is meant more than the others.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        if let Some(servers) = self.global.server.as_ref().filter(|servers| !servers.is_empty()) {
            return Client::new(servers);
        }
        match announce::find()? {
            Some(address) => Client::new(&address),
            None => Client::new(ADDRESS),
        }
    }

    /// Who asks.
    pub(crate) fn actor(&self) -> String {
        self.global.actor.clone().unwrap_or_else(|| {
            let variable =
                |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
            let user = variable("USER")
                .or_else(|| variable("LOGNAME"))
                .unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()));
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let mut actor = format!("{user}@{host}");
            actor.truncate(actor.floor_char_boundary(ACTOR_BYTES_MAX));
            actor
        })
    }
}
