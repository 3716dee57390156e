//! `hera completions`: what a shell needs to complete commands. Asks nobody.

use clap::Args;
use clap_complete::{Shell, generate};

use crate::exit::{Exit, Failure};
use crate::session::Session;

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut crate::definition(), "hera", &mut script);
        session.out.raw(&script)?;
        Ok(Exit::Done)
    }
}
