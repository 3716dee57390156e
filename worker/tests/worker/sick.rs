//! Workers whose machine, or whose idea of the leader's numbers, would make them refuse all work.

use hera_proto::v1;

use super::Worker;
use super::fake::Fake;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_can_execute_nothing_takes_nothing_until_it_can_again() {
    let fake = Fake::start().await;
    let worker = Worker::start(&fake, &["--capacity", "1"]);
    fake.grant(1, "exit 0");
    assert_eq!(fake.end_of(1).await.end(), v1::End::Succeeded);
    worker.is_clean().await;
    let attempts = worker.dir.path().join("attempts");
    std::fs::remove_dir(&attempts).unwrap();
    fake.grant(2, "exit 0");
    let end = fake.end_of(2).await;
    assert_eq!(end.end(), v1::End::FailedSpawn, "{}", end.detail);
    fake.grant(3, "exit 0");
    let look = |state: &super::fake::State| {
        Some(state.takes_nothing.clone()).filter(|why| !why.is_empty())
    };
    let why = fake.until("why it takes nothing", look).await;
    assert!(why.starts_with("it cannot execute anything: no directory could be made"), "{why}");
    assert!(!fake.state().started.contains(&3), "one attempt has told enough");
    std::fs::create_dir(&attempts).unwrap();
    assert_eq!(fake.end_of(3).await.end(), v1::End::Succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_goes_by_the_numbers_of_the_leader_that_grants() {
    let fake = Fake::start().await;
    // With these no lease of three seconds can be started.
    fake.state().term_ms = Some(5_000);
    let _worker = Worker::start(&fake, &["--capacity", "1"]);
    fake.grant(1, "exit 0");
    let released = fake.release_of(1).await;
    assert_eq!(released.detail, "too late to start safely");
    fake.state().term_ms = None;
    fake.grant(2, "exit 0");
    assert_eq!(fake.end_of(2).await.end(), v1::End::Succeeded);
    assert_eq!(fake.state().registered.len(), 1, "it hears of them with each poll");
}
