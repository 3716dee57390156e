//! What is looked up: mostly one statement, else all in one transaction.

use std::collections::BTreeMap;

use hera_common::action::{Action, ActionEnd, Binding, SkipReason};
use hera_common::attempt::Attempt;
use hera_common::id::{ActionId, Fence, JobId, RunId, Token};
use hera_common::job::{Gap, RevisionRow};
use hera_common::run::Run;
use hera_common::snapshot::{BoundAction, Snapshot};
use hera_common::time::Version;

use super::ask::{Ask, Bind, Column};
use super::cells::{Reader, Unreadable};
use super::dialect::{Dialect, Fault, Purpose, Session, end};
use super::load::{Load, upstream, upstream_end};
use super::{catalog, lead, list, row};
use crate::StoreError;
use crate::load::Scope;
use crate::read::{AttemptView, AuditFilter, AuditView, Dependent, RunView};

/// All rows of an answer, within a session.
async fn all<T: Send>(
    session: &mut dyn Session,
    ask: Ask<'_>,
    read: fn(&mut Reader<'_>) -> Result<T, Unreadable>,
) -> Result<Vec<T>, Fault> {
    let mut rows = Vec::new();
    session
        .each(ask, &mut |mut reader| {
            rows.push(read(&mut reader)?);
            Ok(())
        })
        .await?;
    Ok(rows)
}

/// All rows of one statement.
async fn rows<T: Send>(
    db: &dyn Dialect,
    ask: Ask<'_>,
    read: fn(&mut Reader<'_>) -> Result<T, Unreadable>,
) -> Result<Vec<T>, StoreError> {
    rows_for(Purpose::LookOnce, db, ask, read).await
}

/// A page of a list.
pub(crate) async fn browse<T: Send>(
    db: &dyn Dialect,
    ask: Ask<'_>,
    read: fn(&mut Reader<'_>) -> Result<T, Unreadable>,
) -> Result<Vec<T>, StoreError> {
    rows_for(Purpose::Browse, db, ask, read).await
}

async fn rows_for<T: Send>(
    purpose: Purpose,
    db: &dyn Dialect,
    ask: Ask<'_>,
    read: fn(&mut Reader<'_>) -> Result<T, Unreadable>,
) -> Result<Vec<T>, StoreError> {
    let mut session = db.session(purpose).await?;
    let told = all(&mut *session, ask, read).await;
    end(session, told).await
}

/// The one row of a statement, where there is one.
pub(crate) async fn one<T: Send>(
    db: &dyn Dialect,
    ask: Ask<'_>,
    read: fn(&mut Reader<'_>) -> Result<T, Unreadable>,
) -> Result<Option<T>, StoreError> {
    Ok(rows(db, ask, read).await?.pop())
}

pub(crate) async fn store_id(db: &dyn Dialect) -> Result<String, StoreError> {
    let id = one(db, Ask::of(catalog::IDENTITY), |reader| reader.owned()).await?;
    id.ok_or_else(|| lead::missing("the store's identity"))
}

pub(crate) async fn load(db: &dyn Dialect, scope: &Scope) -> Result<Snapshot, StoreError> {
    let mut session = db.session(Purpose::Load).await?;
    let told = Load::new(&mut *session, scope, db.list_form()).snapshot(db.catalog()).await;
    end(session, told).await
}

pub(crate) async fn outcomes(
    db: &dyn Dialect,
    versions: &[(JobId, Version)],
) -> Result<BTreeMap<(JobId, Version), ActionEnd>, StoreError> {
    if versions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ask = |statement| Ask::of(statement).bind(Bind::Rows(keys(versions)));
    let mut session = db.session(Purpose::Look).await?;
    let told = async {
        let ends = all(&mut *session, ask(db.catalog().outcome_of_versions), upstream_end).await?;
        let gaps = all(&mut *session, ask(db.catalog().outcome_of_gaps), upstream).await?;
        let late = ActionEnd::Skipped(SkipReason::Late);
        Ok(ends.into_iter().chain(gaps.into_iter().map(|at| (at, late))).collect())
    }
    .await;
    end(session, told).await
}

pub(crate) async fn action(
    db: &dyn Dialect,
    id: ActionId,
) -> Result<Option<BoundAction>, StoreError> {
    let mut session = db.session(Purpose::Look).await?;
    let ask = |statement| Ask::of(statement).bind(Bind::Int(id.raw()));
    let told = async {
        let found = all(&mut *session, ask(catalog::ACTION_BY_ID), row::action).await?.pop();
        let Some(action) = found else { return Ok(None) };
        let bindings = all(&mut *session, ask(catalog::BINDING_OF_ACTION), row::binding).await?;
        Ok(Some(BoundAction { action, bindings }))
    }
    .await;
    end(session, told).await
}

pub(crate) async fn bindings_of(
    db: &dyn Dialect,
    actions: &[ActionId],
) -> Result<BTreeMap<ActionId, Vec<Binding>>, StoreError> {
    let mut lists: BTreeMap<ActionId, Vec<Binding>> = BTreeMap::new();
    if actions.is_empty() {
        return Ok(lists);
    }
    let mut ask = Ask::of(catalog::BINDING_OF_ACTIONS);
    let ids = actions.iter().map(|id| id.raw()).collect();
    ask.push_in(" AND action_id", Bind::Ints(ids), db.list_form());
    ask.push(" ORDER BY action_id, upstream_job, upstream_version");
    let read =
        |reader: &mut Reader<'_>| Ok((ActionId::from_raw(reader.int()?), row::binding(reader)?));
    for (action, binding) in browse(db, ask, read).await? {
        lists.entry(action).or_default().push(binding);
    }
    Ok(lists)
}

pub(crate) async fn actions_at(
    db: &dyn Dialect,
    versions: &[(JobId, Version)],
) -> Result<Vec<(Action, Option<Run>)>, StoreError> {
    if versions.is_empty() {
        return Ok(Vec::new());
    }
    let ask = Ask::of(db.catalog().action_at_versions).bind(Bind::Rows(keys(versions)));
    browse(db, ask, list::action_and_run).await
}

fn keys(versions: &[(JobId, Version)]) -> Vec<Column<'static>> {
    let jobs = Column::ints(versions.iter().map(|(job, _)| job.raw()));
    let instants = Column::ints(versions.iter().map(|(_, version)| version.ms()));
    vec![jobs, instants]
}

pub(crate) async fn actions_between(
    db: &dyn Dialect,
    job: JobId,
    (from, to): (Version, Version),
    limit: u32,
) -> Result<Vec<Action>, StoreError> {
    let ask = Ask::of(catalog::ACTION_BETWEEN)
        .bind(Bind::Int(job.raw()))
        .bind(Bind::Int(from.ms()))
        .bind(Bind::Int(to.ms()))
        .bind(Bind::Int(i64::from(limit)));
    rows(db, ask, row::action).await
}

pub(crate) async fn newest_action(
    db: &dyn Dialect,
    job: JobId,
    at: Version,
    decided: bool,
) -> Result<Option<Action>, StoreError> {
    let statement = if decided { catalog::ACTION_NEWEST_DECIDED } else { catalog::ACTION_NEWEST };
    let ask = Ask::of(statement).bind(Bind::Int(job.raw())).bind(Bind::Int(at.ms()));
    one(db, ask, row::action).await
}

pub(crate) async fn dependents(
    db: &dyn Dialect,
    (job, version): (JobId, Version),
    limit: u32,
) -> Result<Vec<Dependent>, StoreError> {
    let ask = Ask::of(catalog::ACTION_DEPENDENTS)
        .bind(Bind::Int(job.raw()))
        .bind(Bind::Int(version.ms()))
        .bind(Bind::Int(i64::from(limit)));
    let read = |reader: &mut Reader<'_>| {
        let on = row::on(reader)?;
        let (action, live) = list::action_and_run(reader)?;
        Ok(Dependent { action, live, on })
    };
    rows(db, ask, read).await
}

pub(crate) async fn run(db: &dyn Dialect, id: RunId) -> Result<Option<RunView>, StoreError> {
    let mut ask = Ask::of(catalog::RUN_LIST);
    ask.push_bind(" AND r.run_id = ", Bind::Int(id.raw()));
    one(db, ask, list::run_view).await
}

pub(crate) async fn runs(db: &dyn Dialect, ids: &[RunId]) -> Result<Vec<Run>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut ask = Ask::of(catalog::RUN_LIST);
    let ids = ids.iter().map(|id| id.raw()).collect();
    ask.push_in(" AND r.run_id", Bind::Ints(ids), db.list_form());
    ask.push(" ORDER BY r.run_id");
    rows(db, ask, row::run).await
}

pub(crate) async fn attempts(db: &dyn Dialect, run: RunId) -> Result<Vec<AttemptView>, StoreError> {
    let ask = Ask::of(catalog::ATTEMPT_OF_RUN).bind(Bind::Int(run.raw()));
    views(db, rows(db, ask, with_worker).await?).await
}

pub(crate) async fn attempts_by_token(
    db: &dyn Dialect,
    tokens: &[Token],
) -> Result<Vec<Attempt>, StoreError> {
    if tokens.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<String> = tokens.iter().map(|token| token.hex()).collect();
    let mut ask = Ask::of(catalog::ATTEMPT_BY_TOKEN);
    let list = Bind::Texts(words.iter().map(String::as_str).collect());
    ask.push_in(" AND t.token", list, db.list_form());
    ask.push(" ORDER BY t.fence");
    rows(db, ask, row::attempt).await
}

fn with_worker(reader: &mut Reader<'_>) -> Result<(Attempt, String), Unreadable> {
    Ok((row::attempt(reader)?, reader.maybe_owned()?.unwrap_or_default()))
}

async fn views(
    db: &dyn Dialect,
    attempts: Vec<(Attempt, String)>,
) -> Result<Vec<AttemptView>, StoreError> {
    let fences: Vec<Fence> = attempts.iter().map(|(attempt, _)| attempt.fence).collect();
    let sizes = if fences.is_empty() { BTreeMap::new() } else { db.log_sizes(&fences).await? };
    let view = |(attempt, worker): (Attempt, String)| {
        let log_bytes = sizes.get(&attempt.fence).copied().unwrap_or(0);
        AttemptView { attempt, worker, log_bytes }
    };
    Ok(attempts.into_iter().map(view).collect())
}

pub(crate) async fn revisions(
    db: &dyn Dialect,
    job: JobId,
) -> Result<Vec<RevisionRow>, StoreError> {
    let ask = Ask::of(catalog::REVISION_OF_JOB).bind(Bind::Int(job.raw()));
    rows(db, ask, row::revision).await
}

pub(crate) async fn gaps(
    db: &dyn Dialect,
    job: JobId,
    (from, to): (Version, Version),
) -> Result<Vec<Gap>, StoreError> {
    let ask = Ask::of(catalog::GAP_TOUCHING)
        .bind(Bind::Int(job.raw()))
        .bind(Bind::Int(from.ms()))
        .bind(Bind::Int(to.ms()));
    rows(db, ask, row::gap).await
}

pub(crate) async fn audit(
    db: &dyn Dialect,
    filter: &AuditFilter,
    limit: u32,
) -> Result<Vec<AuditView>, StoreError> {
    let AuditFilter { subject, actor, before } = filter;
    let mut ask = Ask::of(catalog::AUDIT_LIST);
    if let Some(subject) = subject {
        let of_its_actions = format!("{subject}@");
        let length = i64::try_from(of_its_actions.chars().count()).unwrap_or(i64::MAX);
        ask.push_bind(" AND (u.subject = ", Bind::Text(subject.into()));
        ask.push_bind(" OR substr(u.subject, 1, CAST(", Bind::Int(length));
        ask.push_bind(" AS integer)) = ", Bind::Text(of_its_actions.into()));
        ask.push(")");
    }
    if let Some(actor) = actor {
        ask.push_bind(" AND u.actor = ", Bind::Text(actor.into()));
    }
    if let Some(before) = before {
        ask.push_bind(" AND u.audit_id < ", Bind::Int(*before));
    }
    ask.push_bind(" ORDER BY u.audit_id DESC LIMIT ", Bind::Int(i64::from(limit)));
    let view =
        |reader: &mut Reader<'_>| Ok(AuditView { number: reader.int()?, row: row::audit(reader)? });
    rows(db, ask, view).await
}

pub(crate) async fn output(db: &dyn Dialect, fence: Fence) -> Result<Option<Vec<u8>>, StoreError> {
    let ask = Ask::of(catalog::OUTPUT).bind(Bind::Int(fence.raw()));
    one(db, ask, |reader| reader.bytes()).await
}

pub(crate) async fn put_blob(
    db: &dyn Dialect,
    digest: &str,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let mut session = db.session(Purpose::WriteOnce).await?;
    let ask = Ask::of(db.catalog().blob_put);
    let told = session.execute(ask.bind(Bind::Text(digest.into())).bind(Bind::Bytes(bytes))).await;
    end(session, told).await.map(|_rows| ())
}

pub(crate) async fn blob(db: &dyn Dialect, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let ask = Ask::of(catalog::BLOB).bind(Bind::Text(digest.into()));
    one(db, ask, |reader| reader.bytes()).await
}
