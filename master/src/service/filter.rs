//! What people ask a list for, checked word by word: patterns over paths, states, dates. Knows the catalog, no store.

use hera_common::action::SkipReason;
use hera_common::id::JobId;
use hera_common::run::{CancelReason, FailReason, Trigger};
use hera_common::time::Version;
use hera_engine::catalog::{Catalog, Job};
use hera_store::StateFilter;
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

/// States of actions, with the bracketed words that each may have.
const ACTION_STATES: [(&str, Words); 7] = [
    ("planned", Words::Planned),
    ("waiting", Words::None),
    ("active", Words::Active),
    ("succeeded", Words::Forced),
    ("failed", Words::Failed),
    ("cancelled", Words::None),
    ("skipped", Words::Skipped),
];

/// States of runs.
const RUN_STATES: [(&str, Words); 6] = [
    ("queued", Words::Queued),
    ("leased", Words::None),
    ("running", Words::None),
    ("succeeded", Words::None),
    ("failed", Words::Failed),
    ("cancelled", Words::Cancelled),
];

/// Which bracketed words a state may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    None,
    Planned,
    Active,
    Forced,
    Failed,
    Skipped,
    Queued,
    Cancelled,
}

impl Words {
    fn list(self) -> Vec<&'static str> {
        match self {
            Self::None => Vec::new(),
            Self::Planned => vec!["dropped"],
            Self::Active => vec!["queued", "running", "retry"],
            Self::Forced => vec!["forced"],
            Self::Failed => FailReason::ALL.map(FailReason::label).to_vec(),
            Self::Skipped => SkipReason::ALL.map(SkipReason::label).to_vec(),
            Self::Queued => vec!["new", "retry", "released", "unaccepted", "worker_restart"],
            Self::Cancelled => CancelReason::ALL.map(CancelReason::label).to_vec(),
        }
    }
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
pub(crate) fn action_states(field: &str, texts: &[String]) -> Result<Vec<StateFilter>, Fault> {
    texts.iter().map(|text| state(field, text, &ACTION_STATES)).collect()
}

/// States of runs.
pub(crate) fn run_states(field: &str, texts: &[String]) -> Result<Vec<StateFilter>, Fault> {
    texts.iter().map(|text| state(field, text, &RUN_STATES)).collect()
}

fn state(field: &str, text: &str, known: &[(&str, Words)]) -> Result<StateFilter, Fault> {
    let (word, reason) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((word, reason)) => (word, Some(reason)),
        None => (text, None),
    };
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let Some((_, words)) = known.iter().find(|(name, _)| *name == word) else {
        return Err(Fault::invalid(
            field,
            format!("`{text}` is no state: write one of {}", names()),
        ));
    };
    if let Some(reason) = reason
        && !words.list().contains(&reason)
    {
        let list = words.list().join(", ");
        let problem = match list.as_str() {
            "" => format!("`{word}` has no word in brackets"),
            list => format!("`{reason}` is no word of `{word}`: write one of {list}"),
        };
        return Err(Fault::invalid(field, problem));
    }
    Ok(StateFilter { word: word.to_owned(), reason: reason.map(ToOwned::to_owned) })
}

/// Bracketed words of ended states.
pub(crate) fn reasons(field: &str, texts: &[String]) -> Result<Vec<String>, Fault> {
    let known = [Words::Failed, Words::Skipped, Words::Forced].map(Words::list).concat();
    match texts.iter().find(|text| !known.contains(&text.as_str())) {
        Some(bad) => {
            let known = known.join(", ");
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
    use super::{action_states, date, in_group, matches, run_states};

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
        assert_eq!(
            told(&["active(x)"]),
            "states: `x` is no word of `active`: write one of queued, running, retry"
        );
        assert!(run_states("states", &["queued(retry)".to_owned()]).is_ok());
    }

    #[test]
    fn a_date_is_written_in_full() {
        assert!(date("day", "2026-03-29").unwrap().is_some());
        assert!(date("day", "").unwrap().is_none());
        assert!(date("day", "2026-3-29").is_err());
        assert!(date("day", "2026-02-30").is_err());
    }
}
