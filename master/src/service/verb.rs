//! What people do to actions: run, recover, cancel. The engine decides; here the action is found and the answer is shown.

use std::collections::BTreeMap;

use hera_common::audit::Asked;
use hera_common::snapshot::BoundAction;
use hera_engine::input::{Input, Reply, RunMade};

use super::Service;
use super::fault::Fault;
use super::reference::{self, ActionName, At};
use super::shown::{Shower, ShownAction, ShownRun};
use crate::desk::Unanswered;
use crate::role::Lead;

/// A run that was made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) action: ShownAction,
    pub(crate) run: ShownRun,
    pub(crate) notes: Vec<String>,
}

/// A cancellation on its way.
#[derive(Debug)]
pub(crate) struct Cancelled {
    pub(crate) action: ShownAction,
    /// A worker still has to kill it.
    pub(crate) pending: bool,
}

impl Service {
    /// A manual run; of a job without schedule and edges, named alone, a new action and its counting run.
    pub(crate) async fn run_action(
        &self,
        asked: Asked,
        name: &str,
        set: BTreeMap<String, String>,
    ) -> Result<Made, Fault> {
        let lead = self.lead()?;
        let catalog = lead.catalog();
        let parsed = reference::action(name).map_err(|p| Fault::invalid("action", p))?;
        if let ActionName::Of { job, at: At::Unsaid } = &parsed {
            let job = self.find_job(&catalog, job)?;
            if job.by_hand() {
                let input = Input::RunNow { asked, job: job.row.id, set };
                return self.made(input).await;
            }
        }
        let action = Box::new(self.action_of(&catalog, "action", &parsed).await?);
        self.made(Input::Run { asked, action, set }).await
    }

    /// A counting run with the newest revision.
    pub(crate) async fn recover_action(&self, asked: Asked, name: &str) -> Result<Made, Fault> {
        let catalog = self.catalog()?;
        let action = Box::new(self.find_action(&catalog, "action", name).await?);
        self.made(Input::Recover { asked, action }).await
    }

    /// Asks the engine for something that people want done.
    pub(super) async fn decide(lead: &Lead, input: Input) -> Result<Reply, Fault> {
        match lead.desk.ask(input).await {
            Err(Unanswered::LeftOut) => {
                Err(Fault::Stale("it changed meanwhile, try again".to_owned()))
            }
            told => Ok(told?),
        }
    }

    async fn made(&self, input: Input) -> Result<Made, Fault> {
        let lead = self.lead()?;
        let Reply::RunMade(made) = Self::decide(&lead, input).await? else {
            return Err(Fault::OtherReply);
        };
        let RunMade { action, run, notes } = *made?;
        // Read anew: the run may have made a job known, or a worker.
        let catalog = lead.catalog();
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let shown_run = shower.run_of(run.clone(), &action);
        Ok(Made { action: shower.action(action, Some(run)), run: shown_run, notes })
    }

    /// Ends the live run, or the action that waits.
    pub(crate) async fn cancel_action(&self, asked: Asked, name: &str) -> Result<Cancelled, Fault> {
        let lead = self.lead()?;
        let catalog = lead.catalog();
        let action = Box::new(self.find_action(&catalog, "action", name).await?);
        let bindings = action.bindings.clone();
        let input = Input::Cancel { asked, action };
        let Reply::Cancelled(cancelled) = Self::decide(&lead, input).await? else {
            return Err(Fault::OtherReply);
        };
        let cancelled = *cancelled?;
        let shower = Shower::new(&lead, &catalog, self.now().wall);
        let bound = BoundAction { action: cancelled.action, bindings };
        let action = self.shown_action(bound, &shower).await?;
        Ok(Cancelled { action, pending: cancelled.pending })
    }
}
