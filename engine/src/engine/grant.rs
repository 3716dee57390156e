//! Granting: which queued run each free place gets, in the order of the queue; the script is rendered here.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hera_common::attempt::Exit;
use hera_common::id::{Fence, Incarnation, JobId, RunId, Token, WorkerId};
use hera_common::run::{Hold, Run, RunState};
use hera_common::spec::Kind;
use hera_common::time::Boot;

use super::{At, Engine};
use crate::catalog::Job;
use crate::handler::RunReport;
use crate::input::{Grant, Reply, Tag};
use crate::poll::{Poll, until};
use crate::run::RunEvent;
use crate::template::{RenderError, render};

impl Engine {
    /// A worker waits for work.
    pub(super) fn poll(
        &mut self,
        at: &mut At<'_>,
        tag: Tag,
        (worker, incarnation): (WorkerId, Incarnation),
        tokens: Vec<Token>,
    ) {
        let current = self.workers.get_mut(&worker).filter(|w| w.row.incarnation == incarnation);
        let Some(current) = current else {
            // A process that was replaced gets nothing more.
            at.stage.answer(tag, [], Reply::Granted(Vec::new()));
            return;
        };
        current.heard = Some(at.now.boot);
        let listens = tokens.is_empty();
        // The answer to the same tokens was lost: what they hold is told again.
        let mut grants = Vec::new();
        let mut free = BTreeSet::new();
        for token in tokens {
            match self.token_of.get(&token).copied() {
                Some(run) => grants.extend(self.told_again(run, token)),
                None if self.spent.has(token) => {}
                None => {
                    free.insert(token);
                }
            }
        }
        if free.is_empty() && grants.is_empty() && !listens {
            // What these tokens held is over: the worker shall ask with others.
            at.stage.answer(tag, [], Reply::Granted(grants));
            return;
        }
        let wait = if grants.is_empty() { self.settings.poll } else { Duration::ZERO };
        let poll = Poll {
            tag,
            worker,
            incarnation,
            tokens: free.into_iter().collect(),
            grants,
            until: until(at.now.boot, wait),
        };
        if let Some(before) = self.polls.open(poll) {
            at.stage.answer(before.tag, [], Reply::Granted(Vec::new()));
        }
    }

    fn told_again(&self, run: RunId, token: Token) -> Option<Grant> {
        let job = self.run_of.get(&run)?;
        let live = self.handlers.get(job)?.live(run)?;
        let hold = live.run.state.hold()?;
        let definition = self.catalog.jobs.get(job)?;
        if !matches!(live.run.state, RunState::Leased(_)) {
            return None;
        }
        let script = self.script(definition, &live.run).ok()?;
        let about = Assigned { token, fence: hold.fence, unit: None };
        Some(self.grant_of(definition, &live.run, about, script))
    }

    /// Gives away what can be given away.
    pub(super) fn grant_all(&mut self, at: &mut At<'_>) {
        while self.polls.any_free() {
            let Some((run, tag)) = self.choose() else { return };
            self.grant(at, run, tag);
        }
    }

    /// The first run of the queue for which a worker has a free place, and the poll that gets it.
    fn choose(&mut self) -> Option<(RunId, Tag)> {
        let heads: Vec<(Option<String>, RunId)> = self
            .queue
            .heads()
            .into_iter()
            .map(|(group, place)| (group.map(str::to_owned), place.run))
            .collect();
        for (group, run) in heads {
            let workers = &self.workers;
            let fits = |id: WorkerId| {
                workers.get(&id).is_some_and(|worker| {
                    !worker.row.draining
                        && group.as_ref().is_none_or(|group| worker.row.groups.contains(group))
                })
            };
            // A worker on which it has just failed gets it where no other one waits.
            let failed_on = self.failed_on.get(&run).copied();
            let another = self.polls.emptiest(|id| failed_on != Some(id) && fits(id));
            let another = another.map(|poll| poll.tag);
            let tag = another.or_else(|| self.polls.emptiest(fits).map(|poll| poll.tag));
            if let Some(tag) = tag {
                return Some((run, tag));
            }
        }
        None
    }

    fn grant(&mut self, at: &mut At<'_>, id: RunId, tag: Tag) {
        let Some(&job) = self.run_of.get(&id) else {
            self.queue.remove(id);
            return;
        };
        if self.late_for_start(at, job, id) {
            self.start_too_late(at, job, id);
            return;
        }
        let Some(poll) = self.polls.get_mut(tag) else { return };
        let Some(token) = poll.tokens.pop() else { return };
        self.marks.fence = self.marks.fence.next();
        let fence = self.marks.fence;
        let hold = Hold { token, fence, worker: poll.worker, incarnation: poll.incarnation };
        let granted = self.with_handler(at, job, None, |handler, ctx| {
            handler.on_run(ctx, id, RunEvent::Granted(hold), RunReport::default())
        });
        let Some(Ok(unit)) = granted else {
            // The store's clock went back, and its delay is not over after all; or it comes back when it changes.
            self.run_changed(at.now, job, id);
            if self.queue.is_ready(id) {
                self.queue.remove(id);
            }
            if let Some(poll) = self.polls.get_mut(tag) {
                poll.tokens.push(token);
            }
            return;
        };
        self.render_granted(at, (job, id), (token, fence), (unit, tag));
    }

    fn render_granted(
        &mut self,
        at: &mut At<'_>,
        (job, id): (JobId, RunId),
        (token, fence): (Token, Fence),
        (unit, tag): (usize, Tag),
    ) {
        let live = self.handlers.get(&job).and_then(|handler| handler.live(id));
        let (Some(live), Some(definition)) = (live, self.catalog.jobs.get(&job)) else { return };
        match self.script(definition, &live.run) {
            Ok(script) => {
                let about = Assigned { token, fence, unit: Some(unit) };
                let grant = self.grant_of(definition, &live.run, about, script);
                if let Some(poll) = self.polls.get_mut(tag) {
                    poll.grants.push(grant);
                }
            }
            Err(fault) => {
                let exit = Exit { detail: Some(fault.to_string()), ..Exit::default() };
                let report = RunReport { exit, ..RunReport::default() };
                self.with_handler(at, job, Some(unit), |handler, ctx| {
                    handler.on_run_in(ctx, unit, (id, RunEvent::Unrenderable), report)
                });
            }
        }
    }

    fn late_for_start(&self, at: &At<'_>, job: JobId, id: RunId) -> bool {
        let live = self.handlers.get(&job).and_then(|handler| handler.live(id));
        live.is_some_and(|live| {
            live.run.counts.starts == 0
                && live.run.limits.start_by.is_some_and(|by| at.now.wall > by)
        })
    }

    fn script(&self, job: &Job, run: &Run) -> Result<String, RenderError> {
        let Some(spec) = job.spec_of(run) else { return Ok(String::new()) };
        let mut config = spec.config.clone();
        config.extend(run.set.clone());
        render(&spec.script, &config, run.version, &spec.zone)
    }

    fn grant_of(&self, job: &Job, run: &Run, about: Assigned, script: String) -> Grant {
        let spec = job.spec_of(run);
        Grant {
            unit: about.unit,
            run: run.id,
            token: about.token,
            fence: about.fence,
            number: run.counts.attempts,
            job: job.row.path.to_string(),
            version: run.version,
            lease: run.limits.lease,
            timeout: spec.and_then(|spec| spec.policy.timeout),
            kind: spec.map_or(Kind::Noop, |spec| spec.kind),
            script,
            environment: self.environment(job, run, about.fence),
            files: spec.map(|spec| spec.files.clone()).unwrap_or_default(),
        }
    }

    fn environment(&self, job: &Job, run: &Run, fence: Fence) -> BTreeMap<String, String> {
        let handler = self.handlers.get(&run.job);
        let action = handler.and_then(|h| h.entry(run.version)).map(|entry| &entry.action);
        let data_date = action.map(|action| action.data.date.clone()).unwrap_or_default();
        let version = run.version.to_string();
        [
            ("HERA_JOB", job.row.path.to_string()),
            ("HERA_VERSION", version.clone()),
            ("HERA_DATA_DATE", data_date),
            ("HERA_ZONE", job.zone().to_owned()),
            ("HERA_ACTION_ID", run.action.to_string()),
            ("HERA_RUN_ID", run.id.to_string()),
            ("HERA_TRIGGER", run.trigger.label().to_owned()),
            ("HERA_ATTEMPT", run.counts.attempts.to_string()),
            ("HERA_FENCE", fence.to_string()),
            ("HERA_IDEMPOTENCY_KEY", format!("{}@{version}#{}", run.job, run.id)),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
    }

    /// The worker that holds a run shall beat for it at once: its next heartbeat may be ten seconds away.
    pub(super) fn look_at(&mut self, run: RunId) {
        if let Some(&(token, worker)) = self.holder_of.get(&run)
            && let Some(worker) = self.workers.get_mut(&worker)
        {
            worker.look.insert(token);
        }
    }

    /// Answers the polls of workers that shall beat at once, of those that have been given something, and those that have
    /// waited long enough.
    pub(super) fn answer_polls(&mut self, at: &mut At<'_>) {
        self.tell_to_look(at);
        for poll in self.polls.take_answered(at.now.boot) {
            self.heard(poll.worker, at.now.boot);
            let reply = Reply::Granted(poll.grants);
            at.stage.answer(poll.tag, [], reply);
        }
    }

    fn tell_to_look(&mut self, at: &mut At<'_>) {
        let waiting = self.workers.iter_mut().filter(|(_id, worker)| !worker.look.is_empty());
        for (&id, worker) in waiting {
            // One that has been given something hears the rest with its next poll.
            if let Some(poll) = self.polls.take_empty(id) {
                let tokens = std::mem::take(&mut worker.look).into_iter().collect();
                at.stage.answer(poll.tag, [], Reply::Look(tokens));
            }
        }
    }

    /// The worker was heard of.
    pub(super) fn heard(&mut self, worker: WorkerId, boot: Boot) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.heard = Some(boot);
        }
    }
}

/// What a grant carries beside its run.
#[derive(Debug, Clone, Copy)]
struct Assigned {
    token: Token,
    fence: Fence,
    unit: Option<usize>,
}
