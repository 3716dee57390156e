//! Versions, data dates and bindings of small job sets, against values from outside. Reads only as
//! much of a job file as those sets use.
use std::collections::BTreeMap;
use std::fmt::{self, Write};

use hera_common::id::JobId;
use hera_common::schedule::DstPolicy;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, DataSpec, Empty, On, Period};
use hera_common::time::Version;
use hera_engine::plan::{Edge, Node, Plan};
use hera_engine::time::{Piecewise, Schedule, zone};
use jiff::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
struct Line {
    id: String,
    jobs_yaml: String,
    from: String,
    to: String,
    expected: BTreeMap<String, Vec<Expected>>,
}

#[derive(Deserialize)]
struct Expected {
    version: String,
    data_date: String,
    bindings: Vec<ExpectedBinding>,
}

#[derive(Deserialize)]
struct ExpectedBinding {
    job: String,
    version: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    group: String,
    #[serde(default)]
    defaults: Defaults,
    jobs: Vec<Job>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Defaults {
    zone: Option<String>,
    data: Option<Declared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    name: String,
    #[serde(rename = "type")]
    _kind: String,
    zone: Option<String>,
    schedule: Option<Cron>,
    data: Option<Declared>,
    #[serde(default)]
    depends_on: Vec<Upstream>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cron {
    cron: String,
    zone: Option<String>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Declared {
    period: String,
    offset: i32,
}

/// An edge as a map, or as the bare name of its upstream.
struct Upstream(EdgeFile);

impl<'de> Deserialize<'de> for Upstream {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Form;

        impl<'de> Visitor<'de> for Form {
            type Value = EdgeFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or an edge")
            }

            fn visit_str<E>(self, name: &str) -> Result<EdgeFile, E> {
                Ok(EdgeFile { job: name.to_owned(), ..EdgeFile::default() })
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<EdgeFile, M::Error> {
                EdgeFile::deserialize(MapAccessDeserializer::new(map))
            }
        }

        from.deserialize_any(Form).map(Self)
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct EdgeFile {
    job: String,
    bind: Option<String>,
    of: Option<String>,
    n: Option<u32>,
    from: Option<String>,
    to: Option<String>,
    offset: Option<String>,
    empty: Option<String>,
}

fn period(name: &str) -> Period {
    match name {
        "hour" => Period::Hour,
        "day" => Period::Day,
        "week" => Period::Week,
        "month" => Period::Month,
        other => panic!("period {other}"),
    }
}

fn shift(text: Option<&String>) -> Shift {
    text.map_or(Shift::NONE, |text| Shift::parse(text).expect("a shift"))
}

/// Reads one edge; `both_declare`: this job and the upstream say `data`.
fn edge(file: &EdgeFile, upstream: JobId, scheduled: bool, both_declare: bool) -> Edge {
    let of = || period(file.of.as_deref().expect("of"));
    let bind = match file.bind.as_deref() {
        None if both_declare => Bind::Data,
        None if scheduled => Bind::AtOrBefore,
        None | Some("nearest") => Bind::Nearest,
        Some("at_or_before") => Bind::AtOrBefore,
        Some("same") => Bind::Same,
        Some("data") => Bind::Data,
        Some("first") => Bind::First { of: of() },
        Some("last") => Bind::Last { of: of() },
        Some("all") => Bind::All { of: of() },
        Some("window") => {
            Bind::Window { from: shift(file.from.as_ref()), to: shift(file.to.as_ref()) }
        }
        Some("previous") => Bind::Previous { n: file.n.expect("n") },
        Some(other) => panic!("bind {other}"),
    };
    let empty = match file.empty.as_deref() {
        None if scheduled => Empty::Ignore,
        None | Some("skip") => Empty::Skip,
        Some("ignore") => Empty::Ignore,
        Some(other) => panic!("empty {other}"),
    };
    Edge { upstream, bind, offset: shift(file.offset.as_ref()), on: On::Success, empty }
}

/// The jobs of a set, by id; `number` gives each path its id.
fn nodes(file: &File, number: impl Fn(usize) -> i64) -> BTreeMap<JobId, Node> {
    let id = |name: &str| {
        let place = file.jobs.iter().position(|job| job.name == name).expect("a job of the set");
        JobId::from_raw(number(place))
    };
    let declares = |name: &str| {
        let job = file.jobs.iter().find(|job| job.name == name).expect("a job of the set");
        job.data.is_some() || file.defaults.data.is_some()
    };
    let node = |job: &Job| {
        let of_schedule = job.schedule.as_ref().and_then(|schedule| schedule.zone.as_ref());
        let name = of_schedule.or(job.zone.as_ref()).or(file.defaults.zone.as_ref());
        let zone_name = name.map_or("UTC", String::as_str);
        let born = Version::from_ms(0);
        let schedule = job.schedule.as_ref().map(|schedule| {
            let read = Schedule::new(&[&schedule.cron], zone_name, DstPolicy::default());
            Piecewise::since(born, read.expect("a cron"))
        });
        let data = job.data.clone().or(file.defaults.data.clone());
        let edges = job.depends_on.iter().map(|upstream| {
            let Upstream(read) = upstream;
            let both = declares(&job.name) && declares(&read.job);
            edge(read, id(&read.job), job.schedule.is_some(), both)
        });
        Node {
            calendar: None,
            id: id(&job.name),
            zone: zone::find(zone_name).expect("a zone"),
            schedule,
            edges: edges.collect(),
            baseline: None,
            data_declared: data.is_some(),
            data: data.map_or(DataSpec::default(), |data| DataSpec {
                period: period(&data.period),
                offset: data.offset,
            }),
            birth: born,
            existing: Vec::new(),
        }
    };
    file.jobs.iter().map(node).map(|node| (node.id, node)).collect()
}

fn version(text: &str) -> Version {
    Version::from_timestamp(text.parse::<Timestamp>().expect("an instant"))
}

/// One line for each version: `t/a 2024-01-01T00:00:00Z 2024-01-01 t/b@… t/c@…`.
fn expected(line: &Line) -> String {
    let mut text = String::new();
    for (job, versions) in &line.expected {
        for Expected { version, data_date, bindings } in versions {
            write!(text, "{job} {version} {data_date}").expect("a string grows");
            let mut bound: Vec<_> =
                bindings.iter().map(|b| format!(" {}@{}", b.job, b.version)).collect();
            bound.sort();
            writeln!(text, "{}", bound.concat()).expect("a string grows");
        }
    }
    text
}

fn computed(line: &Line, file: &File, number: impl Fn(usize) -> i64) -> String {
    let nodes = nodes(file, &number);
    let mut plan = Plan::new(&nodes);
    let path = |id: JobId| {
        let place = (0..file.jobs.len()).find(|place| number(*place) == id.raw());
        format!("{}/{}", file.group, file.jobs[place.expect("an id of the set")].name)
    };
    let mut text = String::new();
    let mut jobs: Vec<_> = nodes.keys().map(|id| (path(*id), *id)).collect();
    jobs.sort();
    for (name, job) in jobs {
        let found = plan.versions(job, version(&line.from), version(&line.to));
        for planned in found.unwrap_or_else(|error| panic!("{}: {error}", line.id)) {
            write!(text, "{name} {} {}", planned.version, planned.interval.first)
                .expect("a string grows");
            let bound = plan.bindings(job, planned.version);
            let bound = bound.unwrap_or_else(|error| panic!("{}: {error}", line.id));
            let mut bound: Vec<_> =
                bound.iter().map(|b| format!(" {}@{}", path(b.upstream), b.version)).collect();
            bound.sort();
            writeln!(text, "{}", bound.concat()).expect("a string grows");
        }
    }
    text
}

fn lines() -> Vec<(Line, File)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracle/bind.jsonl");
    let text = std::fs::read_to_string(path).expect("the oracle's file");
    text.lines()
        .map(|line| {
            let line: Line = serde_json::from_str(line).expect("a line of JSON");
            let file = serde_saphyr::from_str(&line.jobs_yaml);
            let file = file.unwrap_or_else(|error| panic!("{}: {error}", line.id));
            (line, file)
        })
        .collect()
}

/// What differs, as lines with `-` (expected) and `+` (computed).
fn difference(expected: &str, computed: &str) -> String {
    let missing = expected.lines().filter(|line| !computed.lines().any(|other| other == *line));
    let added = computed.lines().filter(|line| !expected.lines().any(|other| other == *line));
    let marked = missing.map(|line| format!("  - {line}\n"));
    marked.chain(added.map(|line| format!("  + {line}\n"))).collect()
}

#[test]
fn versions_data_dates_and_bindings_are_those_from_outside() {
    let lines = lines();
    let mut wrong = String::new();
    for (line, file) in &lines {
        let place = |place: usize| i64::try_from(place).expect("a small set");
        let (expected, computed) = (expected(line), computed(line, file, place));
        if expected != computed {
            write!(wrong, "{}\n{}", line.id, difference(&expected, &computed))
                .expect("a string grows");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert_eq!(lines.len(), 60);
}

#[test]
fn the_numbers_of_the_jobs_change_nothing() {
    for (line, file) in &lines() {
        let upside_down = |place: usize| 1_000 - i64::try_from(place).expect("a small set");
        let (expected, computed) = (expected(line), computed(line, file, upside_down));
        assert!(expected == computed, "{}\n{}", line.id, difference(&expected, &computed));
    }
}
