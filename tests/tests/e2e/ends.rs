//! How runs end: cancelled, timed out, retried. What is killed is gone, with all that it started.

use hera_testkit::wait_for_async;
use hera_tests::cluster::{Cluster, LIMIT, Store, alive, cron_at};
use serde_json::{Value, json};

/// Ignores TERM, as does its child, and runs until it is killed.
const DEAF: &str = "trap '' TERM
say deaf
(while :; do sleep 1; done) &
say child $!
setsid bash -c \"trap '' TERM; while :; do sleep 1; done\" &
say session $!
gate never";

async fn all_gone(cluster: &Cluster, job: &str) {
    for word in ["deaf", "child", "session"] {
        let pid = cluster.said(job, word, 1).await.unwrap().pid;
        wait_for_async(&format!("the end of {word}, process {pid}"), LIMIT, || async {
            (!alive(pid)).then_some(())
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn a_cancelled_script_that_ignores_term_is_killed_with_all_that_it_started() {
    let cluster = Cluster::quick(Store::Postgres, &["w1"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let jobs = cluster
        .jobs("shop", "zone: UTC, lease: 30s, retries: { times: 3, delay: 1s }")
        .script("load", &[&due], DEAF)
        .script("after", &["depends_on: [load]"], "true");
    cluster.apply(&jobs).unwrap();
    let load = format!("shop/load@{version}");
    cluster.said("load", "session", 1).await.unwrap();
    cluster.hera_ends(0, &["cancel", &load, "-m", "not tonight"]).unwrap();
    cluster.reaches(&load, "cancelled").await.unwrap();
    all_gone(&cluster, "load").await;
    let runs = cluster.rows(&["get", "runs", &load]).unwrap();
    assert_eq!((runs.len(), &runs[0]["state"]), (1, &json!("cancelled")));
    let attempts = cluster.rows(&["get", "attempts", &load]).unwrap();
    assert_eq!((attempts.len(), &attempts[0]["state"]), (1, &json!("cancelled")));
    let why = cluster.json(&["why", &format!("shop/after@{version}")]).unwrap();
    assert_eq!((&why["code"], &why["root"]), (&json!("upstream_cancelled"), &json!(load)));
    // A second cancel has nothing to do.
    cluster.hera_ends(4, &["cancel", &load]).unwrap();
}

#[tokio::test]
async fn a_script_that_takes_too_long_is_killed_and_has_failed() {
    let cluster = Cluster::quick(Store::Sqlite, &["w1"]).await.unwrap();
    let jobs = cluster.jobs("shop", "lease: 30s").script("load", &["timeout: 1s"], DEAF);
    cluster.apply(&jobs).unwrap();
    let told = cluster.hera_ends(1, &["run", "shop/load", "--follow"]).unwrap();
    assert!(told.stderr.contains("failed(timeout)"), "{}", told.stderr);
    all_gone(&cluster, "load").await;
    cluster.reaches("shop/load", "failed(timeout)").await.unwrap();
    let attempts = cluster.rows(&["get", "attempts", "shop/load"]).unwrap();
    let told: Vec<Value> = attempts.iter().map(|a| json!([a["number"], a["state"]])).collect();
    assert_eq!(told, [json!([1, "timed_out"])]);
}

#[tokio::test]
async fn a_run_that_fails_twice_succeeds_at_its_third_attempt_after_its_delays() {
    let cluster = Cluster::quick(Store::Postgres, &["w1"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let jobs = cluster
        .jobs("shop", "zone: UTC, lease: 30s")
        .script(
            "load",
            &[&due, "retries: { times: 2, delay: 1s }"],
            "[ $HERA_ATTEMPT = 3 ] || exit 7",
        )
        .script("after", &["depends_on: [load]"], "true");
    cluster.apply(&jobs).unwrap();
    cluster.reaches(&format!("shop/after@{version}"), "succeeded").await.unwrap();
    let rows = cluster
        .database()
        .unwrap()
        .sql(
            "SELECT a.number, a.outcome, a.exit_code, \
             a.leased_at - lag(a.ended_at) OVER (ORDER BY a.number) >= 1000 \
             FROM attempt a JOIN run r USING (run_id) JOIN job j USING (job_id) \
             WHERE j.path = 'shop/load' ORDER BY a.number",
        )
        .unwrap();
    let text: Vec<Vec<&str>> =
        rows.iter().map(|row| row.iter().map(|c| c.as_deref().unwrap_or("-")).collect()).collect();
    assert_eq!(
        text,
        [["1", "failed", "7", "-"], ["2", "failed", "7", "t"], ["3", "succeeded", "0", "t"]]
    );
    let journal = cluster.journal().unwrap();
    journal.in_order("load", "after").unwrap();
    assert_eq!(journal.of("load", "start").len(), 3);
}

#[tokio::test]
async fn an_exit_code_that_is_not_worth_a_retry_fails_at_once() {
    let cluster = Cluster::quick(Store::Sqlite, &["w1"]).await.unwrap();
    let keys = ["retries: { times: 5, delay: 1s, not_on: [3] }"];
    let jobs = cluster.jobs("shop", "lease: 30s").script("load", &keys, "exit 3");
    cluster.apply(&jobs).unwrap();
    cluster.hera_ends(1, &["run", "shop/load", "--follow"]).unwrap();
    let attempts = cluster.rows(&["get", "attempts", "shop/load"]).unwrap();
    assert_eq!((attempts.len(), &attempts[0]["exit_code"]), (1, &json!(3)));
}
