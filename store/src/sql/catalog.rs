//! The statements, as the program carries them: the files under `queries`. Knows no value and no row.

/// The statements in both dialects.
macro_rules! catalog {
    ($($name:ident: $file:literal)+) => {
        /// Each statement that the databases word differently.
        #[derive(Debug)]
        pub(crate) struct Catalog {
            $(pub(crate) $name: &'static str,)+
        }

        /// For SQLite.
        pub(crate) const SQLITE: Catalog = Catalog {
            $($name: include_str!(concat!("../../queries/sqlite/", $file)),)+
        };

        /// For PostgreSQL.
        pub(crate) const POSTGRES: Catalog = Catalog {
            $($name: include_str!(concat!("../../queries/postgres/", $file)),)+
        };
    };
}

catalog! {
    guard: "leadership/guard.sql"
    acquire: "leadership/acquire.sql"
    renew: "leadership/renew.sql"
    mark_read: "mark/read.sql"
    mark_raise: "mark/raise.sql"
    blob_put: "blob/put.sql"
    job_lock: "job/lock.sql"
    job_unname: "job/unname.sql"
    job_update: "job/update.sql"
    job_insert: "job/insert.sql"
    group_unname: "group/unname.sql"
    group_update: "group/update.sql"
    group_insert: "group/insert.sql"
    revision_insert: "revision/insert.sql"
    calendar_insert: "calendar/insert.sql"
    cursor_lock: "cursor/lock.sql"
    cursor_update: "cursor/update.sql"
    cursor_insert: "cursor/insert.sql"
    gap_insert: "gap/insert.sql"
    action_lock: "action/lock.sql"
    action_drop: "action/drop_planned.sql"
    action_update: "action/update.sql"
    action_insert: "action/insert.sql"
    binding_drop: "binding/drop.sql"
    binding_insert: "binding/insert.sql"
    run_lock: "run/lock.sql"
    run_update: "run/update.sql"
    run_insert: "run/insert.sql"
    attempt_report_late: "attempt/report_late.sql"
    attempt_update: "attempt/update.sql"
    attempt_insert: "attempt/insert.sql"
    output_insert: "output/insert.sql"
    worker_lock: "worker/lock.sql"
    worker_update: "worker/update.sql"
    worker_insert: "worker/insert.sql"
    audit_insert: "audit/insert.sql"
    action_at_versions: "action/at_versions.sql"
    outcome_of_versions: "outcome/of_versions.sql"
    outcome_of_gaps: "outcome/of_gaps.sql"
}

/// The statements that both databases understand.
macro_rules! shared {
    ($($name:ident: $file:literal)+) => {
        $(pub(crate) const $name: &str = include_str!(concat!("../../queries/shared/", $file));)+
    };
}

shared! {
    IDENTITY: "identity/read.sql"
    LEADERSHIP: "leadership/look.sql"
    RESIGN: "leadership/resign.sql"
    ADVANCE: "leadership/advance.sql"
    ACTION_BY_ID: "action/by_id.sql"
    ACTION_BETWEEN: "action/between.sql"
    ACTION_NEWEST: "action/newest.sql"
    ACTION_NEWEST_DECIDED: "action/newest_decided.sql"
    ACTION_DEPENDENTS: "action/dependents.sql"
    ACTION_LIST: "action/list.sql"
    ACTION_LOAD: "action/load.sql"
    BINDING_OF_ACTION: "binding/of_action.sql"
    BINDING_OF_ACTIONS: "binding/of_actions.sql"
    BINDING_LOAD: "binding/load.sql"
    ACTION_LOAD_BY_HAND: "action/load_by_hand.sql"
    OUTCOME_LOAD: "outcome/load.sql"
    OUTCOME_LOAD_GAPS: "outcome/load_gaps.sql"
    RUN_LIST: "run/list.sql"
    RUN_LOAD: "run/load.sql"
    ATTEMPT_LOAD: "attempt/load.sql"
    ATTEMPT_OF_RUN: "attempt/of_run.sql"
    ATTEMPT_BY_TOKEN: "attempt/by_token.sql"
    JOB_LOAD: "job/load.sql"
    CURSOR_LOAD: "cursor/load.sql"
    REVISION_LOAD: "revision/load.sql"
    REVISION_OF_JOB: "revision/of_job.sql"
    GROUP_LOAD: "group/load.sql"
    CALENDAR_LOAD: "calendar/load.sql"
    WORKER_LOAD: "worker/load.sql"
    GAP_TOUCHING: "gap/touching.sql"
    AUDIT_LIST: "audit/list.sql"
    OUTPUT: "output/read.sql"
    BLOB: "blob/read.sql"
}

/// The statements that only PostgreSQL gets: it keeps logs in rows, beside SQLite they are files.
macro_rules! only_postgres {
    ($($name:ident: $file:literal)+) => {
        $(pub(crate) const $name: &str =
            include_str!(concat!("../../queries/only_postgres/", $file));)+
    };
}

only_postgres! {
    DURABLE: "session/durable.sql"
    PATIENCE: "session/patience.sql"
    LOG_APPEND: "log/append.sql"
    LOG_READ: "log/read.sql"
    LOG_SIZES: "log/sizes.sql"
}
