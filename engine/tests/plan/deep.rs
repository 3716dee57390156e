//! Sets that would ruin a naive recursion: long chains, ladders of diamonds, circles.

use std::collections::BTreeMap;

use hera_common::id::JobId;
use hera_common::schedule::DstPolicy;
use hera_common::shift::Shift;
use hera_common::spec::{Bind, DataSpec, Empty, On};
use hera_common::time::Version;
use hera_engine::plan::{Edge, Node, Plan, PlanError};
use hera_engine::time::{Piecewise, Schedule};
use jiff::Timestamp;
use jiff::tz::TimeZone;

fn version(text: &str) -> Version {
    Version::from_timestamp(text.parse::<Timestamp>().expect("an instant"))
}

/// A job of UTC with these upstream jobs; with none it is due at 05:00 on the weekdays of `cron`.
fn job(id: i64, upstream: &[i64], cron: &str) -> (JobId, Node) {
    let edge = |upstream: &i64| Edge {
        upstream: JobId::from_raw(*upstream),
        bind: Bind::Nearest,
        offset: Shift::NONE,
        on: On::Success,
        empty: Empty::Skip,
    };
    let schedule = upstream.is_empty().then(|| {
        let cron = Schedule::new(&[cron], "UTC", DstPolicy::default()).expect("a cron");
        Piecewise::since(Version::from_ms(0), cron)
    });
    let node = Node {
        calendar: None,
        id: JobId::from_raw(id),
        zone: TimeZone::UTC,
        schedule,
        edges: upstream.iter().map(edge).collect(),
        baseline: None,
        data: DataSpec::default(),
        data_declared: false,
        birth: Version::from_ms(0),
        existing: Vec::new(),
    };
    (node.id, node)
}

/// A chain of jobs, each after the one before.
fn chain(length: i64, cron: &str) -> BTreeMap<JobId, Node> {
    let after = (2..=length).map(|id| job(id, &[id - 1], cron));
    std::iter::once(job(1, &[], cron)).chain(after).collect()
}

/// Rungs of two jobs that both wait for both of the rung below: 2^rungs ways lead down.
fn ladder(rungs: i64, cron: &str) -> BTreeMap<JobId, Node> {
    let rung = |rung: i64| {
        let below = [2 * rung - 2, 2 * rung - 1];
        [job(2 * rung, &below, cron), job(2 * rung + 1, &below, cron)]
    };
    let ends = [job(0, &[], cron), job(1, &[], cron)];
    ends.into_iter().chain((1..=rungs).flat_map(rung)).collect()
}

const DAILY: &str = "0 5 * * *";
const MONDAYS: &str = "0 5 * * 1";

#[test]
fn a_chain_of_ten_thousand_jobs_ends() {
    let nodes = chain(10_000, DAILY);
    let mut plan = Plan::new(&nodes);
    let (from, to) = (version("2026-05-01T00:00:00Z"), version("2026-05-03T00:00:00Z"));
    let last = JobId::from_raw(10_000);
    let versions = plan.versions(last, from, to).expect("versions");
    assert_eq!(versions.len(), 2);
    let bound = plan.bindings(last, versions[0].version).expect("bindings");
    assert_eq!(bound.len(), 1);
    assert_eq!(bound[0].version, versions[0].version);
    // A sparse one, looked back into from a day that has nothing.
    let nodes = chain(10_000, MONDAYS);
    let before = Plan::new(&nodes).newest_before(last, version("2026-05-01T00:00:00Z"));
    let before = before.expect("a version").map(|planned| planned.version);
    assert_eq!(before, Some(version("2026-04-27T05:00:00Z")));
}

#[test]
fn a_ladder_of_diamonds_costs_its_jobs_not_its_ways() {
    for cron in [DAILY, MONDAYS] {
        let nodes = ladder(200, cron);
        let mut plan = Plan::new(&nodes);
        let newest = plan.newest_before(JobId::from_raw(401), version("2026-05-01T00:00:00Z"));
        let newest = newest.expect("a version").expect("one exists").version;
        assert_eq!(plan.bindings(JobId::from_raw(401), newest).expect("bindings").len(), 2);
    }
}

#[test]
fn a_fault_at_the_end_of_a_long_chain_is_told_by_each_job() {
    let mut nodes = chain(5_000, DAILY);
    nodes.remove(&JobId::from_raw(1));
    let mut plan = Plan::new(&nodes);
    let (from, to) = (version("2026-05-01T00:00:00Z"), version("2026-05-02T00:00:00Z"));
    let fault = PlanError::Missing { job: JobId::from_raw(2), upstream: JobId::from_raw(1) };
    for id in (2..=5_000).rev() {
        assert_eq!(plan.versions(JobId::from_raw(id), from, to), Err(fault));
    }
}

#[test]
fn a_long_circle_is_a_fault_and_no_endless_loop() {
    let mut nodes = chain(1_000, DAILY);
    let (id, first) = job(1, &[1_000], DAILY);
    nodes.insert(id, first);
    let (from, to) = (version("2026-05-01T00:00:00Z"), version("2026-05-02T00:00:00Z"));
    for id in [1, 500, 1_000] {
        let told = Plan::new(&nodes).versions(JobId::from_raw(id), from, to);
        assert!(matches!(told, Err(PlanError::Circle { .. })), "{told:?}");
    }
}

#[test]
fn a_version_that_never_comes_is_looked_for_within_bounds() {
    // Job 3 wants a Monday that is a Tuesday.
    let mut nodes: BTreeMap<JobId, Node> =
        [job(1, &[], MONDAYS), job(2, &[], "0 5 * * 2"), job(3, &[1, 2], DAILY)].into();
    let mut newest = |birth: &str| {
        let node = nodes.get_mut(&JobId::from_raw(3)).expect("job 3");
        node.birth = version(birth);
        Plan::new(&nodes).newest_before(JobId::from_raw(3), version("2190-05-01T00:00:00Z"))
    };
    assert_eq!(newest("2180-05-01T00:00:00Z"), Ok(None));
    assert_eq!(newest("1970-05-01T00:00:00Z"), Err(PlanError::TooFar { job: JobId::from_raw(3) }));
}
