//! Every state of a run with every event, printed.

use std::fmt::Write;
use std::time::Duration;

use expect_test::expect;
use hera_common::attempt::AttemptEnd;
use hera_common::id::Token;
use hera_common::run::{CancelReason, FailReason, QueuedWhy, Run, RunCounts, RunEnd, RunState};
use hera_common::spec::{Backoff, Retries};
use hera_common::time::Wall;

use super::{RunEvent, apply, retry_delay};
use crate::fixture::{hold, queued};
use crate::input::ReleaseCause;

const MINE: Token = Token::from_bytes([1; 16]);
const OTHER: Token = Token::from_bytes([2; 16]);
const NOW: Wall = Wall::from_ms(1_000_000);

fn run(state: RunState) -> Run {
    Run { state, ..queued(1, 1, 0) }
}

fn events() -> Vec<(&'static str, RunEvent)> {
    let done = |end, retry_in| RunEvent::Finished { token: MINE, end, retry_in };
    let retry = Some(Duration::from_secs(60));
    let back = |cause| RunEvent::Released { token: MINE, cause };
    vec![
        ("granted", RunEvent::Granted(hold(2))),
        ("started", RunEvent::Started { token: MINE }),
        ("started by another", RunEvent::Started { token: OTHER }),
        ("renewed", RunEvent::Renewed { token: MINE }),
        ("renewed by another", RunEvent::Renewed { token: OTHER }),
        ("succeeded", done(AttemptEnd::Succeeded, None)),
        ("failed", done(AttemptEnd::Failed(FailReason::Exit), None)),
        ("failed, retry", done(AttemptEnd::Failed(FailReason::Exit), retry)),
        ("timed out", done(AttemptEnd::TimedOut, None)),
        ("not spawned", done(AttemptEnd::Failed(FailReason::Spawn), None)),
        ("said cancelled", done(AttemptEnd::Cancelled, None)),
        (
            "succeeded, another",
            RunEvent::Finished { token: OTHER, end: AttemptEnd::Succeeded, retry_in: None },
        ),
        ("declined", back(ReleaseCause::Declined)),
        ("drained", back(ReleaseCause::Drain)),
        ("own deadline", back(ReleaseCause::Lease)),
        ("not taken", RunEvent::NotTaken),
        ("expired", RunEvent::Expired),
        ("worker returned", RunEvent::WorkerReturned),
        ("cancel", RunEvent::Cancel(CancelReason::By)),
        ("unrenderable", RunEvent::Unrenderable),
    ]
}

fn line(run: &Run, event: RunEvent) -> String {
    let Ok(changed) = apply(run, event, NOW) else { return "-".to_owned() };
    assert_eq!(changed.run.hb_seq, run.hb_seq.next(), "every change is counted");
    let counts = changed.run.counts;
    let mut text = changed.run.state.to_string();
    if let RunState::Queued { not_before, .. } = changed.run.state {
        write!(text, " +{}s", not_before.since(NOW).as_secs()).unwrap();
    }
    if changed.run.cancel.is_some() && !changed.run.state.ended() {
        text += " flagged";
    }
    if let Some(end) = changed.attempt {
        write!(text, ", attempt {}", end.word()).unwrap();
    }
    write!(
        text,
        " [{}a {}s {}f {}l]",
        counts.attempts, counts.starts, counts.failures, counts.losses
    )
    .unwrap();
    if changed.run.final_token.is_some() {
        text += " told";
    }
    text
}

fn table(run: &Run) -> String {
    let lines =
        events().into_iter().map(|(name, event)| format!("{name:<19} {}\n", line(run, event)));
    lines.collect()
}

#[test]
fn a_queued_run_is_granted_or_cancelled_and_nothing_else() {
    let queued = run(RunState::Queued { not_before: NOW, why: QueuedWhy::New });
    expect![[r#"
        granted             leased [2a 1s 0f 0l]
        started             -
        started by another  -
        renewed             -
        renewed by another  -
        succeeded           -
        failed              -
        failed, retry       -
        timed out           -
        not spawned         -
        said cancelled      -
        succeeded, another  -
        declined            -
        drained             -
        own deadline        -
        not taken           -
        expired             -
        worker returned     -
        cancel              cancelled(by) [1a 1s 0f 0l]
        unrenderable        -
    "#]]
    .assert_eq(&table(&queued));
}

#[test]
fn a_leased_run_starts_only_by_its_own_token() {
    expect![[r#"
        granted             -
        started             running [1a 2s 0f 0l]
        started by another  -
        renewed             -
        renewed by another  -
        succeeded           -
        failed              -
        failed, retry       -
        timed out           -
        not spawned         -
        said cancelled      -
        succeeded, another  -
        declined            queued(unaccepted) +0s, attempt unaccepted [1a 1s 0f 0l]
        drained             queued(unaccepted) +0s, attempt unaccepted [1a 1s 0f 0l]
        own deadline        queued(unaccepted) +0s, attempt unaccepted [1a 1s 0f 0l]
        not taken           queued(unaccepted) +0s, attempt unaccepted [1a 1s 0f 0l]
        expired             -
        worker returned     queued(worker_restart) +0s, attempt lost [1a 1s 0f 0l]
        cancel              leased flagged [1a 1s 0f 0l]
        unrenderable        failed(render), attempt failed [1a 1s 0f 0l]
    "#]]
    .assert_eq(&table(&run(RunState::Leased(hold(1)))));
}

#[test]
fn a_running_run_ends_by_its_holder_or_is_taken_over() {
    expect![[r#"
        granted             leased, attempt lost [2a 1s 0f 1l]
        started             running [1a 1s 0f 0l]
        started by another  -
        renewed             running [1a 1s 0f 0l]
        renewed by another  -
        succeeded           succeeded, attempt succeeded [1a 1s 0f 0l] told
        failed              failed(exit), attempt failed [1a 1s 1f 0l] told
        failed, retry       queued(retry) +60s, attempt failed [1a 1s 1f 0l]
        timed out           failed(timeout), attempt timed_out [1a 1s 1f 0l] told
        not spawned         queued(released) +2s, attempt failed [1a 1s 0f 1l]
        said cancelled      queued(released) +0s, attempt interrupted [1a 1s 0f 1l]
        succeeded, another  -
        declined            queued(released) +0s, attempt interrupted [1a 1s 0f 0l]
        drained             queued(released) +0s, attempt interrupted [1a 1s 0f 0l]
        own deadline        queued(released) +0s, attempt interrupted [1a 1s 0f 1l]
        not taken           -
        expired             -
        worker returned     queued(worker_restart) +0s, attempt lost [1a 1s 0f 1l]
        cancel              running flagged [1a 1s 0f 0l]
        unrenderable        -
    "#]]
    .assert_eq(&table(&run(RunState::Running(hold(1)))));
}

#[test]
fn without_a_restart_left_a_lost_run_fails_and_a_drain_still_costs_nothing() {
    let mut spent = run(RunState::Running(hold(1)));
    spent.counts.losses = 1;
    expect![[r#"
        granted             -
        started             running [1a 1s 0f 1l]
        started by another  -
        renewed             running [1a 1s 0f 1l]
        renewed by another  -
        succeeded           succeeded, attempt succeeded [1a 1s 0f 1l] told
        failed              failed(exit), attempt failed [1a 1s 1f 1l] told
        failed, retry       queued(retry) +60s, attempt failed [1a 1s 1f 1l]
        timed out           failed(timeout), attempt timed_out [1a 1s 1f 1l] told
        not spawned         failed(spawn), attempt failed [1a 1s 0f 2l] told
        said cancelled      failed(interrupted), attempt interrupted [1a 1s 0f 2l] told
        succeeded, another  -
        declined            queued(released) +0s, attempt interrupted [1a 1s 0f 1l]
        drained             queued(released) +0s, attempt interrupted [1a 1s 0f 1l]
        own deadline        failed(interrupted), attempt interrupted [1a 1s 0f 2l] told
        not taken           -
        expired             failed(lost), attempt lost [1a 1s 0f 2l]
        worker returned     failed(lost), attempt lost [1a 1s 0f 2l]
        cancel              running flagged [1a 1s 0f 1l]
        unrenderable        -
    "#]]
    .assert_eq(&table(&spent));
}

#[test]
fn a_run_that_somebody_cancelled_is_never_given_out_again() {
    let mut cancelled = run(RunState::Running(hold(1)));
    cancelled.cancel = Some(CancelReason::By);
    expect![[r#"
        granted             -
        started             running flagged [1a 1s 0f 0l]
        started by another  -
        renewed             running flagged [1a 1s 0f 0l]
        renewed by another  -
        succeeded           succeeded, attempt succeeded [1a 1s 0f 0l] told
        failed              failed(exit), attempt failed [1a 1s 1f 0l] told
        failed, retry       failed(exit), attempt failed [1a 1s 1f 0l] told
        timed out           failed(timeout), attempt timed_out [1a 1s 1f 0l] told
        not spawned         cancelled(by), attempt failed [1a 1s 0f 1l] told
        said cancelled      cancelled(by), attempt cancelled [1a 1s 0f 0l] told
        succeeded, another  -
        declined            cancelled(by), attempt cancelled [1a 1s 0f 0l] told
        drained             cancelled(by), attempt cancelled [1a 1s 0f 0l] told
        own deadline        cancelled(by), attempt cancelled [1a 1s 0f 0l] told
        not taken           -
        expired             cancelled(by), attempt lost [1a 1s 0f 1l]
        worker returned     cancelled(by), attempt lost [1a 1s 0f 1l]
        cancel              -
        unrenderable        -
    "#]]
    .assert_eq(&table(&cancelled));
}

#[test]
fn at_most_once_never_starts_a_second_time() {
    let mut once = run(RunState::Running(hold(1)));
    once.limits.at_most_once = true;
    for (event, expected) in [
        (RunEvent::Granted(hold(2)), "-"),
        (RunEvent::Expired, "failed(lost), attempt lost [1a 1s 0f 1l]"),
        (RunEvent::WorkerReturned, "failed(lost), attempt lost [1a 1s 0f 1l]"),
        (
            RunEvent::Released { token: MINE, cause: ReleaseCause::Drain },
            "failed(interrupted), attempt interrupted [1a 1s 0f 0l] told",
        ),
        (
            RunEvent::Released { token: MINE, cause: ReleaseCause::Declined },
            "queued(released) +0s, attempt interrupted [1a 1s 0f 0l]",
        ),
    ] {
        assert_eq!(line(&once, event), expected, "{event:?}");
    }
}

#[test]
fn an_ended_run_never_changes() {
    for end in
        [RunEnd::Succeeded, RunEnd::Failed(FailReason::Lost), RunEnd::Cancelled(CancelReason::By)]
    {
        for (name, event) in events() {
            assert!(apply(&run(RunState::Ended(end)), event, NOW).is_err(), "{name}");
        }
    }
}

#[test]
fn a_retry_is_granted_no_sooner_than_its_delay() {
    let later = Wall::from_ms(NOW.ms() + 1);
    let waiting = run(RunState::Queued { not_before: later, why: QueuedWhy::Retry });
    assert!(apply(&waiting, RunEvent::Granted(hold(1)), NOW).is_err());
    assert!(apply(&waiting, RunEvent::Granted(hold(1)), later).is_ok());
}

#[test]
fn delays_grow_up_to_their_limit_and_shrink_by_at_most_a_quarter() {
    let retries = Retries {
        times: 4,
        delay: Duration::from_secs(60),
        backoff: Backoff::Exponential { max: Duration::from_secs(200) },
        not_on: vec![3],
    };
    let seconds = |failures, quarter| {
        retry_delay(&retries, failures, Some(1), quarter).map(|delay| delay.as_secs())
    };
    let growing = [seconds(0, 0), seconds(1, 0), seconds(2, 0), seconds(3, 0), seconds(4, 0)];
    assert_eq!(growing, [Some(60), Some(120), Some(200), Some(200), None]);
    assert_eq!(seconds(0, 249_999), Some(45));
    assert_eq!(retry_delay(&retries, 0, Some(3), 0), None, "an exit code that is not worth it");
}

#[test]
fn what_no_worker_takes_or_can_execute_is_granted_more_and_more_slowly() {
    let pauses = |state: RunState, event: RunEvent, counts: &[RunCounts]| {
        let waits = counts.iter().map(|&counts| {
            let mut run = run(state);
            run.counts = counts;
            run.limits.restarts = 9;
            let RunState::Queued { not_before, .. } = apply(&run, event, NOW).unwrap().run.state
            else {
                panic!("not queued");
            };
            not_before.since(NOW).as_secs()
        });
        waits.collect::<Vec<_>>()
    };
    let attempts: Vec<_> = [1, 2, 3, 4, 5, 6, 9, 10, 49]
        .map(|attempts| RunCounts { attempts, ..RunCounts::default() })
        .into();
    let declined = RunEvent::Released { token: MINE, cause: ReleaseCause::Declined };
    let slower = [0, 0, 0, 1, 2, 4, 32, 60, 60];
    assert_eq!(pauses(RunState::Running(hold(1)), declined, &attempts), slower);
    assert_eq!(pauses(RunState::Leased(hold(1)), declined, &attempts), slower);
    assert_eq!(pauses(RunState::Leased(hold(1)), RunEvent::NotTaken, &attempts), slower);
    let drained = RunEvent::Released { token: MINE, cause: ReleaseCause::Drain };
    assert_eq!(pauses(RunState::Running(hold(1)), drained, &attempts), [0; 9]);
    let losses: Vec<_> =
        [0, 1, 2, 3].map(|losses| RunCounts { attempts: 1, losses, ..RunCounts::default() }).into();
    let end = AttemptEnd::Failed(FailReason::Spawn);
    let unspawned = RunEvent::Finished { token: MINE, end, retry_in: None };
    assert_eq!(pauses(RunState::Running(hold(1)), unspawned, &losses), [2, 10, 50, 60]);
}
