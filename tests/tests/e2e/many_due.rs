//! Ten thousand actions that are due at one instant: each gets its row, and each runs once.

use std::time::Duration;

use hera_testkit::wait_for_async;
use hera_tests::cluster::{Cluster, Patience, Store, cron_at};

const JOBS: usize = 10_000;

/// Far more than it takes in a debug build on two busy cores.
const LIMIT: Duration = Duration::from_secs(240);

/// How long ahead of the instant the file is written: time to apply it.
const AHEAD_MS: i64 = 45_000;

fn count(cluster: &Cluster, sql: &str) -> i64 {
    let rows = cluster.database().unwrap().sql(sql).unwrap();
    rows[0][0].as_deref().unwrap().parse().unwrap()
}

#[tokio::test]
async fn ten_thousand_actions_that_are_due_at_one_instant_run_once_each() {
    let mut cluster = Cluster::start(Store::Postgres, Patience::Usual).await.unwrap();
    cluster.add_worker("w1", &["--capacity", "500"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() + AHEAD_MS).unwrap();
    let mut jobs = cluster.jobs("many", "zone: UTC, overlap: allow");
    for number in 0..JOBS {
        jobs = jobs.noop(&format!("j{number}"), &[&due]);
    }
    let path = cluster.write_jobs("many.yaml", &jobs.text()).unwrap();
    cluster.hera_ends(0, &["apply", "-f", &path]).unwrap();
    let all = i64::try_from(JOBS).unwrap();
    let at_ms = version.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let of_version = |table: &str, state: &str| {
        format!("SELECT count(*) FROM {table} WHERE version = {at_ms} AND state = '{state}'")
    };
    assert_eq!(count(&cluster, &of_version("action", "planned")), all);
    assert!(cluster.now_ms() < at_ms, "the file was applied after the instant");

    let ended = of_version("run", "succeeded");
    wait_for_async("ten thousand runs", LIMIT, || async {
        (count(&cluster, &ended) == all).then_some(())
    })
    .await
    .unwrap();
    assert_eq!(count(&cluster, &of_version("action", "succeeded")), all);
    let whole = [
        ("every run of that instant", format!("SELECT count(*) FROM run WHERE version = {at_ms}")),
        ("every attempt", "SELECT count(*) FROM attempt".to_owned()),
        (
            "every attempt that succeeded",
            "SELECT count(*) FROM attempt WHERE state = 'ended' AND outcome = 'succeeded'"
                .to_owned(),
        ),
        ("every job with a run", "SELECT count(DISTINCT job_id) FROM run".to_owned()),
    ];
    for (what, sql) in whole {
        assert_eq!(count(&cluster, &sql), all, "{what}");
    }
    let early = format!("SELECT count(*) FROM attempt WHERE started_at < {at_ms}");
    assert_eq!(count(&cluster, &early), 0, "started before the instant");
}
