//! What a request costs the store, in statements: a list must not ask once for each of its rows.

use std::sync::Arc;

use hera_proto::v1;
use hera_store::{Options, SqlStore, open_sql};
use hera_testkit::temp_dir;
use v1::VerdictKind;

use crate::worker::Worker;
use crate::world::World;

/// `b` and `c` wait for each hour's version of `a`; two days of rows are planned ahead.
const JOBS: &str = r#"
group: t
jobs:
  - { name: a, schedule: { cron: "0 * * * *" }, script: x }
  - { name: b, depends_on: [a], script: x }
  - { name: c, depends_on: [a], script: x }
"#;

/// Statements of a leader that does nothing but renew, while a request is answered: a few, for a machine is slow.
const BESIDE: u64 = 12;

async fn counted(folder: &std::path::Path) -> (World, Arc<SqlStore>) {
    let url = format!("sqlite:{}", folder.display());
    let store = Arc::new(open_sql(&url, &Options::default()).await.unwrap());
    let world = World::start_with(Arc::<SqlStore>::clone(&store), folder).await;
    (world, store)
}

async fn list(world: &World, limit: u32) -> Vec<v1::Action> {
    let page = Some(v1::PageRequest { limit, after: String::new() });
    let request = v1::ListActionsRequest { filter: None, page, with_bindings: true };
    world.actions().list_actions(request).await.unwrap().into_inner().actions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_with_bindings_costs_no_more_for_more_rows() {
    let folder = temp_dir().unwrap();
    let (world, store) = counted(folder.path()).await;
    world.apply(JOBS).await.unwrap();
    let before = store.statements();
    let actions = list(&world, 120).await;
    let cost = store.statements() - before;
    assert_eq!(actions.len(), 120);
    let bound = actions.iter().filter(|action| action.job != "t/a");
    let states = bound.map(|action| {
        assert_eq!(action.bindings.len(), 1, "{action:?}");
        action.bindings[0].state.as_ref().unwrap().word.as_str()
    });
    assert!(states.clone().count() >= 60 && states.into_iter().all(|word| word == "planned"));
    // The page, its bindings, their upstream versions.
    assert!(cost <= 3 + BESIDE, "{cost} statements");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verdicts_on_what_nobody_holds_cost_no_more_for_more_of_them() {
    let folder = temp_dir().unwrap();
    let (world, store) = counted(folder.path()).await;
    let worker = Worker::register(&world, "w1", "i1").await;
    let before = store.statements();
    let said = worker.beat_for((1..=200_u8).map(|n| (i64::from(n), vec![n; 16]))).await;
    let cost = store.statements() - before;
    assert_eq!(said.len(), 200);
    assert!(said.iter().all(|kind| *kind == VerdictKind::Lost), "{said:?}");
    // A commit, the runs, and one more commit.
    assert!(cost <= 10 + BESIDE, "{cost} statements");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_an_action_is_read_at_once() {
    let folder = temp_dir().unwrap();
    let (world, store) = counted(folder.path()).await;
    let more = (0..40).map(|n| format!("  - {{ name: d{n}, depends_on: [a], script: x }}\n"));
    let jobs = std::iter::once(JOBS.to_owned()).chain(more).collect::<String>();
    world.apply(&jobs).await.unwrap();
    let before = store.statements();
    let whole = world.get("t/a@next").await;
    let cost = store.statements() - before;
    assert_eq!((whole.downstream.len(), whole.more_downstream), (42, false));
    // Which it is, the action with its bindings, its runs, its dependents.
    assert!(cost <= 8 + BESIDE, "{cost} statements");
    world.stop().await;
}
