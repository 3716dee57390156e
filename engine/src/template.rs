//! Scripts rendered: `${key}` from config; what is no key stays as it is.

use std::collections::BTreeMap;

use hera_common::time::Version;

/// Why a script cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {expression}: {problem}")]
pub struct RenderError {
    pub line: u32,
    pub column: u32,
    pub expression: String,
    pub problem: String,
}

/// Replaces keys by their values.
///
/// # Errors
/// None yet: dates are read by a later commit.
pub fn render(
    text: &str,
    config: &BTreeMap<String, String>,
    _version: Version,
    _zone: &str,
) -> Result<String, RenderError> {
    let keys = config.iter();
    Ok(keys.fold(text.to_owned(), |text, (key, value)| text.replace(&format!("${{{key}}}"), value)))
}
