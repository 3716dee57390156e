//! What people ask a list for, checked word by word: patterns over paths, states, dates. Knows the catalog, no store.

use std::collections::BTreeSet;

use hera_common::id::JobId;
use hera_common::run::Trigger;
use hera_common::time::Version;
use hera_engine::catalog::{Catalog, Job};
use hera_store::{ActionStates, RunStates};
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};

use super::fault::Fault;

/// Which jobs; empty texts are no limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobsWanted {
    /// A pattern over the path: `*` within a name, `**` across names.
    pub(crate) job: String,
    /// A group, or `group/**` with all below.
    pub(crate) group: String,
    pub(crate) owner: String,
}

/// Which actions; empty is no limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActionWanted {
    pub(crate) jobs: JobsWanted,
    pub(crate) states: Vec<String>,
    pub(crate) reasons: Vec<String>,
    pub(crate) day: String,
    pub(crate) data: String,
    pub(crate) triggers: Vec<String>,
}

impl JobsWanted {
    /// True where every job is wanted.
    pub(crate) fn all(&self) -> bool {
        self.job.is_empty() && self.group.is_empty() && self.owner.is_empty()
    }

    pub(crate) fn takes(&self, job: &Job) -> bool {
        let path = job.row.path.as_str();
        (self.job.is_empty() || matches(self.job.trim_start_matches('/'), path))
            && in_group(&self.group, path)
            && (self.owner.is_empty() || self.owner == owner(job))
    }

    /// The jobs; None: all.
    pub(crate) fn ids(&self, catalog: &Catalog) -> Option<Vec<JobId>> {
        let wanted = || catalog.jobs.values().filter(|job| self.takes(job)).map(|job| job.row.id);
        (!self.all()).then(|| wanted().collect())
    }
}

/// The team that answers for a job; empty: nobody said.
pub(crate) fn owner(job: &Job) -> &str {
    job.spec.as_ref().map_or("", |spec| spec.owner.as_str())
}

/// True for what lies directly in `group`, or below where it ends in `/**`; empty takes all.
pub(crate) fn in_group(group: &str, path: &str) -> bool {
    let group = group.trim_matches('/');
    let above = path.rsplit_once('/').map_or("", |(above, _name)| above);
    match group.strip_suffix("**").map(|top| top.trim_end_matches('/')) {
        _ if group.is_empty() => true,
        Some("") => true,
        Some(top) => path.strip_prefix(top).is_some_and(|rest| rest.starts_with('/')),
        None => above == group,
    }
}

/// `*` within a name, `**` across names.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<_>, Vec<_>) =
        (pattern.split('/').collect(), path.split('/').collect());
    // For each number of names of the path: do the parts so far match them?
    let mut reached = vec![false; path.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        for (place, here) in reached.iter().enumerate().filter(|(_, here)| **here) {
            debug_assert!(*here, "filtered");
            if part == "**" {
                next.iter_mut().skip(place).for_each(|at| *at = true);
            } else if path.get(place).is_some_and(|name| in_name(part, name))
                && let Some(at) = next.get_mut(place + 1)
            {
                *at = true;
            }
        }
        reached = next;
    }
    reached.last() == Some(&true)
}

fn in_name(part: &str, name: &str) -> bool {
    let mut pieces = part.split('*');
    let Some(rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut rest = Some(rest);
    let pieces: Vec<_> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest == Some("") };
    for piece in middle {
        rest = rest.and_then(|rest| rest.split_once(piece)).map(|(_before, after)| after);
    }
    rest.is_some_and(|rest| rest.ends_with(last))
}

/// States of actions: `failed`, `failed(exit)`, `active(queued)`.
pub(crate) fn action_states(field: &str, texts: &[String]) -> Result<Vec<ActionStates>, Fault> {
    let known: Vec<_> =
        ActionStates::all().into_iter().map(|s| ((s.word(), s.reason()), s)).collect();
    texts.iter().map(|text| state(field, text, &known)).collect()
}

/// States of runs.
pub(crate) fn run_states(field: &str, texts: &[String]) -> Result<Vec<RunStates>, Fault> {
    let known: Vec<_> = RunStates::all().into_iter().map(|s| ((s.word(), s.reason()), s)).collect();
    texts.iter().map(|text| state(field, text, &known)).collect()
}

/// A bare word, and a bracketed one where there is one.
type StateWords = (&'static str, Option<&'static str>);

/// The state that has the words of `text`.
fn state<S: Copy>(field: &str, text: &str, known: &[(StateWords, S)]) -> Result<S, Fault> {
    let (word, reason) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((word, reason)) => (word, Some(reason)),
        None => (text, None),
    };
    if let Some((_, found)) = known.iter().find(|(words, _)| *words == (word, reason)) {
        return Ok(*found);
    }
    let of_word = known.iter().filter(|((known, _), _)| *known == word);
    let reasons: Vec<_> = of_word.clone().filter_map(|((_, reason), _)| *reason).collect();
    let problem = match (reason, of_word.count(), reasons.join(", ").as_str()) {
        (None, ..) | (_, 0, _) => {
            let bare = known.iter().filter(|((_, reason), _)| reason.is_none());
            let names: Vec<_> = bare.map(|((word, _), _)| *word).collect();
            format!("`{text}` is no state: write one of {}", names.join(", "))
        }
        (Some(_), _, "") => format!("`{word}` has no word in brackets"),
        (Some(reason), _, list) => {
            format!("`{reason}` is no word of `{word}`: write one of {list}")
        }
    };
    Err(Fault::invalid(field, problem))
}

/// Bracketed words of ended states.
pub(crate) fn reasons(field: &str, texts: &[String]) -> Result<Vec<String>, Fault> {
    let ended =
        |states: &ActionStates| !matches!(states, ActionStates::Active(_) | ActionStates::Dropped);
    let states = ActionStates::all().into_iter().filter(ended);
    known(field, texts, states.filter_map(ActionStates::reason))
}

/// Bracketed words of runs.
pub(crate) fn run_reasons(field: &str, texts: &[String]) -> Result<Vec<String>, Fault> {
    known(field, texts, RunStates::all().into_iter().filter_map(RunStates::reason))
}

fn known(
    field: &str,
    texts: &[String],
    words: impl Iterator<Item = &'static str>,
) -> Result<Vec<String>, Fault> {
    let known: BTreeSet<&str> = words.collect();
    match texts.iter().find(|text| !known.contains(text.as_str())) {
        Some(bad) => {
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            Err(Fault::invalid(field, format!("`{bad}` is no reason: write one of {known}")))
        }
        None => Ok(texts.to_vec()),
    }
}

/// Triggers of runs.
pub(crate) fn triggers(field: &str, texts: &[String]) -> Result<Vec<Trigger>, Fault> {
    let one = |text: &String| {
        Trigger::from_label(text).ok_or_else(|| {
            let known = Trigger::ALL.map(Trigger::label).join(", ");
            Fault::invalid(field, format!("`{text}` is no trigger: write one of {known}"))
        })
    };
    texts.iter().map(one).collect()
}

/// A date as `yyyy-MM-dd`; None where the text is empty.
pub(crate) fn date(field: &str, text: &str) -> Result<Option<Date>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let plain = text.len() == 10;
    let date = plain.then(|| text.parse::<Date>().ok()).flatten();
    let bad = || Fault::invalid(field, format!("`{text}` is no date: write yyyy-MM-dd"));
    date.ok_or_else(bad).map(Some)
}

/// The instants that have this date somewhere: from the first hour of the easternmost zone to the last of the westernmost.
pub(crate) fn day_anywhere(day: Date) -> (Version, Version) {
    let at = |day: Date, hours: i8| {
        let zone = TimeZone::fixed(Offset::constant(hours));
        day.to_zoned_datetime(zone).map_or(0, |at| at.timestamp().as_millisecond())
    };
    let next = day.tomorrow().unwrap_or(day);
    (Version::from_ms(at(day, 14)), Version::from_ms(at(next, -12)))
}

/// True where the version has this date in its zone.
pub(crate) fn on_day(version: Version, zone: &str, day: Date) -> bool {
    super::shown::local(version, zone).date() == day
}

#[cfg(test)]
mod tests {
    use hera_common::run::QueuedWhy;

    use super::{RunStates, action_states, date, in_group, matches, reasons, run_states};

    #[test]
    fn a_pattern_matches_within_names_and_across_them() {
        for (pattern, path, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/b", true),
            ("a/*", "a/b/c", false),
            ("a/**", "a/b/c", true),
            ("**/c", "a/b/c", true),
            ("**/c", "c", true),
            ("**", "a/b/c", true),
            ("a/**/d", "a/d", true),
            ("a/**/d", "a/b/c/d", true),
            ("*_daily", "orders_daily", true),
            ("o*s*y", "orders_daily", true),
            ("o*x*y", "orders_daily", false),
            ("a*a", "a", false),
            ("*", "a", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_group_is_what_lies_in_it_or_below_it() {
        for (group, path, expected) in [
            ("", "a/b", true),
            ("a", "a/b", true),
            ("a", "a/b/c", false),
            ("/a/", "a/b", true),
            ("a/**", "a/b/c", true),
            ("a/**", "ab/c", false),
            ("**", "x", true),
        ] {
            assert_eq!(in_group(group, path), expected, "{group} {path}");
        }
    }

    #[test]
    fn an_unknown_state_is_refused_with_the_known_ones() {
        let told = |texts: &[&str]| {
            let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
            match action_states("states", &texts) {
                Ok(states) => format!("{} states", states.len()),
                Err(fault) => fault.to_string(),
            }
        };
        assert_eq!(told(&["failed", "failed(exit)", "active(queued)"]), "3 states");
        assert_eq!(
            told(&["fail"]),
            "states: `fail` is no state: write one of planned, waiting, active, succeeded, failed, cancelled, skipped"
        );
        assert_eq!(told(&["waiting(x)"]), "states: `waiting` has no word in brackets");
        assert_eq!(told(&["fail(exit)"]), told(&["fail"]).replace("`fail`", "`fail(exit)`"));
        assert_eq!(
            told(&["planned(x)"]),
            "states: `x` is no word of `planned`: write one of dropped"
        );
        assert_eq!(
            told(&["active(x)"]),
            "states: `x` is no word of `active`: write one of queued, running, retry"
        );
        let asked = ["queued(retry)", "cancelled"].map(ToOwned::to_owned);
        let states = run_states("states", &asked).unwrap();
        let retry = RunStates::Queued(Some(QueuedWhy::Retry));
        assert_eq!(states, [retry, RunStates::Cancelled(None)]);
        let fault = reasons("reasons", &["queued".to_owned()]).unwrap_err().to_string();
        assert!(
            fault.starts_with("reasons: `queued` is no reason: write one of area, "),
            "{fault}"
        );
    }

    #[test]
    fn a_date_is_written_in_full() {
        assert!(date("day", "2026-03-29").unwrap().is_some());
        assert!(date("day", "").unwrap().is_none());
        assert!(date("day", "2026-3-29").is_err());
        assert!(date("day", "2026-02-30").is_err());
    }
}
