//! The program `hera`: nothing but the call into the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // `hera dev` starts its worker's processes from this very file.
    if let Some(code) = hera_worker::process::become_spawner_if_asked() {
        return code;
    }
    hera_cli::main()
}
