//! What people do by hand, and what the command says and ends with.

use hera_tests::cluster::{Cluster, LIMIT, Patience, Store, cron_at, tell};
use serde_json::json;

#[tokio::test]
async fn a_manual_run_releases_nothing_and_says_so_and_recover_does() {
    let cluster = Cluster::quick(Store::Postgres, &["w1"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let fixed = cluster.dir().join("gates/fixed");
    let broken = format!("[ -e {} ] || {{ echo broken; exit 5; }}", fixed.display());
    let jobs = cluster
        .jobs("shop", "zone: UTC, lease: 30s")
        .script("load", &[&due], &broken)
        .script("after", &["depends_on: [load]"], "true")
        .script("report", &["depends_on: [after]"], "true");
    cluster.apply(&jobs).unwrap();
    let [load, after, report] =
        ["load", "after", "report"].map(|job| format!("shop/{job}@{version}"));
    cluster.reaches(&load, "failed(exit)").await.unwrap();
    let why = cluster.json(&["why", &report]).unwrap();
    assert_eq!((&why["code"], &why["root"]), (&json!("upstream_failed"), &json!(load)));
    assert_eq!(why["path"], json!([report, after, load]));

    cluster.open_gate("fixed").unwrap();
    let told = cluster.hera_ends(0, &["run", &load, "--follow"]).unwrap();
    assert!(told.stderr.contains("does not count"), "{}", told.stderr);
    assert!(told.stderr.contains("recover"), "{}", told.stderr);
    cluster.reaches(&load, "failed(exit)").await.unwrap();
    let still = cluster.json(&["why", &report]).unwrap();
    assert_eq!((&still["code"], &still["root"]), (&json!("upstream_failed"), &json!(load)));
    assert!(cluster.journal().unwrap().of("after", "start").is_empty());

    cluster.hera_ends(0, &["recover", &load, "--follow", "-m", "the file has come"]).unwrap();
    cluster.reaches(&report, "succeeded").await.unwrap();
    let journal = cluster.journal().unwrap();
    journal.in_order("after", "report").unwrap();
    assert_eq!(journal.of("load", "start").len(), 3);
    let runs = cluster.rows(&["get", "runs", &load]).unwrap();
    let told: Vec<_> = runs.iter().map(|run| json!([run["trigger"], run["state"]])).collect();
    assert_eq!(
        told,
        [
            json!(["recover", "succeeded"]),
            json!(["manual", "succeeded"]),
            json!(["schedule", "failed"])
        ]
    );
}

#[tokio::test]
async fn a_job_without_schedule_and_edges_runs_by_hand_and_counts() {
    let cluster = Cluster::quick(Store::Sqlite, &["w1"]).await.unwrap();
    let jobs = cluster.jobs("shop", "lease: 30s").script(
        "load",
        &["config: { size: small }"],
        "echo ${size}",
    );
    cluster.apply(&jobs).unwrap();
    let told =
        cluster.hera_ends(0, &["run", "shop/load", "--follow", "--set", "size=big"]).unwrap();
    assert_eq!(told.text(), "big\n");
    let told = cluster.hera_ends(0, &["run", "shop/load", "--follow"]).unwrap();
    assert_eq!(told.text(), "small\n");
    let rows = cluster.rows(&["get", "actions", "--job", "shop/load"]).unwrap();
    assert_eq!(rows.len(), 2, "{rows:#?}");
    assert!(rows.iter().all(|row| row["state"] == "succeeded"), "{rows:#?}");
}

#[tokio::test]
async fn every_exit_code_is_given_where_the_design_says() {
    let mut cluster = Cluster::quick(Store::Sqlite, &["w1"]).await.unwrap();
    let jobs = cluster
        .jobs("shop", "lease: 30s")
        .script("good", &[], "true")
        .script("bad", &[], "exit 9")
        .script("long", &[], "gate long");
    cluster.apply(&jobs).unwrap();
    let ends = |code: i32, args: &[&str]| cluster.hera_ends(code, args).unwrap().stderr;
    ends(0, &["get", "jobs"]);
    ends(0, &["run", "shop/good", "--follow"]);
    // A run that was followed has failed; one that nobody waited for has not been heard of.
    ends(1, &["run", "shop/bad", "--follow"]);
    ends(1, &["logs", "shop/bad", "-f"]);
    ends(0, &["run", "shop/bad"]);
    ends(2, &["get", "actions", "--day", "yesterday"]);
    ends(2, &["get", "actions", "--state", "fialed"]);
    ends(2, &["slots", "--cron", "61 * * * *"]);
    assert!(ends(3, &["describe", "job", "shop/none"]).contains("shop/none"));
    ends(3, &["why", "shop/good@2001"]);
    ends(3, &["logs", "r4711"]);
    // Its run is live: a second one is refused.
    let told = cluster.json(&["run", "shop/long"]).unwrap();
    cluster.said("long", "start", 1).await.unwrap();
    let action = format!("shop/long@{}", told["version"].as_str().unwrap());
    let refusal = ends(4, &["recover", &action]);
    assert!(refusal.contains(told["id"].as_str().unwrap()), "{refusal}");
    ends(4, &["run", &action]);
    cluster.open_gate("long").unwrap();
    cluster.reaches(&action, "succeeded").await.unwrap();

    cluster.master_process(0).unwrap().terminate().unwrap();
    assert!(cluster.master_process(0).unwrap().wait(LIMIT).unwrap().success());
    let command = cluster.hera_command(&["get", "jobs"]).unwrap();
    assert_eq!(tell(&command).unwrap().code, 6);
}

#[tokio::test]
async fn a_cancel_reaches_a_full_worker_without_waiting_for_its_next_heartbeat() {
    let mut cluster = Cluster::start(Store::Sqlite, Patience::Seldom).await.unwrap();
    cluster.add_worker("w1", &["--capacity", "1"]).await.unwrap();
    let jobs = cluster.jobs("shop", "lease: 2h").script("long", &[], "sleep 1000");
    cluster.apply(&jobs).unwrap();
    cluster.hera_ends(0, &["run", "shop/long"]).unwrap();
    cluster.reaches("shop/long@latest", "active(running)").await.unwrap();
    cluster.hera_ends(0, &["cancel", "shop/long"]).unwrap();
    // Its next heartbeat is ten minutes away.
    cluster.reaches("shop/long@latest", "cancelled").await.unwrap();
}
