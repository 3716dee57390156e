//! `hera dev` and the commands against it, as a person types them: real processes, real exit codes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use tempfile::TempDir;

/// Two jobs of which the second waits for the first, and what both leave behind.
const GOOD: &str = r#"group: g
defaults: { zone: Europe/Berlin }
jobs:
  - name: first
    schedule: { cron: "0 3 * * *" }
    files: [words.txt]
    script: |
      cat words.txt
      echo ${word} >> "${hera.dir}/out.txt"
    config: { word: one }
  - name: second
    depends_on: [first]
    script: echo two >> "${hera.dir}/out.txt"
  - name: by_hand
    script: exit 7
"#;

/// The first fails, so the second is blocked.
const BAD: &str = r#"group: g
jobs:
  - name: first
    schedule: { cron: "0 3 * * *" }
    script: exit 3
  - name: second
    depends_on: [first]
    script: echo two
"#;

/// A folder of jobs, and a home of its own, so that no other `hera dev` is met.
struct Site {
    temp: TempDir,
}

impl Site {
    fn new(jobs: &str) -> Self {
        let temp = tempfile::tempdir().expect("a folder");
        let site = Self { temp };
        fs::create_dir(site.jobs()).expect("the jobs' folder");
        site.write("jobs.yaml", jobs);
        site.write("words.txt", "some words\n");
        site
    }

    fn jobs(&self) -> PathBuf {
        self.temp.path().join("jobs")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.jobs().join(name), text).expect("a file");
    }

    fn hera(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hera"));
        command
            .args(line)
            .current_dir(self.jobs())
            .env("XDG_DATA_HOME", self.temp.path().join("data"))
            .env_remove("HERA_SERVER")
            .env_remove("HERA_LOG")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, line: &[&str]) -> Ran {
        let Output { status, stdout, stderr } = self.hera(line).output().expect("hera runs");
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: status.code(), stdout: text(&stdout), stderr: text(&stderr) }
    }

    /// Serves until dropped; returns when the second job has run.
    fn serve(&self) -> Served {
        let mut child = self
            .hera(&["dev", "."])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("hera dev starts");
        let stdout = child.stdout.take().expect("it is piped");
        let (tell, told) = mpsc::channel();
        // Read to its end: with no reader it would stop by itself.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line.contains("g/second@") && line.contains("succeeded in") {
                    // Only the first is waited for.
                    let _heard = tell.send(()).is_ok();
                }
            }
        });
        told.recv().expect("the second job runs");
        Served { child }
    }
}

#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    #[track_caller]
    fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }
}

struct Served {
    child: Child,
}

impl Served {
    /// As Ctrl-C does.
    fn stop(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it lives");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_folder_runs_to_its_end_in_order_and_once() {
    let site = Site::new(GOOD);
    let ran = site.run(&["dev", ".", "--until-idle"]).ended(0);
    assert_eq!(lines(&site.jobs().join("out.txt")), ["one", "two"], "{ran:#?}");
    for part in ["g/first@", " running on dev", "g/second@", " succeeded in "] {
        assert!(ran.stdout.contains(part), "{part}: {ran:#?}");
    }
    // What has run does not run again.
    let again = site.run(&["dev", ".", "--until-idle"]).ended(0);
    assert_eq!(lines(&site.jobs().join("out.txt")), ["one", "two"], "{again:#?}");
}

#[test]
fn a_failure_and_what_it_blocks_are_listed() {
    let site = Site::new(BAD);
    let ran = site.run(&["dev", ".", "--until-idle"]).ended(1);
    assert!(ran.stdout.contains(" failed: exit 3"), "{ran:#?}");
    let errors: Vec<_> = ran.stderr.lines().filter(|l| l.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 2, "{ran:#?}");
    assert!(errors.iter().any(|l| l.starts_with("error: g/first@") && l.contains("failed(exit)")));
    assert!(
        errors
            .iter()
            .any(|l| l.starts_with("error: g/second@") && l.contains(" blocked by g/first@"))
    );
}

#[test]
fn mistakes_are_told_with_their_place() {
    let site = Site::new("group: g\njobs:\n  - name: a\n    retrys: 1\n    files: [gone.sh]\n");
    let ran = site.run(&["dev", ".", "--until-idle"]).ended(2);
    assert!(ran.stderr.contains("jobs.yaml:4:"), "{ran:#?}");
    site.run(&["dev", "nowhere"]).ended(3);
    site.run(&["dev", "jobs.yaml"]).ended(2);
}

#[test]
fn other_commands_find_it_and_a_stop_is_clean() {
    let site = Site::new(GOOD);
    let served = site.serve();

    let names = site.run(&["get", "actions", "--state", "succeeded", "-o", "name"]).ended(0).stdout;
    assert_eq!(names.lines().count(), 2, "{names}");
    let json = site.run(&["get", "actions", "--job", "g/second", "-o", "json"]).ended(0).stdout;
    let actions: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let first =
        actions.as_array().and_then(|all| all.iter().find(|action| action["state"] == "succeeded"));
    let bindings = &first.expect("it has succeeded")["bindings"];
    assert_eq!(bindings[0]["job"], "g/first", "{json}");
    assert_eq!(bindings[0]["state"], "succeeded", "{json}");

    let jobs = site.run(&["get", "jobs", "--job", "g/first", "-o", "json"]).ended(0).stdout;
    let jobs: serde_json::Value = serde_json::from_str(&jobs).expect("JSON");
    assert_eq!(jobs[0]["next_slots"].as_array().map(Vec::len), Some(1), "{jobs}");

    assert_eq!(site.run(&["logs", "g/first"]).ended(0).stdout, "some words\n");
    let followed = site.run(&["run", "g/by_hand", "--follow"]).ended(1);
    assert!(followed.stderr.contains("failed(exit)"), "{followed:#?}");
    site.run(&["recover", "g/first", "--follow", "-m", "again"]).ended(0);
    assert_eq!(lines(&site.jobs().join("out.txt")), ["one", "two", "one"]);

    site.run(&["describe", "job", "g/nothing"]).ended(3);
    site.run(&["slots", "--cron", "x"]).ended(2);
    let slots = [
        "slots",
        "--cron",
        "30 2 * * *",
        "--zone",
        "Europe/Berlin",
        "--from",
        "2027-03-27",
        "-n",
        "2",
        "-o",
        "name",
    ];
    assert_eq!(site.run(&slots).ended(0).stdout, "2027-03-27T01:30:00Z\n2027-03-28T01:00:00Z\n");
    let text = ["render", "--text", "${yesterday}", "--at", "2026-11-30T02:00:00Z"];
    assert_eq!(site.run(&text).ended(0).stdout, "20261129\n");
    site.run(&["apply", "-f", ".", "--prune"]).ended(0);
    site.run(&["dev", "."]).ended(4);

    assert_eq!(served.stop(), Some(0));
    let running = site.temp.path().join("data/hera/running");
    assert_eq!(fs::read_dir(running).expect("it was announced there").count(), 0);
}
