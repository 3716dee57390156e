//! What is loaded, looked up and listed.

use std::collections::BTreeSet;

use hera_common::action::{Action, ActionEnd, ActionState, ActivePart, Binding, SkipReason};
use hera_common::audit::{Asked, AuditRow};
use hera_common::id::{ActionId, JobId, Revision, RunId, Seq, Token};
use hera_common::job::{JobRow, RevisionRow};
use hera_common::run::{FailReason, QueuedWhy, RunEnd, RunState, Trigger};
use hera_common::spec::On;
use hera_common::time::Wall;
use hera_common::unit::{Guard, Put, Unit, Write};
use hera_store::{
    ActionFilter, ActionStates, AuditFilter, Page, RunFilter, RunStates, Scope, StoreError,
};

use crate::rows;
use crate::world::{Place, World, insert_action, insert_attempt, insert_run, update_action};

const DONE: ActionEnd = ActionEnd::Succeeded { forced: false };

fn ended(action: &Action, end: ActionEnd) -> Action {
    rows::with_state(action, ActionState::Ended(end))
}

/// Three jobs: 1 waits for 2, 2 has run, 3 is deleted with an open action; and one more that is gone.
async fn three_jobs(world: &World) {
    world.with_jobs(&[1, 2, 3, 4]).await;
    let gone = |id: i64| {
        let mut row = rows::job(id);
        (row.seq, row.deleted_at) = (row.seq.next(), Some(rows::MADE));
        Write::Job(Put::Update, Box::new(row))
    };
    let waiting = rows::with_state(&rows::action(1, 1, 5), ActionState::Waiting);
    let upstream = rows::active(&rows::action(2, 2, 5), 2);
    let done = ended(&rows::active(&rows::action(3, 2, 4), 3), DONE);
    let mut debugged = ended(&rows::action(4, 2, 3), ActionEnd::Cancelled);
    debugged.live_run = Some(RunId::from_raw(4));
    let orphan = rows::action(5, 3, 5);
    let mut debug = rows::run(4, &debugged);
    debug.trigger = Trigger::Debug;
    let running = rows::running(&rows::leased(&rows::run(2, &upstream), 7));
    let over = rows::ended(&rows::run(3, &done), RunEnd::Succeeded);
    world
        .write(vec![
            gone(3),
            gone(4),
            insert_action(&waiting),
            Write::Bindings(
                waiting.id,
                vec![rows::binding(2, 4), rows::binding(2, 5), rows::binding(2, 99)],
            ),
            insert_action(&upstream),
            insert_action(&done),
            insert_action(&debugged),
            insert_action(&orphan),
            Write::Gap(rows::gap(2, 98, 99)),
            insert_run(&running),
            insert_run(&over),
            insert_run(&debug),
            insert_attempt(rows::started(&rows::attempt(&running))),
        ])
        .await;
}

pub(crate) async fn what_is_active_is_loaded_and_nothing_else(place: &impl Place) {
    let world = World::led(place).await;
    three_jobs(&world).await;
    let snapshot = world.all().await;
    let ids = |list: &[hera_store::BoundAction]| -> Vec<i64> {
        list.iter().map(|bound| bound.action.id.raw()).collect()
    };
    assert_eq!(ids(&snapshot.actions), [1, 2, 4, 5]);
    assert_eq!(snapshot.actions[0].bindings.len(), 3);
    assert_eq!(snapshot.runs.iter().map(|run| run.id.raw()).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(snapshot.attempts.iter().map(|a| a.fence.raw()).collect::<Vec<_>>(), [7]);
    let jobs: Vec<_> = snapshot.jobs.iter().map(|job| job.id.raw()).collect();
    assert_eq!(jobs, [1, 2, 3], "a deleted job only while something of it is open");
    let of_jobs: BTreeSet<_> = snapshot.revisions.iter().map(|row| row.job.raw()).collect();
    assert_eq!(of_jobs.into_iter().collect::<Vec<_>>(), jobs);
    assert_eq!(snapshot.cursors.iter().map(|row| row.job.raw()).collect::<Vec<_>>(), jobs);
    let ends: Vec<_> = snapshot.outcomes.into_iter().collect();
    let late = ActionEnd::Skipped(SkipReason::Late);
    let job = JobId::from_raw(2);
    assert_eq!(ends, [((job, rows::version(4)), DONE), ((job, rows::version(99)), late)]);
}

pub(crate) async fn loading_by_job_is_loading_a_part(place: &impl Place) {
    let world = World::led(place).await;
    three_jobs(&world).await;
    let all = world.all().await;
    for wanted in [vec![1], vec![2], vec![3, 1], vec![1, 2, 3], vec![], vec![99]] {
        let jobs: Vec<_> = wanted.iter().map(|&id| JobId::from_raw(id)).collect();
        let mut part = world.store.load(&Scope::Jobs(jobs.clone())).await.unwrap();
        part.store_now = all.store_now;
        let mut expected = all.clone();
        expected.jobs.retain(|row| jobs.contains(&row.id));
        expected.cursors.retain(|row| jobs.contains(&row.job));
        expected.revisions.retain(|row| jobs.contains(&row.job));
        expected.actions.retain(|row| jobs.contains(&row.action.job));
        expected.runs.retain(|row| jobs.contains(&row.job));
        expected.by_hand.retain(|job, _versions| jobs.contains(job));
        let runs: Vec<_> = expected.runs.iter().map(|run| run.id).collect();
        expected.attempts.retain(|row| runs.contains(&row.run));
        if !wanted.contains(&1) {
            expected.outcomes.clear();
        }
        assert_eq!(part, expected, "{wanted:?}");
    }
    // A deleted job with nothing open, asked for by name.
    let part = world.store.load(&Scope::Jobs(vec![JobId::from_raw(4)])).await.unwrap();
    assert_eq!((part.jobs.len(), part.cursors.len(), part.revisions.len()), (1, 1, 1));
}

pub(crate) async fn versions_are_looked_up(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1, 2]).await;
    let decided = rows::with_state(&rows::action(3, 1, 3), ActionState::Waiting);
    let done = ended(&rows::action(1, 1, 1), DONE);
    let skipped = ended(&rows::action(2, 1, 2), ActionEnd::Skipped(SkipReason::Closed));
    let planned = rows::action(4, 1, 4);
    let other = ended(&rows::action(5, 2, 1), ActionEnd::Failed(FailReason::Lost));
    for row in [&done, &skipped, &decided, &planned, &other] {
        world.write(vec![insert_action(row)]).await;
    }
    world.write(vec![Write::Gap(rows::gap(1, 2, 8))]).await;
    let (job, version) = (JobId::from_raw(1), rows::version);
    let between = async |from, to, limit| {
        let found = world.store.actions_between(job, version(from), version(to), limit).await;
        found.unwrap().iter().map(|action| action.id.raw()).collect::<Vec<_>>()
    };
    assert_eq!(between(2, 4, 10).await, [2, 3]);
    assert_eq!(between(0, 99, 3).await, [1, 2, 3]);
    assert_eq!(between(4, 2, 3).await, [0_i64; 0]);
    let newest = async |at, decided| {
        let found = world.store.newest_action(job, version(at), decided).await.unwrap();
        found.map(|action| action.id.raw())
    };
    assert_eq!(newest(9, false).await, Some(4));
    assert_eq!(newest(9, true).await, Some(3));
    assert_eq!(newest(2, true).await, Some(2));
    assert_eq!(newest(0, false).await, None);
    // 2, 3 and 4 have rows, whatever the gap says; 7 has none, and 9 lies outside of it.
    let asked = [(1, 1), (1, 2), (1, 3), (1, 4), (1, 7), (1, 9), (2, 1), (2, 7), (3, 1)];
    let asked = asked.map(|(job, slot)| (JobId::from_raw(job), version(slot)));
    let outcomes = world.store.outcomes(&asked).await.unwrap();
    let expected = [
        ((job, version(1)), DONE),
        ((job, version(2)), ActionEnd::Skipped(SkipReason::Closed)),
        ((job, version(7)), ActionEnd::Skipped(SkipReason::Late)),
        ((JobId::from_raw(2), version(1)), ActionEnd::Failed(FailReason::Lost)),
    ];
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), expected);
    assert!(world.store.outcomes(&[]).await.unwrap().is_empty());
}

pub(crate) async fn a_list_shows_each_row_once_while_rows_are_added(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1, 2]).await;
    // Two jobs share each version, so that a version alone is no mark.
    for slot in 1..=7 {
        let (a, b) = (rows::action(slot, 1, slot), rows::action(100 + slot, 2, slot));
        world.write(vec![insert_action(&a), insert_action(&b)]).await;
    }
    let mut seen = Vec::new();
    let mut page = Page { limit: 3, after: None };
    for round in 0.. {
        let found = world.store.list_actions(&ActionFilter::default(), &page).await.unwrap();
        assert!(found.actions.len() <= 3);
        seen.extend(found.actions.iter().map(|(action, _)| (action.version, action.id)));
        // Newer than all pages so far: a reader who goes on never meets it, nor anything twice.
        world.write(vec![insert_action(&rows::action(200 + round, 1, 50 + round))]).await;
        page.after = found.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 14);
    assert!(seen.windows(2).all(|pair| pair[0] > pair[1]), "newest first: {seen:?}");
    let bad = Page { limit: 3, after: Some("yesterday".to_owned()) };
    let told = world.store.list_actions(&ActionFilter::default(), &bad).await;
    assert!(matches!(told, Err(StoreError::BadMark(_))), "{told:?}");
}

/// Actions in many states, named by their ids.
async fn a_colourful_day(world: &World) {
    world.with_jobs(&[1, 2]).await;
    let mut other_day = ended(&rows::action(6, 2, 1), ActionEnd::Failed(FailReason::Exit));
    other_day.data.date = "2026-01-31".to_owned();
    let queued = rows::active(&rows::action(3, 1, 3), 3);
    let retried = rows::active(&rows::action(4, 1, 4), 4);
    let held = rows::active(&rows::action(5, 1, 5), 5);
    let mut retry = rows::run(4, &retried);
    retry.state = RunState::Queued { not_before: rows::MADE, why: QueuedWhy::Retry };
    retry.trigger = Trigger::Rerun;
    let mut manual = rows::ended(&rows::run(6, &other_day), RunEnd::Failed(FailReason::Exit));
    manual.trigger = Trigger::Manual;
    let done = ended(&rows::action(7, 2, 2), ActionEnd::Succeeded { forced: true });
    let lost = ended(&rows::action(8, 2, 3), ActionEnd::Failed(FailReason::Lost));
    let runs = rows::active(&rows::action(9, 3, 9), 9);
    let running = rows::running(&rows::leased(&rows::run(9, &runs), 10));
    world
        .write(vec![
            insert_action(&rows::action(1, 1, 1)),
            insert_action(&rows::with_state(&rows::action(2, 1, 2), ActionState::Waiting)),
            insert_action(&queued),
            insert_action(&retried),
            insert_action(&held),
            insert_action(&other_day),
            insert_action(&done),
            insert_action(&lost),
            insert_action(&runs),
            insert_run(&running),
            insert_run(&rows::run(3, &queued)),
            insert_run(&retry),
            insert_run(&rows::leased(&rows::run(5, &held), 9)),
            insert_run(&manual),
        ])
        .await;
}

pub(crate) async fn actions_are_filtered_by_the_store(place: &impl Place) {
    let world = World::led(place).await;
    a_colourful_day(&world).await;
    let check = async |filter: ActionFilter, expected: &[i64]| {
        let page = Page { limit: 100, after: None };
        let found = world.store.list_actions(&filter, &page).await.unwrap();
        let mut ids: Vec<_> = found.actions.iter().map(|(action, _)| action.id.raw()).collect();
        ids.sort_unstable();
        assert_eq!(ids, expected, "{filter:?}");
        for (action, live) in found.actions {
            assert_eq!(live.map(|run| run.id), action.live_run);
        }
    };
    let all = ActionFilter::default;
    let in_states = |states: &[ActionStates]| ActionFilter { states: states.to_vec(), ..all() };
    check(all(), &[1, 2, 3, 4, 5, 6, 7, 8, 9]).await;
    check(ActionFilter { jobs: Some(vec![JobId::from_raw(2)]), ..all() }, &[6, 7, 8]).await;
    check(ActionFilter { jobs: Some(Vec::new()), ..all() }, &[]).await;
    check(in_states(&[ActionStates::Planned, ActionStates::Waiting]), &[1, 2]).await;
    check(in_states(&[ActionStates::Active(None)]), &[3, 4, 5, 9]).await;
    let part = |part| ActionStates::Active(Some(part));
    // 5 is leased: no worker has said that it starts. The next try of 4 is due at this instant, and not before.
    let early = |part| ActionFilter {
        states: vec![ActionStates::Active(Some(part))],
        now: Wall::from_ms(rows::MADE.ms() - 1),
        ..all()
    };
    let due = |part| ActionFilter { now: rows::MADE, ..early(part) };
    check(early(ActivePart::Queued), &[3, 5]).await;
    check(early(ActivePart::Retry), &[4]).await;
    check(due(ActivePart::Queued), &[3, 4, 5]).await;
    check(due(ActivePart::Retry), &[]).await;
    check(due(ActivePart::Running), &[9]).await;
    let lost = ActionStates::Failed(Some(FailReason::Lost));
    check(in_states(&[part(ActivePart::Retry), lost]), &[4, 8]).await;
    check(in_states(&[ActionStates::Failed(None)]), &[6, 8]).await;
    check(in_states(&[ActionStates::Succeeded]), &[7]).await;
    check(in_states(&[ActionStates::Forced, ActionStates::Cancelled]), &[7]).await;
    check(in_states(&[ActionStates::Skipped(Some(SkipReason::Late))]), &[]).await;
    let reasons = |words: &[&str]| ActionFilter {
        reasons: words.iter().map(|&word| word.to_owned()).collect(),
        ..all()
    };
    check(reasons(&["exit", "forced"]), &[6, 7]).await;
    let span = ActionFilter { from: Some(rows::version(2)), to: Some(rows::version(4)), ..all() };
    check(span, &[2, 3, 7, 8]).await;
    check(ActionFilter { data_date: Some("2026-01-31".to_owned()), ..all() }, &[6]).await;
    let triggers = |list: &[Trigger]| ActionFilter { triggers: list.to_vec(), ..all() };
    check(triggers(&[Trigger::Manual, Trigger::Rerun]), &[4, 6]).await;
    let narrow = ActionFilter {
        jobs: Some(vec![JobId::from_raw(1), JobId::from_raw(2)]),
        states: vec![ActionStates::Failed(None), ActionStates::Active(None)],
        reasons: vec!["lost".to_owned()],
        from: Some(rows::version(3)),
        data_date: Some("2026-02-01".to_owned()),
        ..all()
    };
    check(narrow, &[8]).await;
}

pub(crate) async fn runs_are_filtered_newest_first(place: &impl Place) {
    let world = World::led(place).await;
    a_colourful_day(&world).await;
    let list = async |filter: &RunFilter, page: &Page| {
        let found = world.store.list_runs(filter, page).await.unwrap();
        let runs = found.runs.into_iter();
        runs.map(|view| (view.run.id.raw(), view.worker)).collect::<Vec<_>>()
    };
    let (all, whole) = (RunFilter::default, Page { limit: 100, after: None });
    let held = Some("worker1".to_owned());
    let every = [(9, held.clone()), (6, None), (5, held.clone()), (4, None), (3, None)];
    assert_eq!(list(&all(), &whole).await, every);
    let exit = RunStates::Failed(Some(FailReason::Exit));
    let in_states = |states: &[RunStates]| RunFilter { states: states.to_vec(), ..all() };
    assert_eq!(list(&in_states(&[exit, RunStates::Leased]), &whole).await, [(6, None), (5, held)]);
    assert_eq!(list(&in_states(&[RunStates::Queued(None)]), &whole).await, [(4, None), (3, None)]);
    let retry = RunStates::Queued(Some(QueuedWhy::Retry));
    assert_eq!(list(&in_states(&[retry]), &whole).await, [(4, None)]);
    assert_eq!(list(&in_states(&[RunStates::Succeeded]), &whole).await, []);
    let filter = RunFilter { triggers: vec![Trigger::Rerun], ..all() };
    assert_eq!(list(&filter, &whole).await, [(4, None)]);
    let filter = RunFilter { action: Some(ActionId::from_raw(3)), ..all() };
    assert_eq!(list(&filter, &whole).await, [(3, None)]);
    let filter = RunFilter { jobs: Some(vec![JobId::from_raw(2)]), ..all() };
    assert_eq!(list(&filter, &whole).await, [(6, None)]);
    let filter = RunFilter { jobs: Some(vec![]), ..all() };
    assert_eq!(list(&filter, &whole).await, []);
    let filter = RunFilter { reasons: vec!["exit".to_owned(), "retry".to_owned()], ..all() };
    assert_eq!(list(&filter, &whole).await, [(6, None), (4, None)]);
    let views = world.store.list_runs(&all(), &whole).await.unwrap().runs;
    assert!(views.iter().all(|view| view.zone == "Asia/Shanghai"));
    let versions = || views.iter().map(|view| view.run.version);
    let (early, late) = (versions().min().unwrap(), versions().max().unwrap());
    let filter = RunFilter { from: Some(early), to: Some(late), ..all() };
    let expected: Vec<_> = views
        .iter()
        .filter(|view| (early..late).contains(&view.run.version))
        .map(|view| (view.run.id.raw(), view.worker.clone()))
        .collect();
    assert_eq!(list(&filter, &whole).await, expected);
}

pub(crate) async fn runs_come_in_pages(place: &impl Place) {
    let world = World::led(place).await;
    a_colourful_day(&world).await;
    let mut seen = Vec::new();
    let mut page = Page { limit: 2, after: None };
    loop {
        let found = world.store.list_runs(&RunFilter::default(), &page).await.unwrap();
        seen.push(found.runs.iter().map(|view| view.run.id.raw()).collect::<Vec<_>>());
        page.after = found.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, [vec![9, 6], vec![5, 4], vec![3]]);
    let all = Page { limit: 5, after: None };
    let found = world.store.list_runs(&RunFilter::default(), &all).await.unwrap();
    assert_eq!((found.runs.len(), found.next), (5, None), "a full page may be the last");
    let bad = Page { limit: 3, after: Some("yesterday".to_owned()) };
    let told = world.store.list_runs(&RunFilter::default(), &bad).await;
    assert!(matches!(told, Err(StoreError::BadMark(_))), "{told:?}");
}

pub(crate) async fn what_belongs_to_many_rows_is_read_at_once(place: &impl Place) {
    let world = World::led(place).await;
    three_jobs(&world).await;
    let ids = |list: &[i64]| list.iter().map(|&id| ActionId::from_raw(id)).collect::<Vec<_>>();
    let bound = world.store.bindings_of(&ids(&[1, 2, 99])).await.unwrap();
    let wanted = vec![rows::binding(2, 4), rows::binding(2, 5), rows::binding(2, 99)];
    assert_eq!(bound.into_iter().collect::<Vec<_>>(), [(ActionId::from_raw(1), wanted)]);
    assert!(world.store.bindings_of(&[]).await.unwrap().is_empty());

    let at = |job, slot| (JobId::from_raw(job), rows::version(slot));
    let asked = [at(2, 5), at(2, 4), at(2, 99), at(3, 5), at(9, 5)];
    let found = world.store.actions_at(&asked).await.unwrap();
    let told: Vec<_> =
        found.iter().map(|(a, run)| (a.id.raw(), run.as_ref().map(|r| r.id.raw()))).collect();
    assert_eq!(told, [(2, Some(2)), (3, None), (5, None)]);
    assert_eq!(world.store.actions_at(&[]).await.unwrap(), []);

    let other = rows::with_state(&rows::action(6, 1, 6), ActionState::Waiting);
    let edge = Binding { on: On::Finished, ..rows::binding(2, 5) };
    world.write(vec![insert_action(&other), Write::Bindings(other.id, vec![edge])]).await;
    let dependents = async |slot, limit| {
        let (job, version) = at(2, slot);
        let found = world.store.dependents(job, version, limit).await.unwrap();
        found.into_iter().map(|d| (d.action.id.raw(), d.live, d.on)).collect::<Vec<_>>()
    };
    assert_eq!(dependents(5, 9).await, [(1, None, On::Success), (6, None, On::Finished)]);
    assert_eq!(dependents(5, 1).await, [(1, None, On::Success)]);
    assert_eq!(dependents(6, 9).await, []);

    let run = |id| RunId::from_raw(id);
    let runs = world.store.runs(&[run(4), run(77), run(2)]).await.unwrap();
    assert_eq!(runs, [world.run_row(2).await, world.run_row(4).await]);
    assert_eq!(world.store.runs(&[]).await.unwrap(), []);
}

pub(crate) async fn history_is_kept_for_people(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1, 2]).await;
    world
        .write(vec![
            Write::Revision(Box::new(rows::revision(1, 2))),
            Write::Gap(rows::gap(1, 1, 3)),
            Write::Gap(rows::gap(1, 7, 9)),
            Write::Gap(rows::gap(2, 1, 9)),
        ])
        .await;
    for n in 1..=4 {
        let subject = if n % 2 == 0 { "g/even" } else { "g/odd" };
        world.write(vec![Write::Audit(Box::new(rows::audit(n, subject)))]).await;
    }
    let job = JobId::from_raw(1);
    let revisions = world.store.revisions(job).await.unwrap();
    assert_eq!(revisions, [rows::revision(1, 2), rows::revision(1, 1)]);
    let gaps = async |from, to| {
        world.store.gaps(job, rows::version(from), rows::version(to)).await.unwrap()
    };
    assert_eq!(gaps(3, 6).await, [rows::gap(1, 1, 3)]);
    assert_eq!(gaps(0, 99).await, [rows::gap(1, 1, 3), rows::gap(1, 7, 9)]);
    assert_eq!(gaps(4, 6).await, []);
    // A gap grows: one row for what lies together.
    world.write(vec![Write::Gap(rows::gap(1, 7, 12))]).await;
    assert_eq!(gaps(4, 99).await, [rows::gap(1, 7, 12)]);
    let by_bob = AuditRow {
        asked: Asked { actor: "bob".to_owned(), why: "late".to_owned() },
        ..rows::audit(5, "g/odd@1970-01-01T00:00:00Z")
    };
    world.write(vec![Write::Audit(Box::new(by_bob.clone()))]).await;
    // Neither of a job whose name goes on, nor of one that is written otherwise.
    for other in ["g/odder", "g/Odd@1970-01-01T00:00:00Z"] {
        world.write(vec![Write::Audit(Box::new(rows::audit(6, other)))]).await;
    }
    let odd = [by_bob.clone(), rows::audit(3, "g/odd"), rows::audit(1, "g/odd")];
    assert_eq!(world.audit(Some("g/odd"), 9).await, odd);
    assert_eq!(world.audit(Some("g/odd"), 2).await, odd[..2]);
    assert_eq!(world.audit(None, 9).await.len(), 7);
    let list = async |filter: AuditFilter| world.store.audit(&filter, 9).await.unwrap();
    let of = |actor: &str| AuditFilter { actor: Some(actor.to_owned()), ..AuditFilter::default() };
    let found = list(of("bob")).await;
    assert_eq!(found.iter().map(|view| &view.row).collect::<Vec<_>>(), [&by_bob]);
    let before = AuditFilter { before: Some(found[0].number), ..AuditFilter::default() };
    let older: Vec<_> = list(before).await.into_iter().map(|view| view.row).collect();
    assert_eq!(older.first(), Some(&rows::audit(4, "g/even")));
    assert_eq!(older.len(), 4);
}

pub(crate) async fn attempts_are_found_by_run_and_by_token(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1]).await;
    let action = rows::active(&rows::action(1, 1, 1), 1);
    let first = rows::leased(&rows::run(1, &action), 9);
    let second = rows::leased(&rows::running(&first), 4);
    let attempts = [rows::attempt(&first), rows::attempt(&second)];
    world.write(vec![insert_action(&action), insert_run(&second)]).await;
    for attempt in attempts.iter().rev() {
        world.write(vec![insert_attempt(attempt.clone())]).await;
    }
    world.store.append_log(attempts[0].fence, 0, b"hello").await.unwrap();
    let views = world.store.attempts(first.id).await.unwrap();
    let told: Vec<_> = views.iter().map(|v| (v.attempt.clone(), v.log_bytes)).collect();
    assert_eq!(told, [(attempts[0].clone(), 5), (attempts[1].clone(), 0)]);
    assert_eq!(views[1].worker, "worker1");
    let by_token = async |tokens: &[Token]| world.store.attempts_by_token(tokens).await.unwrap();
    assert_eq!(by_token(&[rows::token(4)]).await, [attempts[1].clone()]);
    let unknown = Token::from_bytes([99; 16]);
    let both = [rows::token(9), unknown, rows::token(4)];
    assert_eq!(by_token(&both).await, [attempts[1].clone(), attempts[0].clone()]);
    assert_eq!(by_token(&[unknown]).await, []);
    assert_eq!(by_token(&[]).await, []);
    assert_eq!(world.store.attempts(RunId::from_raw(9)).await.unwrap(), []);
    assert_eq!(world.store.run(RunId::from_raw(9)).await.unwrap(), None);
    assert_eq!(world.action_row(9).await, None);
    // An action that ended is still found, with what it was bound to.
    let done = ended(&action, DONE);
    let bound = Write::Bindings(action.id, vec![rows::binding(7, 7)]);
    world.write(vec![update_action(&done), bound]).await;
    let found = world.store.action(action.id).await.unwrap().unwrap();
    assert_eq!((found.action, found.bindings), (done, vec![rows::binding(7, 7)]));
}

pub(crate) async fn versions_of_jobs_by_hand_are_loaded(place: &impl Place) {
    let world = World::led(place).await;
    world.with_jobs(&[1, 2, 3]).await;
    let by_hand = r#"{"schedule": null, "depends_on": []}"#;
    let scheduled = r#"{"schedule": {"cron": ["0 2 * * *"]}, "depends_on": []}"#;
    let depends = r#"{"depends_on": [{"job": "a"}]}"#;
    for (job, spec) in [(1, by_hand), (2, scheduled), (3, depends)] {
        let id = JobId::from_raw(job);
        let row =
            JobRow { revision: Revision::from_raw(2), seq: Seq::FIRST.next(), ..rows::job(job) };
        let revision = RevisionRow { spec: spec.to_owned(), ..rows::revision(job, 2) };
        let unit = Unit {
            guards: vec![Guard::Job { id, seq: Seq::FIRST }],
            writes: vec![
                Write::Job(Put::Update, Box::new(row)),
                Write::Revision(Box::new(revision)),
                insert_action(&rows::action(job * 10, job, 1)),
                insert_action(&rows::with_state(
                    &rows::action(job * 10 + 1, job, 2),
                    ActionState::Waiting,
                )),
                insert_action(&rows::with_state(
                    &rows::action(job * 10 + 2, job, 3),
                    ActionState::Waiting,
                )),
            ],
            ..Unit::default()
        };
        world.commit(vec![unit]).await;
    }
    let loaded = world.all().await.by_hand;
    let versions = vec![rows::version(2), rows::version(3)];
    assert_eq!(loaded, [(JobId::from_raw(1), versions)].into(), "planned ones promise nothing");
    let scope = Scope::Jobs(vec![JobId::from_raw(2)]);
    assert!(world.store.load(&scope).await.unwrap().by_hand.is_empty());
}
