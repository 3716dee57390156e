//! `cargo xtask tidy`: the rules of the tree that neither the compiler nor clippy knows. Each finding says
//! what to do. It is a test too, so that every test run checks the tree.

mod borders;
mod names;
mod places;
mod shape;
mod states;
mod text;
mod tree;
mod unused;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::cargo;

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// Counted from 1; 0 when it is about the file as a whole.
    line: usize,
    text: String,
}

impl Finding {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, line, text } = self;
        match line {
            0 => write!(f, "{path}: {text}"),
            _ => write!(f, "{path}:{line}: {text}"),
        }
    }
}

/// Prints what breaks a rule; exit code 1 when something does.
pub(crate) fn run() -> Result<ExitCode> {
    let findings = check(cargo::root())?;
    for finding in &findings {
        println!("{finding}");
    }
    eprintln!("tidy: {} findings", findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Paths of the machine at hand that no text may name; a variable, since no text may name them.
const PRIVATE_PATHS: &str = "HERA_TIDY_PATHS";

fn private_paths() -> Vec<String> {
    let listed = std::env::var(PRIVATE_PATHS).unwrap_or_default();
    listed.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

fn check(root: &Path) -> Result<Vec<Finding>> {
    let files = tree::read(root)?;
    ensure!(
        files.iter().any(|file| file.path == "Cargo.toml"),
        "{} is no workspace",
        root.display()
    );
    let mut findings = borders::check(&files)?;
    findings.extend(unused::check(&files)?);
    let private = private_paths();
    for file in &files {
        findings.extend(text::check(file, &private));
        if file.is_rust() {
            findings.extend(names::check(file));
            findings.extend(places::check(file));
            findings.extend(shape::check(file));
            findings.extend(states::check(file));
        }
    }
    findings.extend(places::twins(&files));
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_keeps_its_rules() {
        let findings = check(cargo::root()).unwrap();
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
    }
}
