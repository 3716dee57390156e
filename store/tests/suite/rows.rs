//! Rows to begin a case with: small, valid, told apart by their numbers. Knows no store.

use std::collections::BTreeMap;
use std::time::Duration;

use hera_common::action::{Action, ActionState, Binding, DataInterval};
use hera_common::attempt::{Attempt, AttemptEnd, AttemptState, Exit};
use hera_common::audit::{Asked, AuditRow};
use hera_common::calendar::CalendarRow;
use hera_common::hand::{Hand, Hands};
use hera_common::id::{
    ActionId, Epoch, Fence, GroupId, Incarnation, JobId, Revision, RunId, Seq, Token, WorkerId,
};
use hera_common::job::{Cursor, Gap, GapReason, GroupRow, JobRow, RevisionRow};
use hera_common::path::Path;
use hera_common::run::{Hold, QueuedWhy, Run, RunCounts, RunEnd, RunLimits, RunState, Trigger};
use hera_common::spec::On;
use hera_common::time::{Version, Wall};
use hera_common::worker::WorkerRow;

/// Everything is made at this instant.
pub(crate) const MADE: Wall = Wall::from_ms(1_770_000_000_000);

/// The slot number `n` of any job: one an hour.
pub(crate) fn version(n: i64) -> Version {
    Version::from_ms(1_769_990_400_000 + n * 3_600_000)
}

pub(crate) fn token(n: u8) -> Token {
    Token::from_bytes([n; 16])
}

pub(crate) fn group(id: i64) -> GroupRow {
    GroupRow {
        id: GroupId::from_raw(id),
        path: Path::parse(&format!("group{id}")).unwrap(),
        spec: r#"{"owner": "team", "config": {}}"#.to_owned(),
        seq: Seq::FIRST,
        hands: hands(),
        created_at: MADE,
    }
}

/// One that changed twice, and a third that has seen it.
fn hands() -> Hands {
    let hand = |source: &str| Hand { source: source.to_owned(), actor: "ada".to_owned(), at: MADE };
    let mut hands = Hands::first(hand("/srv/jobs \"a\""));
    hands.change(hand("ci"));
    hands.see("/home/b/jöbs");
    hands
}

pub(crate) fn job(id: i64) -> JobRow {
    JobRow {
        id: JobId::from_raw(id),
        path: Path::parse(&format!("group/job{id}")).unwrap(),
        revision: Revision::from_raw(1),
        seq: Seq::FIRST,
        open: true,
        parked: None,
        hands: hands(),
        created_at: MADE,
        deleted_at: None,
    }
}

pub(crate) fn revision(job: i64, number: i64) -> RevisionRow {
    RevisionRow {
        job: JobId::from_raw(job),
        revision: Revision::from_raw(number),
        since: version(number),
        // The order of keys and the spaces are the writer's, and come back as they were.
        spec: format!(r#"{{"z":  "{number}", "a": "ä\u0041"}}"#),
        actor: "ada".to_owned(),
        why: String::new(),
        source: "ci".to_owned(),
        created_at: MADE,
    }
}

/// An edit of a calendar; an even one takes it away.
pub(crate) fn calendar(name: &str, number: i64) -> CalendarRow {
    CalendarRow {
        name: name.to_owned(),
        revision: Revision::from_raw(number),
        since: version(number),
        spec: (number % 2 == 1).then(|| r#"{"weekly":  ["SUN"], "days": []}"#.to_owned()),
        actor: "ada".to_owned(),
        why: "a new year".to_owned(),
        created_at: MADE,
    }
}

pub(crate) fn cursor(job: i64) -> Cursor {
    Cursor {
        job: JobId::from_raw(job),
        decided_to: version(0),
        planned_to: version(0),
        seq: Seq::FIRST,
    }
}

pub(crate) fn gap(job: i64, from: i64, to: i64) -> Gap {
    Gap {
        job: JobId::from_raw(job),
        from: version(from),
        to: version(to),
        count: u64::try_from(to - from + 1).unwrap(),
        reason: GapReason::Late,
        created_at: MADE,
    }
}

/// A planned action of a job for slot `slot`.
pub(crate) fn action(id: i64, job: i64, slot: i64) -> Action {
    Action {
        id: ActionId::from_raw(id),
        job: JobId::from_raw(job),
        version: version(slot),
        zone: "Asia/Shanghai".to_owned(),
        data: DataInterval {
            from: version(slot - 1),
            to: version(slot),
            date: "2026-02-01".to_owned(),
        },
        state: ActionState::PLANNED,
        outcome: None,
        counted_run: None,
        live_run: None,
        runs: 0,
        revision: Revision::from_raw(1),
        seq: Seq::FIRST,
        actor: String::new(),
        created_at: MADE,
        decided_at: None,
        ended_at: None,
    }
}

pub(crate) fn binding(upstream: i64, slot: i64) -> Binding {
    Binding { upstream: JobId::from_raw(upstream), version: version(slot), on: On::Success }
}

/// The action after its next change.
pub(crate) fn with_state(action: &Action, state: ActionState) -> Action {
    let mut next = action.clone();
    next.seq = action.seq.next();
    next.state = state;
    if let ActionState::Ended(end) = state {
        next.outcome = Some(end);
        next.ended_at = Some(MADE);
        next.live_run = None;
    }
    next
}

/// The action with a live run that counts.
pub(crate) fn active(action: &Action, run: i64) -> Action {
    let mut next = with_state(action, ActionState::Active);
    next.live_run = Some(RunId::from_raw(run));
    next.runs += 1;
    next.decided_at = Some(MADE);
    next
}

/// The first, queued, exclusive run of an action.
pub(crate) fn run(id: i64, action: &Action) -> Run {
    Run {
        id: RunId::from_raw(id),
        action: action.id,
        job: action.job,
        version: action.version,
        number: 1,
        trigger: Trigger::Schedule,
        actor: "system".to_owned(),
        why: "it is time".to_owned(),
        revision: Revision::from_raw(1),
        set: BTreeMap::new(),
        urgency: 3,
        exclusive: true,
        limits: RunLimits {
            lease: Duration::from_secs(300),
            retries: 1,
            restarts: 2,
            at_most_once: false,
            start_by: None,
        },
        state: RunState::Queued { not_before: MADE, why: QueuedWhy::New },
        hb_seq: Seq::FIRST,
        counts: RunCounts::default(),
        cancel: None,
        final_token: None,
        queued_at: MADE,
        started_at: None,
        ended_at: None,
    }
}

pub(crate) fn hold(fence: i64) -> Hold {
    Hold {
        token: token(u8::try_from(fence).unwrap()),
        fence: Fence::from_raw(fence),
        worker: WorkerId::from_raw(1),
        incarnation: Incarnation::from_raw(1),
    }
}

/// The run after its next grant, under the fence `fence`.
pub(crate) fn leased(run: &Run, fence: i64) -> Run {
    let mut next = run.clone();
    next.hb_seq = run.hb_seq.next();
    next.counts.attempts += 1;
    next.state = RunState::Leased(hold(fence));
    next
}

/// A leased run after its Start.
pub(crate) fn running(run: &Run) -> Run {
    let mut next = run.clone();
    next.hb_seq = run.hb_seq.next();
    next.counts.starts += 1;
    next.state = RunState::Running(run.state.hold().unwrap());
    next.started_at = Some(MADE);
    next
}

/// A held run after a heartbeat.
pub(crate) fn renewed(run: &Run) -> Run {
    Run { hb_seq: run.hb_seq.next(), ..run.clone() }
}

/// A run after its end.
pub(crate) fn ended(run: &Run, end: RunEnd) -> Run {
    let mut next = run.clone();
    next.hb_seq = run.hb_seq.next();
    next.final_token = run.state.hold().map(|hold| hold.token);
    next.state = RunState::Ended(end);
    next.ended_at = Some(MADE);
    next
}

/// The attempt of a leased run.
pub(crate) fn attempt(run: &Run) -> Attempt {
    let hold = run.state.hold().unwrap();
    Attempt {
        fence: hold.fence,
        run: run.id,
        number: run.counts.attempts,
        token: hold.token,
        worker: hold.worker,
        incarnation: hold.incarnation,
        epoch: Epoch::from_raw(1),
        state: AttemptState::Leased,
        leased_at: MADE,
        started_at: None,
        late_report: None,
    }
}

pub(crate) fn started(attempt: &Attempt) -> Attempt {
    Attempt { state: AttemptState::Started, started_at: Some(MADE), ..attempt.clone() }
}

pub(crate) fn attempt_ended(attempt: &Attempt, end: AttemptEnd) -> Attempt {
    let exit = Exit { code: Some(0), signal: None, detail: Some("all is well".to_owned()) };
    Attempt { state: AttemptState::Ended { end, exit, ended_at: MADE }, ..attempt.clone() }
}

pub(crate) fn worker(id: i64) -> WorkerRow {
    WorkerRow {
        id: WorkerId::from_raw(id),
        name: format!("worker{id}"),
        incarnation: Incarnation::from_raw(1),
        state_id: format!("{id:032x}"),
        instance_id: format!("{:032x}", id + 1),
        groups: vec!["default".to_owned(), "big \"box\"".to_owned()],
        labels: vec!["zone=a".to_owned()],
        capacity: 8,
        program: "0.1.0".to_owned(),
        draining: false,
        registered_at: MADE,
        seq: Seq::FIRST,
    }
}

pub(crate) fn audit(n: i64, subject: &str) -> AuditRow {
    AuditRow {
        at: Wall::from_ms(MADE.ms() + n),
        asked: Asked { actor: "ada".to_owned(), why: format!("reason {n}") },
        verb: "apply".to_owned(),
        subject: subject.to_owned(),
        old: (n > 1).then(|| r#"{"open": true}"#.to_owned()),
        new: Some(r#"{"open":false}"#.to_owned()),
    }
}
