//! The example of the guide, by `hera dev`: a night of weather reports, its failure, and its repair.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hera_testkit::{Process, binary, temp_dir, wait_for_async};
use hera_tests::cluster::{LIMIT, Told, tell};
use serde_json::Value;
use tempfile::TempDir;

/// A copy of the example, and a home of its own for `hera dev`.
struct Example {
    dir: TempDir,
}

impl Example {
    fn copy() -> Result<Self> {
        let dir = temp_dir()?;
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/weather");
        let status =
            Command::new("cp").arg("-r").arg(&from).arg(dir.path().join("weather")).status()?;
        ensure!(status.success(), "could not copy {}", from.display());
        let out = dir.path().join("weather/out");
        if out.exists() {
            fs::remove_dir_all(&out)?;
        }
        Ok(Self { dir })
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("weather")
    }

    fn hera(&self, args: &[&str]) -> Result<Command> {
        let mut command = Command::new(binary("hera")?);
        command.args(args).current_dir(self.folder()).env("HOME", self.dir.path());
        command.env_remove("XDG_DATA_HOME").env_remove("HERA_SERVER").env("HERA_ACTOR", "tester");
        Ok(command)
    }

    fn until_idle(&self) -> Result<Told> {
        let folder = self.folder().display().to_string();
        tell(&self.hera(&["dev", &folder, "--until-idle"])?)
    }

    /// `hera dev` that runs on, and answers.
    async fn dev(&self) -> Result<Process> {
        let folder = self.folder().display().to_string();
        let dev = Process::spawn("hera dev", &mut self.hera(&["dev", &folder])?)?;
        let loaded = || async { dev.stderr().find("jobs: ") };
        wait_for_async("hera dev to load the jobs", LIMIT, loaded)
            .await
            .with_context(|| dev.stderr().last(20))?;
        Ok(dev)
    }

    fn rows(&self, args: &[&str]) -> Result<Vec<Value>> {
        let with_format: Vec<&str> = args.iter().copied().chain(["-o", "json"]).collect();
        let told = tell(&self.hera(&with_format)?)?;
        ensure!(told.code == 0, "{}", told.stderr);
        let answer = told.json()?;
        Ok(answer.as_array().cloned().unwrap_or_else(|| vec![answer]))
    }

    /// How many runs each action has had, by `job@version`.
    fn runs(&self) -> Result<BTreeMap<String, usize>> {
        let mut counts = BTreeMap::new();
        for run in self.rows(&["get", "runs"])? {
            *counts.entry(name(&run)).or_insert(0) += 1;
        }
        Ok(counts)
    }
}

/// `job@version`.
fn name(row: &Value) -> String {
    format!("{}@{}", row["job"].as_str().unwrap_or("?"), row["version"].as_str().unwrap_or("?"))
}

/// Each run began when the last run of all that its action is bound to had ended.
fn check_order(actions: &[Value], runs: &[Value]) -> Result<()> {
    let times = |key: &str| -> BTreeMap<String, String> {
        let time = |run: &Value| Some((name(run), run[key].as_str()?.to_owned()));
        runs.iter().filter_map(time).collect()
    };
    let (starts, ends) = (times("started_at"), times("ended_at"));
    let mut edges = 0;
    for action in actions.iter().filter(|action| action["state"] == "succeeded") {
        let start = starts.get(&name(action)).with_context(|| name(action))?;
        for binding in action["bindings"].as_array().context("bindings")? {
            let end = ends.get(&name(binding)).with_context(|| format!("{action:#}"))?;
            ensure!(instant(end)? <= instant(start)?, "{} before {}", name(action), name(binding));
            edges += 1;
        }
    }
    ensure!(edges >= 12, "only {edges} edges were seen");
    Ok(())
}

fn instant(text: &str) -> Result<jiff::Timestamp> {
    Ok(text.parse()?)
}

#[tokio::test]
async fn a_night_of_weather_reports_runs_once_and_in_order() {
    let example = Example::copy().unwrap();
    let told = example.until_idle().unwrap();
    assert_eq!(told.code, 0, "{}{}", told.text(), told.stderr);
    let latest = example.folder().join("out/latest");
    for file in ["index.html", "report.md", "month.svg", "change.txt"] {
        assert!(fs::metadata(latest.join(file)).unwrap().len() > 0, "{file}");
    }
    let parse = "import sys, xml.etree.ElementTree as t; assert t.parse(sys.argv[1]).getroot().tag.endswith('svg')";
    let svg = latest.join("month.svg");
    assert!(Command::new("python3").args(["-c", parse]).arg(&svg).status().unwrap().success());

    // What it did is asked of the next `hera dev` on the same folder, which must do nothing again.
    let dev = example.dev().await.unwrap();
    let actions = example.rows(&["get", "actions"]).unwrap();
    let jobs = example.rows(&["get", "jobs"]).unwrap();
    assert_eq!(jobs.len(), 14);
    let unwell =
        |a: &&Value| !["succeeded", "planned"].contains(&a["state"].as_str().unwrap_or_default());
    assert_eq!(actions.iter().filter(unwell).count(), 0, "{actions:#?}");
    let ran: Vec<&Value> = actions.iter().filter(|a| a["state"] == "succeeded").collect();
    for job in &jobs {
        assert!(ran.iter().any(|a| a["job"] == job["job"]), "{} has not run", job["job"]);
    }
    let runs = example.rows(&["get", "runs"]).unwrap();
    check_order(&actions, &runs).unwrap();
    let counts = example.runs().unwrap();
    assert!(counts.values().all(|count| *count == 1), "{counts:#?}");
    drop(dev);

    let told = example.until_idle().unwrap();
    assert_eq!(told.code, 0, "{}{}", told.text(), told.stderr);
    let dev = example.dev().await.unwrap();
    assert_eq!(example.runs().unwrap(), counts);
    drop(dev);
}

#[tokio::test]
async fn a_broken_measurement_stops_what_stands_behind_it_until_it_is_repaired() {
    let example = Example::copy().unwrap();
    let data = example.folder().join("data/seattle.csv");
    let good = fs::read_to_string(&data).unwrap();
    let line = good.lines().nth(9).unwrap();
    let broken = good.replacen(line, &line.replacen("9.4", "abc", 1), 1);
    assert_ne!(broken, good);
    fs::write(&data, broken).unwrap();

    let told = example.until_idle().unwrap();
    assert_eq!(told.code, 1, "{}{}", told.text(), told.stderr);
    assert!(told.stderr.contains("weather/ingest/check@"), "{}", told.stderr);
    assert!(!example.folder().join("out/latest").exists());

    let dev = example.dev().await.unwrap();
    let failed = example.rows(&["get", "actions", "--state", "failed"]).unwrap();
    assert!(!failed.is_empty());
    assert!(failed.iter().all(|a| a["job"] == "weather/ingest/check" && a["reason"] == "exit"));
    let newest = name(&failed[0]);
    let log = tell(&example.hera(&["logs", &newest]).unwrap()).unwrap();
    assert!(log.text().contains("seattle.csv line 10: temp_max_c is \"abc\""), "{}", log.text());
    // Exit code 3 is not worth a retry.
    let attempts = example.rows(&["get", "attempts", &newest]).unwrap();
    assert_eq!(attempts.len(), 1, "{attempts:#?}");
    let why = example.rows(&["why", "weather/report/publish"]).unwrap();
    assert_eq!(why[0]["code"], "upstream_failed", "{why:#?}");
    assert!(why[0]["root"].as_str().unwrap().starts_with("weather/ingest/check@"), "{why:#?}");

    fs::write(&data, good).unwrap();
    let recover = |state: &str, job: &str| {
        for action in example.rows(&["get", "actions", "--job", job, "--state", state]).unwrap() {
            let told =
                tell(&example.hera(&["recover", &name(&action), "--follow"]).unwrap()).unwrap();
            assert_eq!(told.code, 0, "{}{}", told.text(), told.stderr);
        }
    };
    recover("succeeded", "weather/ingest/read_seattle");
    recover("failed", "weather/ingest/check");
    wait_for_async("everything behind the check", LIMIT, || async {
        let rows = example.rows(&["get", "actions", "--state", "waiting,active"]).ok()?;
        rows.is_empty().then_some(())
    })
    .await
    .unwrap();
    assert!(example.folder().join("out/latest/index.html").exists());
    let runs = example.runs().unwrap();
    for (action, count) in runs {
        let twice = action.starts_with("weather/ingest/read_seattle@")
            || action.starts_with("weather/ingest/check@");
        assert_eq!(count, if twice { 2 } else { 1 }, "{action}");
    }
    drop(dev);
}

#[test]
fn the_scripts_of_the_example_pass_their_own_test() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/weather/test_weather.py");
    let mut python = Command::new("python3");
    // Nothing is left beside the scripts, which `hera dev` reads from there, too.
    let told = tell(python.arg(script).env("PYTHONDONTWRITEBYTECODE", "1")).unwrap();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stderr.contains("\nOK\n"), "{}", told.stderr);
}
