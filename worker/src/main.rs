//! The program `hera-worker`.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = hera_worker::process::become_spawner_if_asked() {
        return code;
    }
    ExitCode::SUCCESS
}
