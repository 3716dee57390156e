//! Who may import whom, read from the manifests. Knows no code.

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::Finding;
use super::tree::File;

/// For each crate those of ours that it may use, in a release build. A crate that is missing here may not
/// use any, and must be added with a thought.
const OURS: &[(&str, &[&str])] = &[
    ("hera-common", &[]),
    ("hera-engine", &["hera-common"]),
    ("hera-proto", &[]),
    ("hera-store", &["hera-common"]),
    ("hera-master", &["hera-common", "hera-engine", "hera-proto", "hera-store"]),
    ("hera-worker", &["hera-common", "hera-proto"]),
    ("hera-cli", &["hera-common", "hera-proto", "hera-master", "hera-worker"]),
    ("hera-testkit", &[]),
];

/// Crates that hold no code of the product: they may use all of ours.
const FREE: &[&str] = &["hera-tests", "hera-bench", "xtask"];

/// What every crate's own tests may use of ours beside that.
const FOR_TESTS: &[&str] = &["hera-testkit"];

/// What a crate must not use from outside, also in its tests, and why.
const NEVER: &[(&str, &[&str], &str)] = &[
    ("hera-common", PURE, "the nouns of the domain know no IO, no clock and no randomness"),
    ("hera-engine", PURE, "decisions know no IO, no clock and no randomness: pass values in"),
    ("hera-proto", &["sqlx"], "messages know no store"),
    ("hera-store", &["tonic", "prost"], "the store knows no messages: give it values of common"),
    ("hera-cli", &["sqlx"], "the command line asks the master, never the store"),
];

const PURE: &[&str] =
    &["tokio", "sqlx", "tonic", "prost", "getrandom", "rand", "rustix", "tempfile"];

/// What no crate uses, and what to use instead.
const NOWHERE: &[(&str, &str)] = &[
    ("chrono", "jiff"),
    ("time", "jiff"),
    ("log", "tracing"),
    ("lazy_static", "std::sync::LazyLock"),
    ("once_cell", "std::sync::LazyLock"),
    ("openssl", "rustls"),
];

/// The tables of a manifest that name other crates, and whether they are for tests only.
const TABLES: &[(&str, bool)] =
    &[("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)];

pub(super) fn check(files: &[File]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let manifest: Table = file.text.parse().with_context(|| file.path.clone())?;
        let Some(name) =
            manifest.get("package").and_then(|p| p.get("name")).and_then(Value::as_str)
        else {
            continue;
        };
        let targets = manifest.get("target").and_then(Value::as_table);
        let tables = std::iter::once(&manifest)
            .chain(targets.into_iter().flat_map(Table::values).filter_map(Value::as_table));
        for table in tables {
            check_tables(file, name, table, &mut findings);
        }
    }
    Ok(findings)
}

fn check_tables(file: &File, name: &str, table: &Table, findings: &mut Vec<Finding>) {
    for (key, for_tests) in TABLES {
        for (used, how) in table.get(*key).and_then(Value::as_table).into_iter().flatten() {
            // A renamed crate is known by its own name.
            let used = how.get("package").and_then(Value::as_str).unwrap_or(used);
            let problems = [
                ours(name, used, *for_tests),
                never(name, used),
                (how.get("workspace").and_then(Value::as_bool) != Some(true)).then(|| {
                    format!("{used} has a version here: move it to [workspace.dependencies]")
                }),
            ];
            let line = 1 + file.text.lines().take_while(|line| !line.starts_with(used)).count();
            findings
                .extend(problems.into_iter().flatten().map(|p| Finding::new(&file.path, line, p)));
        }
    }
}

fn ours(name: &str, used: &str, for_tests: bool) -> Option<String> {
    let is_ours = used.starts_with("hera-") || used == "xtask";
    if !is_ours || FREE.contains(&name) || (for_tests && FOR_TESTS.contains(&used)) {
        return None;
    }
    let Some((_, allowed)) = OURS.iter().find(|(of, _)| *of == name) else {
        return Some(format!("{name} is new: say in xtask/src/tidy/borders.rs what it may import"));
    };
    let refusal = || {
        let list = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
        format!("{name} must not import {used} (of ours it may import: {list})")
    };
    (!allowed.contains(&used)).then(refusal)
}

fn never(name: &str, used: &str) -> Option<String> {
    if let Some((_, instead)) = NOWHERE.iter().find(|(banned, _)| *banned == used) {
        return Some(format!("{used} is not used here: take {instead}"));
    }
    let (_, _, why) = NEVER.iter().find(|(of, banned, _)| *of == name && banned.contains(&used))?;
    Some(format!("{name} must not import {used}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_manifest(name: &str, rest: &str, expected: &[&str]) {
        let text = format!("[package]\nname = \"{name}\"\n{rest}");
        let findings = check(&[File { path: "some/Cargo.toml".to_owned(), text }]).unwrap();
        let told: Vec<&str> = findings.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn an_edge_between_crates_of_ours_must_be_in_the_table() {
        let common_and_kit = "[dependencies]\nhera-common.workspace = true\n\
                              [dev-dependencies]\nhera-testkit.workspace = true\n";
        check_manifest("hera-engine", common_and_kit, &[]);
        check_manifest(
            "hera-engine",
            "[dependencies]\nhera-store.workspace = true\n",
            &["hera-engine must not import hera-store (of ours it may import: hera-common)"],
        );
        check_manifest(
            "hera-worker",
            "[target.'cfg(unix)'.dependencies]\nx = { workspace = true, package = \"hera-testkit\" }\n",
            &["hera-worker must not import hera-testkit \
               (of ours it may import: hera-common, hera-proto)"],
        );
        check_manifest("hera-tests", "[dependencies]\nhera-store.workspace = true\n", &[]);
        check_manifest(
            "hera-new",
            "[dependencies]\nhera-common.workspace = true\n",
            &["hera-new is new: say in xtask/src/tidy/borders.rs what it may import"],
        );
    }

    #[test]
    fn a_never_holds_in_tests_too() {
        check_manifest(
            "hera-common",
            "[dev-dependencies]\ntokio.workspace = true\n",
            &["hera-common must not import tokio: \
               the nouns of the domain know no IO, no clock and no randomness"],
        );
        check_manifest(
            "hera-bench",
            "[dependencies]\nchrono.workspace = true\n",
            &["chrono is not used here: take jiff"],
        );
    }

    #[test]
    fn versions_stand_in_one_place() {
        check_manifest(
            "hera-cli",
            "[dependencies]\nclap = \"4\"\ntokio = { workspace = true, features = [\"fs\"] }\n",
            &["clap has a version here: move it to [workspace.dependencies]"],
        );
    }
}
