//! Every state and every event, as one table.

use std::fmt::Write as _;
use std::time::Duration;

use expect_test::{Expect, expect};
use hera_common::time::Boot;

use super::{Action, AttemptCore, Ended, Event, State};
use crate::contract::{Outcome, Timing, Verdict};
use crate::process::order::StopCause;

const LEASE: Duration = Duration::from_secs(30);

fn timing() -> Timing {
    Timing {
        heartbeat_min: Duration::from_millis(500),
        heartbeat_max: Duration::from_secs(10),
        rpc: Duration::from_secs(3),
        term: Duration::from_secs(5),
        kill: Duration::from_secs(2),
        accept: Duration::from_secs(10),
        rho_ppm: 10_000,
    }
}

/// Born at 0.
fn attempt(state: State) -> AttemptCore {
    let mut core = AttemptCore::granted(timing(), LEASE, Boot::from_ms(0));
    core.state = state;
    core
}

fn states() -> Vec<State> {
    let mut states = vec![State::Starting, State::Running { deadline: Boot::from_ms(20_000) }];
    states.extend(StopCause::ALL.map(State::Killing));
    states.extend([
        State::Stuck(StopCause::Cancel),
        State::Stuck(StopCause::Lost),
        State::Finishing { beats: true },
        State::Finishing { beats: false },
        State::Releasing,
        State::Gone,
    ]);
    states
}

fn ended(code: Option<i32>, signal: Option<i32>, stopped: Option<StopCause>) -> Event {
    Event::Ended(Ended { code, signal, stopped, output_problem: None })
}

/// At 10,000 by the boot clock; requests were sent at 9,000.
fn events() -> Vec<(String, Event)> {
    let sent = Boot::from_ms(9_000);
    let verdicts = [
        ("ok", Verdict::Ok { lease: LEASE }),
        ("lost", Verdict::Lost),
        ("cancel", Verdict::Cancel),
        ("done", Verdict::Done),
        ("fenced", Verdict::Fenced),
        ("unknown", Verdict::Unknown),
    ];
    let mut events = Vec::new();
    for (word, verdict) in verdicts {
        events.push((format!("start {word}"), Event::Start { sent, verdict }));
        events.push((format!("heartbeat {word}"), Event::Heartbeat { sent, verdict }));
        events.push((format!("finish {word}"), Event::Finish(verdict)));
        events.push((format!("release {word}"), Event::Release(verdict)));
    }
    events.sort_by_key(|(name, _)| name.split(' ').next().map(str::to_owned));
    let others = [
        ("drain", Event::Drain),
        ("stopping timeout", Event::Stopping(StopCause::Timeout)),
        ("stopping lease", Event::Stopping(StopCause::Lease)),
        ("ended 0", ended(Some(0), None, None)),
        ("ended 7", ended(Some(7), None, None)),
        ("ended by signal", ended(None, Some(11), None)),
        ("ended, timeout", ended(None, Some(15), Some(StopCause::Timeout))),
        ("ended, cancel", ended(None, Some(15), Some(StopCause::Cancel))),
        ("ended 0, drain", ended(Some(0), None, Some(StopCause::Drain))),
        ("ended, lease", ended(None, Some(9), Some(StopCause::Lease))),
        ("withdrawn", Event::Withdrawn),
        ("refused", Event::Refused),
        ("not spawned", Event::NotSpawned("disk".to_owned())),
        ("kill failed", Event::KillFailed("pid 7".to_owned())),
        ("shim gone", Event::ShimGone),
    ];
    events.extend(others.map(|(name, event)| (name.to_owned(), event)));
    events
}

fn short(action: &Action) -> String {
    match action {
        Action::Launch(at) => format!("launch until {}", at.ms()),
        Action::Renew(at) => format!("renew until {}", at.ms()),
        Action::Stop(cause) => format!("stop({cause:?})"),
        Action::Report(Outcome::Finish { end, exit }) => {
            let words = [Some(end.word()), end.reason()].into_iter().flatten();
            let exit = [exit.code, exit.signal.map(|s| -s)].into_iter().flatten();
            let parts: Vec<String> =
                words.map(str::to_owned).chain(exit.map(|n| n.to_string())).collect();
            format!("finish({})", parts.join(" "))
        }
        Action::Report(Outcome::Release { cause, .. }) => format!("release({cause:?})"),
        Action::KillFailed(_) => "tell kill_failed".to_owned(),
        Action::Alarm(_) => "alarm".to_owned(),
        Action::Start => "start again".to_owned(),
        Action::Forget => "forget".to_owned(),
    }
}

/// Each state's events that change it or make something necessary; all others do nothing.
#[track_caller]
fn check(of: &[State], expected: &Expect) {
    let mut table = String::new();
    for state in of {
        for (name, event) in events() {
            let mut core = attempt(*state);
            let actions = core.on(event, Boot::from_ms(10_000));
            let next = core.state();
            if actions.is_empty() && next == *state {
                continue;
            }
            let done: Vec<String> = actions.iter().map(short).collect();
            let next = if next == *state { "same".to_owned() } else { format!("{next:?}") };
            let next = next.replace("Boot(20000)", "20000").replace("Boot(38700)", "38700");
            let row = format!("{state:?} | {name} | {next} | {}", done.join(", "));
            writeln!(table, "{}", row.trim_end()).unwrap();
        }
    }
    expected.assert_eq(&table);
}

#[test]
fn starting() {
    check(&states()[..1], &expect![[r#"
        Starting | start ok | Running { deadline: 38700 } | launch until 38700
        Starting | start lost | Gone | forget
        Starting | start cancel | Releasing | release(Cancel)
        Starting | start done | Gone | forget
        Starting | start fenced | Gone | forget
        Starting | start unknown | same | start again
        Starting | drain | Releasing | release(Declined)
    "#]]);
}

#[test]
fn running() {
    check(&states()[1..2], &expect![[r#"
        Running { deadline: Boot(20000) } | heartbeat ok | Running { deadline: 38700 } | renew until 38700
        Running { deadline: Boot(20000) } | heartbeat lost | Killing(Lost) | stop(Lost)
        Running { deadline: Boot(20000) } | heartbeat cancel | Killing(Cancel) | stop(Cancel)
        Running { deadline: Boot(20000) } | heartbeat done | Killing(Lost) | alarm, stop(Lost)
        Running { deadline: Boot(20000) } | heartbeat fenced | Killing(Lost) | stop(Lost)
        Running { deadline: Boot(20000) } | drain | Killing(Drain) | stop(Drain)
        Running { deadline: Boot(20000) } | stopping timeout | Killing(Timeout) |
        Running { deadline: Boot(20000) } | stopping lease | Killing(Lease) |
        Running { deadline: Boot(20000) } | ended 0 | Finishing { beats: true } | finish(succeeded 0)
        Running { deadline: Boot(20000) } | ended 7 | Finishing { beats: true } | finish(failed exit 7)
        Running { deadline: Boot(20000) } | ended by signal | Finishing { beats: true } | finish(failed signal -11)
        Running { deadline: Boot(20000) } | ended, timeout | Finishing { beats: true } | finish(timed_out -15)
        Running { deadline: Boot(20000) } | ended, cancel | Finishing { beats: true } | finish(cancelled -15)
        Running { deadline: Boot(20000) } | ended 0, drain | Releasing | release(Drain)
        Running { deadline: Boot(20000) } | ended, lease | Releasing | release(Lease)
        Running { deadline: Boot(20000) } | refused | Releasing | release(Declined)
        Running { deadline: Boot(20000) } | not spawned | Finishing { beats: true } | finish(failed spawn)
        Running { deadline: Boot(20000) } | kill failed | Stuck(Lease) | tell kill_failed
        Running { deadline: Boot(20000) } | shim gone | Gone | tell kill_failed, forget
    "#]]);
}

#[test]
fn killing() {
    check(&states()[2..8], &expect![[r#"
        Killing(Timeout) | heartbeat lost | Killing(Lost) |
        Killing(Timeout) | heartbeat done | Killing(Lost) |
        Killing(Timeout) | heartbeat fenced | Killing(Lost) |
        Killing(Timeout) | ended 0 | Finishing { beats: true } | finish(succeeded 0)
        Killing(Timeout) | ended 7 | Finishing { beats: true } | finish(failed exit 7)
        Killing(Timeout) | ended by signal | Finishing { beats: true } | finish(failed signal -11)
        Killing(Timeout) | ended, timeout | Finishing { beats: true } | finish(timed_out -15)
        Killing(Timeout) | ended, cancel | Finishing { beats: true } | finish(cancelled -15)
        Killing(Timeout) | ended 0, drain | Releasing | release(Drain)
        Killing(Timeout) | ended, lease | Releasing | release(Lease)
        Killing(Timeout) | withdrawn | Finishing { beats: true } | finish(timed_out)
        Killing(Timeout) | refused | Finishing { beats: true } | finish(timed_out)
        Killing(Timeout) | not spawned | Finishing { beats: true } | finish(timed_out)
        Killing(Timeout) | kill failed | Stuck(Timeout) | tell kill_failed
        Killing(Timeout) | shim gone | Gone | tell kill_failed, forget
        Killing(Cancel) | heartbeat lost | Killing(Lost) |
        Killing(Cancel) | heartbeat done | Killing(Lost) |
        Killing(Cancel) | heartbeat fenced | Killing(Lost) |
        Killing(Cancel) | ended 0 | Finishing { beats: true } | finish(succeeded 0)
        Killing(Cancel) | ended 7 | Finishing { beats: true } | finish(failed exit 7)
        Killing(Cancel) | ended by signal | Finishing { beats: true } | finish(failed signal -11)
        Killing(Cancel) | ended, timeout | Finishing { beats: true } | finish(timed_out -15)
        Killing(Cancel) | ended, cancel | Finishing { beats: true } | finish(cancelled -15)
        Killing(Cancel) | ended 0, drain | Releasing | release(Drain)
        Killing(Cancel) | ended, lease | Releasing | release(Lease)
        Killing(Cancel) | withdrawn | Finishing { beats: true } | finish(cancelled)
        Killing(Cancel) | refused | Finishing { beats: true } | finish(cancelled)
        Killing(Cancel) | not spawned | Finishing { beats: true } | finish(cancelled)
        Killing(Cancel) | kill failed | Stuck(Cancel) | tell kill_failed
        Killing(Cancel) | shim gone | Gone | tell kill_failed, forget
        Killing(Drain) | heartbeat lost | Killing(Lost) |
        Killing(Drain) | heartbeat done | Killing(Lost) |
        Killing(Drain) | heartbeat fenced | Killing(Lost) |
        Killing(Drain) | ended 0 | Finishing { beats: true } | finish(succeeded 0)
        Killing(Drain) | ended 7 | Finishing { beats: true } | finish(failed exit 7)
        Killing(Drain) | ended by signal | Finishing { beats: true } | finish(failed signal -11)
        Killing(Drain) | ended, timeout | Finishing { beats: true } | finish(timed_out -15)
        Killing(Drain) | ended, cancel | Finishing { beats: true } | finish(cancelled -15)
        Killing(Drain) | ended 0, drain | Releasing | release(Drain)
        Killing(Drain) | ended, lease | Releasing | release(Lease)
        Killing(Drain) | withdrawn | Releasing | release(Drain)
        Killing(Drain) | refused | Releasing | release(Drain)
        Killing(Drain) | not spawned | Releasing | release(Drain)
        Killing(Drain) | kill failed | Stuck(Drain) | tell kill_failed
        Killing(Drain) | shim gone | Gone | tell kill_failed, forget
        Killing(Lease) | heartbeat lost | Killing(Lost) |
        Killing(Lease) | heartbeat done | Killing(Lost) |
        Killing(Lease) | heartbeat fenced | Killing(Lost) |
        Killing(Lease) | ended 0 | Finishing { beats: true } | finish(succeeded 0)
        Killing(Lease) | ended 7 | Finishing { beats: true } | finish(failed exit 7)
        Killing(Lease) | ended by signal | Finishing { beats: true } | finish(failed signal -11)
        Killing(Lease) | ended, timeout | Finishing { beats: true } | finish(timed_out -15)
        Killing(Lease) | ended, cancel | Finishing { beats: true } | finish(cancelled -15)
        Killing(Lease) | ended 0, drain | Releasing | release(Drain)
        Killing(Lease) | ended, lease | Releasing | release(Lease)
        Killing(Lease) | withdrawn | Releasing | release(Lease)
        Killing(Lease) | refused | Releasing | release(Lease)
        Killing(Lease) | not spawned | Releasing | release(Lease)
        Killing(Lease) | kill failed | Stuck(Lease) | tell kill_failed
        Killing(Lease) | shim gone | Gone | tell kill_failed, forget
        Killing(Lost) | ended 0 | Finishing { beats: false } | finish(succeeded 0)
        Killing(Lost) | ended 7 | Finishing { beats: false } | finish(failed exit 7)
        Killing(Lost) | ended by signal | Finishing { beats: false } | finish(failed signal -11)
        Killing(Lost) | ended, timeout | Gone | forget
        Killing(Lost) | ended, cancel | Gone | forget
        Killing(Lost) | ended 0, drain | Gone | forget
        Killing(Lost) | ended, lease | Gone | forget
        Killing(Lost) | withdrawn | Gone | forget
        Killing(Lost) | refused | Gone | forget
        Killing(Lost) | not spawned | Gone | forget
        Killing(Lost) | kill failed | Stuck(Lost) | tell kill_failed
        Killing(Lost) | shim gone | Gone | tell kill_failed, forget
        Killing(AgentGone) | heartbeat lost | Killing(Lost) |
        Killing(AgentGone) | heartbeat done | Killing(Lost) |
        Killing(AgentGone) | heartbeat fenced | Killing(Lost) |
        Killing(AgentGone) | ended 0 | Finishing { beats: true } | finish(succeeded 0)
        Killing(AgentGone) | ended 7 | Finishing { beats: true } | finish(failed exit 7)
        Killing(AgentGone) | ended by signal | Finishing { beats: true } | finish(failed signal -11)
        Killing(AgentGone) | ended, timeout | Finishing { beats: true } | finish(timed_out -15)
        Killing(AgentGone) | ended, cancel | Finishing { beats: true } | finish(cancelled -15)
        Killing(AgentGone) | ended 0, drain | Releasing | release(Drain)
        Killing(AgentGone) | ended, lease | Releasing | release(Lease)
        Killing(AgentGone) | withdrawn | Releasing | release(Lease)
        Killing(AgentGone) | refused | Releasing | release(Lease)
        Killing(AgentGone) | not spawned | Releasing | release(Lease)
        Killing(AgentGone) | kill failed | Stuck(AgentGone) | tell kill_failed
        Killing(AgentGone) | shim gone | Gone | tell kill_failed, forget
    "#]]);
}

#[test]
fn stuck() {
    check(&states()[8..10], &expect![[r#"
        Stuck(Cancel) | heartbeat lost | Stuck(Lost) |
        Stuck(Cancel) | heartbeat done | Stuck(Lost) |
        Stuck(Cancel) | heartbeat fenced | Stuck(Lost) |
        Stuck(Cancel) | ended 0 | Finishing { beats: true } | finish(succeeded 0)
        Stuck(Cancel) | ended 7 | Finishing { beats: true } | finish(failed exit 7)
        Stuck(Cancel) | ended by signal | Finishing { beats: true } | finish(failed signal -11)
        Stuck(Cancel) | ended, timeout | Finishing { beats: true } | finish(timed_out -15)
        Stuck(Cancel) | ended, cancel | Finishing { beats: true } | finish(cancelled -15)
        Stuck(Cancel) | ended 0, drain | Releasing | release(Drain)
        Stuck(Cancel) | ended, lease | Releasing | release(Lease)
        Stuck(Cancel) | withdrawn | Finishing { beats: true } | finish(cancelled)
        Stuck(Cancel) | refused | Finishing { beats: true } | finish(cancelled)
        Stuck(Cancel) | not spawned | Finishing { beats: true } | finish(cancelled)
        Stuck(Cancel) | kill failed | same | tell kill_failed
        Stuck(Cancel) | shim gone | Gone | tell kill_failed, forget
        Stuck(Lost) | ended 0 | Finishing { beats: false } | finish(succeeded 0)
        Stuck(Lost) | ended 7 | Finishing { beats: false } | finish(failed exit 7)
        Stuck(Lost) | ended by signal | Finishing { beats: false } | finish(failed signal -11)
        Stuck(Lost) | ended, timeout | Gone | forget
        Stuck(Lost) | ended, cancel | Gone | forget
        Stuck(Lost) | ended 0, drain | Gone | forget
        Stuck(Lost) | ended, lease | Gone | forget
        Stuck(Lost) | withdrawn | Gone | forget
        Stuck(Lost) | refused | Gone | forget
        Stuck(Lost) | not spawned | Gone | forget
        Stuck(Lost) | kill failed | same | tell kill_failed
        Stuck(Lost) | shim gone | Gone | tell kill_failed, forget
    "#]]);
}

#[test]
fn on_the_way_to_the_leader() {
    check(&states()[10..], &expect![[r#"
        Finishing { beats: true } | finish ok | Gone | forget
        Finishing { beats: true } | finish lost | Gone | alarm, forget
        Finishing { beats: true } | finish cancel | Gone | alarm, forget
        Finishing { beats: true } | finish done | Gone | forget
        Finishing { beats: true } | finish fenced | Gone | alarm, forget
        Finishing { beats: true } | heartbeat lost | Finishing { beats: false } |
        Finishing { beats: true } | heartbeat done | Gone | forget
        Finishing { beats: true } | heartbeat fenced | Finishing { beats: false } |
        Finishing { beats: false } | finish ok | Gone | forget
        Finishing { beats: false } | finish lost | Gone | alarm, forget
        Finishing { beats: false } | finish cancel | Gone | alarm, forget
        Finishing { beats: false } | finish done | Gone | forget
        Finishing { beats: false } | finish fenced | Gone | alarm, forget
        Finishing { beats: false } | heartbeat done | Gone | forget
        Releasing | release ok | Gone | forget
        Releasing | release lost | Gone | forget
        Releasing | release cancel | Gone | forget
        Releasing | release done | Gone | forget
        Releasing | release fenced | Gone | forget
    "#]]);
}

#[test]
fn what_beats_and_what_takes_a_place() {
    let mut table = String::new();
    for state in states() {
        let core = attempt(state);
        let words = [(core.beats(), "beats"), (core.occupies(), "occupies")];
        let words: Vec<&str> = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        writeln!(table, "{}", format!("{state:?} | {}", words.join(", ")).trim_end()).unwrap();
    }
    expect![[r#"
        Starting | occupies
        Running { deadline: Boot(20000) } | beats, occupies
        Killing(Timeout) | beats, occupies
        Killing(Cancel) | beats, occupies
        Killing(Drain) | beats, occupies
        Killing(Lease) | beats, occupies
        Killing(Lost) | occupies
        Killing(AgentGone) | beats, occupies
        Stuck(Cancel) | occupies
        Stuck(Lost) | occupies
        Finishing { beats: true } | beats
        Finishing { beats: false } |
        Releasing |
        Gone |
    "#]].assert_eq(&table);
}

/// The lease counts from before the request was sent, and never from the reply.
#[test]
fn an_ok_that_was_read_too_late_starts_nothing() {
    let ok = Event::Start { sent: Boot::from_ms(0), verdict: Verdict::Ok { lease: LEASE } };
    // 29,700 less 2,000, 5,000 and twice 5,000.
    for (now, launched) in [(12_700, true), (12_701, false)] {
        let actions = attempt(State::Starting).on(ok.clone(), Boot::from_ms(now));
        let launch = actions == [Action::Launch(Boot::from_ms(29_700))];
        assert_eq!(launch, launched, "at {now}: {actions:?}");
    }
}

#[test]
fn a_start_that_nobody_answers_is_given_up() {
    let unknown = Event::Start { sent: Boot::from_ms(0), verdict: Verdict::Unknown };
    let mut core = attempt(State::Starting);
    assert_eq!(core.on(unknown.clone(), Boot::from_ms(39_999)), [Action::Start]);
    assert_eq!(core.on(unknown, Boot::from_ms(40_000)), [Action::Forget]);
}

#[test]
fn a_deadline_never_moves_back() {
    let mut core = attempt(State::Running { deadline: Boot::from_ms(50_000) });
    let old = Event::Heartbeat { sent: Boot::from_ms(1), verdict: Verdict::Ok { lease: LEASE } };
    assert_eq!(core.on(old, Boot::from_ms(2)), [Action::Renew(Boot::from_ms(50_000))]);
}

#[test]
fn an_end_without_its_outputs_is_no_success() {
    let mut core = attempt(State::Running { deadline: Boot::from_ms(50_000) });
    let actions = core.on(
        Event::Ended(Ended {
            code: Some(0),
            signal: None,
            stopped: None,
            output_problem: Some("its output is too large".to_owned()),
        }),
        Boot::from_ms(2),
    );
    let told: Vec<String> = actions.iter().map(short).collect();
    assert_eq!(told, ["finish(failed exit 0)"]);
}
