//! What is different between two definitions, in words.

use serde_json::Value;

/// Characters of a value that are shown.
const SHOWN_MAX: usize = 60;

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

fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    if text.chars().count() <= SHOWN_MAX {
        return text;
    }
    text.chars().take(SHOWN_MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn a_difference_names_the_field_with_both_values() {
        let before = r#"{"zone":"UTC","script":"a","own":{},"urgency":3}"#;
        let after = r#"{"zone":"Asia/Tokyo","script":"b","own":{"x":1},"urgency":3}"#;
        let told = differences(before, after);
        assert_eq!(told, ["script changed", "zone: UTC -> Asia/Tokyo"]);
    }
}
