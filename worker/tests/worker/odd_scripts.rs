//! Scripts that are at odds with the worker: what they do to its files and processes costs them alone.

use hera_proto::v1;
use hera_testkit::wait_for_async;

use super::fake::Fake;
use super::{LIMIT, Worker, appears, is_gone};

/// Stops the process that watches over the script, or the one that watches over that, too.
const STOP_SHIM: &str = "kill -STOP $PPID";
const STOP_BOTH: &str =
    "read -r _ _ _ spawner _ < /proc/$PPID/stat; kill -STOP $spawner; kill -STOP $PPID";

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_replaces_the_workers_files_ends_like_any_other_and_blocks_no_start() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &["--name", "w1", "--capacity", "8"]);
    let base = "base=${HERA_OUTPUT%.output}";
    fake.grant(1, "rm -f $HERA_OUTPUT; mkfifo $HERA_OUTPUT");
    fake.grant(2, "mkdir -p $HERA_OUTPUT/deep");
    fake.grant(3, &format!("{base}; mkfifo $base.exit-new $base.exit; echo said"));
    fake.grant(4, &format!("{base}; mkdir $base.exit-new $base.exit; echo said"));
    fake.grant(5, &format!("{base}; rm $base.log; mkfifo $base.log"));
    fake.grant(6, &format!("{base}; rm $base.log; ln -s /dev/zero $base.log"));
    fake.grant(7, &format!("{base}; cd /; rm -r $base; ln -s / $base"));
    for run in 1..=7 {
        let end = fake.end_of(run).await;
        let expected = if run <= 2 { v1::End::FailedExit } else { v1::End::Succeeded };
        assert_eq!((run, end.end(), end.exit_code), (run, expected, Some(0)), "{}", end.detail);
        if run <= 2 {
            assert_eq!(end.detail, "its outputs cannot be read: it is no plain file");
        }
    }
    assert_eq!(fake.log_of(3), b"said\n");
    worker.is_clean().await;
    // Killed while such things lie there, the next one starts all the same.
    fake.grant(
        8,
        &format!(
            "{base}; mkfifo $HERA_OUTPUT $base.exit; mkdir $base.exit-new; touch here; sleep 9"
        ),
    );
    fake.started(8).await;
    let made =
        async || worker.folder("attempts").iter().any(|at| at.join("here").exists()).then_some(());
    wait_for_async("the script's files", LIMIT, made).await.unwrap();
    worker.process.kill().unwrap();
    worker.again(&fake);
    fake.until("the next registration", |state| (state.registered.len() == 2).then_some(())).await;
    worker.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_stops_its_shim_is_held_to_its_time_all_the_same() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &["--capacity", "4"]);
    fake.grant(1, &format!("{STOP_SHIM}; exit 3"));
    let end = fake.end_of(1).await;
    assert_eq!((end.end(), end.exit_code), (v1::End::FailedExit, Some(3)), "it is woken at once");
    let timed = |run, script: String| v1::Assignment {
        run_id: run,
        script,
        kind: v1::Kind::Shell.into(),
        timeout_ms: 300,
        ..v1::Assignment::default()
    };
    let pid = worker.dir.path().join("pid");
    let says = format!("(echo $BASHPID > {}; exec sleep 1000) &", pid.display());
    fake.grant_as(timed(2, format!("{says} {STOP_BOTH}; sleep 1000")));
    let end = fake.end_of(2).await;
    assert_eq!((end.end(), end.signal), (v1::End::TimedOut, Some(9)));
    is_gone(&pid).await;
    // The spawner serves on.
    fake.grant(3, "exit 0");
    assert_eq!(fake.end_of(3).await.end(), v1::End::Succeeded);
    worker.is_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_and_a_drain_reach_a_job_whose_shim_is_stopped() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &[]);
    let pid = worker.dir.path().join("pid");
    let script = format!("{STOP_BOTH}; echo $$ > {}; sleep 1000", pid.display());
    fake.grant(1, &script);
    appears(&pid).await;
    fake.state().cancelled.insert(1);
    assert_eq!(fake.end_of(1).await.end(), v1::End::Cancelled);
    is_gone(&pid).await;
    std::fs::remove_file(&pid).unwrap();
    fake.grant(2, &script);
    appears(&pid).await;
    worker.process.terminate().unwrap();
    fake.until("a drain", |s| s.deregistered.first().copied()).await;
    worker.process.terminate().unwrap();
    assert_eq!(fake.release_of(2).await.cause(), v1::ReleaseCause::Drain);
    is_gone(&pid).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_shim_of_a_killed_worker_blocks_no_start() {
    let fake = Fake::start().await;
    let mut worker = Worker::start(&fake, &[]);
    let pid = worker.dir.path().join("pid");
    fake.grant(1, &format!("trap '' TERM; {STOP_BOTH}; echo $$ > {}; sleep 1000", pid.display()));
    appears(&pid).await;
    worker.process.kill().unwrap();
    worker.again(&fake);
    fake.until("the next registration", |state| (state.registered.len() == 2).then_some(())).await;
    is_gone(&pid).await;
}
