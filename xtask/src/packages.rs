//! What the tests need of the system beside Rust, and its installation on Debian. Changes nothing where all
//! is there, and starts no service.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use hera_testkit::postgres;

/// Debian makes and starts a cluster of its own with the package, unless a file in this folder says no.
const CLUSTER_DIR: &str = "/etc/postgresql-common/createcluster.d";

/// A package of Debian, and how to see that what we need of it is there.
struct Needed {
    package: &'static str,
    what: &'static str,
    there: fn() -> bool,
}

const NEEDED: &[Needed] = &[
    Needed {
        package: "postgresql",
        what: "PostgreSQL's server programs (initdb, pg_ctl, postgres)",
        there: || postgres::installed().is_ok(),
    },
    Needed { package: "python3", what: "python3, which jobs run", there: || on_path("python3") },
];

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Installs what is missing, and looks again.
pub(crate) fn install_missing() -> Result<()> {
    let missing = || NEEDED.iter().filter(|needed| !(needed.there)()).collect::<Vec<_>>();
    let wanted = missing();
    if wanted.is_empty() {
        return Ok(());
    }
    let whats = wanted.iter().map(|needed| needed.what).collect::<Vec<_>>().join("; ");
    ensure!(
        Path::new("/etc/debian_version").exists() && on_path("apt-get"),
        "missing: {whats}. This is not a Debian system: install it by hand, and run this again"
    );
    eprintln!("missing: {whats}");
    let packages: Vec<&str> = wanted.iter().map(|needed| needed.package).collect();
    install(&packages).with_context(|| {
        format!("could not install it. By hand: apt-get install {}", packages.join(" "))
    })?;
    if let Some(still) = missing().first() {
        bail!("{} was installed, and yet there is no {}", still.package, still.what);
    }
    Ok(())
}

fn install(packages: &[&str]) -> Result<()> {
    let switch = format!("{CLUSTER_DIR}/hera-no-cluster.conf");
    // A system that made the folder has settings of its own about clusters; ours goes again anyway.
    as_root(&["mkdir", "-p", CLUSTER_DIR], "")?;
    as_root(&["tee", &switch], "create_main_cluster = false\n")?;
    let installed = apt(&["update", "-qq"])
        .and_then(|()| apt(&[&["install", "-y", "--no-install-recommends"], packages].concat()));
    as_root(&["rm", "-f", &switch], "")?;
    installed
}

fn apt(arguments: &[&str]) -> Result<()> {
    // Waits for another apt instead of failing, asks nothing, and starts nothing.
    let call = [
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "RUNLEVEL=1",
        "apt-get",
        "-o",
        "DPkg::Lock::Timeout=300",
        "-o",
        "Acquire::Retries=3",
    ];
    as_root(&[&call, arguments].concat(), "")
}

/// Runs a command as root: as it is when we are root, else by a sudo that must not ask.
fn as_root(words: &[&str], input: &str) -> Result<()> {
    let is_root = rustix::process::getuid().is_root();
    let sudo: &[&str] = if is_root { &[] } else { &["sudo", "-n"] };
    let all = [sudo, words].concat();
    let shown = all.join(" ");
    eprintln!("+ {shown}");
    let (program, arguments) = all.split_first().context("an empty command")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        // Standard output is for what a caller asked for.
        .stdout(std::io::stderr())
        .spawn()
        .with_context(|| format!("could not run {shown}"))?;
    if let Some(mut stdin) = child.stdin.take()
        && !input.is_empty()
    {
        stdin.write_all(input.as_bytes())?;
    }
    let status = child.wait()?;
    ensure!(status.success(), "{shown} failed ({status})");
    Ok(())
}
