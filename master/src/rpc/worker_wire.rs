//! Messages of workers to and from values of the domain.

use std::time::Duration;

use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::id::{Epoch, Incarnation, RunId, Token, WorkerId};
use hera_common::limits::{
    CAPACITY_MAX, NAME_BYTES_MAX, OUTPUT_BYTES_MAX, POLL_TOKENS_MAX, WHY_BYTES_MAX,
};
use hera_common::run::FailReason;
use hera_common::spec::{FileSpec, Kind};
use hera_common::worker::check_name;
use hera_engine::input::{
    Finish, Grant, Registered, Registration, Release, ReleaseCause, VerdictKind,
};
use hera_proto::v1;

use super::from_wire::{longest, plain, token};
use crate::service::Site;
use crate::service::fault::Fault;
use crate::service::worker::{Answered, Ended, Header, Polled, Said};

/// Items in one request of a worker: more attempts than any worker holds.
const ITEMS_MAX: usize = 10_000;
/// Labels and host groups of one worker.
const LABELS_MAX: usize = 100;

type Pair = (RunId, Token);

pub(super) fn header(wire: Option<v1::WorkerHeader>) -> Result<Header, Fault> {
    let Some(wire) = wire else { return Err(Fault::invalid("header", "must be set")) };
    let v1::WorkerHeader {
        name: _,
        worker_id,
        incarnation,
        instance_id: _,
        max_epoch_seen,
        max_fence_seen: _,
        store_id_seen,
    } = wire;
    Ok(Header {
        worker: WorkerId::from_raw(worker_id),
        incarnation: Incarnation::from_raw(incarnation),
        epoch_seen: Epoch::from_raw(max_epoch_seen),
        store_seen: store_id_seen,
    })
}

pub(super) fn registration(wire: v1::RegisterRequest) -> Result<(Header, Registration), Fault> {
    let v1::RegisterRequest { header, state_id, keep, host_groups, labels, capacity, program } =
        wire;
    let (name, instance_id) = header
        .as_ref()
        .map(|header| (header.name.clone(), header.instance_id.clone()))
        .unwrap_or_default();
    let header = self::header(header)?;
    for (field, text) in
        [("header.name", &name), ("header.instance_id", &instance_id), ("state_id", &state_id)]
    {
        if text.is_empty() {
            return Err(Fault::invalid(field, "must not be empty"));
        }
        longest(field, text.len(), NAME_BYTES_MAX)?;
    }
    check_name(&name).map_err(|problem| Fault::invalid("header.name", problem))?;
    if !(1..=CAPACITY_MAX).contains(&capacity) {
        return Err(Fault::invalid("capacity", format!("must be 1 to {CAPACITY_MAX}")));
    }
    for (field, list) in [("host_groups", &host_groups), ("labels", &labels)] {
        at_most(field, list.len(), LABELS_MAX)?;
        for text in list {
            longest(field, text.len(), NAME_BYTES_MAX)?;
            plain(field, text)?;
        }
    }
    at_most("keep", keep.len(), ITEMS_MAX)?;
    let keep = keep.iter().map(|bytes| token("keep", bytes)).collect::<Result<_, _>>()?;
    let groups = host_groups;
    let registration =
        Registration { name, state_id, instance_id, keep, groups, labels, capacity, program };
    Ok((header, registration))
}

pub(super) fn poll(wire: v1::PollRequest) -> Result<(Header, Vec<Token>, String), Fault> {
    let v1::PollRequest { header, tokens, takes_nothing } = wire;
    let header = self::header(header)?;
    at_most("tokens", tokens.len(), POLL_TOKENS_MAX)?;
    longest("takes_nothing", takes_nothing.len(), WHY_BYTES_MAX)?;
    let tokens = tokens.iter().map(|bytes| token("tokens", bytes)).collect::<Result<_, _>>()?;
    Ok((header, tokens, takes_nothing))
}

pub(super) fn start(wire: v1::StartRequest) -> Result<(Header, Vec<Pair>), Fault> {
    let v1::StartRequest { header, items } = wire;
    Ok((self::header(header)?, held("items", items)?))
}

pub(super) fn heartbeat(
    wire: v1::HeartbeatRequest,
) -> Result<(Header, Vec<Pair>, Vec<Pair>), Fault> {
    let v1::HeartbeatRequest { header, items, kill_failed } = wire;
    Ok((self::header(header)?, held("items", items)?, held("kill_failed", kill_failed)?))
}

pub(super) fn finish(wire: v1::FinishRequest) -> Result<(Header, Vec<Ended>), Fault> {
    let v1::FinishRequest { header, items } = wire;
    at_most("items", items.len(), ITEMS_MAX)?;
    let items = items.into_iter().map(ended).collect::<Result<_, _>>()?;
    Ok((self::header(header)?, items))
}

pub(super) fn release(wire: v1::ReleaseRequest) -> Result<(Header, Vec<Release>), Fault> {
    let v1::ReleaseRequest { header, items } = wire;
    at_most("items", items.len(), ITEMS_MAX)?;
    let items = items.into_iter().map(released).collect::<Result<_, _>>()?;
    Ok((self::header(header)?, items))
}

fn at_most(field: &str, count: usize, max: usize) -> Result<(), Fault> {
    if count <= max {
        return Ok(());
    }
    Err(Fault::invalid(field, format!("has {count} entries, at most {max} are allowed")))
}

fn held(field: &str, wire: Vec<v1::Held>) -> Result<Vec<Pair>, Fault> {
    at_most(field, wire.len(), ITEMS_MAX)?;
    let pair = |v1::Held { run_id, token: bytes }: v1::Held| {
        Ok((RunId::from_raw(run_id), token(&format!("{field}.token"), &bytes)?))
    };
    wire.into_iter().map(pair).collect()
}

fn ended(wire: v1::Ended) -> Result<Ended, Fault> {
    let end = end_of(wire.end());
    let v1::Ended { run_id, token: bytes, end: _, exit_code, signal, detail, output, log_bytes } =
        wire;
    longest("items.output", output.len(), OUTPUT_BYTES_MAX)?;
    let finish = Finish {
        run: RunId::from_raw(run_id),
        token: token("items.token", &bytes)?,
        end: end.ok_or_else(|| Fault::invalid("items.end", "is not an end that is known here"))?,
        exit: Exit { code: exit_code, signal, detail: some(cut(detail)) },
        output,
    };
    Ok(Ended { finish, log_bytes })
}

fn released(wire: v1::Released) -> Result<Release, Fault> {
    let cause = match wire.cause() {
        v1::ReleaseCause::Unspecified => None,
        v1::ReleaseCause::Declined => Some(ReleaseCause::Declined),
        v1::ReleaseCause::Drain => Some(ReleaseCause::Drain),
        v1::ReleaseCause::Lease => Some(ReleaseCause::Lease),
        v1::ReleaseCause::Cancel => Some(ReleaseCause::Cancel),
    };
    let v1::Released { run_id, token: bytes, cause: _, detail } = wire;
    Ok(Release {
        run: RunId::from_raw(run_id),
        token: token("items.token", &bytes)?,
        cause: cause
            .ok_or_else(|| Fault::invalid("items.cause", "is not a cause that is known here"))?,
        detail: cut(detail),
    })
}

const fn end_of(wire: v1::End) -> Option<AttemptEnd> {
    Some(match wire {
        v1::End::Unspecified => return None,
        v1::End::Succeeded => AttemptEnd::Succeeded,
        v1::End::FailedExit => AttemptEnd::Failed(FailReason::Exit),
        v1::End::FailedSignal => AttemptEnd::Failed(FailReason::Signal),
        v1::End::FailedOom => AttemptEnd::Failed(FailReason::Oom),
        v1::End::FailedSpawn => AttemptEnd::Failed(FailReason::Spawn),
        v1::End::TimedOut => AttemptEnd::TimedOut,
        v1::End::Interrupted => AttemptEnd::Interrupted,
        v1::End::Cancelled => AttemptEnd::Cancelled,
        v1::End::NotYet => AttemptEnd::NotYet,
    })
}

/// Words that a worker found: cut, not refused, since a refused report would be lost.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(WHY_BYTES_MAX));
    text
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

#[expect(clippy::unnecessary_wraps, reason = "the field of each answer is optional")]
pub(super) fn master(site: &Site, epoch: Epoch) -> Option<v1::MasterHeader> {
    Some(v1::MasterHeader {
        epoch: epoch.raw(),
        store_id: site.store_id.clone(),
        leader_address: site.address.clone(),
    })
}

pub(super) fn registered(site: &Site, answer: &Answered<Registered>) -> v1::RegisterResponse {
    v1::RegisterResponse {
        header: master(site, answer.epoch),
        worker_id: answer.value.worker.raw(),
        incarnation: answer.value.incarnation.raw(),
        timing: Some(timing(site)),
    }
}

fn timing(site: &Site) -> v1::WorkerTiming {
    let timing = &site.timing;
    v1::WorkerTiming {
        heartbeat_min_ms: ms(timing.heartbeat_min),
        heartbeat_max_ms: ms(timing.heartbeat_max),
        rpc_ms: ms(timing.rpc),
        term_ms: ms(timing.term),
        kill_ms: ms(timing.kill),
        accept_ms: ms(site.accept),
        rho_ppm: site.rho_ppm,
        poll_ms: ms(timing.poll),
    }
}

pub(super) fn polled(site: &Site, answer: Answered<Polled>) -> v1::PollResponse {
    let Polled { grants, look } = answer.value;
    let assignments = grants.into_iter().map(assignment).collect();
    let look = look.into_iter().map(|token| token.bytes().to_vec()).collect();
    let (header, timing) = (master(site, answer.epoch), Some(timing(site)));
    v1::PollResponse { header, assignments, look, timing }
}

fn assignment(grant: Grant) -> v1::Assignment {
    let Grant {
        unit: _,
        run,
        token,
        fence,
        number,
        job,
        version,
        lease,
        timeout,
        kind,
        script,
        environment,
        files,
    } = grant;
    let kind = match kind {
        Kind::Shell => v1::Kind::Shell,
        Kind::Noop => v1::Kind::Noop,
    };
    v1::Assignment {
        token: token.bytes().to_vec(),
        run_id: run.raw(),
        fence: fence.raw(),
        number,
        job,
        version_ms: version.ms(),
        lease_ms: ms(lease),
        timeout_ms: timeout
            .map_or(0, |timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        kind: kind.into(),
        script,
        environment: environment.into_iter().collect(),
        files: files.into_iter().map(file).collect(),
    }
}

fn file(file: FileSpec) -> v1::JobFile {
    let FileSpec { name, digest, executable } = file;
    v1::JobFile { name, digest, executable }
}

pub(super) fn verdicts(
    site: &Site,
    answer: Answered<Vec<Said>>,
) -> (Option<v1::MasterHeader>, Vec<v1::Verdict>) {
    let verdict = |(run, token, kind): Said| {
        let (kind, lease_ms) = match kind {
            Some(VerdictKind::Ok { lease }) => (v1::VerdictKind::Ok, ms(lease)),
            Some(VerdictKind::Lost) => (v1::VerdictKind::Lost, 0),
            Some(VerdictKind::Cancel) => (v1::VerdictKind::Cancel, 0),
            Some(VerdictKind::Done) => (v1::VerdictKind::Done, 0),
            Some(VerdictKind::Fenced) => (v1::VerdictKind::Fenced, 0),
            Some(VerdictKind::Look) | None => (v1::VerdictKind::Unknown, 0),
        };
        let token = token.bytes().to_vec();
        v1::Verdict { run_id: run.raw(), token, kind: kind.into(), lease_ms }
    };
    (master(site, answer.epoch), answer.value.into_iter().map(verdict).collect())
}

fn ms(span: Duration) -> u32 {
    u32::try_from(span.as_millis()).unwrap_or(u32::MAX)
}
