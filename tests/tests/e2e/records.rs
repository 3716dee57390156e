//! What people find out afterwards: who changed a job and why, what a run left for others, what a group says.

use std::process::Command;

use hera_testkit::binary;
use hera_tests::cluster::{Cluster, Store, tell};
use serde_json::{Value, json};

fn file(limit: u32) -> String {
    format!(
        "group: shop\nowner: orders-team\nconfig: {{ unit: row }}\ndefaults: {{ lease: 30s }}\njobs:\n  \
         - name: load\n    config: {{ limit: \"{limit}\" }}\n    script: echo ${{unit}}s=${{limit}} > $HERA_OUTPUT\n  \
         - name: base\n    schedule: {{ cron: \"0 3 * * *\" }}\n    type: noop\n  \
         - name: after\n    depends_on: [base]\n    type: noop\n"
    )
}

#[tokio::test]
async fn who_changed_what_and_why_is_told_afterwards() {
    for store in [Store::Sqlite, Store::Postgres] {
        let cluster = Cluster::quick(store, &["w1"]).await.unwrap();
        let path = cluster.write_jobs("shop.yaml", &file(10)).unwrap();
        cluster.hera_ends(0, &["apply", "-f", &path, "-m", "the first night"]).unwrap();
        let path = cluster.write_jobs("shop.yaml", &file(20)).unwrap();
        let bob = ["--actor", "bob", "apply", "-f", &path, "--why", "more of it"];
        cluster.hera_ends(0, &bob).unwrap();

        let history = cluster.rows(&["history", "shop/load"]).unwrap();
        let told: Vec<Value> = history
            .iter()
            .map(|r| json!([r["revision"], r["actor"], r["why"], r["details"]]))
            .collect();
        let change =
            "config: {\"limit\":\"10\",\"unit\":\"row\"} -> {\"limit\":\"20\",\"unit\":\"row\"}";
        let expected = [
            json!([2, "bob", "more of it", [change]]),
            json!([1, "tester", "the first night", []]),
        ];
        assert_eq!(told, expected);
        let names = cluster.hera_ends(0, &["history", "shop/load", "-o", "name"]).unwrap();
        assert_eq!(names.text(), "2\n1\n");

        cluster.hera_ends(0, &["run", "shop/load", "--follow", "-m", "by hand"]).unwrap();
        let run = cluster.json(&["describe", "run", "shop/load"]).unwrap();
        assert_eq!(run["output"], "rows=20\n", "{run:#}");
        let told = cluster.hera_ends(0, &["describe", "run", "shop/load"]).unwrap();
        assert!(told.text().ends_with("\noutput of attempt 1\n  rows=20\n"), "{}", told.text());

        let verbs = |args: &[&str]| -> Vec<Value> {
            let rows = cluster.rows(&[&["audit"], args].concat()).unwrap();
            rows.iter().map(|row| json!([row["verb"], row["actor"], row["why"]])).collect()
        };
        let of_load = [
            json!(["run", "tester", "by hand"]),
            json!(["apply", "bob", "more of it"]),
            json!(["apply", "tester", "the first night"]),
        ];
        assert_eq!(verbs(&["--job", "shop/load"]), of_load);
        assert_eq!(verbs(&["--job", "shop/load", "--limit", "1"]), of_load[..1]);
        assert_eq!(verbs(&["--job", "shop/load", "--by", "bob"]), of_load[1..2]);
        assert!(verbs(&["--by", "nobody"]).is_empty());
        let newest = &cluster.rows(&["audit", "--by", "bob", "--job", "shop/load"]).unwrap()[0];
        assert_eq!(newest["old"]["config"], json!({ "limit": "10", "unit": "row" }), "{newest:#}");
        assert_eq!(newest["new"]["config"], json!({ "limit": "20", "unit": "row" }), "{newest:#}");

        let group = cluster.json(&["describe", "group", "shop"]).unwrap();
        assert_eq!(
            (&group["owner"], &group["config"]["unit"], &group["jobs"]),
            (&json!("orders-team"), &json!("row"), &json!(3)),
            "{group:#}"
        );
        let told = cluster.hera_ends(0, &["describe", "group", "shop"]).unwrap();
        assert!(told.text().contains("unit=row"), "{}", told.text());

        let refused = cluster.hera_ends(4, &["delete", "shop/base"]).unwrap();
        assert!(refused.stderr.contains("shop/after"), "{}", refused.stderr);
        cluster.hera_ends(0, &["delete", "shop/after", "shop/load", "-m", "unused"]).unwrap();
        cluster.hera_ends(3, &["describe", "job", "shop/load"]).unwrap();
        assert_eq!(verbs(&["--job", "shop/load"])[0], json!(["delete", "tester", "unused"]));
    }
}

#[tokio::test]
async fn a_job_file_comes_from_the_standard_input() {
    let cluster = Cluster::quick(Store::Sqlite, &[]).await.unwrap();
    let apply = |text: &str| {
        let path = cluster.write_jobs("piped.txt", text).unwrap();
        let hera = binary("hera").unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{} apply -f - < {path}", hera.display())]);
        shell.env("HERA_SERVER", cluster.servers()).env("HOME", cluster.dir());
        tell(&shell).unwrap()
    };
    let told = apply(&file(1));
    assert_eq!(told.code, 0, "{}", told.stderr);
    let names = cluster.hera_ends(0, &["get", "jobs", "-o", "name"]).unwrap();
    assert_eq!(names.text(), "shop/after\nshop/base\nshop/load\n");
    let told = apply("group: shop\njobs:\n  - nam: x\n");
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("<stdin>:3:"), "{}", told.stderr);
}
