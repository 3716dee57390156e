//! Jobs in a few lines of text, for the tests of this crate: names are letters, and `a` is job 1.

use std::collections::BTreeMap;
use std::fmt::Write;

use hera_common::id::JobId;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, DataSpec, Empty, On, Period};
use hera_common::time::Version;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Edge, Node, Plan};
use crate::time::{Piecewise, Schedule};
use hera_common::schedule::DstPolicy;

/// `name: part | part | …`, a job a line. Parts: `cron EXPR`, `zone NAME`, `data PERIOD OFFSET`,
/// `baseline JOB`, `birth INSTANT`, `exists INSTANT…`, and for edges `on JOB`, then what of
/// `BIND`, `offset S`, `skip`, `ignore`, `finished`, `failed` is wanted.
pub(crate) fn nodes(text: &str) -> BTreeMap<JobId, Node> {
    let lines: Vec<(&str, Vec<&str>)> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (name, parts) = line.split_once(':').expect("name: parts");
            (name.trim(), parts.split('|').map(str::trim).filter(|part| !part.is_empty()).collect())
        })
        .collect();
    let declares = |name: &str| {
        let line = lines.iter().find(|(other, _)| *other == name);
        line.is_some_and(|(_, parts)| parts.iter().any(|part| part.starts_with("data ")))
    };
    lines.iter().map(|(name, parts)| node(name, parts, &declares)).map(|n| (n.id, n)).collect()
}

/// The number of a name: letters count from 1.
pub(crate) fn id(name: &str) -> JobId {
    let letter = name.bytes().next().expect("a letter");
    JobId::from_raw(i64::from(letter - b'a') + 1)
}

/// The name of a number.
pub(crate) fn name(id: JobId) -> char {
    let letter = u8::try_from(id.raw() - 1).expect("a letter") + b'a';
    char::from(letter)
}

/// An instant in RFC 3339, or a date in UTC.
pub(crate) fn version(text: &str) -> Version {
    let full = if text.contains('T') { text.to_owned() } else { format!("{text}T00:00:00Z") };
    Version::from_timestamp(full.parse::<Timestamp>().expect("an instant"))
}

/// Versions and bindings of all jobs in `[from, to)`: `job version data-date upstream@version…`.
pub(crate) fn table(text: &str, from: &str, to: &str) -> String {
    let nodes = nodes(text);
    let mut plan = Plan::new(&nodes);
    let mut table = String::new();
    for job in nodes.keys().copied() {
        let versions = match plan.versions(job, version(from), version(to)) {
            Ok(versions) => versions,
            Err(fault) => {
                writeln!(table, "{}: {fault}", name(job)).expect("a string grows");
                continue;
            }
        };
        for planned in versions {
            let (at, date) = (planned.version, planned.interval.first);
            let mut line = format!("{} {at} {date}", name(job));
            match plan.bindings(job, at) {
                Ok(bound) => bound.iter().for_each(|bound| {
                    write!(line, " {}@{}", name(bound.upstream), bound.version)
                        .expect("a string grows");
                }),
                Err(fault) => write!(line, ": {fault}").expect("a string grows"),
            }
            writeln!(table, "{line}").expect("a string grows");
        }
    }
    table
}

fn node(name: &str, parts: &[&str], declares: &dyn Fn(&str) -> bool) -> Node {
    let part = |key: &str| parts.iter().find_map(|part| part.strip_prefix(key)).map(str::trim);
    let zone_name = part("zone ").unwrap_or("UTC");
    let birth = part("birth ").map_or(Version::from_ms(0), version);
    let schedule = part("cron ").map(|cron| {
        let schedule = Schedule::new(&[cron], zone_name, DstPolicy::default()).expect("a cron");
        Piecewise::since(birth, schedule)
    });
    let data = part("data ").map_or(DataSpec::default(), |data| {
        let (period, offset) = data.split_once(' ').expect("period and offset");
        DataSpec { period: self::period(period), offset: offset.parse().expect("a number") }
    });
    let edges = parts.iter().filter_map(|part| part.strip_prefix("on "));
    let edges = edges.map(|edge| self::edge(edge, schedule.is_some(), declares(name), declares));
    Node {
        calendar: None,
        id: id(name),
        zone: TimeZone::get(zone_name).expect("a zone"),
        edges: edges.collect(),
        schedule,
        baseline: part("baseline ").map(id),
        data,
        data_declared: declares(name),
        birth,
        existing: part("exists ").unwrap_or("").split_whitespace().map(version).collect(),
    }
}

fn period(name: &str) -> Period {
    let all = [("hour", Period::Hour), ("day", Period::Day), ("week", Period::Week)];
    let found = all.into_iter().find(|(label, _)| *label == name);
    found.map_or(Period::Month, |(_, period)| period)
}

fn edge(text: &str, scheduled: bool, declared: bool, declares: &dyn Fn(&str) -> bool) -> Edge {
    let words: Vec<&str> = text.split_whitespace().collect();
    let after = |key: &str| words.iter().skip_while(|word| **word != key).nth(1).copied();
    let has = |key: &str| words.contains(&key);
    let of = |key| after(key).map(period);
    let shift = |text: &str| Shift::parse(text).expect("a shift");
    let upstream = words.first().copied().expect("a job");
    let window = || {
        let bounds = words.iter().skip_while(|word| **word != "window").skip(1);
        let bounds: Vec<Shift> = bounds.take(2).map(|bound| shift(bound)).collect();
        Bind::Window { from: bounds[0], to: bounds[1] }
    };
    let named = [
        has("nearest").then_some(Bind::Nearest),
        has("at_or_before").then_some(Bind::AtOrBefore),
        has("same").then_some(Bind::Same),
        has("data").then_some(Bind::Data),
        after("previous").map(|n| Bind::Previous { n: n.parse().expect("a number") }),
        of("first").map(|of| Bind::First { of }),
        of("last").map(|of| Bind::Last { of }),
        of("all").map(|of| Bind::All { of }),
        has("window").then(window),
    ];
    let default = match (declared && declares(upstream), scheduled) {
        (true, _) => Bind::Data,
        (false, true) => Bind::AtOrBefore,
        (false, false) => Bind::Nearest,
    };
    let skips = has("skip") || (!scheduled && !has("ignore"));
    let on = if has("finished") { On::Finished } else { On::Success };
    Edge {
        upstream: id(upstream),
        bind: named.into_iter().flatten().next().unwrap_or(default),
        offset: after("offset").map_or(Shift::NONE, shift),
        on: if has("failed") { On::Failed } else { on },
        empty: if skips { Empty::Skip } else { Empty::Ignore },
    }
}
