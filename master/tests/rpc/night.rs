//! A small night: files are applied, attempts are taken and reported, people look and act, the master starts again.

use hera_proto::v1;
use hera_testkit::temp_dir;
use tonic::Code;

use crate::worker::Worker;
use crate::world::{LIMIT, World, asked, words};

const JOBS: &str = r#"
group: t
owner: team
config: { place: here }
jobs:
  - name: a
    schedule: { cron: "0 * * * *" }
    script: echo ${place}
  - name: b
    depends_on: [a]
    script: echo b
  - name: hand
    script: echo hand
"#;

fn ids(filter: v1::ActionFilter) -> v1::ListActionsRequest {
    v1::ListActionsRequest { filter: Some(filter), page: None, with_bindings: true }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_night_goes_through_and_is_told() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    let applied = world.apply(JOBS).await.unwrap();
    assert_eq!(applied.changes.len(), 3, "{applied:?}");
    assert_eq!(world.apply(JOBS).await.unwrap().unchanged, 3);

    let mut worker = Worker::register(&world, "w1", "i1").await;
    let a = worker.take().await;
    assert_eq!((a.job.as_str(), a.number), ("t/a", 1));
    assert_eq!(a.script.trim(), "echo here");
    assert_eq!(worker.start(&a).await, v1::VerdictKind::Ok);
    assert_eq!(worker.heartbeat(&a).await, v1::VerdictKind::Ok);
    world.becomes("t/a", "active(running)").await;

    let why = world.why("t/b").await;
    assert_eq!(why.code, "waits_for_upstream", "{why:?}");
    assert_eq!(why.path.len(), 2);
    assert!(why.root.starts_with("t/a@"), "{why:?}");
    assert!(why.text.contains("which runs on worker w1"), "{why:?}");

    assert_eq!(worker.log(&a, 0, "one\n").await, 4);
    assert_eq!(worker.log(&a, 0, "one\n").await, 4);
    assert_eq!(worker.finish(&a, v1::End::Succeeded, Some(0)).await, v1::VerdictKind::Ok);
    assert_eq!(worker.finish(&a, v1::End::Succeeded, Some(0)).await, v1::VerdictKind::Done);
    world.becomes("t/a", "succeeded").await;

    let b = worker.take().await;
    assert_eq!(b.job, "t/b");
    assert_eq!(worker.start(&b).await, v1::VerdictKind::Ok);
    assert_eq!(worker.finish(&b, v1::End::FailedExit, Some(3)).await, v1::VerdictKind::Ok);
    world.becomes("t/b", "failed(exit)").await;
    let why = world.why("t/b").await;
    assert_eq!(why.code, "failed");
    assert!(why.text.contains("on worker w1 ended with exit code 3"), "{}", why.text);

    // The master goes, and another one starts on the same store: all is as it was.
    world.stop().await;
    let world = World::start(folder.path()).await;
    assert_eq!(world.state("t/b").await, "failed(exit)");
    let failed =
        ids(v1::ActionFilter { states: vec!["failed(exit)".to_owned()], ..Default::default() });
    let failed = world.actions().list_actions(failed).await.unwrap().into_inner().actions;
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].bindings.len(), 1);
    assert_eq!(words(failed[0].bindings[0].state.clone()), "succeeded");
    follow_and_read(&world).await;
    recover_and_cancel(&world).await;
    world.stop().await;
}

async fn follow_and_read(world: &World) {
    let request = v1::FollowLogRequest { run: "t/a".to_owned(), attempt: 0, offset: 0 };
    let mut stream = world.runs().follow_log(request).await.unwrap().into_inner();
    let first = stream.message().await.unwrap().unwrap();
    assert_eq!((&first.bytes[..], first.attempt), (&b"one\n"[..], 1));
    let last = tokio::time::timeout(LIMIT, stream.message()).await.unwrap().unwrap().unwrap();
    assert_eq!(words(last.run_state), "succeeded");
    assert!(stream.message().await.unwrap().is_none());

    let request = v1::ReadLogRequest { run: "t/a".to_owned(), attempt: 1, offset: 1, max: 2 };
    let piece = world.runs().read_log(request).await.unwrap().into_inner();
    assert_eq!((&piece.bytes[..], piece.size, piece.ended), (&b"ne"[..], 4, true));
}

async fn recover_and_cancel(world: &World) {
    let recover = v1::RecoverActionRequest { asked: asked(), action: "t/b".to_owned() };
    let made = world.actions().recover_action(recover).await.unwrap().into_inner();
    let run = made.run.unwrap();
    assert_eq!((run.trigger.as_str(), run.number, run.actor.as_str()), ("recover", 2, "ann"));
    assert_eq!(words(run.state), "queued(new)");
    assert_eq!(world.state("t/b").await, "active(queued)");
    let queue = v1::ListQueueRequest { page: None };
    let queue = world.cluster().list_queue(queue).await.unwrap().into_inner().queued;
    assert_eq!(queue.len(), 1);

    let cancel = v1::CancelActionRequest { asked: asked(), action: "t/b".to_owned() };
    let cancelled = world.actions().cancel_action(cancel).await.unwrap().into_inner();
    assert!(!cancelled.pending);
    assert_eq!(words(cancelled.action.unwrap().state), "cancelled");
    let runs = v1::ListRunsRequest { job: "t/b".to_owned(), ..Default::default() };
    let runs = world.runs().list_runs(runs).await.unwrap().into_inner().runs;
    let states: Vec<_> = runs.into_iter().map(|run| words(run.state)).collect();
    assert_eq!(states, ["cancelled(by)", "failed(exit)"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_by_hand_makes_an_action_that_counts() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    world.apply(JOBS).await.unwrap();
    let run = v1::RunActionRequest {
        asked: asked(),
        action: "t/hand".to_owned(),
        set: [("k".to_owned(), "v".to_owned())].into(),
    };
    let made = world.actions().run_action(run).await.unwrap().into_inner();
    assert!(made.run.unwrap().counts);
    assert_eq!(world.state("t/hand").await, "active(queued)");
    let why = world.why("t/hand").await;
    assert_eq!(why.code, "queued_no_worker", "{why:?}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_listed_refused_and_deleted() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    let bad = world.apply("group: t\njobs:\n  - name: a\n    shedule: 1\n").await.unwrap_err();
    assert_eq!(bad.code(), Code::InvalidArgument);
    assert!(bad.message().contains("t.yaml:4:5: jobs[0].shedule:"), "{}", bad.message());

    let quick = JOBS.replace("name: hand", "name: hand\n    lease: 10s");
    let short = world.apply(&quick).await.unwrap_err();
    assert!(
        short.message().contains("jobs[2].lease: 10s is too short: write at least 18s"),
        "{short}"
    );

    world.apply(JOBS).await.unwrap();
    let list = |wanted: v1::ListJobsRequest| async {
        let jobs = world.jobs().list_jobs(wanted).await.unwrap().into_inner().jobs;
        jobs.into_iter().map(|job| job.path).collect::<Vec<_>>()
    };
    assert_eq!(list(v1::ListJobsRequest::default()).await, ["t/a", "t/b", "t/hand"]);
    let owned = v1::ListJobsRequest {
        owner: "team".to_owned(),
        job: "*/?".replace('?', "b"),
        state: "open".to_owned(),
        ..Default::default()
    };
    assert_eq!(list(owned).await, ["t/b"]);

    let get = v1::GetJobRequest { path: "t/a".to_owned() };
    let job = world.jobs().get_job(get).await.unwrap().into_inner().job.unwrap();
    assert_eq!((job.downstream, job.next_slots_ms.len()), (vec!["t/b".to_owned()], 5));
    let of = Some(v1::list_slots_request::Of::Job("t/b".to_owned()));
    let slots = v1::ListSlotsRequest { of, n: 3, ..Default::default() };
    let slots = world.jobs().list_slots(slots).await.unwrap().into_inner().slots;
    assert_eq!(slots.len(), 3, "b has the versions of a: {slots:?}");

    let groups = world.groups().list_groups(v1::ListGroupsRequest::default()).await.unwrap();
    let group = groups.into_inner().groups.into_iter().find(|group| group.path == "t").unwrap();
    assert_eq!((group.owner.as_str(), group.jobs), ("team", 3));

    let delete = |path: &str| v1::DeleteJobRequest { asked: asked(), path: path.to_owned() };
    let refused = world.jobs().delete_job(delete("t/a")).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert!(refused.message().contains("t/b"), "{}", refused.message());
    world.jobs().delete_job(delete("t/hand")).await.unwrap();
    assert_eq!(list(v1::ListJobsRequest::default()).await, ["t/a", "t/b"]);
    let nobody = v1::DeleteJobRequest { asked: None, path: "t/b".to_owned() };
    let nobody = world.jobs().delete_job(nobody).await.unwrap_err();
    assert_eq!(
        (nobody.code(), nobody.message()),
        (Code::InvalidArgument, "asked: must be set: who asks, and why")
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_watches_hears_of_changes() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    world.apply(JOBS).await.unwrap();
    let request = v1::WatchRequest { job: "t/hand".to_owned() };
    let mut stream = world.watch().watch(request).await.unwrap().into_inner();
    let run =
        v1::RunActionRequest { asked: asked(), action: "t/hand".to_owned(), ..Default::default() };
    world.actions().run_action(run).await.unwrap();
    let (mut action, mut run) = (false, false);
    while !(action && run) {
        let told = tokio::time::timeout(LIMIT, stream.message()).await.unwrap().unwrap().unwrap();
        match told.change.unwrap() {
            v1::watch_response::Change::Action(it) => action |= words(it.state) == "active(queued)",
            v1::watch_response::Change::Run(it) => run |= it.run.unwrap().job == "t/hand",
            v1::watch_response::Change::Worker(_) | v1::watch_response::Change::Missed(_) => {}
        }
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_are_named_listed_in_pages_and_explained() {
    let folder = temp_dir().unwrap();
    let world = World::start(folder.path()).await;
    world.apply(JOBS).await.unwrap();
    let refused = |name: String| async {
        let request = v1::GetActionRequest { action: name };
        let status = world.actions().get_action(request).await.unwrap_err();
        (status.code(), status.message().to_owned())
    };
    let latest = world.get("t/a").await.action.unwrap();
    let (code, words) = refused(format!("t/a@{}", &latest.local[..2])).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(words.contains("is no version"), "{words}");
    // Rows lie up to fifty hours ahead: two digits of a day or the year are too few.
    let (code, words) = refused(format!("t/a@{}", latest.local[..4].replace('-', ""))).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(words.contains("could be any of"), "{words}");
    assert_eq!(refused("t/a@failed".to_owned()).await.0, Code::NotFound);
    assert_eq!(refused("t/nobody".to_owned()).await.0, Code::NotFound);
    let digits: String = latest.local[..19].chars().filter(char::is_ascii_digit).collect();
    let by_digits = world.get(&format!("t/a@{digits}")).await.action.unwrap();
    assert_eq!(by_digits.id, latest.id);
    assert_eq!(world.get(&latest.id.to_string()).await.action.unwrap().id, latest.id);

    let next = world.why("t/a@next").await;
    assert_eq!(next.code, "not_due", "{next:?}");
    assert_eq!(next.expected_start_ms, Some(next.action.unwrap().version_ms));

    let filter = v1::ActionFilter { job: "t/*".to_owned(), ..Default::default() };
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = Some(v1::PageRequest { limit: 7, after: after.clone() });
        let request = v1::ListActionsRequest { page, ..ids(filter.clone()) };
        let piece = world.actions().list_actions(request).await.unwrap().into_inner();
        seen.extend(piece.actions.into_iter().map(|action| action.id));
        after = piece.next;
        if after.is_empty() {
            break;
        }
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert!(count >= 2 * 49 && seen.len() == count, "{count} rows, {} of them once", seen.len());
    let page = Some(v1::PageRequest { limit: 7, after: "00".to_owned() });
    let request = v1::ListActionsRequest { page, ..ids(filter) };
    let status = world.actions().list_actions(request).await.unwrap_err();
    assert_eq!(status.message(), "page.after: is no mark of this list with this filter");
    world.stop().await;
}
