//! The election on a store in memory, with the clock paused: an hour of it takes a moment.

use std::sync::Arc;
use std::time::Duration;

use hera_common::time::Wall;
use hera_engine::Settings;
use hera_store::{Candidate, MemoryStore, Seen, Store as _};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Leading;
use crate::changes::Changes;
use crate::clock::Clock;
use crate::commit::Around;
use crate::config::Timing;
use crate::metrics::Metrics;
use crate::role::Role;
use crate::tasks::Tasks;

/// A master, and the switches that a test has.
struct Master {
    store: MemoryStore,
    role: watch::Receiver<Role>,
    shutdown: CancellationToken,
    tasks: Tasks,
    clock: Clock,
}

impl Master {
    fn start(name: &str, store: MemoryStore, clock: &Clock) -> Self {
        Self::start_in(false, name, store, clock)
    }

    /// `alone`: on a store whose folder nobody else can hold.
    fn start_in(alone: bool, name: &str, store: MemoryStore, clock: &Clock) -> Self {
        let shutdown = CancellationToken::new();
        let tasks = Tasks::new(CancellationToken::new());
        let (sender, role) = watch::channel(Role::Standby { leader: None });
        let leading = Leading {
            around: Around {
                store: Arc::new(store.clone()),
                clock: clock.clone(),
                changes: Changes::new(),
                metrics: Metrics::new(),
                tasks: tasks.clone(),
            },
            me: Candidate { name: name.to_owned(), address: format!("http://{name}") },
            timing: Timing::default().leader,
            settings: Settings::default(),
            alone,
            role: sender,
        };
        let stop = shutdown.clone();
        tasks.spawn("lead", |_shutdown| async move { leading.run(stop).await.unwrap() });
        Self { store, role, shutdown, tasks, clock: clock.clone() }
    }

    fn leads(&self) -> bool {
        matches!(&*self.role.borrow(), Role::Leading(_))
    }

    /// Waits until the role is as wanted; answers after how many seconds of the boot clock.
    async fn becomes(&mut self, wanted: impl FnMut(&Role) -> bool) -> f64 {
        let start = self.clock.boot();
        let limit = Duration::from_secs(3_600);
        tokio::time::timeout(limit, self.role.wait_for(wanted)).await.unwrap().unwrap();
        self.clock.boot().since(start).as_secs_f64()
    }

    async fn leads_soon(&mut self) -> f64 {
        self.becomes(|role| matches!(role, Role::Leading(_))).await
    }

    async fn stands_by(&mut self) -> f64 {
        self.becomes(|role| matches!(role, Role::Standby { .. })).await
    }

    async fn follows(&mut self, address: &str) {
        self.becomes(
            |role| matches!(role, Role::Standby { leader: Some(leader) } if leader == address),
        )
        .await;
    }
}

async fn two() -> (Master, Master) {
    let (store, clock) =
        (MemoryStore::new("s"), Clock::of_runtime(Wall::from_ms(1_700_000_000_000)));
    let mut first = Master::start("one", store.clone(), &clock);
    first.leads_soon().await;
    let mut second = Master::start("two", store.another_link(), &clock);
    second.follows("http://one").await;
    (first, second)
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_renews_keeps_the_lead() {
    let (first, second) = two().await;
    for _minute in 0..60 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(first.leads() && !second.leads());
    }
    assert_eq!(first.store.leadership().await.unwrap().epoch.raw(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_leader_without_a_store_gives_up_before_another_leads() {
    let (mut first, mut second) = two().await;
    first.store.set_reachable(false);
    let (gave_up, took_over) = tokio::join!(first.stands_by(), second.leads_soon());
    assert!((4.5..=8.0).contains(&gave_up), "gave up after {gave_up} s");
    assert!((7.5..=11.5).contains(&took_over), "took over after {took_over} s");
    assert!(gave_up < took_over);
    assert_eq!(second.store.leadership().await.unwrap().epoch.raw(), 2);

    // It comes back as a standby, and knows whom to follow.
    first.store.set_reachable(true);
    first.follows("http://two").await;
    assert!(second.leads());
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_stops_resigns_and_nobody_waits_for_its_lease() {
    let (mut first, mut second) = two().await;
    first.shutdown.cancel();
    let took_over = second.leads_soon().await;
    assert!(took_over < 1.0, "took over after {took_over} s");
    first.becomes(|role| matches!(role, Role::Stopping)).await;
    first.tasks.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_epoch_was_taken_steps_down_at_its_next_renewal() {
    let (mut first, _second) = two().await;
    let row = first.store.leadership().await.unwrap();
    let thief = Candidate { name: "thief".to_owned(), address: "http://thief".to_owned() };
    let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
    first.store.acquire(seen, &thief).await.unwrap().unwrap();
    let stepped_down = first.stands_by().await;
    assert!(stepped_down <= 2.6, "stepped down after {stepped_down} s");
    first.follows("http://thief").await;
}

#[tokio::test(start_paused = true)]
async fn a_master_alone_in_its_folder_leads_on_while_renewals_wait_behind_a_long_commit() {
    let (store, clock) =
        (MemoryStore::new("s"), Clock::of_runtime(Wall::from_ms(1_700_000_000_000)));
    let mut only = Master::start_in(true, "only", store, &clock);
    only.leads_soon().await;
    let roles = only.role.clone();
    only.store.set_reachable(false);
    tokio::time::sleep(Duration::from_secs(40)).await;
    only.store.set_reachable(true);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(only.leads() && !roles.has_changed().unwrap(), "it never stood by");
    assert_eq!(only.store.leadership().await.unwrap().epoch.raw(), 1);
}
