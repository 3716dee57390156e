//! From messages to what is printed. Each message is taken apart by name, so that a new field asks what
//! becomes of it.

use hera_proto::{MESSAGE_BYTES_MAX, v1};
use tonic::transport::Channel;

use crate::exit::Failure;
use crate::output::keys::{
    Action, Attempt, AuditEntry, BesideAction, BesideRun, Binding, Calendar, CalendarRevision,
    Change, Cluster, Group, Instant, Job, Queued, Revision, Run, RunNumber, Slot, WholeGroup,
    WholeJob, Why, Worker, shown,
};

/// Makes a function that gives a service's client, with the limits of the contract.
macro_rules! services {
    ($($name:ident => $module:ident :: $client:ident,)+) => {$(
        pub(super) fn $name(channel: Channel) -> v1::$module::$client<Channel> {
            v1::$module::$client::new(channel)
                .max_decoding_message_size(MESSAGE_BYTES_MAX)
                .max_encoding_message_size(MESSAGE_BYTES_MAX)
        }
    )+};
}

services! {
    groups => group_service_client::GroupServiceClient,
    jobs => job_service_client::JobServiceClient,
    calendars => calendar_service_client::CalendarServiceClient,
    actions => action_service_client::ActionServiceClient,
    runs => run_service_client::RunServiceClient,
    cluster => cluster_service_client::ClusterServiceClient,
    watch => watch_service_client::WatchServiceClient,
}

/// A part that must be in an answer.
pub(super) fn need<T>(part: Option<T>, name: &str) -> Result<T, Failure> {
    part.ok_or_else(|| Failure::answer(format_args!("{name} is missing")))
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn instant(ms: Option<i64>) -> Option<Instant> {
    ms.map(Instant::from_ms)
}

/// The bare word and the bracketed one, without a duration that may stand in the bracket.
fn words(state: Option<v1::State>) -> (String, Option<String>) {
    let v1::State { word, reason } = state.unwrap_or_default();
    let reason = reason.split(' ').next().unwrap_or_default().to_owned();
    (word, some(reason))
}

/// As shown: `failed(exit)`.
pub(super) fn state_text(state: Option<v1::State>) -> String {
    let (word, reason) = words(state);
    shown(&word, reason.as_deref())
}

pub(super) fn slot(slot: v1::Slot) -> Slot {
    let v1::Slot { utc_ms, local, note } = slot;
    Slot { utc: Instant::from_ms(utc_ms), local, note: some(note) }
}

pub(super) fn binding(binding: v1::Binding) -> Binding {
    let v1::Binding { job, version_ms, state, on: _ } = binding;
    let (state, reason) = words(state);
    Binding { job, version: Instant::from_ms(version_ms), state, reason }
}

pub(super) fn action(action: v1::Action) -> Action {
    let v1::Action {
        id,
        job,
        version_ms,
        local,
        zone,
        data_date,
        state,
        held_by,
        revision,
        runs,
        outcome,
        data_from_ms,
        data_to_ms,
        live_run,
        ended_at_ms,
        bindings,
    } = action;
    let (word, reason) = words(state);
    let live = live_run.unwrap_or_default();
    let interval = data_to_ms > data_from_ms;
    Action {
        id,
        job,
        version: Instant::from_ms(version_ms),
        local,
        data_date,
        state: word,
        reason,
        held_by: some(held_by),
        revision,
        runs,
        bindings: bindings.into_iter().map(binding).collect(),
        beside: BesideAction {
            zone,
            since: instant(live.started_at_ms),
            not_before: instant(live.not_before_ms),
            worker: some(live.worker),
            outcome: outcome.map(|outcome| state_text(Some(outcome))),
            data: interval.then(|| (Instant::from_ms(data_from_ms), Instant::from_ms(data_to_ms))),
            ended_at: instant(ended_at_ms),
        },
    }
}

pub(super) fn run(run: v1::Run) -> Run {
    let v1::Run {
        id,
        action_id: _,
        job,
        version_ms,
        number: _,
        trigger,
        state,
        revision,
        attempts,
        actor,
        why,
        queued_at_ms,
        started_at_ms,
        ended_at_ms,
        not_before_ms,
        worker,
        counts,
        cancel_asked,
        local,
        zone,
    } = run;
    let (word, reason) = words(state);
    Run {
        id: RunNumber(id),
        job,
        version: Instant::from_ms(version_ms),
        trigger,
        state: word,
        reason,
        revision,
        attempts,
        actor,
        started_at: instant(started_at_ms),
        ended_at: instant(ended_at_ms),
        beside: BesideRun {
            local,
            zone,
            why: some(why),
            worker: some(worker),
            queued_at: instant(queued_at_ms),
            not_before: instant(not_before_ms),
            counts,
            cancel_asked,
        },
    }
}

/// An attempt of `run`. Once it has ended, its state is how.
pub(super) fn attempt(attempt: v1::Attempt, run: &Run) -> Attempt {
    let v1::Attempt {
        fence,
        number,
        worker,
        state,
        outcome,
        exit_code,
        signal,
        detail,
        leased_at_ms,
        started_at_ms,
        ended_at_ms,
        log_bytes,
        late_report,
        output,
    } = attempt;
    let (state, reason) = match outcome.filter(|outcome| !outcome.word.is_empty()) {
        Some(outcome) => words(Some(outcome)),
        None => (state, None),
    };
    Attempt {
        run: run.id,
        job: run.job.clone(),
        version: run.version,
        number,
        worker,
        state,
        reason,
        exit_code,
        signal,
        detail: some(detail),
        fence,
        leased_at: Instant::from_ms(leased_at_ms),
        started_at: instant(started_at_ms),
        ended_at: instant(ended_at_ms),
        log_bytes,
        late_report: some(late_report),
        output: output.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        zone: run.beside.zone.clone(),
    }
}

pub(super) fn why(answer: v1::WhyActionResponse) -> Result<Why, Failure> {
    let v1::WhyActionResponse { action: of, code, text, root, path, expected_start_ms } = answer;
    let of = action(need(of, "action")?);
    let name = crate::output::keys::action_name(&of.job, of.version);
    Ok(Why {
        code,
        text,
        root: some(root).unwrap_or_else(|| name.clone()),
        path,
        expected_start: instant(expected_start_ms),
        state: shown(&of.state, of.reason.as_deref()),
        zone: of.beside.zone,
        action: name,
    })
}

/// A job, and its definition as the master sent it.
pub(super) fn job(job: v1::Job) -> (Job, String) {
    let v1::Job {
        id,
        path,
        owner,
        state,
        parked,
        revision,
        spec_json,
        upstream,
        downstream,
        next_slots_ms,
        zone,
        schedule,
        kind,
        description,
        warnings,
    } = job;
    let job = Job {
        id,
        job: path,
        state,
        reason: some(parked),
        owner: some(owner),
        revision,
        r#type: kind,
        schedule: some(schedule),
        zone,
        description: some(description),
        upstream,
        downstream,
        next_slots: next_slots_ms.into_iter().map(Instant::from_ms).collect(),
        warnings,
    };
    (job, spec_json)
}

pub(super) fn whole_job(message: v1::Job) -> Result<WholeJob, Failure> {
    let (job, spec) = job(message);
    Ok(WholeJob { job, spec: document("the definition", &spec)? })
}

/// A JSON document; null where there is none.
pub(super) fn document(what: &str, text: &str) -> Result<serde_json::Value, Failure> {
    if text.is_empty() {
        return Ok(serde_json::Value::Null);
    }
    serde_json::from_str(text).map_err(|error| Failure::answer(format_args!("{what}: {error}")))
}

pub(super) fn revision(revision: v1::Revision, job: &str) -> Revision {
    let v1::Revision { number, since_ms, created_at_ms, actor, why, details } = revision;
    Revision {
        job: job.to_owned(),
        revision: number,
        created_at: Instant::from_ms(created_at_ms),
        since: Instant::from_ms(since_ms),
        actor,
        why: some(why),
        details,
    }
}

pub(super) fn audit_entry(entry: v1::AuditEntry) -> Result<AuditEntry, Failure> {
    let v1::AuditEntry { at_ms, actor, why, verb, subject, old_json, new_json } = entry;
    Ok(AuditEntry {
        at: Instant::from_ms(at_ms),
        actor,
        verb,
        subject,
        why: some(why),
        old: document("what was before", &old_json.unwrap_or_default())?,
        new: document("what is after", &new_json.unwrap_or_default())?,
    })
}

pub(super) fn calendar(calendar: v1::Calendar) -> Calendar {
    let v1::Calendar { name, revision, description, valid_until, of, jobs, spec_json: _ } =
        calendar;
    let (description, valid_until) = (some(description), some(valid_until));
    Calendar { calendar: name, revision, description, valid_until, of, jobs }
}

pub(super) fn calendar_revision(row: v1::CalendarRevision) -> Result<CalendarRevision, Failure> {
    let v1::CalendarRevision { revision, since_ms, spec_json, actor, why } = row;
    Ok(CalendarRevision {
        revision,
        since: Instant::from_ms(since_ms),
        actor: some(actor),
        why: some(why),
        spec: document("the definition", &spec_json)?,
    })
}

pub(super) fn group(group: v1::Group) -> Group {
    let v1::Group { id, path, owner, config, spec_json: _, jobs } = group;
    Group { id, group: path, owner: some(owner), config: config.into_iter().collect(), jobs }
}

pub(super) fn whole_group(message: v1::Group) -> Result<WholeGroup, Failure> {
    let spec = document("the group's document", &message.spec_json)?;
    Ok(WholeGroup { group: group(message), spec })
}

pub(super) fn worker(worker: v1::Worker) -> Worker {
    let v1::Worker {
        id,
        name,
        incarnation: _,
        host_groups,
        labels,
        capacity,
        held,
        state,
        program,
        heard_ms_ago,
        takes_nothing,
    } = worker;
    Worker {
        id,
        name,
        state,
        host_groups,
        labels,
        capacity,
        held,
        program,
        heard_ms_ago,
        takes_nothing: some(takes_nothing),
    }
}

pub(super) fn queued(queued: v1::Queued) -> Result<Queued, Failure> {
    let v1::Queued { run: of, code } = queued;
    Ok(Queued { run: run(need(of, "run")?), code })
}

pub(super) fn whole_cluster(answer: v1::GetClusterResponse) -> Cluster {
    let v1::GetClusterResponse {
        leader_address,
        epoch,
        store_id,
        store,
        program,
        store_now_ms,
        jobs,
        workers,
        queued,
        held,
        planned,
        waiting,
        warnings,
        idle,
    } = answer;
    Cluster {
        // As it is typed after --server.
        leader: leader_address.strip_prefix("http://").map(str::to_owned).unwrap_or(leader_address),
        epoch,
        store,
        store_id,
        program,
        now: Instant::from_ms(store_now_ms),
        jobs,
        workers,
        queued,
        held,
        planned,
        waiting,
        idle,
        warnings,
    }
}

pub(super) fn change(change: v1::Change) -> Result<Change, Failure> {
    let v1::Change { kind, job, was, revision, details } = change;
    let kind = match v1::ChangeKind::try_from(kind) {
        Ok(v1::ChangeKind::Created) => "created",
        Ok(v1::ChangeKind::Revised) => "revised",
        Ok(v1::ChangeKind::Renamed) => "renamed",
        Ok(v1::ChangeKind::Deleted) => "deleted",
        Ok(v1::ChangeKind::Opened) => "opened",
        Ok(v1::ChangeKind::Closed) => "closed",
        Ok(v1::ChangeKind::Unspecified) | Err(_) => {
            return Err(Failure::answer(format_args!("a change of kind {kind}")));
        }
    };
    let revision = (revision > 0).then_some(revision);
    Ok(Change { job: Some(job), was: some(was), revision, ..of_set(kind, details) })
}

pub(super) fn group_change(change: v1::GroupChange) -> Change {
    let v1::GroupChange { group, created, details } = change;
    let kind = if created { "created" } else { "revised" };
    Change { group: Some(group), ..of_set(kind, details) }
}

pub(super) fn calendar_change(change: v1::CalendarChange) -> Change {
    let v1::CalendarChange { calendar, created, details } = change;
    let kind = if created { "created" } else { "revised" };
    Change { calendar: Some(calendar), ..of_set(kind, details) }
}

/// A change of what is no job.
fn of_set(kind: &'static str, details: Vec<String>) -> Change {
    Change { kind, job: None, group: None, calendar: None, was: None, revision: None, details }
}

#[cfg(test)]
mod tests;
