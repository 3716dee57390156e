//! Every state and every event, as one table.

use std::fmt::Write as _;
use std::time::Duration;

use expect_test::expect_file;
use hera_common::time::Boot;

use super::{Action, AttemptCore, Ended, Event, State};
use crate::contract::{Outcome, Timing, Verdict};
use crate::process::order::StopCause;

const LEASE: Duration = Duration::from_secs(30);

/// Born at 0.
fn attempt(state: State) -> AttemptCore {
    let mut core = AttemptCore::granted(Timing::USUAL, LEASE, Boot::from_ms(0));
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
    Event::Ended(Ended { code, signal, stopped, problem: None })
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
#[test]
fn every_state_and_every_event() {
    let mut table = String::new();
    for state in states() {
        let core = attempt(state);
        let words = [(core.beats(), "beats"), (core.occupies(), "occupies a place")];
        let words: Vec<&str> = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        writeln!(table, "\n{state:?}: {}", words.join(", ")).unwrap();
        for (name, event) in events() {
            let mut core = attempt(state);
            let actions = core.on(event, Boot::from_ms(10_000));
            let next = core.state();
            if actions.is_empty() && next == state {
                continue;
            }
            let done: Vec<String> = actions.iter().map(short).collect();
            let next = if next == state { "same".to_owned() } else { format!("{next:?}") };
            writeln!(table, "    {name} -> {next} | {}", done.join(", ")).unwrap();
        }
    }
    let table: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    expect_file!["./table.txt"].assert_eq(&table);
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
            problem: Some("its output is too large".to_owned()),
        }),
        Boot::from_ms(2),
    );
    let told: Vec<String> = actions.iter().map(short).collect();
    assert_eq!(told, ["finish(failed exit 0)"]);
}
