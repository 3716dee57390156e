//! Dependencies that a manifest declares and no source names: each costs time in every build. Knows no other rule.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::Finding;
use super::tree::File;

/// Which folders and files of a crate may use what a table declares.
const TABLES: &[(&str, &[&str])] = &[
    ("dependencies", &["src"]),
    ("build-dependencies", &["build.rs"]),
    ("dev-dependencies", &["src", "tests", "examples", "benches"]),
];

/// What is named only by code that the build writes.
const GENERATED: &[(&str, &[&str])] = &[("proto", &["prost", "tonic-prost", "bytes"])];

pub(super) fn check(files: &[File]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut used = BTreeSet::new();
    for file in files {
        let Some(folder) = file.path.strip_suffix("/Cargo.toml") else { continue };
        let manifest: Table = file.text.parse().with_context(|| file.path.clone())?;
        for (table, places) in TABLES {
            for name in names(manifest.get(*table)) {
                used.insert(name.to_owned());
                let generated = GENERATED.iter().any(|(of, n)| *of == folder && n.contains(&name));
                let places: Vec<String> = places.iter().map(|p| format!("{folder}/{p}")).collect();
                if !generated && !is_named(files, &places, &name.replace('-', "_")) {
                    let text = format!(
                        "{name} stands in [{table}], and {} names it not",
                        places.join(", ")
                    );
                    findings.push(Finding::new(&file.path, line_of(file, name), text));
                }
            }
        }
    }
    if let Some(root) = files.iter().find(|file| file.path == "Cargo.toml") {
        let manifest: Table = root.text.parse().context("Cargo.toml")?;
        let declared = manifest.get("workspace").and_then(|w| w.get("dependencies"));
        for name in names(declared).filter(|name| !used.contains(*name)) {
            let text = format!("{name} is declared for all crates, and none uses it");
            findings.push(Finding::new(&root.path, line_of(root, name), text));
        }
    }
    Ok(findings)
}

fn names(table: Option<&Value>) -> impl Iterator<Item = &str> {
    table.and_then(Value::as_table).into_iter().flat_map(Table::keys).map(String::as_str)
}

/// True where a line of code at these places has the word.
fn is_named(files: &[File], places: &[String], word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let has = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(part) && !after.is_some_and(part)
        })
    };
    let here = |file: &&File| file.is_rust() && places.iter().any(|place| file.lies_in(place));
    files.iter().filter(here).any(|file| file.code().any(|(_, line)| has(line)))
}

fn line_of(file: &File, name: &str) -> usize {
    1 + file.text.lines().take_while(|line| !line.starts_with(name)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_tree(files: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        let files: Vec<File> = files.iter().map(file).collect();
        let told: Vec<String> = check(&files).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_declared_must_be_named_where_it_may_be_used() {
        let manifest = "[dependencies]\ntokio-util.workspace = true\nserde.workspace = true\n\
                        [dev-dependencies]\ntempfile.workspace = true\n";
        let named = "//! A room.\nuse tokio_util::x;\n#[cfg(test)]\nuse tempfile::y;\n";
        check_tree(
            &[
                ("a/Cargo.toml", manifest),
                ("a/src/lib.rs", named),
                ("a/src/x.rs", "// serde\nserde_json::x"),
                ("a/tests/x.rs", "use serde::S;"),
                ("b/src/lib.rs", "use serde::S;"),
            ],
            &["a/Cargo.toml:3: serde stands in [dependencies], and a/src names it not"],
        );
    }

    #[test]
    fn what_the_workspace_declares_must_be_used_by_a_crate() {
        let root = "[workspace.dependencies]\nserde = \"1\"\ntower = \"1\"\n";
        check_tree(
            &[
                ("Cargo.toml", root),
                ("a/Cargo.toml", "[dependencies]\nserde.workspace = true\n"),
                ("a/src/lib.rs", "use serde::S;"),
            ],
            &["Cargo.toml:3: tower is declared for all crates, and none uses it"],
        );
    }
}
