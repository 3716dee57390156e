//! Names of files and types that say nothing, and ids without a type. Knows no place.

use super::Finding;
use super::tree::File;

/// Words that name no question a file or type would answer. Judged as the last word: `DataInterval` says
/// something, `IntervalData` does not.
const EMPTY_WORDS: &[&str] = &[
    "manager",
    "helper",
    "helpers",
    "util",
    "utils",
    "handler",
    "handlers",
    "processor",
    "data",
    "info",
];

/// Here the word has a meaning: the state machine of one job.
const HANDLERS: &[&str] = &["engine/src/handler"];

/// Crates whose public functions take ids as types of their own.
const TYPED_IDS: &[&str] = &["common", "engine", "store"];

/// What introduces the name of a type.
const TYPE_WORDS: &[&str] = &["struct ", "enum ", "trait ", "type ", "union "];

pub(super) fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line, text: String| findings.push(Finding::new(&file.path, line, text));
    let handlers = HANDLERS.iter().any(|place| file.lies_in(place));
    let banned = |word: &str| EMPTY_WORDS.contains(&word) && !(handlers && word == "handler");

    let stem = file.stem();
    if stem == "mod" {
        find(0, "a module is name.rs beside its folder, not mod.rs: rename it".to_owned());
    }
    let last = stem.rsplit('_').next().unwrap_or(stem);
    if banned(last) {
        find(0, format!("{last:?} names no question: call the file by what one looks for in it"));
    }
    for (number, line) in file.code() {
        if let Some(name) = type_name(line)
            && banned(&last_word(name))
        {
            find(number, format!("{name} ends in an empty word: name the thing, not its role"));
        }
    }
    if TYPED_IDS.contains(&file.folder()) {
        for (number, parameter) in bare_ids(file) {
            find(number, format!("{parameter}: an id has a type of its own (common's ids)"));
        }
    }
    findings
}

/// The name of the type that a line declares.
fn type_name(line: &str) -> Option<&str> {
    let mut line = line.trim_start();
    if let Some(rest) = line.strip_prefix("pub") {
        line = rest.strip_prefix('(').and_then(|r| r.split_once(')')).map_or(rest, |(_, r)| r);
        line = line.trim_start();
    }
    let rest = TYPE_WORDS.iter().find_map(|word| line.strip_prefix(word))?;
    Some(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(rest))
}

/// The last word of a name in CamelCase, in lower case.
fn last_word(name: &str) -> String {
    let start = name.rfind(char::is_uppercase).unwrap_or(0);
    name.get(start..).unwrap_or(name).to_lowercase()
}

/// Parameters of public functions that are an id as a bare number or text.
fn bare_ids(file: &File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_signature = false;
    for (number, line) in file.code() {
        let line = line.trim();
        in_signature |= ["pub fn ", "pub async fn ", "pub const fn ", "async fn "]
            .iter()
            .any(|start| line.starts_with(start));
        if !in_signature {
            continue;
        }
        let parameters = line.split(['(', ',']).map(str::trim);
        found.extend(parameters.filter(|p| is_bare_id(p)).map(|p| (number, p.to_owned())));
        in_signature = !line.ends_with(['{', ';', '}']);
    }
    found
}

fn is_bare_id(parameter: &str) -> bool {
    parameter.split_once(": ").is_some_and(|(name, of)| {
        let of = of.trim_end_matches(')').split(')').next().unwrap_or(of);
        name.ends_with("_id") && matches!(of, "i64" | "u64" | "i32" | "u32" | "String" | "&str")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_names(path: &str, text: &str, expected: &[(usize, &str)]) {
        let findings = check(&File { path: path.to_owned(), text: text.to_owned() });
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, (line, part)) in findings.iter().zip(expected) {
            assert_eq!(finding.line, *line);
            assert!(finding.text.contains(part), "{finding}");
        }
    }

    #[test]
    fn empty_words_are_no_names() {
        check_names("master/src/run_manager.rs", "", &[(0, "\"manager\" names no question")]);
        check_names("master/src/rpc/mod.rs", "", &[(0, "not mod.rs")]);
        check_names("master/src/data_interval.rs", "pub struct DataInterval;", &[]);
        check_names("master/src/x.rs", "pub(crate) enum JobInfo<'a> {", &[(1, "JobInfo ends")]);
        check_names("master/src/x.rs", "// struct JobInfo\nlet x: JobInfo;", &[]);
        check_names("engine/src/handler/event.rs", "pub struct Handler {", &[]);
        check_names("master/src/x.rs", "pub struct Handler {", &[(1, "Handler ends")]);
    }

    #[test]
    fn a_public_function_takes_no_bare_id() {
        let text = "pub fn end(run_id: i64, at: i64) -> u64 {\n\
                    pub async fn find(\n    &self,\n    job_id: &str,\n) -> Option<Row> {\n\
                    fn row(run_id: i64) {}\nlet job_id: i64 = 1;\n\
                    pub fn get(job: JobId, job_ids: &[JobId]) {";
        check_names("store/src/x.rs", text, &[(1, "run_id: i64"), (4, "job_id: &str")]);
        check_names("master/src/x.rs", text, &[]);
    }
}
