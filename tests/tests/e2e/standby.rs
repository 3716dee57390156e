//! A second master: it stands by and takes over on PostgreSQL, and is refused on SQLite.

use hera_testkit::{Port, Process, wait_for_async};
use hera_tests::cluster::{Cluster, LIMIT, Store, cron_at};

#[tokio::test]
async fn a_standby_names_the_leader_and_takes_over_when_it_is_killed() {
    let mut cluster = Cluster::quick(Store::Postgres, &[]).await.unwrap();
    let second = cluster.add_master().await.unwrap();
    cluster.add_worker("w1", &[]).await.unwrap();
    let first_address = cluster.address(0).unwrap();
    let led = cluster.ask_master(0).await.unwrap();
    assert!(led.leader_address.ends_with(&first_address), "{}", led.leader_address);

    // A question to the standby is answered with the leader's address; the command follows it.
    let leader = wait_for_async("the standby's word on who leads", LIMIT, || async {
        let refusal = cluster.ask_master(second).await.err()?;
        let leader = refusal.metadata().get(hera_proto::LEADER_KEY)?.to_str().ok()?.to_owned();
        // Until it has looked once it knows of none.
        (!leader.is_empty()).then_some(leader)
    })
    .await
    .unwrap();
    assert!(leader.ends_with(&first_address), "{leader}");
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let jobs = cluster
        .jobs("shop", "zone: UTC, lease: 30s")
        .script("load", &[&due], "gate load")
        .script("after", &["depends_on: [load]"], "true");
    cluster.apply(&jobs).unwrap();
    let second_address = cluster.address(second).unwrap();
    let told =
        cluster.hera_ends(0, &["--server", &second_address, "get", "jobs", "-o", "name"]).unwrap();
    assert_eq!(told.text(), "shop/after\nshop/load\n");

    cluster.said("load", "start", 1).await.unwrap();
    cluster.kill_master(0).unwrap();
    let now = cluster.led().await.unwrap();
    assert!(now.leader_address.ends_with(&second_address), "{}", now.leader_address);
    assert!(now.epoch > led.epoch);
    cluster.open_gate("load").unwrap();
    cluster.reaches(&format!("shop/after@{version}"), "succeeded").await.unwrap();
    let journal = cluster.journal().unwrap();
    journal.in_order("load", "after").unwrap();
    assert_eq!(journal.only("load", "start").unwrap().attempt, 1);

    // The first comes back, and stands by.
    cluster.start_master(0).await.unwrap();
    let still = cluster.ask_master(second).await.unwrap();
    assert_eq!(still.epoch, now.epoch);
    assert!(cluster.ask_master(0).await.is_err());
}

#[tokio::test]
async fn a_second_master_on_the_same_sqlite_is_refused() {
    let cluster = Cluster::quick(Store::Sqlite, &[]).await.unwrap();
    let port = Port::free().unwrap();
    let mut command = cluster.master_command(&port.address().to_string()).unwrap();
    let mut second = Process::spawn("the second master", &mut command).unwrap();
    let ended = second.wait(LIMIT).unwrap();
    assert!(!ended.success());
    let words = second.stderr().wait_for("another master", LIMIT).unwrap();
    assert!(words.contains(&cluster.dir().join("store").display().to_string()), "{words}");
    cluster.hera_ends(0, &["get", "jobs"]).unwrap();
}
