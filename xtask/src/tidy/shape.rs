//! The shape of code: how long what answers a call may be, and how much of a file may be comment. Knows no place of words.

use super::Finding;
use super::tree::File;

/// Lines within a function that answers a call: parse, ask, answer. Rules stand in service/.
const ANSWER_LINES_MAX: usize = 15;

/// Files shorter than this, in lines that are not blank, say nothing about shares.
const SHARE_FROM: usize = 40;
/// Comments inside code, of a hundred lines: more asks why the code does not say it. What documents an item is not counted.
const COMMENTS_MAX: usize = 25;

pub(super) fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let in_rpc = file.path.split('/').any(|part| part == "rpc" || part == "rpc.rs");
    if in_rpc && file.path.contains("/src/") {
        let long = answers(file).into_iter().filter(|(_, _, lines)| *lines > ANSWER_LINES_MAX);
        findings.extend(long.map(|(number, name, lines)| {
            let text = format!("{name} has {lines} lines, more than {ANSWER_LINES_MAX}: what decides belongs in service/");
            Finding::new(&file.path, number, text)
        }));
    }
    let lines = || file.lines().map(|(_, line)| line.trim_start()).filter(|line| !line.is_empty());
    let (all, comments) = (lines().count(), lines().filter(|line| is_inside(line)).count());
    if all >= SHARE_FROM && comments * 100 > all * COMMENTS_MAX {
        let text =
            format!("{comments} of {all} lines are comments inside code: let names say more of it");
        findings.push(Finding::new(&file.path, 0, text));
    }
    findings
}

/// A comment that documents no item.
fn is_inside(line: &str) -> bool {
    line.starts_with("//") && !line.starts_with("///") && !line.starts_with("//!")
}

/// The functions that answer calls: where each begins, its name, and the lines between its braces.
fn answers(file: &File) -> Vec<(usize, String, usize)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String, String, Option<usize>)> = None;
    for (number, line) in file.lines() {
        if open.is_none() {
            let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
            let name = line.trim_start().strip_prefix("async fn ");
            let name = name.and_then(|rest| rest.split(['(', '<']).next());
            open = name.map(|name| (number, name.to_owned(), format!("{indent}}}"), None));
        }
        if let Some((_, _, end, body)) = &mut open {
            if body.is_none() && line.ends_with('{') {
                *body = Some(number);
            }
            if line == end {
                let (number_of, name, _, body) = open.take().unwrap_or_default();
                found.push((number_of, name, body.map_or(0, |body| number - body - 1)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_shape(path: &str, text: &str, expected: &[&str]) {
        let findings = check(&File { path: path.to_owned(), text: text.to_owned() });
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn what_answers_a_call_is_short() {
        let answer = |lines: usize| {
            format!(
                "impl S for Rpc {{\n    async fn cancel(\n        &self,\n    ) -> R {{\n{}    }}\n}}\n",
                "        x();\n".repeat(lines)
            )
        };
        check_shape("master/src/rpc/run.rs", &answer(15), &[]);
        let told = "master/src/rpc/run.rs:2: cancel has 16 lines, more than 15: what decides belongs in service/";
        check_shape("master/src/rpc/run.rs", &answer(16), &[told]);
        check_shape("master/src/service/run.rs", &answer(16), &[]);
        check_shape("master/tests/rpc/run.rs", &answer(16), &[]);
    }

    #[test]
    fn a_file_is_code_and_not_comment() {
        let text = |comments: usize, docs: usize| {
            format!(
                "{}{}{}",
                "// c\n".repeat(comments),
                "/// d\n".repeat(docs),
                "x();\n".repeat(30)
            )
        };
        check_shape("a.rs", &text(10, 20), &[]);
        check_shape("a.rs", &text(9, 0), &[]);
        let told = "a.rs: 20 of 50 lines are comments inside code: let names say more of it";
        check_shape("a.rs", &text(20, 0), &[told]);
    }
}
