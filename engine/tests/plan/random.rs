//! Random sets of fifty jobs: the plan says what the slow reference says, in whatever order and
//! pieces it is asked.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::id::JobId;
use hera_common::schedule::DstPolicy;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, DataSpec, Empty, On, Period};
use hera_common::time::Version;
use hera_engine::graph;
use hera_engine::plan::{Edge, Node, Plan, Source, source};
use hera_engine::time::{Piecewise, Schedule};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::reference::Reference;

const JOBS: i64 = 50;
/// How many sets are asked in other orders, and how many of them the slow reference lists.
const SEEDS: u64 = 5;
const SLOW_SEEDS: u64 = 3;
const DAY: i64 = 86_400_000;
const ZONES: [&str; 7] = [
    "UTC",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Asia/Beirut",
    "America/St_Johns",
    "Pacific/Chatham",
    "America/Santiago",
];
const CRONS: [&str; 8] = [
    "0 2 * * *",
    "30 23 * * *",
    "15 0 * * *",
    "30 2 * * 1-5",
    "0 0 * * *",
    "45 */6 * * *",
    "0 7 1,15 * *",
    "10 6 * * 0",
];
/// Middles of the windows: changes of the clocks, ends of months, and nothing at all.
const MIDDLES: [&str; 5] = [
    "2026-03-29T00:00:00Z",
    "2026-10-25T00:00:00Z",
    "2026-03-01T12:00:00Z",
    "2026-04-05T12:00:00Z",
    "2026-07-15T12:00:00Z",
];

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

fn shift(text: &str) -> Shift {
    Shift::parse(text).expect("a shift")
}

/// An edge to a job of a lower number.
fn edge(dice: &mut Dice, upstream: i64, scheduled: bool) -> Edge {
    let of = dice.of(&[Period::Day, Period::Day, Period::Week, Period::Month]);
    let windows = [("-1d", "0s"), ("-6h", "1s"), ("-2d", "-1d"), ("-1mo", "-3d")];
    let (from, to) = dice.of(&windows);
    let bind = dice.of(&[
        Bind::Nearest,
        Bind::Nearest,
        Bind::Nearest,
        Bind::Same,
        Bind::AtOrBefore,
        Bind::Data,
        Bind::Data,
        Bind::Previous { n: 2 },
        Bind::First { of },
        Bind::Last { of },
        Bind::All { of },
        Bind::Window { from: shift(from), to: shift(to) },
    ]);
    let offset = if dice.one_in(4) {
        shift(dice.of(&["-1d", "-24h", "-90min", "-1mo", "+1d", "-7d"]))
    } else {
        Shift::NONE
    };
    let skips = dice.one_in(5) != scheduled;
    let empty = if skips { Empty::Skip } else { Empty::Ignore };
    Edge { upstream: JobId::from_raw(upstream), bind, offset, on: On::Success, empty }
}

fn node(dice: &mut Dice, id: i64, birth: Version) -> Node {
    let scheduled = id < 6 || dice.one_in(4);
    let zone = TimeZone::get(dice.of(&ZONES)).expect("a zone");
    let cron = if dice.one_in(12) { "20 * * * *" } else { dice.of(&CRONS) };
    let schedule = scheduled.then(|| {
        let name = zone.iana_name().expect("a name");
        let schedule = Schedule::new(&[cron], name, DstPolicy::default()).expect("a cron");
        Piecewise::since(birth, schedule)
    });
    let mut edges = Vec::new();
    if id >= 6 {
        for _ in 0..=dice.below(3) {
            let back = i64::try_from(dice.below(12)).expect("a small number") + 1;
            edges.push(edge(dice, (id - back).max(0), scheduled));
        }
    }
    if dice.one_in(6) && (scheduled || !edges.is_empty()) {
        let bind = Bind::Previous { n: 1 };
        let (offset, on, empty) = (Shift::NONE, On::Success, Empty::Ignore);
        edges.push(Edge { upstream: JobId::from_raw(id), bind, offset, on, empty });
    }
    let period = dice.of(&[Period::Day, Period::Day, Period::Day, Period::Week, Period::Hour]);
    let offset = dice.of(&[0, 0, -1, -1, -2]);
    let born_later = dice.one_in(8);
    Node {
        calendar: None,
        id: JobId::from_raw(id),
        zone,
        schedule,
        edges,
        baseline: None,
        data: DataSpec { period, offset },
        data_declared: true,
        birth: if born_later { Version::from_ms(birth.ms() + 20 * DAY) } else { birth },
        existing: Vec::new(),
    }
}

/// A set that may be saved; all jobs but the last six of a lower number.
fn set(seed: u64, birth: Version) -> BTreeMap<JobId, Node> {
    let mut dice = Dice(seed);
    let mut nodes = BTreeMap::new();
    for id in 0..JOBS {
        let mut node = node(&mut dice, id, birth);
        if source(&node, &nodes) == Source::Nothing {
            let (bind, offset) = (Bind::Nearest, Shift::NONE);
            let (on, empty) = (On::Success, Empty::Skip);
            node.edges.push(Edge { upstream: JobId::from_raw(id % 6), bind, offset, on, empty });
        }
        let baseline = node.edges.first().map(|edge| edge.upstream);
        if node.schedule.is_none() && dice.one_in(6) {
            node.baseline = baseline.filter(|upstream| *upstream != node.id);
        }
        nodes.insert(node.id, node);
    }
    // Edges to later jobs close circles and lead back in time: those that may.
    for round in 0..24 {
        let id = JobId::from_raw(round % 6);
        let upstream = JobId::from_raw(i64::try_from(dice.below(44)).expect("small") + 6);
        let bind = Bind::Previous { n: 1 };
        let (offset, on, empty) = (shift("-2d"), On::Finished, Empty::Ignore);
        let mut more = nodes.clone();
        let node = more.get_mut(&id).expect("a job");
        node.edges.push(Edge { upstream, bind, offset, on, empty });
        if graph::check(&more).is_ok() {
            nodes = more;
        }
    }
    nodes
}

/// `at data-date job@version …` of each version in a window.
type Row = (i64, String, Vec<(JobId, i64)>);
type Table = BTreeMap<JobId, Vec<Row>>;

fn shown(ms: i64) -> String {
    Version::from_ms(ms).to_string()
}

/// The rows that only one of two has.
fn difference(expected: &[Row], found: &[Row]) -> String {
    let line = |mark: &str, (at, date, bound): &Row| {
        let bound: Vec<_> = bound.iter().map(|(job, at)| format!("{job}@{}", shown(*at))).collect();
        format!("{mark} {} {date} {}\n", shown(*at), bound.join(" "))
    };
    let missing = expected.iter().filter(|row| !found.contains(row)).map(|row| line("-", row));
    let added = found.iter().filter(|row| !expected.contains(row)).map(|row| line("+", row));
    missing.chain(added).collect()
}

fn same(seed: u64, one: &Table, other: &Table) {
    for (job, rows) in one {
        let wrong = difference(rows, &other[job]);
        assert!(wrong.is_empty(), "seed {seed}, job {job}\n{wrong}");
    }
}

fn by_reference(nodes: &BTreeMap<JobId, Node>, span: (i64, i64), window: (i64, i64)) -> Table {
    let reference = Reference::new(nodes, span.0, span.1);
    let of = |job: JobId| {
        let versions = reference.versions(job).iter();
        let within = versions.filter(|version| (window.0..window.1).contains(&version.at));
        within.map(|v| (v.at, v.data_date().to_string(), reference.bindings(job, v))).collect()
    };
    nodes.keys().map(|job| (*job, of(*job))).collect()
}

fn by_plan(plan: &mut Plan<'_>, jobs: impl Iterator<Item = JobId>, window: (i64, i64)) -> Table {
    let mut table = Table::new();
    for job in jobs {
        let (from, to) = (Version::from_ms(window.0), Version::from_ms(window.1));
        let versions = plan.versions(job, from, to).expect("versions");
        let mut rows = Vec::new();
        for planned in versions {
            let bound = plan.bindings(job, planned.version).expect("bindings");
            let mut bound: Vec<_> = bound.iter().map(|b| (b.upstream, b.version.ms())).collect();
            bound.sort_unstable();
            rows.push((planned.version.ms(), planned.interval.first.to_string(), bound));
        }
        table.insert(job, rows);
    }
    table
}

/// The set of a seed, its birth and its window of three days, milliseconds.
fn story(seed: u64) -> (BTreeMap<JobId, Node>, i64, (i64, i64)) {
    let place = usize::try_from(seed).expect("a small seed") % MIDDLES.len();
    let middle = MIDDLES[place].parse::<Timestamp>().expect("an instant").as_millisecond();
    let birth = middle - 45 * DAY;
    let nodes = set(seed, Version::from_ms(birth));
    assert_eq!(graph::check(&nodes), Ok(()), "seed {seed}");
    (nodes, birth, (middle - DAY, middle + 2 * DAY))
}

#[test]
fn the_plan_says_what_the_slow_reference_says() {
    let (mut compared, mut versions) = (0, 0);
    for seed in 0..SLOW_SEEDS {
        let (nodes, birth, window) = story(seed);
        let expected = by_reference(&nodes, (birth, window.1 + 50 * DAY), window);
        // What changes when the lists reach less far is cut off by their end: nobody knows it.
        let shorter = by_reference(&nodes, (birth, window.1 + 40 * DAY), window);
        let mut plan = Plan::new(&nodes);
        let found = by_plan(&mut plan, nodes.keys().copied(), window);
        for (job, rows) in &expected {
            if shorter[job] == *rows {
                let wrong = difference(rows, &found[job]);
                assert!(wrong.is_empty(), "seed {seed}, job {job}\n{wrong}{:?}", nodes[job].edges);
                compared += 1;
                versions += rows.len();
            }
        }
    }
    assert!(compared > 135, "{compared} of 150 jobs compared");
    assert!(versions > 600, "{versions} versions compared");
}

#[test]
fn the_order_of_the_questions_and_the_cut_of_the_window_change_nothing() {
    for seed in 0..SEEDS {
        let (nodes, _birth, window) = story(seed);
        let found = by_plan(&mut Plan::new(&nodes), nodes.keys().copied(), window);
        let backwards = by_plan(&mut Plan::new(&nodes), nodes.keys().rev().copied(), window);
        same(seed, &found, &backwards);
        let cut = window.0 + 37 * 3_600_000;
        let mut plan = Plan::new(&nodes);
        let late = by_plan(&mut plan, nodes.keys().copied(), (cut, window.1));
        let mut joined = by_plan(&mut plan, nodes.keys().copied(), (window.0, cut));
        for (job, rows) in late {
            joined.get_mut(&job).expect("the job").extend(rows);
        }
        same(seed, &found, &joined);
    }
}

#[test]
fn a_job_alone_is_planned_as_among_all() {
    let (nodes, _birth, window) = story(3);
    let all = by_plan(&mut Plan::new(&nodes), nodes.keys().copied(), window);
    let graph = graph::Graph::new(&nodes);
    for job in nodes.keys().copied() {
        let mut needed: BTreeSet<JobId> = graph.upstream_of(job);
        needed.insert(job);
        let mut few = nodes.clone();
        few.retain(|job, _| needed.contains(job));
        let alone = by_plan(&mut Plan::new(&few), std::iter::once(job), window);
        assert_eq!(alone[&job], all[&job], "job {job}");
    }
}
