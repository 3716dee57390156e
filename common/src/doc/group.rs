//! What a group gives to all below it. Knows no job, and no other group but by the chain it is given.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fields::{Problems, entries, one};
use super::place::join;
use super::settings::Settings;
use super::value::text;
use super::yaml::Node;
use crate::limits::KEY_BYTES_MAX;

/// A group's own owner, config and defaults. In the order of the alphabet: the JSON is canonical.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GroupDoc {
    pub config: BTreeMap<String, String>,
    pub defaults: Settings,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

impl GroupDoc {
    /// The document's one text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("keys are texts and numbers are whole")
    }

    /// Reads what [`GroupDoc::to_json`] wrote.
    ///
    /// # Errors
    /// What no group document is.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// What `other` says of the same group, added; the fields in which they differ.
    pub(super) fn add(&mut self, other: &Self) -> Vec<String> {
        let (mine, theirs) = (self.fields(), other.fields());
        let differ = |(field, value): (&String, &String)| {
            mine.get(field).is_some_and(|my_value| my_value != value).then(|| field.clone())
        };
        let differ: Vec<String> = theirs.iter().filter_map(differ).collect();
        self.owner = self.owner.take().or_else(|| other.owner.clone());
        self.defaults = std::mem::take(&mut self.defaults).or(&other.defaults);
        for (key, value) in &other.config {
            self.config.entry(key.clone()).or_insert_with(|| value.clone());
        }
        differ
    }

    /// What of it another document of the same group does not say, or says otherwise: each `field: before -> after`.
    pub fn lost(&self, after: &Self) -> Vec<String> {
        let after = after.fields();
        let lost = |(field, value): (&String, &String)| {
            let other = after.get(field);
            let told = other.map_or("none", String::as_str);
            (other != Some(value)).then(|| format!("{field}: {value} -> {told}"))
        };
        self.fields().iter().filter_map(lost).collect()
    }

    /// All that is said, as field and text.
    fn fields(&self) -> BTreeMap<String, String> {
        let json = serde_json::to_value(self).expect("keys are texts and numbers are whole");
        let mut found = BTreeMap::new();
        flatten("", &json, &mut found);
        found
    }
}

fn flatten(at: &str, json: &serde_json::Value, found: &mut BTreeMap<String, String>) {
    // `data` is taken whole, so it is compared whole.
    let below = json.as_object().filter(|_object| at != "defaults.data");
    let Some(below) = below else {
        found.insert(at.to_owned(), json.to_string());
        return;
    };
    for (key, json) in below {
        flatten(&join(at, key), json, found);
    }
}

/// The config of a job: the groups' from the root down, then its own; the nearest wins.
pub(super) fn merged_config<'a>(
    chain: impl IntoIterator<Item = &'a GroupDoc>,
    job: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut merged = BTreeMap::new();
    for group in chain {
        merged.extend(group.config.clone());
    }
    merged.extend(job.clone());
    merged
}

/// Reads `config: { key: value }`; values are single, numbers as they are written.
pub(super) fn config(
    node: Option<&Node>,
    at: &str,
    problems: &mut Problems<'_>,
) -> BTreeMap<String, String> {
    let mut config = BTreeMap::new();
    for (key, node) in node.and_then(|node| entries(node, at, problems)).unwrap_or_default() {
        let field = join(at, &key.name);
        if let Some(problem) = bad_key(&key.name) {
            problems.add(key.place, &field, problem);
        }
        if let Some(value) = one(node, &field, problems, text) {
            config.insert(key.name.clone(), value);
        }
    }
    config
}

/// Why a key may not be.
fn bad_key(key: &str) -> Option<String> {
    let letters = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if key.is_empty() {
        return Some("the key is empty".to_owned());
    }
    if key.len() > KEY_BYTES_MAX {
        return Some(format!("the key has more than {KEY_BYTES_MAX} bytes"));
    }
    if let Some(found) = key.chars().find(|c| !letters(*c)) {
        let allowed = "letters, digits, `_`, `-` and `.` are allowed";
        return Some(format!("the key holds `{found}`: {allowed}"));
    }
    if key == "yesterday" || key == "zdt" || key.starts_with("zdt.") {
        return Some(format!("`${{{key}}}` is a date in scripts: choose another key"));
    }
    key.starts_with("secret.").then(|| "secrets are not built yet".to_owned())
}
