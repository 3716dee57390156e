//! What people ask for one action: handed to the handler of its job.

use std::collections::BTreeMap;

use hera_common::audit::Asked;
use hera_common::id::JobId;
use hera_common::snapshot::BoundAction;
use hera_common::time::Version;

use super::generate::stored;
use super::{At, Engine};
use crate::handler::Want;
use crate::input::{Refusal, RefusalKind, Reply, RunMade, Tag};
use crate::plan::data_interval;

impl Engine {
    pub(super) fn manual(
        &mut self,
        at: &mut At<'_>,
        tag: Tag,
        asked: &Asked,
        action: BoundAction,
        set: BTreeMap<String, String>,
    ) {
        let job = action.action.job;
        let told = self
            .with_handler(at, job, None, |handler, ctx| handler.on_manual(ctx, action, asked, set));
        answer_made(at, tag, told);
    }

    pub(super) fn recover(
        &mut self,
        at: &mut At<'_>,
        tag: Tag,
        asked: &Asked,
        action: BoundAction,
    ) {
        let job = action.action.job;
        let told =
            self.with_handler(at, job, None, |handler, ctx| handler.on_recover(ctx, action, asked));
        answer_made(at, tag, told);
    }

    pub(super) fn cancel(&mut self, at: &mut At<'_>, tag: Tag, asked: &Asked, action: BoundAction) {
        let job = action.action.job;
        let told =
            self.with_handler(at, job, None, |handler, ctx| handler.on_cancel(ctx, action, asked));
        match told.unwrap_or_else(|| Err(no_job())) {
            Ok((unit, cancelled)) => {
                if let Some(run) = cancelled.action.live_run.filter(|_run| cancelled.pending) {
                    self.look_at(run);
                }
                at.stage.answer(tag, [unit], Reply::Cancelled(Ok(Box::new(cancelled))));
            }
            Err(refusal) => at.stage.answer(tag, [], Reply::Cancelled(Err(refusal))),
        }
    }

    pub(super) fn run_now(
        &mut self,
        at: &mut At<'_>,
        tag: Tag,
        asked: &Asked,
        (job, set): (JobId, BTreeMap<String, String>),
    ) {
        let node = self.catalog.nodes.get(&job);
        let by_hand = self.catalog.jobs.get(&job).is_some_and(|job| job.by_hand());
        let Some(node) = node.filter(|_node| by_hand) else {
            let problem = "only a job without schedule and edges makes an action by hand";
            let refusal = Refusal::conflict("action", problem);
            at.stage.answer(tag, [], Reply::RunMade(Err(refusal)));
            return;
        };
        let version = Version::at(at.now.wall);
        let data = stored(&data_interval(&node.zone, node.data, version));
        let want = Want { version, data, edges: Vec::new() };
        let told = self
            .with_handler(at, job, None, |handler, ctx| handler.on_run_now(ctx, want, asked, set));
        if let Some(Ok((_unit, made))) = &told {
            self.made_by_hand(job, made.action.version);
        }
        answer_made(at, tag, told);
    }
}

fn answer_made(at: &mut At<'_>, tag: Tag, told: Option<Result<(usize, RunMade), Refusal>>) {
    match told.unwrap_or_else(|| Err(no_job())) {
        Ok((unit, made)) => at.stage.answer(tag, [unit], Reply::RunMade(Ok(Box::new(made)))),
        Err(refusal) => at.stage.answer(tag, [], Reply::RunMade(Err(refusal))),
    }
}

fn no_job() -> Refusal {
    Refusal::of(RefusalKind::NotFound, "action", "its job is deleted")
}
