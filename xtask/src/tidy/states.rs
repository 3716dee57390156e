//! States as words: they are compared as values of their types, and turned into words where they leave. Knows no state.

use super::Finding;
use super::tree::File;

/// The words of states of actions, runs and attempts.
const WORDS: &[&str] = &[
    "planned",
    "waiting",
    "active",
    "succeeded",
    "failed",
    "cancelled",
    "skipped",
    "queued",
    "leased",
    "running",
    "started",
    "timed_out",
    "interrupted",
    "lost",
    "unaccepted",
    "not_yet",
];

/// Crates that hold states as values. The command line gets words, and its tests and others compare them.
const CRATES: &[&str] = &["common/src", "engine/src", "store/src", "master/src", "worker/src"];

/// Words of people that are no states: of job files, and of references such as `JOB@failed`.
const OTHER_WORDS: &[&str] = &["common/src/doc/label", "master/src/service/reference"];

pub(super) fn check(file: &File) -> Vec<Finding> {
    let within = |places: &[&str]| places.iter().any(|place| file.lies_in(place));
    let in_tests = file.stem() == "tests" || file.path.contains("/tests/");
    if !within(CRATES) || within(OTHER_WORDS) || in_tests {
        return Vec::new();
    }
    let code = file.code().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    let compared = code.filter_map(|(number, line)| Some((number, compared(line)?)));
    let finding = |(number, word)| {
        let text =
            format!("{word:?} is compared as a word: match the state itself, or call word()");
        Finding::new(&file.path, number, text)
    };
    compared.map(finding).collect()
}

/// The word that a line compares something with.
fn compared(line: &str) -> Option<&'static str> {
    WORDS.iter().copied().find(|word| {
        let literal = format!("\"{word}\"");
        line.match_indices(&literal).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default().trim_end();
            let after = line.get(at + literal.len()..).unwrap_or_default().trim_start();
            before.ends_with("==")
                || before.ends_with("!=")
                || after.starts_with("=>")
                || after.starts_with('|')
                || before.ends_with('|')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_no_word_within_the_program() {
        let text = "if state == \"running\" {\n    \"queued\" => 1,\n    Self::Running => \"running\",\n\
                    find(\"running\");\n#[cfg(test)]\nassert!(word == \"running\");\n";
        let lines = |path: &str| {
            let file = File { path: path.to_owned(), text: text.to_owned() };
            check(&file).iter().map(|f| f.line).collect::<Vec<_>>()
        };
        assert_eq!(lines("engine/src/run.rs"), [1, 2]);
        assert_eq!(lines("engine/src/run/tests.rs"), [0; 0]);
        assert_eq!(lines("cli/src/command/follow.rs"), [0; 0]);
        assert_eq!(lines("master/src/service/reference.rs"), [0; 0]);
    }
}
