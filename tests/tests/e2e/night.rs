//! A small night of five jobs on two workers: versions, order, states, logs, and why something waits.

use hera_tests::cluster::{Cluster, Journal, Store, cron_at};
use serde_json::{Value, json};

/// The keys of an action in JSON, a contract with scripts.
const ACTION_KEYS: [&str; 11] = [
    "bindings",
    "data_date",
    "held_by",
    "id",
    "job",
    "local",
    "reason",
    "revision",
    "runs",
    "state",
    "version",
];
const RUN_KEYS: [&str; 11] = [
    "actor",
    "attempts",
    "ended_at",
    "id",
    "job",
    "reason",
    "revision",
    "started_at",
    "state",
    "trigger",
    "version",
];
const WHY_KEYS: [&str; 6] = ["action", "code", "expected_start", "path", "root", "text"];

const JOBS: [&str; 5] = ["extract", "left", "right", "join", "report"];

fn keys(row: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn in_order(journal: &Journal) {
    for (before, after) in [
        ("extract", "left"),
        ("extract", "right"),
        ("left", "join"),
        ("right", "join"),
        ("join", "report"),
    ] {
        journal.in_order(before, after).unwrap();
    }
}

#[tokio::test]
async fn a_night_of_five_jobs_runs_in_order_on_two_workers() {
    let mut cluster = Cluster::quick(Store::Postgres, &[]).await.unwrap();
    // One place each: `left` and `right` wait for each other, so each must be on a worker of its own.
    for name in ["w1", "w2"] {
        cluster.add_worker(name, &["--capacity", "1"]).await.unwrap();
    }
    let (due, version) = cron_at(cluster.now_ms() + 4_000).unwrap();
    let dir = cluster.dir().display().to_string();
    let meet = |me: &str, other: &str| format!("touch {dir}/gates/{me}\ngate {other}");
    let jobs = cluster
        .jobs("shop/nightly", "zone: Europe/Berlin, lease: 3s")
        .script("extract", &[&due], "echo \"$HERA_JOB about $HERA_DATA_DATE\"\nprintf '%s' '${db}'")
        .script("left", &["depends_on: [extract]"], &meet("left", "right"))
        .script("right", &["depends_on: [extract]"], &meet("right", "left"))
        .script("join", &["depends_on: [left, right]"], "gate join")
        .script("report", &["depends_on: [join]"], "echo done");
    let text = jobs.text().replacen("jobs:", "config: { db: retail }\njobs:", 1);
    let path = cluster.write_jobs("night.yaml", &text).unwrap();
    let told = cluster.hera_ends(0, &["apply", "-f", &path]).unwrap();
    assert!(told.stderr.contains("5 created"), "{}", told.stderr);

    // While `join` stands, `report` says whom it waits for.
    cluster.said("join", "start", 1).await.unwrap();
    let report = format!("shop/nightly/report@{version}");
    let join = format!("shop/nightly/join@{version}");
    let why = cluster.json(&["why", &report]).unwrap();
    assert_eq!(keys(&why), WHY_KEYS);
    assert_eq!(why["code"], "waits_for_upstream");
    assert_eq!(why["root"], Value::from(join.as_str()));
    assert_eq!(why["path"], json!([report, join]));
    cluster.open_gate("join").unwrap();
    cluster.reaches(&report, "succeeded").await.unwrap();

    let journal = cluster.journal().unwrap();
    in_order(&journal);
    let rows = cluster
        .rows(&["get", "actions", "--group", "shop/nightly", "--state", "succeeded"])
        .unwrap();
    assert_eq!(rows.len(), 5, "{rows:#?}");
    for job in JOBS {
        let path = format!("shop/nightly/{job}");
        let row = rows.iter().find(|row| row["job"] == path.as_str()).unwrap();
        assert_eq!(keys(row), ACTION_KEYS);
        assert_eq!(row["version"], version.as_str());
        assert_eq!((&row["reason"], &row["held_by"]), (&Value::Null, &Value::Null));
        assert_eq!((&row["runs"], &row["revision"]), (&json!(1), &json!(1)));
        let line = journal.only(job, "start").unwrap();
        assert_eq!((line.version.as_str(), line.attempt), (version.as_str(), 1));
    }
    let join_row = rows.iter().find(|row| row["job"] == "shop/nightly/join").unwrap();
    let bound = |job: &str| json!({"job": job, "version": version, "state": "succeeded"});
    assert_eq!(
        join_row["bindings"],
        json!([bound("shop/nightly/left"), bound("shop/nightly/right")])
    );

    let runs = cluster.rows(&["get", "runs", "--group", "shop/nightly"]).unwrap();
    assert_eq!(runs.len(), 5);
    assert_eq!(keys(&runs[0]), RUN_KEYS);
    let triggers: Vec<&str> = runs.iter().map(|run| run["trigger"].as_str().unwrap()).collect();
    assert_eq!(triggers.iter().filter(|t| **t == "schedule").count(), 1, "{triggers:?}");
    assert_eq!(triggers.iter().filter(|t| **t == "event").count(), 4, "{triggers:?}");
    let extract = format!("shop/nightly/extract@{version}");
    let log = cluster.hera_ends(0, &["logs", &extract]).unwrap();
    // Its schedule has a zone of its own, in which it may be another day than for the others.
    let row = rows.iter().find(|row| row["job"] == "shop/nightly/extract").unwrap();
    let day = row["data_date"].as_str().unwrap();
    assert_eq!(log.text(), format!("shop/nightly/extract about {day}\nretail"));
}

#[tokio::test]
async fn nothing_starts_before_its_version() {
    let cluster = Cluster::quick(Store::Sqlite, &["w1"]).await.unwrap();
    let at = cluster.now_ms() + 3_500;
    let (due, version) = cron_at(at).unwrap();
    let jobs = cluster.jobs("shop", "zone: UTC").script("first", &[&due], "true").script(
        "second",
        &["depends_on: [first]"],
        "true",
    );
    cluster.apply(&jobs).unwrap();
    let why = cluster.json(&["why", &format!("shop/second@{version}")]).unwrap();
    assert_eq!(why["code"], "not_due", "{why}");
    cluster.reaches(&format!("shop/second@{version}"), "succeeded").await.unwrap();
    let journal = cluster.journal().unwrap();
    let first = journal.only("first", "start").unwrap();
    assert!(first.at_ms >= at - at.rem_euclid(1_000), "{first:?} began before {version}");
    journal.in_order("first", "second").unwrap();
}
