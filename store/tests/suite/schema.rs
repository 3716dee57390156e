//! The two schemas are one, every statement is accepted by its database, and the databases themselves refuse what
//! may never be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hera_common::unit::{Put, Write};
use sqlx::{AssertSqlSafe, Executor, Row, SqlSafeStr};

use crate::places::postgres::Postgres;
use crate::places::sqlite::Sqlite;
use crate::rows;
use crate::world::{
    Place, World, insert_action, insert_attempt, insert_run, insert_worker, update_attempt,
};

/// Columns of a table in order: name, type of SQLite, whether NULL is refused.
type Tables = BTreeMap<String, Vec<(String, String, bool)>>;

const POSTGRES_COLUMNS: &str = "
    SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'NO'
    FROM information_schema.columns
    WHERE table_schema = 'public'
    ORDER BY table_name, ordinal_position";

const SQLITE_COLUMNS: &str = "
    SELECT t.name, c.name, c.type, c.\"notnull\" = 1 OR c.pk > 0
    FROM sqlite_schema t
    JOIN pragma_table_xinfo(t.name) c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
    ORDER BY t.name, c.cid";

/// What a type of PostgreSQL is in SQLite.
fn twin(data_type: &str) -> &'static str {
    match data_type {
        "bigint" | "smallint" | "boolean" => "INTEGER",
        "text" | "json" => "TEXT",
        "bytea" => "BLOB",
        other => panic!("no twin for the type {other}"),
    }
}

/// The migrator's own table differs, and is not ours.
fn ours(table: &str) -> bool {
    table != "_sqlx_migrations"
}

async fn postgres_tables(place: &Postgres) -> Tables {
    let mut connection = place.connect().await;
    let rows = sqlx::query(POSTGRES_COLUMNS).fetch_all(&mut connection).await.unwrap();
    let mut tables = Tables::new();
    for row in rows {
        let (table, column, kind): (String, String, String) = (row.get(0), row.get(1), row.get(2));
        if ours(&table) {
            let kind = twin(&kind).to_owned();
            tables.entry(table).or_default().push((column, kind, row.get(3)));
        }
    }
    tables
}

async fn sqlite_tables(place: &Sqlite) -> Tables {
    let mut connection = place.connect().await;
    let rows = sqlx::query(SQLITE_COLUMNS).fetch_all(&mut connection).await.unwrap();
    let mut tables = Tables::new();
    for row in rows {
        let (table, column, kind): (String, String, String) = (row.get(0), row.get(1), row.get(2));
        if ours(&table) {
            tables.entry(table).or_default().push((column, kind, row.get(3)));
        }
    }
    tables
}

#[tokio::test]
async fn both_databases_have_the_same_tables_and_columns() {
    let postgres = postgres_tables(&Postgres::fresh().await).await;
    let sqlite = sqlite_tables(&Sqlite::fresh().await).await;
    assert_eq!(postgres.keys().collect::<Vec<_>>(), sqlite.keys().collect::<Vec<_>>());
    for (table, columns) in &postgres {
        assert_eq!(Some(columns), sqlite.get(table), "{table}");
    }
    assert_eq!(postgres.len(), 18);
}

/// An index as a statement, without what only one of the databases writes: unique or not, its columns in their order,
/// and which rows are in it.
fn plain(statement: &str) -> String {
    let own = statement.replace("public.", "").replace("USING btree ", "").replace(['(', ')'], " ");
    own.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[tokio::test]
async fn both_databases_have_the_same_indexes() {
    let postgres = Postgres::fresh().await;
    let mut connection = postgres.connect().await;
    // Those that a constraint made have names of the database's own.
    let made = "SELECT indexdef::text FROM pg_indexes WHERE schemaname = 'public' \
                AND indexname !~ '_(pkey|key)$' ORDER BY indexname";
    let left: Vec<String> = sqlx::query_scalar(made).fetch_all(&mut connection).await.unwrap();
    let sqlite = Sqlite::fresh().await;
    let mut connection = sqlite.connect().await;
    let made =
        "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name";
    let right: Vec<String> = sqlx::query_scalar(made).fetch_all(&mut connection).await.unwrap();
    let [left, right] = [left, right].map(|list| list.iter().map(|s| plain(s)).collect::<Vec<_>>());
    assert_eq!(left, right);
    let held = "create unique index run_one_held on run job_id where exclusive and held";
    assert!(left.contains(&held.to_owned()), "{left:?}");
}

/// The files of these folders below `queries`.
fn query_files(folders: &[&str]) -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| top.join(folder)).collect();
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// A query with a wrong column fails here, not in the night.
#[tokio::test]
async fn every_query_file_is_accepted_by_postgresql() {
    let place = Postgres::fresh().await;
    let mut connection = place.connect().await;
    let files = query_files(&["shared", "postgres", "only_postgres"]);
    assert!(files.len() > 60, "{files:?}");
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        if let Err(error) = connection.prepare(AssertSqlSafe(text).into_sql_str()).await {
            panic!("{}: {error}", path.display());
        }
    }
}

#[tokio::test]
async fn every_query_file_is_accepted_by_sqlite() {
    let place = Sqlite::fresh().await;
    let mut connection = place.connect().await;
    for path in query_files(&["shared", "sqlite"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        if let Err(error) = connection.prepare(AssertSqlSafe(text).into_sql_str()).await {
            panic!("{}: {error}", path.display());
        }
    }
}

/// Statements past the store, each with a part of the refusal.
const IMPOSSIBLE: &[(&str, &str)] = &[
    ("UPDATE run SET state = 'queued', hb_seq = hb_seq + 1 WHERE run_id = 2", "has ended"),
    ("UPDATE run SET attempts = attempts - 1, hb_seq = hb_seq + 1 WHERE run_id = 1", "backwards"),
    ("UPDATE run SET losses = losses - 1, hb_seq = hb_seq + 1 WHERE run_id = 1", "backwards"),
    ("UPDATE run SET lease_until = 1 WHERE run_id = 1", "backwards"),
    ("UPDATE run SET version = 1, hb_seq = hb_seq + 1 WHERE run_id = 1", "backwards"),
    ("UPDATE run SET token = NULL, hb_seq = hb_seq + 1 WHERE run_id = 1", "constraint"),
    ("UPDATE run SET state = 'lost', hb_seq = hb_seq + 1 WHERE run_id = 1", "constraint"),
    ("UPDATE attempt SET token = 'x' WHERE fence = 3", "another one"),
    ("UPDATE attempt SET state = 'started', outcome = NULL WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET exit_code = 1 WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET exit_code = 1, late_report = 'x' WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET exit_code = NULL, late_report = 'x' WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET signal = 9, late_report = 'x' WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET detail = 'y', late_report = 'x' WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET outcome = 'failed', late_report = 'x' WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET outcome_reason = 'exit', late_report = 'x' WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET started_at = 1, late_report = 'x' WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET ended_at = NULL, late_report = 'x' WHERE fence = 4", "has ended"),
    ("UPDATE attempt SET worker_id = 2 WHERE fence = 3", "another one"),
    ("UPDATE attempt SET epoch = 2 WHERE fence = 3", "another one"),
    ("UPDATE attempt SET late_report = 'again' WHERE fence = 5", "has ended"),
    ("UPDATE attempt SET state = 'ended' WHERE fence = 3", "constraint"),
    ("UPDATE action SET version = 1 WHERE action_id = 1", "another one"),
    (
        "UPDATE action SET state = 'planned', seq = seq + 1 WHERE action_id = 1",
        "never planned again",
    ),
    ("UPDATE action SET live_run = NULL, seq = seq + 1 WHERE action_id = 1", "constraint"),
    ("UPDATE action SET state = 'lost', seq = seq + 1 WHERE action_id = 1", "constraint"),
    ("UPDATE action SET actor = 'x' WHERE action_id = 1", "backwards"),
    ("UPDATE action SET seq = seq - 1 WHERE action_id = 1", "backwards"),
    ("UPDATE action SET runs = runs - 1, seq = seq + 1 WHERE action_id = 1", "backwards"),
    ("DELETE FROM action WHERE action_id = 1", "never deleted"),
    ("UPDATE job SET seq = seq - 1 WHERE job_id = 1", "backwards"),
    ("UPDATE job SET revision = 0, seq = seq + 1 WHERE job_id = 1", "backwards"),
    ("UPDATE job_cursor SET planned_to = 1 WHERE job_id = 1", "backwards"),
    ("UPDATE job_cursor SET decided_to = 1, seq = seq + 1 WHERE job_id = 1", "backwards"),
    ("UPDATE worker SET draining = draining WHERE worker_id = 1", "backwards"),
    ("UPDATE worker SET incarnation = 0, seq = seq + 1 WHERE worker_id = 1", "backwards"),
    ("UPDATE leadership SET epoch = epoch - 1", "backwards"),
    ("UPDATE leadership SET renew_seq = renew_seq - 1", "backwards"),
    ("INSERT INTO leadership (id, epoch) VALUES (2, 9)", "constraint"),
    ("INSERT INTO store_identity VALUES (1, 'x', 1)", "constraint"),
];

async fn scene(place: &impl Place) {
    let world = World::led(place).await;
    let active = rows::active(&rows::action(1, 1, 1), 1);
    let held = rows::running(&rows::leased(&rows::run(1, &active), 3));
    let over = rows::action(2, 2, 1);
    let ended = rows::ended(&rows::run(2, &over), hera_common::run::RunEnd::Succeeded);
    let third = rows::leased(&rows::run(3, &rows::action(3, 3, 1)), 4);
    let fourth = rows::leased(&rows::run(4, &rows::action(4, 4, 1)), 5);
    let lost =
        |run| rows::attempt_ended(&rows::attempt(run), hera_common::attempt::AttemptEnd::Lost);
    let mut reported = lost(&fourth);
    reported.late_report = Some("once".to_owned());
    world
        .write(vec![
            insert_worker(rows::worker(1)),
            Write::Job(Put::Insert, Box::new(rows::job(1))),
            Write::Cursor(Put::Insert, rows::cursor(1)),
            insert_action(&active),
            insert_run(&held),
            insert_run(&ended),
            insert_attempt(rows::attempt(&held)),
            insert_attempt(lost(&third)),
            insert_attempt(lost(&fourth)),
            update_attempt(reported),
        ])
        .await;
}

#[tokio::test]
async fn postgresql_itself_refuses_what_may_never_be() {
    let place = Postgres::fresh().await;
    scene(&place).await;
    for (statement, why) in IMPOSSIBLE {
        let told = place.sql(statement).unwrap_err();
        assert!(told.contains(why), "{statement}: {told}");
    }
    place.sql("UPDATE attempt SET late_report = 'first' WHERE fence = 4").unwrap();
}

#[tokio::test]
async fn sqlite_itself_refuses_what_may_never_be() {
    let place = Sqlite::fresh().await;
    scene(&place).await;
    for (statement, why) in IMPOSSIBLE {
        let told = place.sql(statement).await.unwrap_err();
        assert!(told.to_lowercase().contains(why), "{statement}: {told}");
    }
    place.sql("UPDATE attempt SET late_report = 'first' WHERE fence = 4").await.unwrap();
}
