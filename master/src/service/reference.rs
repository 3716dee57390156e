//! How people name an action or a run, read from its text. Pure: it knows no job and no store.

use hera_common::id::{ActionId, RunId};
use hera_common::path::Path;
use hera_common::time::Version;
use jiff::Timestamp;

/// An action as it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ActionName {
    Number(ActionId),
    Of { job: Path, at: At },
}

/// Which action of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum At {
    /// A job alone: its latest.
    Unsaid,
    /// The newest due one.
    Latest,
    Next,
    Failed,
    Succeeded,
    Version(Version),
    /// The first of the 14 local digits `yyyyMMddHHmmss`, where need be with the offset from UTC in minutes.
    Digits {
        prefix: String,
        offset: Option<i32>,
    },
}

/// A run as it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunName {
    Number(RunId),
    /// The newest run of an action.
    NewestOf(ActionName),
}

/// The digits of a version as people write them.
const DIGITS: usize = 14;
/// A year; less would be a guess.
const DIGITS_MIN: usize = 4;

/// Reads `r42` or the name of an action.
///
/// # Errors
/// What is wrong with the text.
pub(crate) fn run(text: &str) -> Result<RunName, String> {
    if let Some(number) = text.strip_prefix('r').and_then(number) {
        return Ok(RunName::Number(RunId::from_raw(number)));
    }
    action(text).map(RunName::NewestOf)
}

/// Reads `group/job@V`, `group/job` or `42`.
///
/// # Errors
/// What is wrong with the text.
pub(crate) fn action(text: &str) -> Result<ActionName, String> {
    if let Some(number) = number(text) {
        return Ok(ActionName::Number(ActionId::from_raw(number)));
    }
    let (job, at) = match text.split_once('@') {
        Some((job, at)) => (job, self::at(at)?),
        None => (text, At::Unsaid),
    };
    let job = Path::parse(job).map_err(|error| format!("`{job}` is no path of a job: {error}"))?;
    Ok(ActionName::Of { job, at })
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

fn at(text: &str) -> Result<At, String> {
    match text {
        "latest" => return Ok(At::Latest),
        "next" => return Ok(At::Next),
        "failed" => return Ok(At::Failed),
        "succeeded" => return Ok(At::Succeeded),
        _ => {}
    }
    if text.contains(['T', 't'])
        && let Ok(instant) = text.parse::<Timestamp>()
    {
        return Ok(At::Version(Version::from_timestamp(instant)));
    }
    digits(text).ok_or_else(|| {
        format!(
            "`{text}` is no version: write the first of its local digits yyyyMMddHHmmss, a date, RFC 3339, or one of latest, next, failed, succeeded"
        )
    })
}

/// `20261025`, `2026-10-25`, `20261025023000+0100`, `2026-10-25T02:30`.
fn digits(text: &str) -> Option<At> {
    let (local, offset) = split_offset(text)?;
    let prefix: String = local.chars().filter(char::is_ascii_digit).collect();
    let odd = local.chars().any(|c| !c.is_ascii_digit() && !matches!(c, '-' | ':' | 'T' | ' '));
    let separated = local.len() > prefix.len();
    // With separators the fields are whole: `2026-1` is not the year and a ten of months.
    let whole = !separated || prefix.len().is_multiple_of(2);
    let fits = (DIGITS_MIN..=DIGITS).contains(&prefix.len());
    (fits && whole && !odd).then_some(At::Digits { prefix, offset })
}

fn split_offset(text: &str) -> Option<(&str, Option<i32>)> {
    // A date holds `-` as well: an offset follows a time of day, or fourteen digits.
    let place = match text.rfind('+') {
        Some(place) => Some(place),
        None => text.rfind('-').filter(|at| *at >= DIGITS),
    };
    let Some(place) = place else { return Some((text, None)) };
    let (local, offset) = text.split_at_checked(place)?;
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let plain: String = offset.chars().skip(1).filter(|c| *c != ':').collect();
    let (hours, minutes) = (plain.get(..2)?, plain.get(2..).filter(|rest| rest.len() == 2)?);
    let (hours, minutes) = (hours.parse::<i32>().ok()?, minutes.parse::<i32>().ok()?);
    Some((local, Some(sign * (hours * 60 + minutes))))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{ActionName, At, RunName, action, run};

    fn told(text: &str) -> String {
        match action(text) {
            Ok(ActionName::Number(id)) => format!("number {id}"),
            Ok(ActionName::Of { job, at: At::Version(version) }) => format!("{job} at {version}"),
            Ok(ActionName::Of { job, at }) => format!("{job} {at:?}"),
            Err(problem) => problem,
        }
    }

    #[test]
    fn an_action_is_named_in_many_ways() {
        let names = [
            "42",
            "a/b",
            "/a/b@latest",
            "a@next",
            "a@failed",
            "a@succeeded",
            "a@2026",
            "a@20260329",
            "a@2026-03-29",
            "a@20261025023000+0100",
            "a@20261025023000+01:00",
            "a@20261025013000-0400",
            "a@2026-10-25T02:30",
            "a@2026-10-25T02:30:00+01:00",
            "a@2026-10-25T01:30:00Z",
            "a@2026-10-25T01:30:00.250Z",
            "a@202",
            "a@2026-1",
            "a@2026x",
            "a@yesterday",
            "a@202610250230001",
            "a@20261025023000+1",
            "a@",
            "a b@latest",
            "",
        ];
        let told: Vec<_> = names.iter().map(|name| format!("{name}: {}", told(name))).collect();
        expect![[r#"
            42: number 42
            a/b: a/b Unsaid
            /a/b@latest: a/b Latest
            a@next: a Next
            a@failed: a Failed
            a@succeeded: a Succeeded
            a@2026: a Digits { prefix: "2026", offset: None }
            a@20260329: a Digits { prefix: "20260329", offset: None }
            a@2026-03-29: a Digits { prefix: "20260329", offset: None }
            a@20261025023000+0100: a Digits { prefix: "20261025023000", offset: Some(60) }
            a@20261025023000+01:00: a Digits { prefix: "20261025023000", offset: Some(60) }
            a@20261025013000-0400: a Digits { prefix: "20261025013000", offset: Some(-240) }
            a@2026-10-25T02:30: a Digits { prefix: "202610250230", offset: None }
            a@2026-10-25T02:30:00+01:00: a at 2026-10-25T01:30:00Z
            a@2026-10-25T01:30:00Z: a at 2026-10-25T01:30:00Z
            a@2026-10-25T01:30:00.250Z: a at 2026-10-25T01:30:00.250Z
            a@202: `202` is no version: write the first of its local digits yyyyMMddHHmmss, a date, RFC 3339, or one of latest, next, failed, succeeded"#]]
        .assert_eq(&told[..17].join("\n"));
        for (name, told) in names.iter().zip(&told).skip(17) {
            assert!(
                told.contains("is no version") || told.contains("is no path"),
                "{name}: {told}"
            );
        }
    }

    #[test]
    fn a_run_is_a_number_or_the_newest_of_an_action() {
        assert!(matches!(run("r42"), Ok(RunName::Number(id)) if id.raw() == 42));
        assert!(matches!(run("rx"), Ok(RunName::NewestOf(ActionName::Of { .. }))));
        assert!(matches!(run("42"), Ok(RunName::NewestOf(ActionName::Number(_)))));
    }
}
