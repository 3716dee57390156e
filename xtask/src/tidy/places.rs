//! What may be written only in certain places: messages, SQL, and files that come in pairs.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::File;

/// Where the types of the wire may be named; all others get values of common.
const MESSAGES: &[&str] = &[
    "proto",
    "worker/src/link",
    "worker/tests",
    "cli/src/command",
    "web",
    "tests",
    "bench",
    "xtask",
];

/// Where SQL may stand: the store, programs that test it, and scripts of jobs.
const SQL: &[&str] = &["store", "testkit", "tests", "bench", "xtask", "worker/src/executor"];

/// How a statement begins in a text of the code.
const STATEMENTS: &[&str] =
    &["\"SELECT ", "\"INSERT INTO ", "\"UPDATE ", "\"DELETE FROM ", "\"WITH "];

/// Folders of the two databases whose files have the same names, and why that matters.
const TWINS: &[(&str, &str)] = &[
    ("migrations/sqlite/", "migrations/postgres/"),
    ("store/queries/sqlite/", "store/queries/postgres/"),
];

pub(super) fn check(file: &File) -> Vec<Finding> {
    let within = |places: &[&str]| places.iter().any(|place| file.lies_in(place));
    let in_rpc = file.path.split('/').any(|part| part == "rpc" || part == "rpc.rs");
    let (messages, sql) = (within(MESSAGES) || in_rpc, within(SQL));
    let mut findings = Vec::new();
    for (number, line) in file.code() {
        let mut find = |text: &str| findings.push(Finding::new(&file.path, number, text));
        if !messages && names_messages(line) {
            find(
                "v1:: is named outside the border: convert to a type of common in rpc/, link or command",
            );
        }
        if !sql && STATEMENTS.iter().any(|start| line.contains(start)) {
            find("SQL outside store: add a method to the store's trait");
        }
        if !sql && line.contains("sqlx::") {
            find("sqlx outside store: add a method to the store's trait");
        }
    }
    findings
}

/// Whether a line names a type below a module `v1`.
fn names_messages(line: &str) -> bool {
    line.match_indices("v1::").any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Files of one database that the other has not.
pub(super) fn twins(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (left, right) in TWINS {
        let [left_names, right_names] = [left, right].map(|folder| {
            files.iter().filter_map(|f| f.path.strip_prefix(folder)).collect::<BTreeSet<_>>()
        });
        let missing = |from: &BTreeSet<&str>, of: &BTreeSet<&str>, folder: &str, other: &str| {
            let lonely = |name: &&str| {
                let text = format!("has no twin in {other}: both databases get every change");
                Finding::new(&format!("{folder}{name}"), 0, text)
            };
            from.difference(of).map(lonely).collect::<Vec<_>>()
        };
        findings.extend(missing(&left_names, &right_names, left, right));
        findings.extend(missing(&right_names, &left_names, right, left));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn messages_stay_at_the_border() {
        let text = "use hera_proto::v1;\nfn f(x: v1::Lease) {}\n// v1::Lease\nfn g(x: dev1::X) {}";
        let lines = |path| check(&file(path, text)).iter().map(|f| f.line).collect::<Vec<_>>();
        assert_eq!(lines("master/src/service/run.rs"), [2]);
        assert_eq!(lines("master/src/rpc/run.rs"), [0; 0]);
        assert_eq!(lines("worker/src/link.rs"), [0; 0]);
        assert_eq!(lines("cli/src/output/table.rs"), [2]);
    }

    #[test]
    fn sql_stays_in_the_store() {
        let text = "let a = \"SELECT 1\";\nlet b = \"select a file\";\nsqlx::query(a);";
        let lines = |path| check(&file(path, text)).iter().map(|f| f.line).collect::<Vec<_>>();
        assert_eq!(lines("master/src/service/run.rs"), [1, 3]);
        assert_eq!(lines("store/src/sqlite.rs"), [0; 0]);
        assert_eq!(lines("worker/src/executor/sql.rs"), [0; 0]);
    }

    #[test]
    fn a_migration_of_one_database_needs_its_twin() {
        let pair = [file("migrations/sqlite/1.sql", ""), file("migrations/postgres/1.sql", "")];
        assert_eq!(twins(&pair), []);
        let lonely = twins(&[file("migrations/postgres/2.sql", "")]);
        assert_eq!(lonely.len(), 1);
        assert_eq!(
            lonely.first().unwrap().to_string(),
            "migrations/postgres/2.sql: has no twin in migrations/sqlite/: \
             both databases get every change"
        );
    }
}
