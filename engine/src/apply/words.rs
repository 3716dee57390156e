//! What is different between two definitions, in words.

use serde_json::Value;

/// Characters of a value that are shown.
const SHOWN_MAX: usize = 60;

/// Lines of a script that are shown of each side.
const LINES_MAX: usize = 10;

/// The fields that differ, each `field: before -> after`. Both texts are job documents in JSON.
pub fn differences(before: &str, after: &str) -> Vec<String> {
    let read = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
    let (Value::Object(before), Value::Object(after)) = (read(before), read(after)) else {
        return vec!["the definition".to_owned()];
    };
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    keys.into_iter()
        // `own` says where a value comes from, not what it is.
        .filter(|key| *key != "own" && before.get(*key) != after.get(*key))
        .map(|key| match key.as_str() {
            "script" | "files" => format!("{key} changed"),
            _ => format!("{key}: {} -> {}", shown(before.get(key)), shown(after.get(key))),
        })
        .collect()
}

/// As [`differences`], with the lines of the scripts that differ.
pub(super) fn diff(before: &str, after: &str) -> Vec<String> {
    let mut told = differences(before, after);
    let script = |text: &str| {
        let read = serde_json::from_str(text).unwrap_or(Value::Null);
        read.get("script").and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
    };
    if let Some(place) = told.iter().position(|line| line == "script changed") {
        let lines = lines(&script(before), &script(after));
        let after = told.split_off(place + 1);
        told.extend(lines);
        told.extend(after);
    }
    told
}

/// What lies between the first and the last line that differ: `- before`, then `+ after`.
fn lines(before: &str, after: &str) -> Vec<String> {
    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let pairs = || before.iter().zip(&after);
    let same = pairs().take_while(|(left, right)| left == right).count();
    let shorter = before.len().min(after.len()) - same;
    let backwards = before.iter().rev().zip(after.iter().rev()).take(shorter);
    let tail = backwards.take_while(|(left, right)| left == right).count();
    let middle = |lines: &[&str], sign: char| {
        let lines = lines.get(same..lines.len() - tail).unwrap_or_default();
        let told = lines.iter().take(LINES_MAX).map(|line| format!("  {sign} {}", short(line)));
        let more = lines.len().saturating_sub(LINES_MAX);
        let more = (more > 0).then(|| format!("  {sign} … {more} lines more"));
        told.chain(more).collect::<Vec<_>>()
    };
    [middle(&before, '-'), middle(&after, '+')].concat()
}

fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    short(&text)
}

fn short(text: &str) -> String {
    if text.chars().count() <= SHOWN_MAX {
        return text.to_owned();
    }
    text.chars().take(SHOWN_MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::{diff, differences};

    #[test]
    fn a_difference_names_the_field_with_both_values() {
        let before = r#"{"zone":"UTC","script":"a","own":{},"urgency":3}"#;
        let after = r#"{"zone":"Asia/Tokyo","script":"b","own":{"x":1},"urgency":3}"#;
        let told = differences(before, after);
        assert_eq!(told, ["script changed", "zone: UTC -> Asia/Tokyo"]);
    }

    #[test]
    fn a_diff_shows_the_lines_of_the_script_that_differ() {
        let told = |before: &str, after: &str| {
            let doc = |script: &str| serde_json::json!({ "script": script, "zone": "UTC" });
            diff(&doc(before).to_string(), &doc(after).to_string())
        };
        let lines = told("a\nb\nc\nz", "a\nB\nz");
        assert_eq!(lines, ["script changed", "  - b", "  - c", "  + B"]);
        assert_eq!(told("a\na", "a\na\na"), ["script changed", "  + a"]);
        assert_eq!(told("a", "a"), Vec::<String>::new());
        let long = "x\n".repeat(12);
        assert_eq!(told(&long, "").last().unwrap(), "  - … 2 lines more");
    }
}
