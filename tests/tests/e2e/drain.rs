//! A worker that is asked to end hands its work on.

use hera_tests::cluster::{Cluster, LIMIT, Store, alive, cron_at};
use serde_json::{Value, json};

#[tokio::test]
async fn a_drained_worker_hands_its_work_on_at_once_and_at_no_cost() {
    let mut cluster = Cluster::quick(Store::Postgres, &[]).await.unwrap();
    for name in ["w1", "w2"] {
        cluster.add_worker(name, &["--drain-within", "0s"]).await.unwrap();
    }
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    // Not one restart is allowed: the drain must cost none.
    let jobs = cluster.jobs("shop", "zone: UTC, lease: 5min, restarts: 0").script(
        "load",
        &[&due],
        "if [ $HERA_ATTEMPT = 1 ]; then gate never; fi",
    );
    cluster.apply(&jobs).unwrap();
    let first = cluster.said("load", "start", 1).await.unwrap();
    let load = format!("shop/load@{version}");
    let holder = cluster.holder(&load).await.unwrap();
    cluster.worker(&holder).unwrap().terminate().unwrap();
    // The lease of five minutes is longer than anything is waited for here.
    cluster.said("load", "start", 2).await.unwrap();
    assert!(!alive(first.pid));
    assert!(cluster.worker(&holder).unwrap().wait(LIMIT).unwrap().success());
    cluster.reaches(&load, "succeeded").await.unwrap();
    let attempts = cluster.rows(&["get", "attempts", &load]).unwrap();
    let told: Vec<Value> = attempts.iter().map(|a| json!([a["worker"], a["state"]])).collect();
    let other = cluster.other_worker(&holder).unwrap();
    assert_eq!(told, [json!([holder, "interrupted"]), json!([other, "succeeded"])]);
    let losses = cluster.database().unwrap().sql("SELECT losses, failures FROM run").unwrap();
    assert_eq!(losses, [[Some("0".to_owned()), Some("0".to_owned())]]);
}

#[tokio::test]
async fn a_drained_worker_lets_its_work_end_where_nothing_is_said() {
    let mut cluster = Cluster::quick(Store::Sqlite, &["w1", "w2"]).await.unwrap();
    let jobs = cluster.jobs("shop", "lease: 3s").script("load", &[], "gate load");
    cluster.apply(&jobs).unwrap();
    cluster.hera_ends(0, &["run", "shop/load"]).unwrap();
    cluster.said("load", "start", 1).await.unwrap();
    let holder = cluster.holder("shop/load").await.unwrap();
    cluster.worker(&holder).unwrap().terminate().unwrap();
    // It takes nothing new meanwhile.
    let quick = cluster.jobs("shop", "lease: 3s").script("quick", &[], "true");
    let path = cluster.write_jobs("quick.yaml", &quick.text()).unwrap();
    cluster.hera_ends(0, &["apply", "-f", &path]).unwrap();
    cluster.hera_ends(0, &["run", "shop/quick", "--follow"]).unwrap();
    let attempts = cluster.rows(&["get", "attempts", "shop/quick"]).unwrap();
    assert_eq!(attempts[0]["worker"], cluster.other_worker(&holder).unwrap().as_str());
    assert!(cluster.worker(&holder).unwrap().ended().unwrap().is_none());
    cluster.open_gate("load").unwrap();
    cluster.reaches("shop/load", "succeeded").await.unwrap();
    assert!(cluster.worker(&holder).unwrap().wait(LIMIT).unwrap().success());
    assert_eq!(cluster.journal().unwrap().of("load", "start").len(), 1);
}
