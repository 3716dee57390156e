//! The examples of docs/time.md: each block of YAML is applied, and the block of text after it is what comes of it.

use std::fmt::Write as _;

use expect_test::expect_file;
use hera_common::audit::Asked;
use hera_common::doc::{Contents, Unknown, apply_set, read_file};
use hera_common::time::{Version, Wall};
use hera_common::unit::Marks;
use hera_engine::apply::{ApplySet, OthersChanges, draft};
use hera_engine::catalog::Catalog;
use hera_engine::plan::{Plan, PlannedVersion};
use jiff::tz::TimeZone;

use super::version;

/// The catalog after the jobs of a file were made, all of whose slots count from `since` on.
fn catalog(yaml: &str, since: Version) -> Catalog {
    let file = read_file("docs/time.md", yaml).expect("a file of the docs");
    let applied =
        apply_set(&[file], &Contents::default(), &Unknown, false).expect("a set of the docs");
    let set = ApplySet {
        asked: Asked { actor: "docs".to_owned(), why: String::new() },
        source: "docs".to_owned(),
        others: OthersChanges::Keep,
        edition: 0,
        applied,
        dry_run: false,
        prune: false,
        since: Some(since),
        first_load_newest: false,
    };
    let made = draft(&Catalog::default(), Marks::default(), &set, Wall::from_ms(since.ms()));
    made.expect("an apply of the docs").catalog
}

/// Every version in `[from, to)`: the job, its local time, its data, and what it waits for.
fn told(yaml: &str, from: &str, to: &str) -> String {
    // Upstream versions of earlier days are there, too.
    let since = version("2011-01-01T00:00:00Z");
    let catalog = catalog(yaml, since);
    let mut plan = Plan::new(&catalog.nodes);
    let mut told = String::new();
    let zone = |id| catalog.nodes.get(&id).map_or(TimeZone::UTC, |node| node.zone.clone());
    let short = |id| {
        let path = catalog.name(id);
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let local = |id, at: Version| {
        let zoned = at.timestamp().to_zoned_datetime(zone(id));
        zoned.strftime("%a %Y-%m-%d %H:%M%:z").to_string()
    };
    for (id, path) in catalog.by_path.iter().map(|(path, id)| (*id, path)) {
        let versions = plan.versions(id, version(from), version(to)).expect("versions of the docs");
        let declares = yaml.contains("data:");
        for PlannedVersion { version, interval } in versions {
            write!(told, "{} {}", short(id), local(id, version)).expect("a String takes all");
            if declares {
                let last = interval.until.yesterday().expect("no day of the docs is the first");
                write!(told, "  data {}", interval.first).expect("a String takes all");
                if last != interval.first {
                    write!(told, "..{last}").expect("a String takes all");
                }
            }
            let bound = plan.bindings(id, version).expect("bindings of the docs");
            let upstream: Vec<String> = bound
                .iter()
                .map(|bound| {
                    format!("{} {}", short(bound.upstream), local(bound.upstream, bound.version))
                })
                .collect();
            match upstream.as_slice() {
                [] => {}
                [first, .., last] if upstream.len() > 5 => {
                    write!(told, "\n  waits for {}: {first} ... {last}", upstream.len())
                        .expect("a String takes all");
                }
                some => {
                    for one in some {
                        write!(told, "\n  waits for {one}").expect("a String takes all");
                    }
                }
            }
            told.push('\n');
        }
        assert!(!path.as_str().is_empty());
    }
    told
}

/// The document with every block of results computed anew.
fn filled(document: &str) -> (String, usize) {
    let (mut text, mut yaml, mut blocks) = (String::new(), String::new(), 0);
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let block: String = lines
            .by_ref()
            .take_while(|line| *line != "```")
            .map(|line| format!("{line}\n"))
            .collect();
        match kind.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["text", from, to] => {
                text.push_str(&told(&yaml, from, to));
                blocks += 1;
            }
            _yaml => {
                text.push_str(&block);
                yaml = block;
            }
        }
        text.push_str("```\n");
    }
    (text, blocks)
}

#[test]
fn the_examples_of_the_docs_are_what_the_program_computes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/time.md");
    let document = std::fs::read_to_string(path).expect("docs/time.md");
    let (text, blocks) = filled(&document);
    assert!(blocks >= 9, "only {blocks} examples");
    expect_file!["../../../docs/time.md"].assert_eq(&text);
}
