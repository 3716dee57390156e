//! What workers say of what they hold: Start, Heartbeat, Finish, Release, Register. Every verdict on a token is given from a
//! unit that proves both the row and the leadership.

use std::collections::BTreeSet;

use hera_common::attempt::{AttemptEnd, Exit};
use hera_common::id::{Incarnation, JobId, RunId, Seq, Token, WorkerId};
use hera_common::run::{FailReason, Run, RunState};
use hera_common::unit::{Put, Write};
use hera_common::worker::WorkerRow;

use super::{At, Engine, Worker};
use crate::handler::RunReport;
use crate::input::{
    Change, Finish, Refusal, RefusalKind, Registered, Registration, Release, ReleaseCause, Reply,
    Tag, Verdict, VerdictKind,
};
use crate::run::{RunEvent, retry_delay};

impl Engine {
    pub(super) fn start(&mut self, at: &mut At<'_>, tag: Tag, items: &[(RunId, Token)]) {
        let verdicts = items
            .iter()
            .map(|&(id, token)| match self.held(id, token) {
                Some((job, run)) if run.cancel.is_some() => {
                    self.believed(at, (job, id), token, VerdictKind::Cancel)
                }
                Some((job, run)) => {
                    let ok = VerdictKind::Ok { lease: run.limits.lease };
                    self.told(at, (job, id), token, RunEvent::Started { token }, ok)
                }
                None => self.not_held(at, id, token),
            })
            .collect();
        at.stage.answer(tag, [], Reply::Verdicts(verdicts));
    }

    pub(super) fn heartbeat(
        &mut self,
        at: &mut At<'_>,
        tag: Tag,
        items: &[(RunId, Token)],
        kill_failed: &[(RunId, Token)],
    ) {
        for &(id, token) in kill_failed {
            if let Some((job, _run)) = self.held(id, token)
                && let Some(handler) = self.handlers.get_mut(&job)
            {
                handler.mark_kill_failed(id);
            }
        }
        let verdicts = items
            .iter()
            .map(|&(id, token)| match self.held(id, token) {
                Some((job, run)) if matches!(run.state, RunState::Running(_)) => {
                    let kind = match run.cancel {
                        Some(_reason) => VerdictKind::Cancel,
                        None => VerdictKind::Ok { lease: run.limits.lease },
                    };
                    self.told(at, (job, id), token, RunEvent::Renewed { token }, kind)
                }
                // Granted and not started: nothing runs that a beat could be for.
                Some((job, _run)) => self.believed(at, (job, id), token, VerdictKind::Lost),
                None => self.not_held(at, id, token),
            })
            .collect();
        at.stage.answer(tag, [], Reply::Verdicts(verdicts));
    }

    pub(super) fn finish(&mut self, at: &mut At<'_>, tag: Tag, items: Vec<Finish>) {
        let verdicts = items
            .into_iter()
            .map(|Finish { run: id, token, end, exit, output }| {
                let Some((job, run)) = self.held(id, token) else {
                    return self.not_held(at, id, token);
                };
                if !matches!(run.state, RunState::Running(_)) {
                    return self.believed(at, (job, id), token, VerdictKind::Fenced);
                }
                let lease = run.limits.lease;
                let retry_in = self.retry_in(at, job, id, end, &exit);
                let event = RunEvent::Finished { token, end, retry_in };
                let report = RunReport { exit, output };
                self.reported(at, (job, id), token, (event, report), VerdictKind::Ok { lease })
            })
            .collect();
        at.stage.answer(tag, [], Reply::Verdicts(verdicts));
    }

    fn retry_in(
        &mut self,
        at: &mut At<'_>,
        job: JobId,
        id: RunId,
        end: AttemptEnd,
        exit: &Exit,
    ) -> Option<std::time::Duration> {
        let code = match end {
            AttemptEnd::Failed(FailReason::Spawn)
            | AttemptEnd::Succeeded
            | AttemptEnd::Interrupted
            | AttemptEnd::Cancelled
            | AttemptEnd::Lost
            | AttemptEnd::Unaccepted => return None,
            AttemptEnd::Failed(_) | AttemptEnd::TimedOut | AttemptEnd::NotYet => exit.code,
        };
        let run = &self.handlers.get(&job)?.live(id)?.run;
        let retries = &self.catalog.jobs.get(&job)?.spec_of(run)?.policy.retries;
        let quarter = u32::try_from(at.chance.bits() % 250_000).unwrap_or(0);
        retry_delay(retries, run.counts.failures, code, quarter)
    }

    pub(super) fn release(&mut self, at: &mut At<'_>, tag: Tag, items: Vec<Release>) {
        let verdicts = items
            .into_iter()
            .map(|Release { run: id, token, cause, detail }| {
                let Some((job, run)) = self.held(id, token) else {
                    return self.not_held(at, id, token);
                };
                let lease = run.limits.lease;
                let detail = (!detail.is_empty()).then_some(detail);
                let exit = Exit { detail, ..Exit::default() };
                let event = RunEvent::Released { token, cause };
                let report = RunReport { exit, ..RunReport::default() };
                self.reported(at, (job, id), token, (event, report), VerdictKind::Ok { lease })
            })
            .collect();
        at.stage.answer(tag, [], Reply::Verdicts(verdicts));
    }

    /// The run, if this token is on it.
    fn held(&self, id: RunId, token: Token) -> Option<(JobId, Run)> {
        let job = *self.run_of.get(&id)?;
        let run = &self.handlers.get(&job)?.live(id)?.run;
        (run.state.hold()?.token == token).then(|| (job, run.clone()))
    }

    fn told(
        &mut self,
        at: &mut At<'_>,
        of: (JobId, RunId),
        token: Token,
        event: RunEvent,
        kind: VerdictKind,
    ) -> Verdict {
        self.reported(at, of, token, (event, RunReport::default()), kind)
    }

    fn reported(
        &mut self,
        at: &mut At<'_>,
        (job, id): (JobId, RunId),
        token: Token,
        (event, report): (RunEvent, RunReport),
        kind: VerdictKind,
    ) -> Verdict {
        if let Some(&(_token, worker)) = self.holder_of.get(&id) {
            self.heard(worker, at.now.boot);
            if came_to_nothing(event) {
                self.failed_on.insert(id, worker);
            }
        }
        let told =
            self.with_handler(at, job, None, |handler, ctx| handler.on_run(ctx, id, event, report));
        match told {
            Some(Ok(unit)) => Verdict { run: id, token, unit: Some(unit), kind },
            Some(Err(_)) | None => self.believed(at, (job, id), token, VerdictKind::Lost),
        }
    }

    /// A verdict that changes nothing, proved by a unit that writes nothing.
    fn believed(
        &mut self,
        at: &mut At<'_>,
        (job, id): (JobId, RunId),
        token: Token,
        kind: VerdictKind,
    ) -> Verdict {
        let live = self.handlers.get(&job).and_then(|handler| handler.live(id));
        match live {
            Some(live) => {
                let unit = Some(at.stage.believe(&live.run));
                Verdict { run: id, token, unit, kind }
            }
            None => Verdict { run: id, token, unit: None, kind: VerdictKind::Look },
        }
    }

    /// The token is not on the run: it is another's, or the run has ended; only the store's row can say.
    fn not_held(&mut self, _at: &mut At<'_>, id: RunId, token: Token) -> Verdict {
        Verdict { run: id, token, unit: None, kind: VerdictKind::Look }
    }

    /// A worker's process says who it is.
    pub(super) fn register(&mut self, at: &mut At<'_>, tag: Tag, new: Registration) {
        let known = self.workers.values().find(|worker| worker.row.name == new.name);
        let known = known.map(|worker| worker.row.id);
        match known {
            Some(id) => self.register_again(at, tag, id, new),
            None => self.register_first(at, tag, new),
        }
    }

    fn register_first(&mut self, at: &mut At<'_>, tag: Tag, new: Registration) {
        self.marks.worker = self.marks.worker.next();
        let row = WorkerRow {
            id: self.marks.worker,
            name: new.name,
            incarnation: Incarnation::from_raw(1),
            state_id: new.state_id,
            instance_id: new.instance_id,
            groups: new.groups,
            labels: new.labels,
            capacity: new.capacity,
            program: new.program,
            draining: false,
            registered_at: at.now.wall,
            seq: Seq::FIRST,
        };
        let unit = at.stage.unit(None);
        at.stage.write(unit, Write::Worker(Put::Insert, Box::new(row.clone())));
        let registered = Registered { worker: row.id, incarnation: row.incarnation };
        let change = Change::Worker { name: row.name.clone(), state: "online" };
        at.stage.changed(unit, change);
        let heard = Some(at.now.boot);
        let (held, look) = (BTreeSet::new(), BTreeSet::new());
        let takes_nothing = String::new();
        let worker = Worker { heard, gone: false, held, takes_nothing, look, row };
        self.workers.insert(worker.row.id, worker);
        at.stage.answer(tag, [unit], Reply::Registered(Ok(registered)));
    }

    fn register_again(&mut self, at: &mut At<'_>, tag: Tag, id: WorkerId, new: Registration) {
        let here =
            self.workers.get(&id).is_some_and(|worker| self.may_be_here(worker, at.now.boot));
        let Some(worker) = self.workers.get_mut(&id) else { return };
        let stranger = worker.row.state_id != new.state_id;
        if stranger && here {
            // Neither may take the name from the other: they would for ever.
            let problem = format!(
                "another worker named {} is there: give this one another name, or wait until that one is gone",
                new.name
            );
            let refusal = Refusal::of(RefusalKind::AlreadyExists, "header.name", problem);
            at.stage.answer(tag, [], Reply::Registered(Err(refusal)));
            return;
        }
        if stranger && !worker.held.is_empty() {
            let problem = format!(
                "another worker named {} holds {} attempts: give this one another name, or wait until they have ended",
                new.name,
                worker.held.len()
            );
            let refusal = Refusal::of(RefusalKind::AlreadyExists, "header.name", problem);
            at.stage.answer(tag, [], Reply::Registered(Err(refusal)));
            return;
        }
        let another = worker.row.instance_id != new.instance_id;
        let late = another && starts_before(&new.instance_id, &worker.row.instance_id);
        if !stranger && late && !worker.held.is_empty() {
            // Late, from a process that has been replaced: what the present one holds must not be taken from it.
            let problem = format!("a later process of worker {} has registered", new.name);
            let refusal = Refusal::of(RefusalKind::Stale, "header.instance_id", problem);
            at.stage.answer(tag, [], Reply::Registered(Err(refusal)));
            return;
        }
        if another {
            worker.row.incarnation = worker.row.incarnation.next();
            worker.row.registered_at = at.now.wall;
        }
        worker.heard = Some(at.now.boot);
        worker.gone = false;
        worker.takes_nothing.clear();
        worker.look.clear();
        let row = &mut worker.row;
        row.state_id = new.state_id;
        row.instance_id = new.instance_id;
        row.groups = new.groups;
        row.labels = new.labels;
        row.capacity = new.capacity;
        row.program = new.program;
        row.draining = false;
        let unit = at.stage.unit(None);
        at.stage.update_worker(unit, row);
        let registered = Registered { worker: id, incarnation: row.incarnation };
        let change = Change::Worker { name: row.name.clone(), state: "online" };
        at.stage.changed(unit, change);
        if another {
            // Its earlier process listens no more: what a poll of it were given would wait for nobody.
            for poll in self.polls.close_worker(id) {
                at.stage.answer(poll.tag, [], Reply::Granted(Vec::new()));
            }
        }
        let returned = self.left_behind(id, &new.keep);
        for (job, run) in returned {
            self.with_handler(at, job, Some(unit), |handler, ctx| {
                let exit = Exit { detail: Some("worker restarted".to_owned()), ..Exit::default() };
                let report = RunReport { exit, ..RunReport::default() };
                handler.on_run(ctx, run, RunEvent::WorkerReturned, report)
            });
        }
        at.stage.answer(tag, [unit], Reply::Registered(Ok(registered)));
    }

    /// Runs that older processes of the worker held, and whose ends it does not bring.
    fn left_behind(&self, id: WorkerId, keep: &[Token]) -> Vec<(JobId, RunId)> {
        let Some(worker) = self.workers.get(&id) else { return Vec::new() };
        let current = worker.row.incarnation;
        let lost = worker.held.iter().filter_map(|run| {
            let job = *self.run_of.get(run)?;
            let hold = self.handlers.get(&job)?.live(*run)?.run.state.hold()?;
            let left = hold.incarnation < current && !keep.contains(&hold.token);
            left.then_some((job, *run))
        });
        lost.collect()
    }

    /// A worker drains, or is gone.
    pub(super) fn deregister(
        &mut self,
        at: &mut At<'_>,
        tag: Tag,
        (id, incarnation): (WorkerId, Incarnation),
        gone: bool,
    ) {
        for poll in self.polls.close_worker(id) {
            at.stage.answer(poll.tag, [], Reply::Granted(Vec::new()));
        }
        let worker = self.workers.get_mut(&id).filter(|w| w.row.incarnation == incarnation);
        let Some(worker) = worker else {
            at.stage.answer(tag, [], Reply::Done);
            return;
        };
        worker.heard = Some(at.now.boot);
        worker.gone = gone;
        worker.row.draining = true;
        let unit = at.stage.unit(None);
        at.stage.update_worker(unit, &mut worker.row);
        let state = if gone { "gone" } else { "draining" };
        at.stage.changed(unit, Change::Worker { name: worker.row.name.clone(), state });
        at.stage.answer(tag, [unit], Reply::Done);
    }
}

/// True where another worker may do better.
const fn came_to_nothing(event: RunEvent) -> bool {
    match event {
        RunEvent::Finished { end, .. } => match end {
            AttemptEnd::Failed(_) | AttemptEnd::TimedOut => true,
            AttemptEnd::Succeeded
            | AttemptEnd::Cancelled
            | AttemptEnd::NotYet
            | AttemptEnd::Interrupted
            | AttemptEnd::Lost
            | AttemptEnd::Unaccepted => false,
        },
        RunEvent::Released { cause, .. } => matches!(cause, ReleaseCause::Declined),
        RunEvent::NotTaken => true,
        RunEvent::Granted(_)
        | RunEvent::Started { .. }
        | RunEvent::Renewed { .. }
        | RunEvent::Expired
        | RunEvent::WorkerReturned
        | RunEvent::Cancel(_)
        | RunEvent::Unrenderable => false,
    }
}

/// True where the first process started before the second one: their ids begin with the number of the start, `7-…`. Of
/// other ids nobody can tell.
fn starts_before(first: &str, second: &str) -> bool {
    let number =
        |id: &str| id.split_once('-').and_then(|(start, _random)| start.parse::<u64>().ok());
    number(first).zip(number(second)).is_some_and(|(first, second)| first < second)
}
