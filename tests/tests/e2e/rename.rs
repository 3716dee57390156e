//! Jobs that are renamed, and jobs that are taken away.

use hera_tests::cluster::{Cluster, Store, cron_at};
use serde_json::json;

#[tokio::test]
async fn a_renamed_job_keeps_its_id_and_its_history() {
    let cluster = Cluster::quick(Store::Postgres, &["w1"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let jobs = |name: &str, more: &[&str]| {
        let keys: Vec<&str> = std::iter::once(due.as_str()).chain(more.iter().copied()).collect();
        let after = format!("depends_on: [{name}]");
        cluster.jobs("shop", "zone: UTC, lease: 30s").script(name, &keys, "echo loaded").script(
            "after",
            &[&after],
            "true",
        )
    };
    cluster.apply(&jobs("load", &[])).unwrap();
    cluster.reaches(&format!("shop/after@{version}"), "succeeded").await.unwrap();
    let before = cluster.rows(&["get", "jobs", "--job", "shop/load"]).unwrap();

    let told = cluster.apply(&jobs("extract", &["renamed_from: load"])).unwrap();
    assert!(told.stderr.contains("1 renamed"), "{}", told.stderr);
    assert!(!told.stderr.contains("created"), "{}", told.stderr);
    let now = cluster.rows(&["get", "jobs", "--job", "shop/extract"]).unwrap();
    assert_eq!(now[0]["id"], before[0]["id"]);
    cluster.hera_ends(3, &["describe", "job", "shop/load"]).unwrap();
    let renamed = format!("shop/extract@{version}");
    let actions =
        cluster.rows(&["get", "actions", "--job", "shop/extract", "--state", "succeeded"]).unwrap();
    assert_eq!((actions.len(), &actions[0]["version"]), (1, &json!(version)));
    assert_eq!(cluster.hera_ends(0, &["logs", &renamed]).unwrap().text(), "loaded\n");
    let after = cluster.json(&["describe", "action", &format!("shop/after@{version}")]).unwrap();
    assert_eq!(after["bindings"][0]["job"], "shop/extract", "{after}");
    // The same file again changes nothing: the old name has gone.
    let again = cluster.apply(&jobs("extract", &["renamed_from: load"])).unwrap();
    assert!(
        again.stderr.contains("2 unchanged") && !again.stderr.contains("renamed"),
        "{}",
        again.stderr
    );
    assert_eq!(cluster.journal().unwrap().of("load", "start").len(), 1);
    assert!(cluster.journal().unwrap().of("extract", "start").is_empty());
}

#[tokio::test]
async fn prune_deletes_only_in_groups_that_the_files_name_and_says_the_number() {
    let cluster = Cluster::quick(Store::Sqlite, &[]).await.unwrap();
    let other = cluster.jobs("other", "zone: UTC").noop("x", &[]).noop("y", &[]);
    cluster.apply(&other).unwrap();
    let below = cluster.jobs("shop/below", "zone: UTC").noop("z", &[]);
    cluster.apply(&below).unwrap();
    let all = cluster.jobs("shop", "zone: UTC").noop("a", &[]).noop("b", &[]).noop("c", &[]);
    cluster.apply(&all).unwrap();
    let names = || cluster.hera_ends(0, &["get", "jobs", "-o", "name"]).unwrap().text();
    let whole = "other/x\nother/y\nshop/a\nshop/b\nshop/below/z\nshop/c\n";
    assert_eq!(names(), whole);

    let less = cluster.jobs("shop", "zone: UTC").noop("a", &[]);
    let path = cluster.write_jobs("jobs.yaml", &less.text()).unwrap();
    cluster.hera_ends(0, &["apply", "-f", &path]).unwrap();
    assert_eq!(names(), whole);
    let told = cluster.hera_ends(0, &["apply", "-f", &path, "--prune", "--dry-run"]).unwrap();
    assert!(told.stderr.contains("2 deleted"), "{}", told.stderr);
    assert_eq!(names(), whole);
    let told = cluster.hera_ends(0, &["apply", "-f", &path, "--prune"]).unwrap();
    assert!(told.stderr.contains("2 deleted"), "{}", told.stderr);
    assert_eq!(names(), "other/x\nother/y\nshop/a\nshop/below/z\n");
}
