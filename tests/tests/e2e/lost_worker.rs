//! Workers that die: their work is taken over, once, and nothing of theirs goes on running.

use hera_testkit::wait_for_async;
use hera_tests::cluster::{Cluster, LIMIT, Store, alive, cron_at};
use serde_json::{Value, json};

/// What a first attempt leaves running: a child that ignores TERM, one in a session of its own, and itself.
const STUBBORN: &str = "if [ $HERA_ATTEMPT = 1 ]; then
  (trap '' TERM; say child $BASHPID; while :; do sleep 1; done) &
  setsid bash -c 'sleep 1000' & say session $!
  gate never
fi";

async fn gone(pid: u32) {
    wait_for_async(&format!("the end of process {pid}"), LIMIT, || async {
        (!alive(pid)).then_some(())
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_work_of_a_killed_worker_is_taken_over_once_its_lease_has_ended() {
    let mut cluster = Cluster::quick(Store::Postgres, &["w1", "w2"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let jobs = cluster
        .jobs("shop", "zone: UTC, lease: 3s")
        .script("load", &[&due], STUBBORN)
        .script("after", &["depends_on: [load]"], "true");
    cluster.apply(&jobs).unwrap();
    let first = cluster.said("load", "start", 1).await.unwrap();
    let child = cluster.said("load", "child", 1).await.unwrap();
    let session = cluster.said("load", "session", 1).await.unwrap();
    let load = format!("shop/load@{version}");
    let holder = cluster.holder(&load).await.unwrap();
    cluster.worker(&holder).unwrap().kill().unwrap();

    for pid in [first.pid, child.pid, session.pid] {
        gone(pid).await;
    }
    let second = cluster.said("load", "start", 2).await.unwrap();
    assert!(second.fence > first.fence);
    assert_eq!((second.run, second.attempt), (first.run, 2));
    cluster.reaches(&format!("shop/after@{version}"), "succeeded").await.unwrap();

    let journal = cluster.journal().unwrap();
    assert_eq!(journal.of("load", "start").len(), 2);
    journal.in_order("load", "after").unwrap();
    let attempts = cluster.rows(&["get", "attempts", &format!("r{}", first.run)]).unwrap();
    let told: Vec<Value> =
        attempts.iter().map(|a| json!([a["number"], a["worker"], a["state"]])).collect();
    let other = cluster.other_worker(&holder).unwrap();
    // Lost: nobody gave it back, its lease has ended.
    assert_eq!(told, [json!([1, holder, "lost"]), json!([2, other, "succeeded"])]);
}

#[tokio::test]
async fn a_killed_worker_that_comes_back_frees_its_work_at_once() {
    let mut cluster = Cluster::quick(Store::Sqlite, &["w1"]).await.unwrap();
    let jobs = cluster.jobs("shop", "lease: 5min").script("load", &[], STUBBORN);
    cluster.apply(&jobs).unwrap();
    cluster.hera_ends(0, &["run", "shop/load"]).unwrap();
    let first = cluster.said("load", "start", 1).await.unwrap();
    let child = cluster.said("load", "child", 1).await.unwrap();
    cluster.worker("w1").unwrap().kill().unwrap();
    cluster.add_worker("w1", &[]).await.unwrap();
    // The lease of five minutes is longer than anything is waited for here.
    cluster.said("load", "start", 2).await.unwrap();
    assert!(!alive(first.pid) && !alive(child.pid), "two attempts of one run are alive");
    cluster.reaches("shop/load", "succeeded").await.unwrap();
    assert_eq!(cluster.journal().unwrap().of("load", "start").len(), 2);
}

#[tokio::test]
async fn work_that_may_run_at_most_once_is_lost_with_its_worker() {
    let mut cluster = Cluster::quick(Store::Postgres, &["w1", "w2"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let jobs = cluster
        .jobs("shop", "zone: UTC, lease: 3s, retries: { times: 3, delay: 1s }")
        .script("pay", &[&due, "at_most_once: true"], "gate never")
        .script("after", &["depends_on: [pay]"], "true");
    cluster.apply(&jobs).unwrap();
    let pay = format!("shop/pay@{version}");
    let start = cluster.said("pay", "start", 1).await.unwrap();
    let holder = cluster.holder(&pay).await.unwrap();
    cluster.worker(&holder).unwrap().kill().unwrap();
    cluster.reaches(&pay, "failed(lost)").await.unwrap();
    let why = cluster.json(&["why", &format!("shop/after@{version}")]).unwrap();
    assert_eq!((&why["code"], &why["root"]), (&json!("upstream_failed"), &json!(pay)));
    let run = cluster.rows(&["get", "runs", &pay]).unwrap();
    assert_eq!((&run[0]["state"], &run[0]["attempts"]), (&json!("failed"), &json!(1)));
    assert_eq!(cluster.journal().unwrap().of("pay", "start").len(), 1, "{start:?}");
}
