//! A worker that hangs past its lease: its job is dead before another worker starts it, and what the frozen
//! one says when it wakes changes nothing.

use hera_testkit::wait_for_async;
use hera_tests::cluster::{Cluster, LIMIT, Line, Store, alive, cron_at};
use serde_json::{Value, json};

/// A frozen worker, its attempt and the one that took over.
struct Frozen {
    cluster: Cluster,
    action: String,
    holder: String,
    first: Line,
    second: Line,
}

/// Freezes the worker of a job's first attempt, which then does `first`, until the second attempt stands.
async fn frozen(first: &str) -> Frozen {
    let mut cluster = Cluster::quick(Store::Postgres, &["w1", "w2"]).await.unwrap();
    let (due, version) = cron_at(cluster.now_ms() - 2_000).unwrap();
    let once = cluster.dir().join("once");
    let script =
        format!("if mkdir {} 2>/dev/null; then\n{first}\nelse gate second; fi", once.display());
    let jobs = cluster.jobs("shop", "zone: UTC, lease: 3s").script("load", &[&due], &script);
    cluster.apply(&jobs).unwrap();
    let action = format!("shop/load@{version}");
    let first = cluster.said("load", "start", 1).await.unwrap();
    let holder = cluster.holder(&action).await.unwrap();
    cluster.worker(&holder).unwrap().pause().unwrap();
    cluster.open_gate("frozen").unwrap();
    let second = cluster.said("load", "start", 2).await.unwrap();
    assert_eq!((second.run, second.attempt), (first.run, 2));
    assert!(second.fence > first.fence);
    Frozen { cluster, action, holder, first, second }
}

impl Frozen {
    /// Wakes the worker, and waits until it has noticed the end of its job.
    fn wake(&mut self) {
        let worker = self.cluster.worker(&self.holder).unwrap();
        worker.resume().unwrap();
        worker.stderr().wait_for("ended", LIMIT).unwrap();
    }

    fn attempts(&self) -> Vec<Value> {
        self.cluster.rows(&["get", "attempts", &format!("r{}", self.first.run)]).unwrap()
    }

    /// The first attempt is lost and the second one is the end, once it may.
    async fn check_end(&self) {
        let action = self.cluster.action(&self.action).await.unwrap();
        assert_eq!(action.state.unwrap().word, "active");
        self.cluster.open_gate("second").unwrap();
        self.cluster.reaches(&self.action, "succeeded").await.unwrap();
        let told: Vec<Value> =
            self.attempts().iter().map(|a| json!([a["number"], a["fence"], a["state"]])).collect();
        let [first, second] = [self.first.fence, self.second.fence];
        assert_eq!(told, [json!([1, first, "lost"]), json!([2, second, "succeeded"])]);
        assert_eq!(self.cluster.journal().unwrap().of("load", "start").len(), 2);
    }
}

#[tokio::test]
async fn a_frozen_workers_job_is_dead_before_another_worker_starts_it() {
    let mut frozen = frozen("while :; do say tick; sleep 0.05; done").await;
    assert!(!alive(frozen.first.pid), "two attempts of one run are alive");
    let journal = frozen.cluster.journal().unwrap();
    let last_tick = journal.of("load", "tick").last().unwrap().at_ms;
    assert!(last_tick <= frozen.second.at_ms, "the first attempt wrote after the second had begun");
    frozen.wake();
    frozen.check_end().await;
    // The woken worker works again: the other one has gone.
    let other = frozen.cluster.other_worker(&frozen.holder).unwrap();
    frozen.cluster.worker(&other).unwrap().kill().unwrap();
    frozen.cluster.hera_ends(0, &["recover", "--follow", &frozen.action]).unwrap();
}

#[tokio::test]
async fn the_late_success_of_a_frozen_worker_is_kept_beside_and_changes_nothing() {
    // The script ends well while its worker cannot say so.
    let mut frozen = frozen("gate frozen").await;
    let end = frozen.cluster.journal().unwrap().only("load", "end").unwrap().clone();
    assert_eq!(end.fence, frozen.first.fence);
    frozen.wake();
    let row = wait_for_async("the late report", LIMIT, || async {
        frozen.attempts().into_iter().find(|row| !row["late_report"].is_null())
    })
    .await
    .unwrap();
    assert_eq!((&row["number"], &row["state"]), (&json!(1), &json!("lost")));
    assert_eq!(row["late_report"], "succeeded, exit code 0");
    frozen.check_end().await;
}
