//! What only a database can show: who may open it, commits that meet a takeover, rows written by other hands, how
//! many statements a commit costs.

use std::time::Duration;

use hera_common::action::{ActionEnd, ActionState};
use hera_common::attempt::AttemptEnd;
use hera_common::id::{Fence, JobId, RunId};
use hera_common::run::RunEnd;
use hera_common::snapshot::BadRow;
use hera_common::unit::{Batch, Marks, Put, Unit, Write};
use hera_store::{AuditFilter, Options, Scope, Seen, StoreError, open};
use hera_testkit::wait_for_async;
use sqlx::Connection;

use crate::places::postgres::Postgres;
use crate::places::sqlite::Sqlite;
use crate::rows;
use crate::world::{
    Counted, Place, World, candidate, guard_action, guard_run, insert_action, insert_attempt,
    insert_run, unit, update_action, update_attempt, update_run,
};

/// How long a test waits for another connection to get stuck.
const LIMIT: Duration = Duration::from_secs(20);

fn unusable<T>(told: Result<T, StoreError>) -> String {
    match told {
        Err(StoreError::Unusable(why)) => why,
        Err(other) => panic!("should be unusable: {other:?}"),
        Ok(_store) => panic!("should be unusable, and was opened"),
    }
}

#[tokio::test]
async fn a_folder_has_one_master_at_a_time() {
    let place = Sqlite::fresh().await;
    let first = World::led(&place).await;
    first.with_jobs(&[1]).await;
    let why = unusable(open(&place.url(), &Options::default()).await);
    assert!(why.ends_with("is used by another master"), "{why}");
    // As soon as the first has gone, the second opens it, finds all, and its term is a new one.
    let (url, old) = (place.url(), first.epoch);
    let folder = place.closed(first).await;
    assert!(!folder.path().join("data/hera.db-wal").exists(), "all is in the one file");
    let second = open(&url, &Options::default()).await.unwrap();
    assert_eq!(second.load(&Scope::All).await.unwrap().jobs, [rows::job(1)]);
    let seen = Seen { epoch: old, renew_seq: -1 };
    let new = second.acquire(seen, &candidate("two")).await.unwrap();
    assert_eq!(new, Some(old.next()), "the lock is the leadership, whatever was seen");
    drop(folder);
}

#[tokio::test]
async fn a_file_that_was_deleted_under_an_open_store_is_missed_at_the_next_call() {
    let place = Sqlite::fresh().await;
    let world = World::led(&place).await;
    world.with_jobs(&[1]).await;
    let file = place.folder.path().join("data/hera.db");
    std::fs::rename(&file, file.with_extension("gone")).unwrap();
    let why = unusable(world.store.leadership().await);
    assert!(why.contains("hera.db was deleted while this program had it open"), "{why}");
    std::fs::copy(file.with_extension("gone"), &file).unwrap();
    let why = unusable(world.store.load(&Scope::All).await);
    assert!(why.contains("hera.db was replaced while"), "{why}");
}

#[tokio::test]
async fn a_database_that_a_newer_program_changed_is_refused() {
    const NEWER: &str = "INSERT INTO _sqlx_migrations \
                         (version, description, success, checksum, execution_time) \
                         VALUES (9999, 'from tomorrow', TRUE, '', 0)";
    let place = Postgres::fresh().await;
    place.sql(NEWER).unwrap();
    let why = unusable(open(&place.database.url(), &Options::default()).await);
    assert!(why.contains("newer program (migration 9999)"), "{why}");

    let place = Sqlite::fresh().await;
    let (url, world) = (place.url(), World::led(&place).await);
    place.sql(NEWER).await.unwrap();
    let folder = place.closed(world).await;
    let why = unusable(open(&url, &Options::default()).await);
    assert!(why.contains("newer program (migration 9999)"), "{why}");
    drop(folder);
}

#[tokio::test]
async fn two_masters_may_start_together_on_an_empty_database() {
    let database = hera_testkit::postgres::fresh_database().unwrap();
    let (url, options) = (database.url(), Options::default());
    let (a, b) = tokio::join!(open(&url, &options), open(&url, &options));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(a.store_id().await.unwrap(), b.store_id().await.unwrap());
}

#[tokio::test]
async fn what_cannot_be_opened_is_told_without_the_password() {
    let nobody = "postgres://hera:se%63ret@127.0.0.1:1/hera";
    match open(nobody, &Options::default()).await {
        Err(StoreError::Unavailable(source)) => {
            let text = format!("{source} {source:?}");
            assert!(text.contains("could not connect to PostgreSQL at 127.0.0.1:1"), "{text}");
            assert!(!text.contains("secret") && !text.contains("se%63ret"), "{text}");
        }
        Err(other) => panic!("should not be reachable: {other:?}"),
        Ok(_store) => panic!("nobody listens there"),
    }
    let place = Postgres::fresh().await;
    let url = place.database.url().replace(place.database.name(), "no_such_database");
    let why = unusable(open(&url, &Options::default()).await);
    assert!(why.contains("no_such_database"), "{why}");
}

/// Waits until so many connections wait for locks.
async fn stuck(place: &Postgres, connections: usize) {
    let waiting = "SELECT pid FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let look = async || {
        let found = place.database.sql(waiting).unwrap().len();
        (found >= connections).then_some(())
    };
    wait_for_async("connections that wait", LIMIT, look).await.unwrap();
}

#[tokio::test]
async fn a_takeover_waits_for_a_commit_that_has_begun() {
    let place = Postgres::fresh().await;
    let world = World::led(&place).await;
    let queued = rows::run(1, &rows::active(&rows::action(1, 1, 1), 1));
    world.write(vec![insert_run(&queued)]).await;
    let mut other = place.connect().await;
    let mut holder = other.begin().await.unwrap();
    sqlx::query("SELECT 1 FROM run FOR UPDATE").execute(&mut *holder).await.unwrap();

    let second = place.second().await.unwrap();
    let row = second.leadership().await.unwrap();
    let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
    let next = rows::leased(&queued, 7);
    let commit = world.commit(vec![unit(vec![guard_run(&queued)], vec![update_run(&next)])]);
    let takeover = async {
        stuck(&place, 1).await;
        let two = candidate("two");
        let acquire = second.acquire(seen, &two);
        let release = async {
            stuck(&place, 2).await;
            holder.commit().await.unwrap();
        };
        tokio::join!(acquire, release).0.unwrap()
    };
    let (told, epoch) = tokio::join!(commit, takeover);
    assert_eq!(told, "D", "the commit came first");
    assert_eq!(epoch, Some(world.epoch.next()));
    assert_eq!(world.run_row(1).await, next, "the new leader reads it");
}

#[tokio::test]
async fn a_commit_that_waits_behind_a_takeover_is_fenced() {
    let place = Postgres::fresh().await;
    let world = World::led(&place).await;
    let mut other = place.connect().await;
    let mut taking = other.begin().await.unwrap();
    let take = "UPDATE leadership SET epoch = epoch + 1";
    sqlx::query(take).execute(&mut *taking).await.unwrap();
    let note = Write::Audit(Box::new(rows::audit(1, "late")));
    let commit = world.try_commit(vec![unit(vec![], vec![note])]);
    let finish = async {
        stuck(&place, 1).await;
        taking.commit().await.unwrap();
    };
    let (told, ()) = tokio::join!(commit, finish);
    assert!(matches!(told, Err(StoreError::NotLeader)), "{told:?}");
    assert!(world.audit(None, 9).await.is_empty());
}

#[tokio::test]
async fn a_store_that_does_not_answer_in_time_is_not_reachable() {
    let place = Postgres::fresh().await;
    World::led(&place).await;
    let options = Options { patience: Duration::from_millis(200), ..Options::default() };
    let store = open(&place.database.url(), &options).await.unwrap();
    let world = World { epoch: store.leadership().await.unwrap().epoch, store };
    let mut other = place.connect().await;
    let mut holder = other.begin().await.unwrap();
    sqlx::query("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE").execute(&mut *holder).await.unwrap();
    let note = |subject| vec![unit(vec![], vec![Write::Audit(Box::new(rows::audit(1, subject)))])];
    let told = world.try_commit(note("slow")).await;
    assert!(matches!(told, Err(StoreError::Unavailable(_))), "{told:?}");
    holder.rollback().await.unwrap();
    // A new connection may itself take longer than this store's short patience.
    let again = async || world.try_commit(note("quick")).await.ok();
    wait_for_async("the store to answer again", LIMIT, again).await.unwrap();
    let audit = place.store().audit(&AuditFilter::default(), 9).await.unwrap();
    assert!(
        audit.iter().all(|view| view.row.subject == "quick"),
        "the first was not made: {audit:?}"
    );
}

#[tokio::test]
async fn a_large_commit_is_given_up_by_the_server_after_the_long_patience() {
    const SLOW: &str = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS \
                        $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$; \
                        CREATE TRIGGER slow BEFORE INSERT ON audit EXECUTE FUNCTION slow()";
    const ASLEEP: &str = "SELECT pid FROM pg_stat_activity \
                          WHERE datname = current_database() AND wait_event = 'PgSleep'";
    let place = Postgres::fresh().await;
    World::led(&place).await;
    place.sql(SLOW).unwrap();
    let options = Options { long_patience: Duration::from_secs(1), ..Options::default() };
    let store = open(&place.database.url(), &options).await.unwrap();
    let world = World { epoch: store.leadership().await.unwrap().epoch, store };
    let notes = (0..1_000).map(|n| Write::Audit(Box::new(rows::audit(n, "many")))).collect();
    let told = world.try_commit(vec![unit(vec![], notes)]).await;
    assert!(matches!(told, Err(StoreError::Unavailable(_))), "{told:?}");
    // Whoever asked has gone; the server must not sleep on beside the next try.
    let awake = async || place.database.sql(ASLEEP).unwrap().is_empty().then_some(());
    wait_for_async("the statement to be cancelled", LIMIT, awake).await.unwrap();
}

#[tokio::test]
async fn connections_that_broke_are_made_anew() {
    let place = Postgres::fresh().await;
    let world = World::led(&place).await;
    let note = |n| unit(vec![], vec![Write::Audit(Box::new(rows::audit(n, "note")))]);
    assert_eq!(world.commit(vec![note(1)]).await, "D");
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                WHERE application_name = 'hera' AND datname = current_database()";
    place.sql(kill).unwrap();
    assert_eq!(world.commit(vec![note(2)]).await, "D");
    assert_eq!(world.audit(None, 9).await.len(), 2);
}

/// Two jobs with an action and a run each, the second job's rows spoilt by `spoil`.
async fn spoilt(place: &impl Place) -> World {
    let world = World::led(place).await;
    world.with_jobs(&[1, 2]).await;
    for id in [1, 2] {
        let action = rows::active(&rows::action(id, id, 1), id);
        let run = rows::running(&rows::leased(&rows::run(id, &action), 10 + id));
        let bound = Write::Bindings(action.id, vec![rows::binding(9, 1)]);
        let attempt = insert_attempt(rows::started(&rows::attempt(&run)));
        world.write(vec![insert_action(&action), bound, insert_run(&run), attempt]).await;
    }
    world
}

async fn only_the_first_is_active(world: &World, what: &str) {
    let snapshot = world.all().await;
    assert_eq!(snapshot.bad.len(), 1, "{:?}", snapshot.bad);
    let BadRow { job, what: told } = &snapshot.bad[0];
    assert_eq!(*job, JobId::from_raw(2));
    assert!(told.contains(what), "{told}");
    assert_eq!(snapshot.jobs, [rows::job(1), rows::job(2)], "both can be parked");
    assert_eq!(snapshot.actions.len(), 1);
    assert_eq!(snapshot.actions[0].bindings.len(), 1);
    assert_eq!(snapshot.runs.len(), 1);
    assert_eq!(snapshot.attempts.len(), 1);
    assert_eq!(snapshot.runs[0].job, JobId::from_raw(1));
}

#[tokio::test]
async fn a_row_that_cannot_be_read_stops_its_job_only() {
    const NEWER_WORD: &str =
        "UPDATE run SET cancel = 'tomorrow', hb_seq = hb_seq + 1 WHERE run_id = 2";
    const NO_COUNT: &str = "UPDATE action SET runs = 5000000000, seq = seq + 1 WHERE action_id = 2";
    let place = Postgres::fresh().await;
    let world = spoilt(&place).await;
    place.sql(NEWER_WORD).unwrap();
    only_the_first_is_active(&world, "run 2: `cancel` is `tomorrow`").await;
    let told = world.store.run(RunId::from_raw(2)).await;
    assert!(matches!(told, Err(StoreError::Corrupt { .. })), "{told:?}");

    let place = Sqlite::fresh().await;
    let world = spoilt(&place).await;
    place.sql(NO_COUNT).await.unwrap();
    only_the_first_is_active(&world, "action 2: `runs`").await;
}

/// The statements of a commit, BEGIN and COMMIT among them.
async fn cost(place: &impl Counted, world: &World, units: Vec<Unit>, marks: Marks) -> u64 {
    let before = place.statements();
    let told = world.store.commit(world.epoch, &Batch { units, marks }).await.unwrap();
    assert!(told.outcomes.iter().all(|o| *o == hera_common::unit::Outcome::Done), "{told:?}");
    place.statements() - before
}

/// A run that somebody executes, with its action, and an action that waits for it.
async fn a_commit_costs_few_statements(place: &(impl Place + Counted)) {
    let world = World::led(place).await;
    world.with_jobs(&[1, 2]).await;
    let (one, two) = (rows::active(&rows::action(1, 1, 1), 1), rows::action(2, 2, 1));
    let waiting = rows::with_state(&two, ActionState::Waiting);
    let queued = rows::run(1, &one);
    world.write(vec![insert_action(&one), insert_action(&waiting), insert_run(&queued)]).await;
    let marks = |fence| Marks { fence: Fence::from_raw(fence), ..Marks::default() };

    let leased = rows::leased(&queued, 3);
    let attempt = rows::attempt(&leased);
    let grant = vec![update_run(&leased), insert_attempt(attempt.clone())];
    let grant = vec![unit(vec![guard_run(&queued)], grant)];
    // begin, guard, run, attempt, marks, commit.
    assert_eq!(cost(place, &world, grant, marks(3)).await, 6);

    let running = rows::running(&leased);
    let start = vec![update_run(&running), update_attempt(rows::started(&attempt))];
    let start = vec![unit(vec![guard_run(&leased)], start)];
    // begin, guard, run, attempt, commit.
    assert_eq!(cost(place, &world, start, Marks::default()).await, 5);

    let beat = rows::renewed(&running);
    let beats = vec![unit(vec![guard_run(&running)], vec![update_run(&beat)])];
    // begin, guard, run, commit.
    assert_eq!(cost(place, &world, beats, Marks::default()).await, 4);

    let over = rows::ended(&beat, RunEnd::Succeeded);
    let done = ActionState::Ended(ActionEnd::Succeeded { forced: false });
    let closed = rows::attempt_ended(&rows::started(&attempt), AttemptEnd::Succeeded);
    let next = rows::active(&waiting, 2);
    let granted = rows::leased(&rows::run(2, &next), 4);
    let finish = vec![
        update_run(&over),
        update_attempt(closed),
        update_action(&rows::with_state(&one, done)),
    ];
    let admit = vec![update_action(&next), Write::Run(Put::Insert, Box::new(rows::run(2, &next)))];
    let grant = vec![update_run(&granted), insert_attempt(rows::attempt(&granted))];
    let units = vec![
        unit(vec![guard_run(&beat), guard_action(&one)], finish),
        Unit { after: vec![0], ..unit(vec![guard_action(&waiting)], admit) },
        Unit { after: vec![1], ..unit(vec![guard_run(&rows::run(2, &next))], grant) },
    ];
    // begin, guard, actions, runs (changed, made), attempts (changed, made), marks, commit.
    assert_eq!(cost(place, &world, units, marks(4)).await, 9);
    assert_eq!(world.run_row(2).await, granted);

    // A guard that does not hold costs a second look.
    let before = place.statements();
    let stale = vec![unit(vec![guard_run(&running)], vec![update_run(&rows::renewed(&running))])];
    assert_eq!(world.commit(stale).await, "L");
    assert_eq!(place.statements() - before, 8);
}

/// A row that cannot be read is no doubt: a second look would read the same.
async fn a_broken_row_is_looked_at_once(place: &(impl Place + Counted), world: &World) {
    let before = place.statements();
    let note = Write::Audit(Box::new(rows::audit(1, "beside a broken row")));
    let guard = guard_run(&rows::run(2, &rows::action(2, 2, 1)));
    let told = world.try_commit(vec![unit(vec![guard], vec![note])]).await;
    assert!(matches!(told, Err(StoreError::Corrupt { .. })), "{told:?}");
    // begin, guard, runs, roll back.
    assert_eq!(place.statements() - before, 4);
}

#[tokio::test]
async fn a_broken_row_is_looked_at_once_on_both() {
    const NO_TOKEN: &str = "UPDATE run SET token = 'none', hb_seq = hb_seq + 1 WHERE run_id = 2";
    let place = Postgres::fresh().await;
    let world = spoilt(&place).await;
    place.sql(NO_TOKEN).unwrap();
    a_broken_row_is_looked_at_once(&place, &world).await;

    let place = Sqlite::fresh().await;
    let world = spoilt(&place).await;
    place.sql(NO_TOKEN).await.unwrap();
    a_broken_row_is_looked_at_once(&place, &world).await;
}

#[tokio::test]
async fn a_commit_costs_few_statements_on_postgresql() {
    a_commit_costs_few_statements(&Postgres::fresh().await).await;
}

#[tokio::test]
async fn a_commit_costs_few_statements_on_sqlite() {
    a_commit_costs_few_statements(&Sqlite::fresh().await).await;
}
