//! Values of the domain as messages: the nouns that several services show.

use hera_common::action::ActionEnd;
use hera_common::attempt::{Attempt, AttemptState};
use hera_common::run::RunState;
use hera_common::time::{Version, Wall};
use hera_proto::v1;

use crate::service::shown::{
    ShownAction, ShownAttempt, ShownBinding, ShownRun, Words, local_text, run_words,
};

pub(super) fn state(words: Words) -> v1::State {
    v1::State { word: words.word.to_owned(), reason: words.reason.to_owned() }
}

fn end(end: ActionEnd) -> v1::State {
    let reason = end.reason().unwrap_or_default();
    v1::State { word: end.word().to_owned(), reason: reason.to_owned() }
}

fn ms(instant: Option<Wall>) -> Option<i64> {
    instant.map(Wall::ms)
}

pub(super) fn versions(versions: &[Version]) -> Vec<i64> {
    versions.iter().map(|version| version.ms()).collect()
}

pub(super) fn action(shown: ShownAction) -> v1::Action {
    let ShownAction { action, job, state: words, live_run, bindings } = shown;
    let worker = live_run.as_ref().and_then(|run| run.worker.as_ref());
    v1::Action {
        id: action.id.raw(),
        job,
        version_ms: action.version.ms(),
        local: local_text(action.version, &action.zone),
        zone: action.zone,
        data_date: action.data.date,
        state: Some(state(words)),
        held_by: worker.map(|worker| format!("worker {worker}")).unwrap_or_default(),
        revision: action.revision.raw(),
        runs: action.runs,
        outcome: action.outcome.map(end),
        data_from_ms: action.data.from.ms(),
        data_to_ms: action.data.to.ms(),
        live_run: live_run.map(run),
        ended_at_ms: ms(action.ended_at),
        bindings: bindings.into_iter().map(binding).collect(),
    }
}

pub(super) fn binding(shown: ShownBinding) -> v1::Binding {
    let ShownBinding { job, version, state: words, on } = shown;
    v1::Binding {
        job,
        version_ms: version.ms(),
        state: Some(state(words)),
        on: on.label().to_owned(),
    }
}

pub(super) fn run(shown: ShownRun) -> v1::Run {
    let ShownRun { run, job, zone, worker, counts } = shown;
    let not_before = match run.state {
        RunState::Queued { not_before, .. } if not_before > run.queued_at => Some(not_before.ms()),
        RunState::Queued { .. }
        | RunState::Leased(_)
        | RunState::Running(_)
        | RunState::Ended(_) => None,
    };
    v1::Run {
        id: run.id.raw(),
        action_id: run.action.raw(),
        job,
        version_ms: run.version.ms(),
        number: run.number,
        trigger: run.trigger.label().to_owned(),
        state: Some(state(run_words(&run))),
        revision: run.revision.raw(),
        attempts: run.counts.attempts,
        queued_at_ms: Some(run.queued_at.ms()),
        started_at_ms: ms(run.started_at),
        ended_at_ms: ms(run.ended_at),
        not_before_ms: not_before,
        worker: worker.unwrap_or_default(),
        counts,
        cancel_asked: run.cancel.is_some() && !run.state.ended(),
        local: local_text(run.version, &zone),
        zone,
        actor: run.actor,
        why: run.why,
    }
}

pub(super) fn attempt(shown: ShownAttempt) -> v1::Attempt {
    let ShownAttempt { attempt, worker, log_bytes, output } = shown;
    let Attempt { fence, number, state, leased_at, started_at, late_report, .. } = attempt;
    let word = state.word().to_owned();
    let (outcome, exit, ended_at) = match state {
        AttemptState::Leased | AttemptState::Started => (None, None, None),
        AttemptState::Ended { end, exit, ended_at } => {
            let reason = end.reason().unwrap_or_default();
            let outcome = Words { word: end.word(), reason };
            (Some(outcome), Some(exit), Some(ended_at))
        }
    };
    let exit = exit.unwrap_or_default();
    v1::Attempt {
        fence: fence.raw(),
        number,
        worker,
        state: word,
        outcome: outcome.map(self::state),
        exit_code: exit.code,
        signal: exit.signal,
        detail: exit.detail.unwrap_or_default(),
        leased_at_ms: leased_at.ms(),
        started_at_ms: ms(started_at),
        ended_at_ms: ms(ended_at),
        log_bytes,
        late_report: late_report.unwrap_or_default(),
        output,
    }
}
