//! Whole workers, as processes, with a leader of the tests' own making. It must serve while a test waits for a
//! process, hence the runtime of several threads.
#![expect(clippy::unwrap_used, reason = "functions that tests share")]

mod fake;
mod odd_scripts;
mod sick;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fake::Fake;
use hera_proto::v1;
use hera_testkit::{Process, temp_dir, wait_for_async};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(20);

/// A worker and its folder.
struct Worker {
    process: Process,
    dir: TempDir,
}

fn spawn(fake: &Fake, dir: &Path, args: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hera-worker"));
    command
        .arg("--master")
        .arg(fake.url())
        .arg("--state-dir")
        .arg(dir)
        .args(["--min-free-mb", "0", "--log", "debug"])
        .args(args)
        .env("HERA_STORE", "postgres://a-secret@host")
        .env("HERA_SERVER", "http://for-scripts");
    Process::spawn("a worker", &mut command).unwrap()
}

impl Worker {
    fn start(fake: &Fake, args: &[&str]) -> Self {
        let dir = temp_dir().unwrap();
        let process = spawn(fake, dir.path(), args);
        Self { process, dir }
    }

    fn again(&mut self, fake: &Fake) {
        self.process = spawn(fake, self.dir.path(), &[]);
    }

    fn folder(&self, name: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.dir.path().join(name)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// How many ends of processes are written down.
    fn exits(&self) -> usize {
        let is_exit = |path: &PathBuf| path.extension().is_some_and(|suffix| suffix == "exit");
        self.folder("attempts").iter().filter(|path| is_exit(path)).count()
    }

    /// Waits until nothing of any attempt is left on the disk.
    async fn is_clean(&self) {
        let look = async || {
            let left = [self.folder("attempts"), self.folder("spool")].concat();
            left.is_empty().then_some(())
        };
        wait_for_async("a clean folder", LIMIT, look).await.unwrap();
    }
}

async fn appears(path: &Path) {
    let look = async || path.exists().then_some(());
    wait_for_async(&format!("{}", path.display()), LIMIT, look).await.unwrap();
}

async fn is_gone(pid_file: &Path) {
    appears(pid_file).await;
    let look = async || {
        let pid = std::fs::read_to_string(pid_file).ok()?;
        let alive = !pid.trim().is_empty() && Path::new("/proc").join(pid.trim()).exists();
        (!alive && !pid.trim().is_empty()).then_some(())
    };
    wait_for_async("the end of a process", LIMIT, look).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_goes_from_grant_to_its_last_byte() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &["--name", "w1", "--capacity", "3", "--label", "disk=ssd"]);
    let environment = [("HERA_VERSION".to_owned(), "2026-01-02T03:04:05Z".to_owned())];
    fake.grant_as(v1::Assignment {
        run_id: 1,
        script: "echo $HERA_VERSION; printf '\\xff'; echo rows=7 > $HERA_OUTPUT
                 env | grep -c '^HERA_STORE'; echo $HERA_SERVER"
            .to_owned(),
        kind: v1::Kind::Shell.into(),
        environment: environment.into(),
        ..v1::Assignment::default()
    });
    let end = fake.end_of(1).await;
    assert_eq!((end.end(), end.exit_code, end.signal), (v1::End::Succeeded, Some(0), None));
    assert_eq!(end.output, b"rows=7\n");
    // The log was whole before the end was told.
    assert_eq!(fake.log_of(1), b"2026-01-02T03:04:05Z\n\xff0\nhttp://for-scripts\n");
    worker.is_clean().await;
    let registered = fake.state().registered[0].clone();
    assert_eq!(registered.header.unwrap().name, "w1");
    assert_eq!((registered.capacity, registered.labels), (3, vec!["disk=ssd".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_end_is_told_as_what_it_was() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &["--capacity", "8"]);
    fake.grant(1, "exit 7");
    fake.grant(2, "kill -KILL $$");
    fake.grant(3, "head -c 70000 /dev/zero > $HERA_OUTPUT");
    fake.grant(4, "#!/no/such/interpreter\n");
    fake.grant(5, "#!/bin/sh\ntest $0 != bash && exit 75");
    fake.grant_as(v1::Assignment {
        run_id: 6,
        script: "sleep 1000".to_owned(),
        kind: v1::Kind::Shell.into(),
        timeout_ms: 100,
        ..v1::Assignment::default()
    });
    fake.grant_as(v1::Assignment {
        run_id: 7,
        kind: v1::Kind::Noop.into(),
        ..v1::Assignment::default()
    });
    let mut told = Vec::new();
    for run in 1..=7 {
        let end = fake.end_of(run).await;
        told.push((run, end.end(), end.exit_code, end.signal));
        if run == 3 {
            assert_eq!(end.detail, "its outputs are larger than 65536 bytes");
        }
        if run == 4 {
            let told =
                "the interpreter \"/no/such/interpreter\" that its first line names is not there";
            assert_eq!(end.detail, told);
        }
    }
    let expected = [
        (1, v1::End::FailedExit, Some(7), None),
        (2, v1::End::FailedSignal, None, Some(9)),
        (3, v1::End::FailedExit, Some(0), None),
        (4, v1::End::FailedExit, Some(127), None),
        (5, v1::End::FailedExit, Some(75), None),
        (6, v1::End::TimedOut, None, Some(15)),
        (7, v1::End::Succeeded, Some(0), None),
    ];
    // A time-out says no exit of its own choosing.
    let told: Vec<_> = told.into_iter().collect();
    assert_eq!(told, expected);
    worker.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_job_lie_in_its_directory() {
    let fake = Fake::start().await;
    let _worker = Worker::start(&fake, &[]);
    let content = b"echo from the file".to_vec();
    let digest: String = Sha256::digest(&content).iter().map(|b| format!("{b:02x}")).collect();
    fake.state().files.insert(digest.clone(), content);
    let file = |name: &str, digest: &str| v1::JobFile {
        name: name.to_owned(),
        digest: digest.to_owned(),
        executable: true,
    };
    let with = |run_id, file| v1::Assignment {
        run_id,
        script: "./lib/x.sh".to_owned(),
        kind: v1::Kind::Shell.into(),
        files: vec![file],
        ..v1::Assignment::default()
    };
    fake.grant_as(with(1, file("lib/x.sh", &digest)));
    assert_eq!(fake.end_of(1).await.end(), v1::End::Succeeded);
    assert_eq!(fake.log_of(1), b"from the file\n");
    fake.grant_as(with(2, file("../x.sh", &digest)));
    fake.grant_as(with(3, file("x.sh", &"0".repeat(64))));
    for run in [2, 3] {
        assert_eq!(fake.end_of(run).await.end(), v1::End::FailedSpawn);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_attempt_is_stopped_and_told() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &[]);
    fake.grant(1, "sleep 1000");
    fake.started(1).await;
    fake.state().cancelled.insert(1);
    assert_eq!(fake.end_of(1).await.end(), v1::End::Cancelled);
    // Cancelled before it was started: given back, and never executed.
    fake.state().cancelled.insert(2);
    let never = worker.dir.path().join("never");
    fake.grant(2, &format!("touch {}", never.display()));
    assert_eq!(fake.release_of(2).await.cause(), v1::ReleaseCause::Cancel);
    worker.is_clean().await;
    assert!(!never.exists());
    assert!(!fake.state().finished.iter().any(|end| end.run_id == 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_attempt_is_killed_and_reported_as_nothing() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &[]);
    let pid = worker.dir.path().join("pid");
    fake.grant(1, &format!("trap '' TERM; echo $$ > {}; while :; do sleep 1; done", pid.display()));
    appears(&pid).await;
    fake.state().held.insert(1, vec![0; 16]);
    is_gone(&pid).await;
    worker.is_clean().await;
    let state = fake.state();
    assert!(state.finished.is_empty() && state.released.is_empty() && state.late.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_nobody_takes_is_told_again_while_its_lease_is_renewed() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &[]);
    fake.state().silent = BTreeSet::from(["finish"]);
    fake.grant(1, "exit 0");
    fake.started(1).await;
    fake.until("beats after the end", |s| s.beats.get(&1).filter(|n| **n > 5).copied()).await;
    assert_eq!(worker.exits(), 1, "the end is written down");
    fake.state().silent.clear();
    assert_eq!(fake.end_of(1).await.end(), v1::End::Succeeded);
    worker.is_clean().await;
    assert_eq!(fake.state().finished.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_worker_that_was_killed_is_told_by_the_next_one() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &[]);
    fake.state().silent = BTreeSet::from(["finish"]);
    let pid = worker.dir.path().join("pid");
    fake.grant(1, "echo done; echo answer > $HERA_OUTPUT");
    fake.grant(2, &format!("trap '' TERM; echo $$ > {}; sleep 1000", pid.display()));
    appears(&pid).await;
    let written = async || (worker.exits() == 1).then_some(());
    wait_for_async("an end that is written down", LIMIT, written).await.unwrap();
    worker.process.kill().unwrap();
    fake.state().silent.clear();
    worker.again(&fake);
    let end = fake.end_of(1).await;
    assert_eq!((end.end(), end.output), (v1::End::Succeeded, b"answer\n".to_vec()));
    worker.is_clean().await;
    is_gone(&pid).await;
    let state = fake.state();
    let [first, second] = &state.registered[..] else { panic!("registered more than twice") };
    assert_eq!(first.state_id, second.state_id);
    assert_eq!(second.keep, [state.held[&1].clone()], "what was cut off is given up");
    let instances: BTreeSet<_> =
        state.registered.iter().map(|r| r.header.clone().unwrap().instance_id).collect();
    assert_eq!(instances.len(), 2);
    assert_eq!(state.logs[&state.held[&1]], b"done\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_leader_a_job_is_stopped_before_its_lease_is_over() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &[]);
    let pid = worker.dir.path().join("pid");
    fake.grant(1, &format!("echo $$ > {}; sleep 1000", pid.display()));
    appears(&pid).await;
    fake.state().silent = BTreeSet::from(["heartbeat", "release"]);
    is_gone(&pid).await;
    fake.state().silent.clear();
    assert_eq!(fake.release_of(1).await.cause(), v1::ReleaseCause::Lease);
    worker.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_silence_of_the_leader_costs_nothing() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &[]);
    let go = worker.dir.path().join("go");
    fake.grant(1, &format!("until [ -e {} ]; do sleep 0.01; done", go.display()));
    fake.started(1).await;
    fake.state().silent = BTreeSet::from(["heartbeat", "poll", "finish", "append_log"]);
    let quiet = worker.process.stderr();
    let tries = async || (quiet.count("attempts got no verdict") > 2).then_some(());
    wait_for_async("beats without an answer", LIMIT, tries).await.unwrap();
    fake.state().silent.clear();
    let before = fake.state().beats.get(&1).copied().unwrap_or(0);
    fake.until("a beat", |s| s.beats.get(&1).filter(|n| **n > before).copied()).await;
    std::fs::write(&go, "").unwrap();
    assert_eq!(fake.end_of(1).await.end(), v1::End::Succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_that_hangs_is_left_when_a_leader_of_a_later_term_has_answered() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &["--capacity", "2"]);
    fake.grant(1, "sleep 1000");
    fake.started(1).await;
    // For longer than this test may take.
    fake.state().polls_hang = true;
    fake.until("a poll that hangs", |s| (s.hanging_polls > 0).then_some(())).await;
    fake.state().polls_hang = false;
    fake.begins_a_term();
    // A beat hears of the new term.
    fake.grant(2, "exit 0");
    assert_eq!(fake.end_of(2).await.end(), v1::End::Succeeded);
    assert_eq!(fake.state().hanging_polls, 1);
    fake.state().cancelled.insert(1);
    worker.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_term_a_worker_lets_its_attempts_end() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &[]);
    let [go, runs] = ["go", "runs"].map(|name| worker.dir.path().join(name));
    let script = format!(
        "touch {}; until [ -e {} ]; do sleep 0.01; done; exit 3",
        runs.display(),
        go.display()
    );
    fake.grant(1, &script);
    appears(&runs).await;
    worker.process.terminate().unwrap();
    fake.until("a drain", |s| s.deregistered.first().copied()).await;
    fake.grant(2, "exit 0");
    std::fs::write(&go, "").unwrap();
    let end = fake.end_of(1).await;
    assert_eq!((end.end(), end.exit_code), (v1::End::FailedExit, Some(3)));
    assert!(worker.process.wait(LIMIT).unwrap().success());
    let state = fake.state();
    assert_eq!(state.deregistered, [false, true]);
    assert!(!state.started.contains(&2), "nothing new is begun");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_term_stops_what_runs_and_gives_it_back() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &[]);
    let pid = worker.dir.path().join("pid");
    fake.grant(
        1,
        &format!("trap 'exit 0' TERM; echo $$ > {}; while :; do sleep 0.01; done", pid.display()),
    );
    appears(&pid).await;
    worker.process.terminate().unwrap();
    fake.until("a drain", |s| s.deregistered.first().copied()).await;
    worker.process.terminate().unwrap();
    // It ended with 0 on TERM, and that is no success.
    assert_eq!(fake.release_of(1).await.cause(), v1::ReleaseCause::Drain);
    assert!(worker.process.wait(LIMIT).unwrap().success());
    assert_eq!(worker.folder("spool").len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn patience_with_a_drain_can_have_a_limit() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &["--drain-within", "0s"]);
    let pid = worker.dir.path().join("pid");
    fake.grant(1, &format!("echo $$ > {}; sleep 1000", pid.display()));
    appears(&pid).await;
    worker.process.terminate().unwrap();
    assert_eq!(fake.release_of(1).await.cause(), v1::ReleaseCause::Drain);
    assert!(worker.process.wait(LIMIT).unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leader_is_found_through_a_standby() {
    let (standby, leader) = (Fake::start().await, Fake::start().await);
    standby.state().leader = Some(leader.url());
    let _worker = Worker::start(&standby, &[]);
    leader.grant(1, "exit 0");
    assert_eq!(leader.end_of(1).await.end(), v1::End::Succeeded);
    assert!(standby.state().registered.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_made_up_name_that_is_taken_becomes_longer() {
    let fake = Fake::start().await;
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    fake.state().taken = Some(host.clone());
    let _worker = Worker::start(&fake, &[]);
    let name =
        fake.until("a registration", |s| s.registered.first().cloned()).await.header.unwrap().name;
    assert!(name.starts_with(&format!("{host}~")) && name.len() == host.len() + 5, "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_serves_one_worker() {
    let fake = Fake::start().await;
    let first = Worker::start(&fake, &[]);
    fake.until("a registration", |s| s.registered.first().cloned()).await;
    let mut second = spawn(&fake, first.dir.path(), &[]);
    assert_eq!(second.wait(LIMIT).unwrap().code(), Some(1));
    second.stderr().wait_for("is used by another worker", LIMIT).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn many_attempts_at_once_end_each_once() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &["--capacity", "16"]);
    for run in 1..=200 {
        fake.grant(run, "echo hello");
    }
    let all = |s: &fake::State| (s.finished.len() == 200).then_some(());
    fake.until("200 ends", all).await;
    worker.is_clean().await;
    let state = fake.state();
    let runs: BTreeSet<i64> = state.finished.iter().map(|end| end.run_id).collect();
    assert_eq!(runs.len(), 200);
    assert!(state.finished.iter().all(|end| end.end() == v1::End::Succeeded));
    assert!(state.logs.values().all(|log| log == b"hello\n") && state.logs.len() == 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_worker_finds_its_attempt_stopped_and_gives_it_back() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &[]);
    let pid = worker.dir.path().join("pid");
    fake.grant(1, &format!("echo $$ > {}; sleep 1000", pid.display()));
    appears(&pid).await;
    worker.process.pause().unwrap();
    is_gone(&pid).await;
    assert!(fake.state().released.is_empty());
    worker.process.resume().unwrap();
    assert_eq!(fake.release_of(1).await.cause(), v1::ReleaseCause::Lease);
    worker.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_log_arrives_whole_though_answers_are_lost() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &[]);
    fake.state().lost_answers = 2;
    fake.grant(1, "head -c 1000000 /dev/zero | tr '\\0' x; printf '\\xfe\\n'; echo end >&2");
    assert_eq!(fake.end_of(1).await.end(), v1::End::Succeeded);
    worker.is_clean().await;
    let mut expected = vec![b'x'; 1_000_000];
    expected.extend(b"\xfe\nend\n");
    assert!(fake.log_of(1) == expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn directories_can_be_kept_and_are_then_nobodys() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &["--keep-dirs"]);
    fake.grant(1, "echo kept > here");
    fake.end_of(1).await;
    worker.is_clean().await;
    let file = worker.folder("kept").pop().unwrap().join("work/here");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept\n");
    worker.process.kill().unwrap();
    worker.again(&fake);
    fake.grant(2, "exit 0");
    fake.end_of(2).await;
    assert!(file.exists());
    assert_eq!(fake.state().finished.len(), 2);
}
