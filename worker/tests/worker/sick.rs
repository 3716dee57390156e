//! A machine that can execute nothing takes nothing, says why, and goes on by itself when it can again.

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
