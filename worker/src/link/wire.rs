//! Messages to and from the worker's own values.

use std::time::Duration;

use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::id::{Fence, RunId, Token};
use hera_common::run::FailReason;
use hera_common::spec::{FileSpec, Kind};
use hera_proto::v1;

use crate::contract::{Assignment, Finish, Held, Release, ReleaseCause, Timing, Verdict};

/// What of a message cannot be understood.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{field} {problem}")]
pub struct WireError {
    field: &'static str,
    problem: &'static str,
}

const fn bad(field: &'static str, problem: &'static str) -> WireError {
    WireError { field, problem }
}

pub(super) fn token(field: &'static str, bytes: &[u8]) -> Result<Token, WireError> {
    let bytes = bytes.try_into().map_err(|_length| bad(field, "must be 16 bytes"))?;
    Ok(Token::from_bytes(bytes))
}

fn span(ms: u32) -> Duration {
    Duration::from_millis(u64::from(ms))
}

pub(super) fn timing(wire: Option<v1::WorkerTiming>) -> Result<Timing, WireError> {
    let v1::WorkerTiming {
        heartbeat_min_ms,
        heartbeat_max_ms,
        rpc_ms,
        term_ms,
        kill_ms,
        accept_ms,
        rho_ppm,
        poll_ms,
    } = wire.ok_or(bad("timing", "must be set"))?;
    if heartbeat_min_ms == 0 || heartbeat_min_ms > heartbeat_max_ms || rpc_ms == 0 || poll_ms == 0 {
        return Err(bad("timing", "has no heartbeat, no limit of a call or no length of a poll"));
    }
    Ok(Timing {
        heartbeat_min: span(heartbeat_min_ms),
        heartbeat_max: span(heartbeat_max_ms),
        rpc: span(rpc_ms),
        term: span(term_ms),
        kill: span(kill_ms),
        accept: span(accept_ms),
        rho_ppm,
        poll: span(poll_ms),
    })
}

pub(super) fn assignment(wire: v1::Assignment) -> Result<Assignment, WireError> {
    let kind = match wire.kind() {
        v1::Kind::Shell => Kind::Shell,
        v1::Kind::Noop => Kind::Noop,
        v1::Kind::Unspecified => return Err(bad("assignment.kind", "is not known here")),
    };
    let v1::Assignment {
        token: bytes,
        run_id,
        fence,
        number,
        job,
        version_ms: _,
        lease_ms,
        timeout_ms,
        kind: _,
        script,
        environment,
        files,
    } = wire;
    let held = Held { run: RunId::from_raw(run_id), token: token("assignment.token", &bytes)? };
    let file = |v1::JobFile { name, digest, executable }| FileSpec { name, digest, executable };
    Ok(Assignment {
        held,
        fence: Fence::from_raw(fence),
        number,
        job,
        lease: span(lease_ms),
        timeout: (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms)),
        kind,
        script,
        environment: environment.into_iter().collect(),
        files: files.into_iter().map(file).collect(),
    })
}

pub(super) fn held(held: &Held) -> v1::Held {
    v1::Held { run_id: held.run.raw(), token: held.token.bytes().to_vec() }
}

/// The verdicts in the order of the items. One that does not belong to its item says nothing; a
/// negative one of a leader whose term is over neither.
pub(super) fn verdicts<'a>(
    items: impl Iterator<Item = &'a Held>,
    wire: &[v1::Verdict],
    stale: bool,
) -> Vec<Verdict> {
    let one = |(at, held): (usize, &Held)| {
        let said = wire.get(at).filter(|said| said.token == held.token.bytes());
        let verdict = said.map_or(Verdict::Unknown, verdict);
        match verdict {
            Verdict::Lost | Verdict::Cancel | Verdict::Fenced if stale => Verdict::Unknown,
            Verdict::Ok { .. }
            | Verdict::Lost
            | Verdict::Cancel
            | Verdict::Done
            | Verdict::Fenced
            | Verdict::Unknown => verdict,
        }
    };
    items.enumerate().map(one).collect()
}

fn verdict(wire: &v1::Verdict) -> Verdict {
    match wire.kind() {
        v1::VerdictKind::Ok => Verdict::Ok { lease: span(wire.lease_ms) },
        v1::VerdictKind::Lost => Verdict::Lost,
        v1::VerdictKind::Cancel => Verdict::Cancel,
        v1::VerdictKind::Done => Verdict::Done,
        v1::VerdictKind::Fenced => Verdict::Fenced,
        // A kind that is not known here must kill nothing.
        v1::VerdictKind::Unknown | v1::VerdictKind::Unspecified => Verdict::Unknown,
    }
}

pub(super) fn ended(finish: &Finish) -> v1::Ended {
    let Finish { held, end, exit: Exit { code, signal, detail }, output, log_bytes } = finish;
    v1::Ended {
        run_id: held.run.raw(),
        token: held.token.bytes().to_vec(),
        end: wire_end(*end).into(),
        exit_code: *code,
        signal: *signal,
        detail: detail.clone().unwrap_or_default(),
        output: output.clone(),
        log_bytes: *log_bytes,
    }
}

const fn wire_end(end: AttemptEnd) -> v1::End {
    match end {
        AttemptEnd::Succeeded => v1::End::Succeeded,
        AttemptEnd::Failed(reason) => match reason {
            FailReason::Signal => v1::End::FailedSignal,
            FailReason::Oom => v1::End::FailedOom,
            FailReason::Spawn => v1::End::FailedSpawn,
            FailReason::Timeout => v1::End::TimedOut,
            FailReason::Interrupted | FailReason::Lost => v1::End::Interrupted,
            FailReason::Exit | FailReason::Render | FailReason::Forced => v1::End::FailedExit,
        },
        AttemptEnd::TimedOut => v1::End::TimedOut,
        AttemptEnd::Cancelled => v1::End::Cancelled,
        AttemptEnd::NotYet => v1::End::NotYet,
        // The last two are no worker's to report.
        AttemptEnd::Interrupted | AttemptEnd::Lost | AttemptEnd::Unaccepted => v1::End::Interrupted,
    }
}

pub(super) fn released(release: &Release) -> v1::Released {
    let Release { held, cause, detail } = release;
    let cause = match cause {
        ReleaseCause::Declined => v1::ReleaseCause::Declined,
        ReleaseCause::Drain => v1::ReleaseCause::Drain,
        ReleaseCause::Lease => v1::ReleaseCause::Lease,
        ReleaseCause::Cancel => v1::ReleaseCause::Cancel,
    };
    v1::Released {
        run_id: held.run.raw(),
        token: held.token.bytes().to_vec(),
        cause: cause.into(),
        detail: detail.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(byte: u8) -> Held {
        Held { run: RunId::from_raw(1), token: Token::from_bytes([byte; 16]) }
    }

    fn said(byte: u8, kind: v1::VerdictKind) -> v1::Verdict {
        v1::Verdict { run_id: 1, token: vec![byte; 16], kind: kind.into(), lease_ms: 9 }
    }

    #[test]
    fn a_verdict_counts_only_for_its_own_token() {
        let wire = [said(1, v1::VerdictKind::Ok), said(9, v1::VerdictKind::Lost)];
        let items = [one(1), one(2), one(3)];
        let lease = Duration::from_millis(9);
        assert_eq!(
            verdicts(items.iter(), &wire, false),
            [Verdict::Ok { lease }, Verdict::Unknown, Verdict::Unknown]
        );
    }

    #[test]
    fn a_leader_whose_term_is_over_kills_nothing() {
        use v1::VerdictKind::{Cancel, Done, Fenced, Lost, Ok};
        let kinds = [Ok, Lost, Cancel, Done, Fenced];
        let wire: Vec<_> = kinds.iter().map(|kind| said(1, *kind)).collect();
        let items = [one(1); 5];
        let told: Vec<bool> = verdicts(items.iter(), &wire, true)
            .iter()
            .map(|verdict| *verdict != Verdict::Unknown)
            .collect();
        assert_eq!(told, [true, false, false, true, false]);
    }

    #[test]
    fn a_verdict_of_an_unknown_kind_says_nothing() {
        let strange = v1::Verdict { kind: 77, ..said(1, v1::VerdictKind::Ok) };
        assert_eq!(verdicts([one(1)].iter(), &[strange], false), [Verdict::Unknown]);
    }

    #[test]
    fn an_assignment_of_an_unknown_kind_is_refused() {
        let wire = v1::Assignment { token: vec![1; 16], kind: 77, ..v1::Assignment::default() };
        assert_eq!(assignment(wire).unwrap_err().to_string(), "assignment.kind is not known here");
    }
}
