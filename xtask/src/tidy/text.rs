//! The form of every text: sizes, first lines, words that must not be. Knows no Rust beyond comments.

use super::Finding;
use super::tree::File;

/// Longer, and nobody finds the second place where a thing is done.
const LINES_MAX: usize = 500;

/// Code that a program wrote may be longer.
const GENERATED: &str = "/generated/";

/// Words of unfinished work. Each is cut here, so that this file does not contain it.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];

/// From this length on a row of one sign in a comment is a divider.
const DIVIDER: usize = 5;

/// `private`: paths of the machine at hand.
pub(super) fn check(file: &File, private: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line, text: String| findings.push(Finding::new(&file.path, line, text));
    for (number, line) in file.lines() {
        if let Some(path) = private.iter().find(|path| line.contains(*path)) {
            find(number, format!("{path} is a path of one machine: leave it out"));
        }
    }
    if !file.is_rust() {
        return findings;
    }
    if !file.text.starts_with("//! ") {
        find(
            1,
            "begins without //!: say what the file is for and what it must not know".to_owned(),
        );
    }
    let count = file.text.lines().count();
    if count > LINES_MAX && !file.path.contains(GENERATED) {
        find(0, format!("{count} lines: cut it by question into files of at most {LINES_MAX}"));
    }
    for (number, line) in file.lines() {
        let Some(comment) = comment(line) else { continue };
        if let Some(word) = UNFINISHED.iter().find(|word| comment.contains(*word)) {
            find(number, format!("{word}: finish it, or open an issue"));
        }
        if is_divider(comment) {
            find(number, "a divider: if the parts need one, they are two files".to_owned());
        }
    }
    findings
}

/// The text of a line's comment.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("//").or_else(|| line.split_once(" // ").map(|(_, comment)| comment))
}

fn is_divider(comment: &str) -> bool {
    let text = comment.trim_start_matches(['/', '!']).trim();
    let rule = |c: char| matches!(c, '-' | '=' | '*' | '#' | '~' | '_');
    text.len() >= DIVIDER && (text.chars().all(rule) || text.starts_with("-----"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[(usize, &str)]) {
        let private = ["/srv/mine".to_owned()];
        let findings = check(&File { path: path.to_owned(), text: text.to_owned() }, &private);
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, (line, part)) in findings.iter().zip(expected) {
            assert_eq!(finding.line, *line);
            assert!(finding.text.contains(part), "{finding}");
        }
    }

    #[test]
    fn a_source_file_says_what_it_is_for_and_is_short() {
        check_text("a.rs", "//! A room.\n", &[]);
        check_text("a.rs", "use x;\n", &[(1, "begins without //!")]);
        let long = format!("//! A room.\n{}", "\n".repeat(LINES_MAX));
        check_text("a.rs", &long, &[(0, "501 lines")]);
        check_text("a/generated/b.rs", &long, &[]);
    }

    #[test]
    fn words_that_must_not_be_are_found() {
        let cases = [
            (concat!("// TO", "DO later"), "finish it"),
            (concat!("let a = 1; // FIX", "ME"), "finish it"),
            (concat!("// ---", "--- parts"), "divider"),
            (concat!("// ===", "==="), "divider"),
        ];
        for (line, part) in cases {
            check_text("a.rs", &format!("//! A room.\n{line}\n"), &[(2, part)]);
        }
        check_text("a.md", "see /srv/mine/x", &[(1, "path of one machine")]);
        check_text("a.rs", "//! A room.\nlet todo = \"-----\"; // a word -- and a dash\n", &[]);
    }
}
