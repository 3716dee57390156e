//! What `hera dev` tells of each change of state, one readable line each. Pure: no clock, no message.

use std::collections::BTreeMap;

use hera_common::time::Wall;
use jiff::tz::TimeZone;

use crate::output::Style;
use crate::output::keys::{Action, Attempt, Run, RunNumber, Why, shown};
use crate::output::span::{self, local, span};
use crate::output::style::Tone;

/// A change that was committed.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// `why` is the master's answer, of an action that waits.
    Action {
        action: Box<Action>,
        why: Option<Why>,
    },
    /// `tries_max` is how many attempts the job's retries allow, where it is known.
    Run {
        run: Box<Run>,
        attempt: Option<Box<Attempt>>,
        tries_max: Option<u32>,
    },
    Worker {
        name: String,
        state: String,
    },
    /// So many could not be told.
    Missed(u64),
}

impl Change {
    /// Whether the same may come again: of what has ended no memory is kept.
    fn may_repeat(&self) -> bool {
        match self {
            Self::Action { action, .. } => action.state == "waiting",
            Self::Run { run, .. } => run.ended_at.is_none(),
            Self::Worker { .. } => true,
            Self::Missed(_) => false,
        }
    }
}

/// What a line is about, so that the same is not told twice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Action(i64),
    Run(RunNumber),
    Worker(String),
}

/// Makes the lines.
#[derive(Debug)]
pub(crate) struct Teller {
    style: Style,
    /// The zone of the times of day.
    zone: TimeZone,
    last: BTreeMap<About, String>,
}

impl Teller {
    /// With times of day in `zone`.
    pub(crate) const fn new(style: Style, zone: TimeZone) -> Self {
        Self { style, zone, last: BTreeMap::new() }
    }

    /// The line for a change that was committed at `at`; None: nothing that a person would want to read.
    pub(crate) fn line(&mut self, at: Wall, change: &Change) -> Option<String> {
        let (about, who, (tone, what)) = match change {
            Change::Action { action, why } => {
                let who = name(&action.job, &action.local);
                (About::Action(action.id), who, of_action(action, why.as_ref())?)
            }
            Change::Run { run, attempt, tries_max } => {
                let who = name(&run.job, &run.beside.local);
                (About::Run(run.id), who, of_run(run, attempt.as_deref(), *tries_max, at)?)
            }
            Change::Worker { name, state } => {
                let tone = Tone::of_state(state);
                (About::Worker(name.clone()), format!("worker {name}"), (tone, state.clone()))
            }
            Change::Missed(n) => {
                return Some(format!(
                    "{n} changes came too fast to be told; see `hera get actions`"
                ));
            }
        };
        // A heartbeat is a change, and tells nothing new.
        if self.last.get(&about) == Some(&what) {
            return None;
        }
        let time = at.timestamp().to_zoned_datetime(self.zone.clone()).strftime("%H:%M:%S");
        let time = self.style.paint(Tone::Faint, &time.to_string());
        let line = format!("{time}  {who}  {}", self.style.paint(tone, &what));
        if change.may_repeat() {
            self.last.insert(about, what);
        } else {
            self.last.remove(&about);
        }
        Some(line)
    }
}

/// `group/job@2026-11-30 03:00 -05:00`.
fn name(job: &str, version: &str) -> String {
    format!("{job}@{}", local(version))
}

fn of_action(action: &Action, why: Option<&Why>) -> Option<(Tone, String)> {
    match action.state.as_str() {
        "waiting" => Some(waiting(action, why)),
        "skipped" => Some((Tone::Faint, shown(&action.state, action.reason.as_deref()))),
        // Its run tells the rest.
        _ => None,
    }
}

/// What it waits for next; of one that will not go on by itself, what must be repaired.
fn waiting(action: &Action, why: Option<&Why>) -> (Tone, String) {
    let Some(why) = why else { return (Tone::Waits, "waiting".to_owned()) };
    let zone = &action.beside.zone;
    if why.blocked() {
        return (Tone::Bad, format!("blocked by {}", in_zone(&why.root, zone)));
    }
    let text = match why.path.get(1) {
        Some(next) => format!("waiting for {}", in_zone(next, zone)),
        None => {
            let own = format!("{} ", why.action);
            why.text.strip_prefix(&own).unwrap_or(&why.text).to_owned()
        }
    };
    (Tone::Waits, text)
}

/// `job@version` with the version in local time; as it is where it cannot be read.
fn in_zone(name: &str, zone: &str) -> String {
    let read = |(job, version): (&str, &str)| {
        let instant: jiff::Timestamp = version.parse().ok()?;
        Some(format!("{job}@{}", span::at(Wall::from_ms(instant.as_millisecond()), zone)))
    };
    name.rsplit_once('@').and_then(read).unwrap_or_else(|| name.to_owned())
}

fn of_run(
    run: &Run,
    attempt: Option<&Attempt>,
    tries_max: Option<u32>,
    at: Wall,
) -> Option<(Tone, String)> {
    let tone = Tone::of_state(&run.state);
    let reason = run.reason.as_deref();
    match (run.state.as_str(), reason) {
        ("running", _) => {
            let by_hand = if matches!(run.trigger.as_str(), "schedule" | "event") {
                String::new()
            } else {
                format!(" ({})", run.trigger)
            };
            let again = if run.attempts > 1 {
                format!(", attempt {}", run.attempts)
            } else {
                String::new()
            };
            let worker = run.beside.worker.as_deref().unwrap_or("a worker");
            Some((tone, format!("running on {worker}{again}{by_hand}")))
        }
        ("succeeded", _) => {
            let took = match (run.started_at, run.ended_at) {
                (Some(start), Some(end)) => {
                    format!(" in {}", span(end.0.ms().saturating_sub(start.0.ms())))
                }
                (None, _) | (_, None) => String::new(),
            };
            Some((tone, format!("succeeded{took}")))
        }
        ("failed", _) => Some((tone, failed(run, attempt, tries_max, None))),
        ("cancelled", _) => Some((tone, shown(&run.state, reason))),
        // A takeover: what the old attempt came to, and which one follows.
        ("leased", _) => {
            let ended = attempt.filter(|attempt| attempt.ended_at.is_some())?;
            let (number, state) = (ended.number, &ended.state);
            Some((Tone::Bad, format!("attempt {number} {state}, attempt {} follows", number + 1)))
        }
        ("queued", Some("retry")) => {
            let wait = run.beside.not_before.map(|next| next.0.ms().saturating_sub(at.ms()));
            Some((Tone::Bad, failed(run, attempt, tries_max, wait)))
        }
        ("queued", Some("new") | None) => None,
        ("queued", Some(reason)) => Some((tone, format!("queued again ({reason})"))),
        _ => None,
    }
}

/// `failed: exit 3 (attempt 1 of 3, retry in 5m)`.
fn failed(
    run: &Run,
    attempt: Option<&Attempt>,
    tries_max: Option<u32>,
    retry_in_ms: Option<i64>,
) -> String {
    let word = attempt.map_or(run.reason.as_deref(), |attempt| attempt.reason.as_deref());
    let of_attempt = |attempt: &Attempt| match (attempt.exit_code, attempt.signal) {
        (Some(code), _) => Some(format!("exit {code}")),
        (None, Some(signal)) => Some(format!("signal {signal}")),
        (None, None) => (attempt.state != "failed").then(|| attempt.state.clone()),
    };
    let how = attempt.and_then(of_attempt).or_else(|| word.map(str::to_owned));
    let mut text = how.map_or_else(|| "failed".to_owned(), |how| format!("failed: {how}"));
    if let Some(detail) = attempt.and_then(|attempt| attempt.detail.as_deref()) {
        text.push_str(", ");
        text.push_str(detail);
    }
    let number = attempt.map_or(run.attempts, |attempt| attempt.number);
    let mut parts = Vec::new();
    match tries_max {
        // One try of one says nothing.
        Some(max) if max > 1 && (1..=max).contains(&number) => {
            parts.push(format!("attempt {number} of {max}"))
        }
        Some(_) | None if number > 1 => parts.push(format!("attempt {number}")),
        Some(_) | None => {}
    }
    parts.extend(retry_in_ms.map(|ms| format!("retry in {}", span(ms))));
    if !parts.is_empty() {
        text = format!("{text} ({})", parts.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use hera_common::time::Wall;
    use jiff::tz::TimeZone;

    use super::{Change, Teller};
    use crate::output::Style;
    use crate::output::keys::{
        Action, Attempt, BesideAction, BesideRun, Instant, Run, RunNumber, Why,
    };

    /// 2026-11-30T08:00:00Z.
    const START: i64 = 1_796_025_600_000;

    fn run(state: &str, reason: Option<&str>, attempts: u32) -> Run {
        Run {
            id: RunNumber(42),
            job: "weather/check".to_owned(),
            version: Instant::from_ms(START),
            trigger: "schedule".to_owned(),
            state: state.to_owned(),
            reason: reason.map(str::to_owned),
            revision: 1,
            attempts,
            actor: "system".to_owned(),
            started_at: Some(Instant::from_ms(START + 100)),
            ended_at: matches!(state, "succeeded" | "failed" | "cancelled")
                .then(|| Instant::from_ms(START + 1_300)),
            beside: BesideRun {
                local: "2026-11-30T03:00:00-05:00".to_owned(),
                zone: "America/New_York".to_owned(),
                worker: Some("w1".to_owned()),
                not_before: Some(Instant::from_ms(START + 301_300)),
                counts: true,
                ..BesideRun::default()
            },
        }
    }

    fn attempt(number: u32, exit_code: Option<i32>, state: &str) -> Attempt {
        Attempt {
            run: RunNumber(42),
            job: "weather/check".to_owned(),
            version: Instant::from_ms(START),
            number,
            worker: "w1".to_owned(),
            state: state.to_owned(),
            reason: None,
            exit_code,
            signal: None,
            detail: None,
            fence: 1,
            leased_at: Instant::from_ms(START),
            started_at: None,
            ended_at: None,
            log_bytes: 0,
            late_report: None,
            output: None,
            zone: "UTC".to_owned(),
        }
    }

    fn action(state: &str, reason: Option<&str>) -> Action {
        Action {
            id: 7,
            job: "weather/ready".to_owned(),
            version: Instant::from_ms(START),
            local: "2026-11-30T03:00:00-05:00".to_owned(),
            data_date: "2026-11-30".to_owned(),
            state: state.to_owned(),
            reason: reason.map(str::to_owned),
            held_by: None,
            revision: 1,
            runs: 0,
            bindings: Vec::new(),
            beside: BesideAction { zone: "America/New_York".to_owned(), ..BesideAction::default() },
        }
    }

    fn told(changes: &[Change]) -> String {
        let mut teller = Teller::new(Style::new(false), TimeZone::UTC);
        let at = Wall::from_ms(START + 1_300);
        changes.iter().filter_map(|change| teller.line(at, change)).map(|l| l + "\n").collect()
    }

    #[test]
    fn each_change_of_state_has_one_line() {
        let of_run = |run: Run, attempt: Option<Attempt>| Change::Run {
            run: Box::new(run),
            attempt: attempt.map(Box::new),
            tries_max: Some(3),
        };
        let of_action = |action, why| Change::Action { action: Box::new(action), why };
        let (ready, check) =
            ("weather/ready@2026-11-30T08:00:00Z", "weather/check@2026-11-30T08:00:00Z");
        let why = |code: &str, path: &[&str]| {
            let path: Vec<_> = path.iter().map(|step| (*step).to_owned()).collect();
            Some(Why {
                action: ready.to_owned(),
                code: code.to_owned(),
                text: format!("{ready} is about to be queued"),
                root: path.last().cloned().unwrap_or_default(),
                path,
                expected_start: None,
                state: "waiting".to_owned(),
                zone: String::new(),
            })
        };
        let by_hand = Run { trigger: "manual".to_owned(), ..run("running", None, 1) };
        let ended_at = Some(Instant::from_ms(START));
        let lost = Attempt { ended_at, ..attempt(2, None, "lost") };
        let changes = [
            Change::Worker { name: "dev".to_owned(), state: "online".to_owned() },
            of_action(action("planned", None), None),
            of_action(action("waiting", None), None),
            of_action(action("waiting", None), why("waits_for_upstream", &[ready, check])),
            of_action(action("waiting", None), why("upstream_failed", &[ready, "a@x", check])),
            of_action(action("waiting", None), why("queue_full", &[ready])),
            of_action(action("skipped", Some("late")), None),
            of_run(run("queued", Some("new"), 0), None),
            of_run(run("leased", None, 1), None),
            of_run(run("running", None, 1), None),
            of_run(run("running", None, 1), None),
            of_run(run("queued", Some("retry"), 1), Some(attempt(1, Some(3), "failed"))),
            of_run(run("running", None, 2), None),
            of_run(run("leased", None, 3), Some(lost)),
            of_run(run("leased", None, 3), Some(attempt(3, None, "leased"))),
            of_run(run("queued", Some("released"), 2), None),
            of_run(run("failed", Some("exit"), 3), Some(attempt(3, Some(3), "failed"))),
            of_run(run("failed", Some("timeout"), 4), Some(attempt(4, None, "timed_out"))),
            of_run(run("failed", Some("render"), 0), None),
            of_run(by_hand, None),
            of_run(run("cancelled", Some("by"), 1), None),
            of_run(run("succeeded", None, 1), None),
            Change::Missed(7),
        ];
        expect![[r#"
            08:00:01  worker dev  online
            08:00:01  weather/ready@2026-11-30 03:00 -05:00  waiting
            08:00:01  weather/ready@2026-11-30 03:00 -05:00  waiting for weather/check@2026-11-30 03:00 -05:00
            08:00:01  weather/ready@2026-11-30 03:00 -05:00  blocked by weather/check@2026-11-30 03:00 -05:00
            08:00:01  weather/ready@2026-11-30 03:00 -05:00  is about to be queued
            08:00:01  weather/ready@2026-11-30 03:00 -05:00  skipped(late)
            08:00:01  weather/check@2026-11-30 03:00 -05:00  running on w1
            08:00:01  weather/check@2026-11-30 03:00 -05:00  failed: exit 3 (attempt 1 of 3, retry in 5m)
            08:00:01  weather/check@2026-11-30 03:00 -05:00  running on w1, attempt 2
            08:00:01  weather/check@2026-11-30 03:00 -05:00  attempt 2 lost, attempt 3 follows
            08:00:01  weather/check@2026-11-30 03:00 -05:00  queued again (released)
            08:00:01  weather/check@2026-11-30 03:00 -05:00  failed: exit 3 (attempt 3 of 3)
            08:00:01  weather/check@2026-11-30 03:00 -05:00  failed: timed_out (attempt 4)
            08:00:01  weather/check@2026-11-30 03:00 -05:00  failed: render
            08:00:01  weather/check@2026-11-30 03:00 -05:00  running on w1 (manual)
            08:00:01  weather/check@2026-11-30 03:00 -05:00  cancelled(by)
            08:00:01  weather/check@2026-11-30 03:00 -05:00  succeeded in 1.2s
            7 changes came too fast to be told; see `hera get actions`
        "#]].assert_eq(&told(&changes));
    }
}
