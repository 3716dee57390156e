//! Scripts made ready for a version: `${key}` from config, `${zdt…}` dates, `${yesterday}`; all else
//! is the shell's and stays as it is. Knows no job and no run.

mod calendar;
mod expression;
mod pattern;

use std::collections::BTreeMap;

use hera_common::limits::{KEY_BYTES_MAX, SCRIPT_BYTES_MAX};
use hera_common::time::Version;
use jiff::tz::TimeZone;

use crate::time::zone;

/// Values within values: more is hardly meant, and each takes stack.
const DEPTH_MAX: usize = 32;
/// Values put in: values that double each other a few times would take for ever.
const VALUES_MAX: usize = 100_000;
/// Bytes of one date expression; what has no closing brace within them is the shell's.
const EXPRESSION_BYTES_MAX: usize = 4_096;

/// Why a script cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {}{problem}", prefix(.expression))]
pub struct RenderError {
    /// Of the `${` in the script, from 1; where the fault is in a value, of the `${` that led there.
    pub line: u32,
    pub column: u32,
    /// As written, with its braces; empty where the script as a whole is at fault.
    pub expression: String,
    pub problem: String,
}

fn prefix(expression: &str) -> String {
    if expression.is_empty() { String::new() } else { format!("`{expression}`: ") }
}

/// Renders a script for a version in a zone.
///
/// # Errors
/// The first expression that cannot be evaluated, a loop among values, an unknown zone, a result of
/// more than [`SCRIPT_BYTES_MAX`] bytes.
pub fn render(
    text: &str,
    config: &BTreeMap<String, String>,
    version: Version,
    zone: &str,
) -> Result<String, RenderError> {
    let mut rendering =
        Rendering { config, version, zone, found: None, path: Vec::new(), values: 0 };
    rendering.expand(text).map_err(|Fault { at, expression, problem }| {
        let before = text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        RenderError { line: number(line), column: number(column), expression, problem }
    })
}

/// What went wrong, at a byte of the text that was looked at.
struct Fault {
    at: usize,
    expression: String,
    problem: String,
}

struct Rendering<'a> {
    config: &'a BTreeMap<String, String>,
    version: Version,
    zone: &'a str,
    /// The zone, once a date has asked for it.
    found: Option<TimeZone>,
    /// The keys whose values are being put in, outermost first.
    path: Vec<&'a str>,
    values: usize,
}

impl<'a> Rendering<'a> {
    /// The text with all that is ours in it replaced.
    fn expand(&mut self, text: &str) -> Result<String, Fault> {
        let mut out = String::new();
        let mut from = 0;
        while let Some(found) = text.get(from..).and_then(|rest| rest.find("${")) {
            let at = from + found;
            out.push_str(text.get(from..at).unwrap_or_default());
            let inside = text.get(at + 2..).unwrap_or_default();
            let (put, taken) = match self.replaced(inside) {
                Ok(Some(replaced)) => replaced,
                // The shell's: what stands in it may be ours again.
                Ok(None) => ("${".to_owned(), 0),
                Err((expression, problem)) => {
                    return Err(Fault { at, expression: format!("${{{expression}}}"), problem });
                }
            };
            out.push_str(&put);
            from = at + 2 + taken;
            too_long(&out, at)?;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        too_long(&out, from)?;
        Ok(out)
    }

    /// What takes the place of `${` and of as many bytes behind it; None where it is not ours. A
    /// fault comes with the expression.
    fn replaced(&mut self, inside: &str) -> Result<Option<(String, usize)>, (String, String)> {
        // Looked at within bounds: a text of nothing but `${` would be read to its end for each of them.
        let near = |bytes: usize| inside.get(..inside.floor_char_boundary(bytes)).unwrap_or(inside);
        let Some((name, _after)) = near(KEY_BYTES_MAX + 1).split_once('}') else {
            return self.date_at(near(EXPRESSION_BYTES_MAX));
        };
        if let Some((key, value)) = self.config.get_key_value(name) {
            let put = self.value(key, value).map_err(|problem| (name.to_owned(), problem))?;
            return Ok(Some((put, name.len() + 1)));
        }
        if name == "yesterday" {
            let put = self.date("zdt.addDay(-1).format(\"yyyyMMdd\")");
            return Ok(Some((put.map_err(|problem| (name.to_owned(), problem))?, name.len() + 1)));
        }
        self.date_at(near(EXPRESSION_BYTES_MAX))
    }

    fn date_at(&mut self, inside: &str) -> Result<Option<(String, usize)>, (String, String)> {
        if !is_date(inside) {
            return Ok(None);
        }
        let Some(end) = end_of_date(inside) else { return Ok(None) };
        let written = inside.get(..end).unwrap_or_default();
        let fault = |problem| (written.to_owned(), problem);
        let expression = self.with_values(written).map_err(fault)?;
        let put = self.date(&expression).map_err(fault)?;
        Ok(Some((put, end + 1)))
    }

    /// A value, with all that is ours in it replaced.
    fn value(&mut self, key: &'a str, value: &str) -> Result<String, String> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(format!("puts in more than {VALUES_MAX} values"));
        }
        if let Some(first) = self.path.iter().position(|above| *above == key) {
            let round = self.path.iter().skip(first).chain([&key]);
            let round: Vec<&str> = round.copied().collect();
            return Err(format!("the values go round: {}", round.join(" -> ")));
        }
        if self.path.len() == DEPTH_MAX {
            return Err(format!("the values stand more than {DEPTH_MAX} deep in each other"));
        }
        self.path.push(key);
        let expanded = self.expand(value);
        self.path.pop();
        expanded.map_err(|Fault { at: _, expression, problem }| {
            // A loop has named its keys already.
            let inner = format!("in its value `{expression}`: ");
            if problem.starts_with("the values go round") { problem } else { inner + &problem }
        })
    }

    /// A date expression with the keys in it replaced.
    fn with_values(&mut self, written: &str) -> Result<String, String> {
        let mut expression = String::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            let found = self.config.get_key_value(name);
            let (key, value) = found.ok_or_else(|| format!("there is no config key `{name}`"))?;
            expression.push_str(before);
            expression.push_str(&self.value(key, value)?);
            rest = after;
        }
        expression.push_str(rest);
        if expression.len() > EXPRESSION_BYTES_MAX {
            return Err(format!("has more than {EXPRESSION_BYTES_MAX} bytes"));
        }
        Ok(expression)
    }

    fn date(&mut self, expression: &str) -> Result<String, String> {
        if self.found.is_none() {
            let unknown = || format!("there is no time zone `{}`", self.zone);
            self.found = Some(zone::find(self.zone).ok_or_else(unknown)?);
        }
        let Some(zone) = &self.found else { return Ok(String::new()) };
        expression::evaluate(expression, zone, self.version.ms())
    }
}

/// Whether a date expression begins here, and not a variable whose name begins like one.
fn is_date(inside: &str) -> bool {
    let after = inside.strip_prefix("zdt").and_then(|rest| rest.chars().next());
    after.is_some_and(|c| matches!(c, '.' | '}' | '(') || c.is_whitespace())
}

/// Where the closing brace of a date expression stands; keys in it have braces of their own.
fn end_of_date(inside: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let rest = inside.get(from..)?;
        let end = rest.find('}')?;
        match rest.find("${") {
            Some(key) if key < end => from += end + 1,
            Some(_) | None => return Some(from + end),
        }
    }
}

fn too_long(out: &str, at: usize) -> Result<(), Fault> {
    if out.len() <= SCRIPT_BYTES_MAX {
        return Ok(());
    }
    let problem = format!("the script has more than {SCRIPT_BYTES_MAX} bytes");
    Err(Fault { at, expression: String::new(), problem })
}

#[cfg(test)]
mod tests;
