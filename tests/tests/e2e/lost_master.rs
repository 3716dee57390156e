//! A master that is killed in the middle of a night and started again: nothing is lost, nothing runs twice.

use hera_tests::cluster::{Cluster, Store, cron_at};
use serde_json::json;

async fn a_night_survives_its_master(store: Store) {
    let mut cluster = Cluster::quick(store, &["w1", "w2"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let jobs = cluster
        .jobs("shop", "zone: UTC, lease: 30s")
        .script("extract", &[&due], "true")
        .script("long", &["depends_on: [extract]"], "echo one\ngate long\necho two")
        .script("quick", &["depends_on: [extract]"], "gate quick")
        .script("join", &["depends_on: [long, quick]"], "true")
        .script("report", &["depends_on: [join]"], "true");
    cluster.apply(&jobs).unwrap();
    let long = cluster.said("long", "start", 1).await.unwrap();
    cluster.said("quick", "start", 1).await.unwrap();

    cluster.kill_master(0).unwrap();
    // `quick` ends while nobody leads: its end must wait for the next leader.
    cluster.open_gate("quick").unwrap();
    cluster.said("quick", "end", 1).await.unwrap();
    let told = cluster.hera_ends(6, &["get", "actions"]).unwrap();
    assert!(told.stdout.is_empty(), "{}", told.text());

    cluster.start_master(0).await.unwrap();
    cluster.reaches(&format!("shop/quick@{version}"), "succeeded").await.unwrap();
    cluster.open_gate("long").unwrap();
    cluster.reaches(&format!("shop/report@{version}"), "succeeded").await.unwrap();

    let journal = cluster.journal().unwrap();
    for (before, after) in [
        ("extract", "long"),
        ("extract", "quick"),
        ("long", "join"),
        ("quick", "join"),
        ("join", "report"),
    ] {
        journal.in_order(before, after).unwrap();
    }
    assert_eq!(journal.only("long", "end").unwrap().fence, long.fence);
    let attempts = cluster.rows(&["get", "attempts", &format!("r{}", long.run)]).unwrap();
    assert_eq!(attempts.len(), 1, "{attempts:#?}");
    assert_eq!(attempts[0]["state"], "succeeded");
    let log = cluster.hera_ends(0, &["logs", &format!("r{}", long.run)]).unwrap();
    assert_eq!(log.text(), "one\ntwo\n");
    let runs = cluster.rows(&["get", "runs", "--group", "shop"]).unwrap();
    assert_eq!(runs.len(), 5);
    assert!(runs.iter().all(|run| run["attempts"] == json!(1)), "{runs:#?}");
}

#[tokio::test]
async fn a_night_survives_its_master_on_postgresql() {
    a_night_survives_its_master(Store::Postgres).await;
}

#[tokio::test]
async fn a_night_survives_its_master_on_sqlite() {
    a_night_survives_its_master(Store::Sqlite).await;
}
