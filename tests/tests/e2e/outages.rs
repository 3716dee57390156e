//! Outages: a leader that hangs and wakes, a database that drops its connections, a lease without a master.

use hera_testkit::wait_for_async;
use hera_tests::cluster::{Cluster, LIMIT, Store, alive, cron_at};
use serde_json::json;

/// Ends all sessions in the database but the one that asks.
const DROP_ALL: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                        WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[tokio::test]
async fn a_leader_that_hangs_and_wakes_does_nothing_twice() {
    let mut cluster = Cluster::quick(Store::Postgres, &[]).await.unwrap();
    let second = cluster.add_master().await.unwrap();
    cluster.add_worker("w1", &[]).await.unwrap();
    cluster.add_worker("w2", &[]).await.unwrap();
    let old = cluster.ask_master(0).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let jobs = cluster
        .jobs("shop", "zone: UTC, lease: 30s")
        .script("extract", &[&due], "gate extract")
        .script("left", &["depends_on: [extract]"], "true")
        .script("right", &["depends_on: [extract]"], "gate right")
        .script("join", &["depends_on: [left, right]"], "true");
    cluster.apply(&jobs).unwrap();
    cluster.said("extract", "start", 1).await.unwrap();

    cluster.master_process(0).unwrap().pause().unwrap();
    let now = wait_for_async("the standby to lead", LIMIT, || async {
        cluster.ask_master(second).await.ok()
    })
    .await
    .unwrap();
    assert!(now.epoch > old.epoch);
    cluster.open_gate("extract").unwrap();
    // The old leader is frozen still: only the new one can have granted this.
    cluster.said("right", "start", 1).await.unwrap();
    // The old leader wakes in the middle of the night of the new one, and steps down.
    cluster.master_process(0).unwrap().resume().unwrap();
    cluster.open_gate("right").unwrap();
    wait_for_async("the old leader to step down", LIMIT, || async {
        cluster.ask_master(0).await.err()
    })
    .await
    .unwrap();
    cluster.reaches(&format!("shop/join@{version}"), "succeeded").await.unwrap();
    assert_eq!(cluster.ask_master(second).await.unwrap().epoch, now.epoch);
    let journal = cluster.journal().unwrap();
    for (before, after) in
        [("extract", "left"), ("extract", "right"), ("left", "join"), ("right", "join")]
    {
        journal.in_order(before, after).unwrap();
    }
    let runs = cluster.rows(&["get", "runs", "--group", "shop"]).unwrap();
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().all(|run| run["attempts"] == json!(1)), "{runs:#?}");
}

#[tokio::test]
async fn a_database_that_drops_its_connections_loses_nothing() {
    let cluster = Cluster::quick(Store::Postgres, &["w1", "w2"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let mut jobs = cluster.jobs("shop", "zone: UTC, lease: 30s").script("j0", &[&due], "true");
    for number in 1..=8 {
        let after = format!("depends_on: [j{}]", number - 1);
        jobs = jobs.script(&format!("j{number}"), &[&after], "true");
    }
    cluster.apply(&jobs).unwrap();
    // Once while each job of the chain runs.
    for number in 0..=8 {
        cluster.said(&format!("j{number}"), "start", 1).await.unwrap();
        cluster.database().unwrap().sql(DROP_ALL).unwrap();
    }
    cluster.reaches(&format!("shop/j8@{version}"), "succeeded").await.unwrap();
    let journal = cluster.journal().unwrap();
    for number in 1..=8 {
        journal.in_order(&format!("j{}", number - 1), &format!("j{number}")).unwrap();
    }
    let ended = cluster
        .database()
        .unwrap()
        .sql("SELECT count(*), count(*) FILTER (WHERE outcome = 'succeeded') FROM attempt")
        .unwrap();
    assert_eq!(ended, [[Some("9".to_owned()), Some("9".to_owned())]]);
}

#[tokio::test]
async fn a_job_whose_lease_ends_without_a_master_is_dead_before_it_is_started_again() {
    let mut cluster = Cluster::quick(Store::Sqlite, &["w1"]).await.unwrap();
    let once = cluster.dir().join("once");
    let script = format!("if mkdir {} 2>/dev/null; then gate never; fi", once.display());
    let jobs = cluster.jobs("shop", "lease: 3s").script("load", &[], &script);
    cluster.apply(&jobs).unwrap();
    cluster.hera_ends(0, &["run", "shop/load"]).unwrap();
    let first = cluster.said("load", "start", 1).await.unwrap();
    cluster.kill_master(0).unwrap();
    // The worker itself ends what it cannot hold.
    wait_for_async("the end of the script", LIMIT, || async { (!alive(first.pid)).then_some(()) })
        .await
        .unwrap();
    cluster.start_master(0).await.unwrap();
    cluster.reaches("shop/load", "succeeded").await.unwrap();
    let journal = cluster.journal().unwrap();
    assert_eq!(journal.of("load", "start").len(), 2);
    let second = journal.only("load", "end").unwrap();
    assert_eq!((second.run, second.attempt), (first.run, 2));
}
