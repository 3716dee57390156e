//! Real processes under real shims: what they write, how they end, and that nothing of them is left.
#![expect(clippy::unwrap_used, clippy::panic, reason = "functions that tests share")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hera_common::time::Boot;
use hera_testkit::wait_for_async;
use hera_worker::clock;
use hera_worker::process::launcher::{Launcher, Shim};
use hera_worker::process::order::{Exit, Launch, Order, Report, StopCause};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long anything here may take before the test has failed.
const LIMIT: Duration = Duration::from_secs(20);
const TERM: Duration = Duration::from_millis(200);
const KILL: Duration = Duration::from_millis(500);
/// No process.
const NOBODY: [i32; 0] = [];
/// A lease that does not end within a test.
const LONG: Duration = Duration::from_secs(600);

/// One attempt's directory with a script in it, and a mark by which its processes are found.
struct Attempt {
    dir: TempDir,
    mark: String,
}

impl Attempt {
    fn new(script: &str) -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::write(dir.path().join("script"), script).unwrap();
        let mark = dir.path().file_name().unwrap().to_str().unwrap().to_owned();
        Self { dir, mark }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn launch(&self, lease: Duration) -> Launch {
        Launch {
            program: "/bin/bash".to_owned(),
            args: vec![self.text("script")],
            env: vec![("MARK".to_owned(), self.mark.clone())],
            work: self.text("work"),
            log: self.text("log"),
            exit: self.text("exit"),
            note: self.mark.clone(),
            deadline_ms: clock::boot().plus(lease).ms(),
            term_ms: u64::try_from(TERM.as_millis()).unwrap(),
            kill_ms: u64::try_from(KILL.as_millis()).unwrap(),
            timeout_ms: None,
        }
    }

    /// Waits until the script has made this file: it is as far as that.
    async fn reached(&self, name: &str) {
        wait_for(|| self.path("work").join(name).exists()).await;
    }

    /// The living processes that were given the mark.
    fn alive(&self) -> Vec<i32> {
        let mark = format!("MARK={}", self.mark);
        let processes = fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| {
                let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environ.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
            })
            .collect()
    }
}

async fn wait_for(mut condition: impl FnMut() -> bool) {
    wait_for_async("what the test waits for", LIMIT, async || condition().then_some(()))
        .await
        .unwrap();
}

async fn launcher() -> Launcher {
    let lock = tempfile::tempfile().unwrap();
    Launcher::start(Some(Path::new(env!("CARGO_BIN_EXE_hera-worker"))), lock).await.unwrap()
}

async fn next(shim: &mut Shim) -> Option<Report> {
    tokio::time::timeout(LIMIT, shim.next()).await.unwrap()
}

/// Everything that the shim says; the exit file must say the same as its last word.
async fn to_the_end(attempt: &Attempt, shim: &mut Shim) -> (Vec<Report>, Exit) {
    let mut before = Vec::new();
    while let Some(report) = next(shim).await {
        if let Report::Ended(exit) = report {
            let stored: Exit =
                serde_json::from_slice(&fs::read(attempt.path("exit")).unwrap()).unwrap();
            assert_eq!((&stored, &stored.note), (&exit, &attempt.mark));
            return (before, exit);
        }
        before.push(report);
    }
    panic!("no end after {before:?}");
}

async fn run(script: &str) -> (Attempt, Exit) {
    let launcher = launcher().await;
    let attempt = Attempt::new(script);
    let mut shim = launcher.launch(attempt.launch(LONG)).await.unwrap();
    let (_, exit) = to_the_end(&attempt, &mut shim).await;
    assert_eq!(attempt.alive(), NOBODY, "nothing is left when the end is told");
    (attempt, exit)
}

async fn stop(shim: &mut Shim, cause: StopCause) {
    shim.order(&Order::Stop { cause }).await.unwrap();
}

#[tokio::test]
async fn an_exit_code_and_a_signal_are_told_as_they_were() {
    let (_, exit) = run("exit 7").await;
    assert_eq!((exit.code, exit.signal, exit.stopped), (Some(7), None, None));
    let (_, exit) = run("kill -SEGV $$").await;
    assert_eq!((exit.code, exit.signal, exit.stopped), (None, Some(11), None));
    let (_, exit) = run("true").await;
    assert_eq!((exit.code, exit.signal, exit.stopped), (Some(0), None, None));
    assert!(exit.max_rss_kib > 0);
}

#[tokio::test]
async fn a_log_is_the_bytes_of_both_streams_in_their_order() {
    let script = r"
        echo one; echo two >&2; echo three
        printf '\xff\xfe\x00\x80' >&2
        head -c 300000 /dev/zero | tr '\0' x
        printf 'no newline'";
    let (attempt, exit) = run(script).await;
    assert_eq!(exit.code, Some(0));
    let mut expected = b"one\ntwo\nthree\n\xff\xfe\x00\x80".to_vec();
    expected.extend(vec![b'x'; 300_000]);
    expected.extend(b"no newline");
    assert!(fs::read(attempt.path("log")).unwrap() == expected);
}

#[tokio::test]
async fn a_job_has_its_directory_an_empty_stdin_and_open_signals() {
    let (attempt, exit) = run("pwd; cat; grep SigBlk /proc/self/status; ls /proc/$$/fd").await;
    assert_eq!(exit.code, Some(0));
    let log = fs::read_to_string(attempt.path("log")).unwrap();
    let work = fs::canonicalize(attempt.path("work")).unwrap();
    let expected = format!("{}\nSigBlk:\t0000000000000000\n0\n1\n2\n255\n", work.display());
    assert_eq!(log, expected, "255 is bash's own, for the script");
}

#[tokio::test]
async fn output_through_a_process_substitution_is_whole() {
    let script = "exec > >(sleep 0.2; tee copy) 2>&1; echo last words";
    let (attempt, exit) = run(script).await;
    assert_eq!(exit.code, Some(0));
    assert_eq!(fs::read_to_string(attempt.path("log")).unwrap(), "last words\n");
}

#[tokio::test]
async fn what_a_job_leaves_behind_ends_with_it() {
    // One stays in the group, one has a session of its own and no parent, one ignores what it can.
    let script = "
        sleep 1000 &
        (setsid sleep 1000 & )
        (trap '' TERM HUP; setsid bash -c 'sleep 1000; sleep 1000' & )
        exit 3";
    let (_, exit) = run(script).await;
    assert_eq!((exit.code, exit.stopped), (Some(3), None));
}

#[tokio::test]
async fn a_tree_that_ignores_term_is_killed() {
    let launcher = launcher().await;
    let attempt = Attempt::new(
        "trap '' TERM
         (trap '' TERM; setsid bash -c 'trap \"\" TERM; touch deep; sleep 1000; sleep 1000') &
         touch ready; while true; do sleep 1000; done",
    );
    let mut shim = launcher.launch(attempt.launch(LONG)).await.unwrap();
    attempt.reached("ready").await;
    attempt.reached("deep").await;
    wait_for(|| attempt.alive().len() >= 4).await;
    stop(&mut shim, StopCause::Cancel).await;
    let (said, exit) = to_the_end(&attempt, &mut shim).await;
    assert!(said.contains(&Report::Stopping { cause: StopCause::Cancel }));
    assert_eq!((exit.signal, exit.stopped), (Some(9), Some(StopCause::Cancel)));
    assert_eq!(attempt.alive(), NOBODY);
}

#[tokio::test]
async fn a_job_may_end_by_itself_after_term_and_is_still_stopped() {
    let launcher = launcher().await;
    // `timeout` moves itself and its child to another group: TERM must reach them there, too.
    let attempt = Attempt::new(
        "timeout 1000 bash -c 'trap \"touch told; exit 0\" TERM; touch ready; while :; do sleep 0.01; done'
         exit 0",
    );
    let mut launch = attempt.launch(LONG);
    launch.term_ms = 60_000;
    let mut shim = launcher.launch(launch).await.unwrap();
    attempt.reached("ready").await;
    stop(&mut shim, StopCause::Drain).await;
    let (_, exit) = to_the_end(&attempt, &mut shim).await;
    assert_eq!(exit.stopped, Some(StopCause::Drain));
    assert!(attempt.path("work").join("told").exists());
}

#[tokio::test]
async fn a_timeout_is_the_shims_own() {
    let launcher = launcher().await;
    let attempt = Attempt::new("sleep 1000");
    let mut launch = attempt.launch(LONG);
    launch.timeout_ms = Some(50);
    let mut shim = launcher.launch(launch).await.unwrap();
    let (_, exit) = to_the_end(&attempt, &mut shim).await;
    assert_eq!((exit.signal, exit.stopped), (Some(15), Some(StopCause::Timeout)));
    assert!(exit.run_ms >= 50);
}

#[tokio::test]
async fn a_lease_that_nobody_renews_ends_the_job_before_its_deadline() {
    let launcher = launcher().await;
    let attempt = Attempt::new("trap '' TERM; while :; do sleep 1000; done");
    let mut shim = launcher.launch(attempt.launch(Duration::from_millis(1_500))).await.unwrap();
    let (_, exit) = to_the_end(&attempt, &mut shim).await;
    // How long before the deadline each signal comes is tried with the stopper, without a clock.
    assert_eq!((exit.signal, exit.stopped), (Some(9), Some(StopCause::Lease)));
}

#[tokio::test]
async fn a_renewed_lease_lets_the_job_go_on() {
    let launcher = launcher().await;
    let attempt = Attempt::new("touch ready; until [ -e go ]; do sleep 0.01; done; exit 4");
    let launch = attempt.launch(Duration::from_millis(2_000));
    let first = Boot::from_ms(launch.deadline_ms);
    let mut shim = launcher.launch(launch).await.unwrap();
    attempt.reached("ready").await;
    let later = clock::boot().plus(LONG).ms();
    shim.order(&Order::Deadline { boot_ms: later }).await.unwrap();
    wait_for(|| clock::boot() > first).await;
    fs::write(attempt.path("work").join("go"), "").unwrap();
    let (_, exit) = to_the_end(&attempt, &mut shim).await;
    assert_eq!((exit.code, exit.stopped), (Some(4), None));
}

#[tokio::test]
async fn a_launch_whose_time_is_over_executes_nothing() {
    let launcher = launcher().await;
    let attempt = Attempt::new("touch began");
    let mut shim = launcher.launch(attempt.launch(KILL)).await.unwrap();
    assert_eq!(next(&mut shim).await, Some(Report::Refused));
    assert_eq!(next(&mut shim).await, None);
    assert!(!attempt.path("work").join("began").exists());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_in_words() {
    let launcher = launcher().await;
    let attempt = Attempt::new("");
    let mut launch = attempt.launch(LONG);
    launch.program = "/no/such/interpreter".to_owned();
    let mut shim = launcher.launch(launch).await.unwrap();
    let Some(Report::NotSpawned { detail }) = next(&mut shim).await else { panic!("spawned") };
    assert_eq!(
        detail,
        "could not execute /no/such/interpreter: No such file or directory (os error 2)"
    );
}

#[tokio::test]
async fn an_agent_that_lets_go_of_the_stream_stops_the_job() {
    let launcher = launcher().await;
    let attempt = Attempt::new("touch ready; sleep 1000");
    let shim = launcher.launch(attempt.launch(LONG)).await.unwrap();
    attempt.reached("ready").await;
    drop(shim);
    wait_for(|| attempt.path("exit").exists()).await;
    let exit: Exit = serde_json::from_slice(&fs::read(attempt.path("exit")).unwrap()).unwrap();
    assert_eq!(exit.stopped, Some(StopCause::AgentGone));
    assert_eq!(attempt.alive(), NOBODY);
}

fn parent_of(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

async fn started(shim: &mut Shim) -> i32 {
    match next(shim).await {
        Some(Report::Started { pid, .. }) => pid,
        other => panic!("not started: {other:?}"),
    }
}

#[tokio::test]
async fn a_killed_spawner_is_replaced_and_its_shims_go_on() {
    let launcher = launcher().await;
    let attempt = Attempt::new("touch ready; sleep 1000");
    let mut shim = launcher.launch(attempt.launch(LONG)).await.unwrap();
    let pid = started(&mut shim).await;
    kill(parent_of(parent_of(pid)));
    let other = Attempt::new("exit 6");
    // The spawner may still be dying: its stream then ends without a word, and is asked again.
    let exit = loop {
        let mut shim = launcher.launch(other.launch(LONG)).await.unwrap();
        if let Some(Report::Started { .. }) = next(&mut shim).await {
            break to_the_end(&other, &mut shim).await.1;
        }
    };
    assert_eq!(exit.code, Some(6));
    stop(&mut shim, StopCause::Cancel).await;
    let (_, exit) = to_the_end(&attempt, &mut shim).await;
    assert_eq!(exit.stopped, Some(StopCause::Cancel));
    assert_eq!(attempt.alive(), NOBODY);
}

#[tokio::test]
async fn a_killed_shim_takes_its_tree_with_it() {
    let launcher = launcher().await;
    let attempt = Attempt::new("(setsid sleep 1000 &); sleep 1000 & touch ready; wait");
    let mut shim = launcher.launch(attempt.launch(LONG)).await.unwrap();
    let pid = started(&mut shim).await;
    attempt.reached("ready").await;
    wait_for(|| attempt.alive().len() == 3).await;
    kill(parent_of(pid));
    assert_eq!(next(&mut shim).await, None, "the stream ends without a word");
    wait_for(|| attempt.alive().is_empty()).await;
}

/// No test: the agent that the next two kill and stop, as a process of its own.
#[tokio::test]
#[ignore = "is executed by other tests, with a launch to carry out"]
async fn an_agent() {
    let launch = serde_json::from_str(&std::env::var("LAUNCH").unwrap()).unwrap();
    let launcher = launcher().await;
    let _shim = launcher.launch(launch).await.unwrap();
    std::future::pending().await
}

fn agent_process(launch: &Launch) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "an_agent", "--ignored"])
        .env("LAUNCH", serde_json::to_string(launch).unwrap())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn an_agent_that_is_killed_leaves_nothing() {
    let attempt = Attempt::new("(setsid sleep 1000 &); touch ready; sleep 1000");
    let mut agent = agent_process(&attempt.launch(LONG));
    attempt.reached("ready").await;
    agent.kill().unwrap();
    agent.wait().unwrap();
    wait_for(|| attempt.path("exit").exists()).await;
    let exit: Exit = serde_json::from_slice(&fs::read(attempt.path("exit")).unwrap()).unwrap();
    assert_eq!(exit.stopped, Some(StopCause::AgentGone));
    assert_eq!(attempt.alive(), NOBODY);
}

#[tokio::test]
async fn an_agent_that_sleeps_past_the_deadline_finds_its_job_killed() {
    let attempt = Attempt::new("trap '' TERM; touch ready; while :; do sleep 1000; done");
    let launch = attempt.launch(Duration::from_secs(3));
    let mut agent = agent_process(&launch);
    attempt.reached("ready").await;
    kill_process(Pid::from_child(&agent), Signal::STOP).unwrap();
    wait_for(|| attempt.path("exit").exists()).await;
    let exit: Exit = serde_json::from_slice(&fs::read(attempt.path("exit")).unwrap()).unwrap();
    assert_eq!((exit.signal, exit.stopped), (Some(9), Some(StopCause::Lease)));
    assert_eq!(attempt.alive(), NOBODY);
    agent.kill().unwrap();
    agent.wait().unwrap();
}

#[tokio::test]
async fn a_wide_tree_is_ended_whole() {
    let launcher = launcher().await;
    let attempt = Attempt::new(
        "for i in $(seq 300); do (setsid sleep 1000 &); done; touch ready; sleep 1000",
    );
    let mut shim = launcher.launch(attempt.launch(LONG)).await.unwrap();
    attempt.reached("ready").await;
    stop(&mut shim, StopCause::Lost).await;
    let (said, _) = to_the_end(&attempt, &mut shim).await;
    assert!(!said.iter().any(|report| matches!(report, Report::KillFailed { .. })));
    assert_eq!(attempt.alive(), NOBODY);
}

#[tokio::test]
async fn a_program_that_is_no_worker_is_refused_as_a_spawner() {
    let refused =
        Launcher::start(Some(Path::new("/bin/true")), tempfile::tempfile().unwrap()).await;
    assert_eq!(refused.unwrap_err().to_string(), "the spawner could not be started from /bin/true");
}
