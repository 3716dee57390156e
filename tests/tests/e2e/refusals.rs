//! Job files that are refused: whole, with file, line and reason, and what was applied before stands.

use hera_tests::cluster::{Cluster, Store};

const GOOD: &str = "\
group: shop
jobs:
  - name: load
    schedule: { cron: \"0 3 * * *\" }
    script: echo load
  - name: after
    depends_on: [load]
    script: echo after
";

/// What is wrong in line 10 of a file that is good otherwise, where it is told, and a part of the reason.
const WRONG: [(&str, &str, &str); 11] = [
    ("retrys: { times: 2 }", "10:5", "there is no field `retrys`, did you mean `retries`?"),
    ("schedule: { cron: \"0 25 * * *\" }", "10:23", "25"),
    ("schedule: { cron: \"0 0 30 2 *\" }", "10:23", "never"),
    ("schedule: { cron: \"0 3 * * *\", zone: Europe/Berln }", "10:42", "Europe/Berln"),
    ("depends_on: [loda]", "10:18", "there is no job `shop/loda`"),
    ("depends_on: [new]", "10:18", "itself"),
    ("timeout: 5m", "10:14", "5min"),
    ("type: python", "10:11", "`type: python` is not built yet"),
    ("expected_by: \"07:00\"", "10:5", "`expected_by` is not built yet"),
    ("overlap: skip", "10:14", "not built yet"),
    ("takeover: newest", "10:15", "not built yet"),
];

#[tokio::test]
async fn a_bad_file_is_refused_whole_with_its_place_and_reason() {
    let cluster = Cluster::quick(Store::Sqlite, &[]).await.unwrap();
    let good = cluster.write_jobs("good.yaml", GOOD).unwrap();
    cluster.hera_ends(0, &["apply", "-f", &good]).unwrap();
    let jobs = || cluster.json(&["get", "jobs"]).unwrap();
    let before = jobs();
    for (wrong, place, reason) in WRONG {
        // The change to `load` is good, and must not be applied either.
        let text = GOOD.replace("echo load", "echo changed")
            + &format!("  - name: new\n    {wrong}\n    script: echo new\n");
        let bad = cluster.write_jobs("bad.yaml", &text).unwrap();
        for flags in [&["apply", "-f", &bad][..], &["apply", "-f", &bad, "--dry-run"]] {
            let told = cluster.hera_ends(2, flags).unwrap();
            let line = told.stderr.lines().find(|line| line.contains(reason));
            let line = line.unwrap_or_else(|| panic!("{wrong}: {}", told.stderr));
            assert!(line.contains(&format!("bad.yaml:{place}: ")), "{wrong}: {line}");
            assert!(told.stdout.is_empty(), "{}", told.text());
            assert_eq!(jobs(), before, "{wrong}");
        }
    }
}

#[tokio::test]
async fn a_circle_is_refused_with_its_path() {
    let cluster = Cluster::quick(Store::Postgres, &[]).await.unwrap();
    let good = cluster.write_jobs("good.yaml", GOOD).unwrap();
    cluster.hera_ends(0, &["apply", "-f", &good]).unwrap();
    let before = cluster.json(&["get", "jobs"]).unwrap();
    let text =
        GOOD.replace("    script: echo load", "    depends_on: [after]\n    script: echo load");
    let bad = cluster.write_jobs("good.yaml", &text).unwrap();
    let told = cluster.hera_ends(2, &["apply", "-f", &bad]).unwrap();
    assert!(told.stderr.contains("good.yaml:"), "{}", told.stderr);
    for path in ["shop/load", "shop/after"] {
        assert!(told.stderr.contains(path), "{}", told.stderr);
    }
    assert_eq!(cluster.json(&["get", "jobs"]).unwrap(), before);
}

#[tokio::test]
async fn a_dry_run_tells_what_would_change_and_changes_nothing() {
    let cluster = Cluster::quick(Store::Sqlite, &[]).await.unwrap();
    let good = cluster.write_jobs("good.yaml", GOOD).unwrap();
    let told = cluster.hera_ends(0, &["apply", "-f", &good, "--dry-run"]).unwrap();
    assert!(told.stderr.contains("2 created"), "{}", told.stderr);
    assert!(cluster.rows(&["get", "jobs"]).unwrap().is_empty());
    assert!(cluster.rows(&["get", "groups"]).unwrap().is_empty());
    cluster.hera_ends(0, &["apply", "-f", &good]).unwrap();
    let before = cluster.json(&["get", "jobs"]).unwrap();
    let actions = cluster.json(&["get", "actions"]).unwrap();
    let changed = GOOD.replace("echo load", "echo changed").replace("0 3 * * *", "0 4 * * *");
    let path = cluster.write_jobs("good.yaml", &changed).unwrap();
    let told = cluster.hera_ends(0, &["apply", "-f", &path, "--dry-run"]).unwrap();
    assert!(told.stderr.contains("1 revised"), "{}", told.stderr);
    assert_eq!(cluster.json(&["get", "jobs"]).unwrap(), before);
    assert_eq!(cluster.json(&["get", "actions"]).unwrap(), actions);
    // Applied twice, it is the same.
    let told = cluster.hera_ends(0, &["apply", "-f", &path]).unwrap();
    assert!(told.stderr.contains("1 revised"), "{}", told.stderr);
    let told = cluster.hera_ends(0, &["apply", "-f", &path]).unwrap();
    assert!(
        told.stderr.contains("2 unchanged") && !told.stderr.contains("revised"),
        "{}",
        told.stderr
    );
}

#[tokio::test]
async fn what_another_hand_has_changed_is_refused_until_it_is_overwritten() {
    let cluster = Cluster::quick(Store::Postgres, &[]).await.unwrap();
    let good = cluster.write_jobs("good.yaml", GOOD).unwrap();
    cluster.hera_ends(0, &["apply", "-f", &good, "--source", "ci"]).unwrap();
    let edited = GOOD.replace("echo load", "echo edited");
    let edited = cluster.write_jobs("edited.yaml", &edited).unwrap();
    // One that was never applied from there does not take it over by itself.
    for flags in [&[][..], &["--dry-run"]] {
        let told = cluster.hera_ends(4, &[&["apply", "-f", &edited], flags].concat()).unwrap();
        for part in ["edited.yaml:3:5", "shop/load was made by tester", "from `ci`", "- echo load"]
        {
            assert!(told.stderr.contains(part), "{part}: {}", told.stderr);
        }
        assert!(told.stdout.is_empty(), "{}", told.text());
    }
    let told = cluster.hera_ends(0, &["apply", "-f", &edited, "--overwrite"]).unwrap();
    assert!(told.stderr.contains("warning: overwritten: shop/load"), "{}", told.stderr);
    assert!(told.stderr.contains("1 revised"), "{}", told.stderr);
    let told = cluster.hera_ends(4, &["apply", "-f", &good, "--source", "ci"]).unwrap();
    assert!(told.stderr.contains("has not seen that change"), "{}", told.stderr);
}
