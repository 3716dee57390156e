//! `hera describe`: all that is known of one thing.

use clap::{Args, Subcommand};
use hera_proto::v1;

use super::wire;
use crate::client::{Client, Repeat};
use crate::exit::{Exit, Failure};
use crate::output::keys::WholeCalendar;
use crate::output::keys::action_name;
use crate::output::{WholeAction, WholeRun};
use crate::session::Session;

/// Tell all about one job, group, calendar, action or run
#[derive(Debug, Subcommand)]
pub(crate) enum Describe {
    /// A job: its definition, its neighbours, its next slots
    Job(Job),
    /// A group: its owner, its own config and defaults
    Group(Group),
    /// A calendar: its days, its jobs, its edits
    Calendar(Calendar),
    /// An action: its state, what it waits for, its runs
    Action(Action),
    /// A run: its state, its attempts, and what they left in $HERA_OUTPUT
    Run(Run),
}

#[derive(Debug, Args)]
pub(crate) struct Job {
    /// Its path
    job: String,
}

#[derive(Debug, Args)]
pub(crate) struct Group {
    /// Its path
    group: String,
}

#[derive(Debug, Args)]
pub(crate) struct Calendar {
    /// Its name
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct Action {
    /// JOB, JOB@VERSION, or its number
    action: String,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// r42, or an action for its newest run
    run: String,
}

impl Describe {
    pub(super) async fn execute(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let client = session.client()?;
        match self {
            Self::Job(Job { job }) => {
                let whole = wire::whole_job(job_of(&client, job).await?)?;
                session.out.one(&whole)?;
            }
            Self::Group(Group { group }) => {
                let whole = wire::whole_group(group_of(&client, group).await?)?;
                session.out.one(&whole)?;
            }
            Self::Calendar(Calendar { name }) => {
                session.out.one(&whole_calendar(&client, name).await?)?;
            }
            Self::Action(Action { action }) => {
                let whole = whole_action(&client, action.clone()).await?;
                tell_which(session, &action, &action_name(&whole.action.job, whole.action.version));
                session.out.one(&whole)?;
            }
            Self::Run(Run { run }) => {
                let whole = whole_run(&client, run.clone(), Outputs::Shown).await?;
                tell_which(session, &run, &whole.run.id.to_string());
                session.out.one(&whole)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Says which action or run a job alone meant.
pub(super) fn tell_which(session: &mut Session<'_>, asked: &str, meant: &str) {
    let number = asked.trim_start_matches('r');
    let exact =
        asked.contains('@') || (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    if !exact {
        session.out.note(&format!("{asked} is {meant}"));
    }
}

pub(super) async fn job_of(client: &Client, path: String) -> Result<v1::Job, Failure> {
    let answer = client
        .ask(Repeat::Safe, v1::GetJobRequest { path }, async |channel, request| {
            wire::jobs(channel).get_job(request).await
        })
        .await?;
    wire::need(answer.job, "job")
}

async fn group_of(client: &Client, path: String) -> Result<v1::Group, Failure> {
    let answer = client
        .ask(Repeat::Safe, v1::GetGroupRequest { path }, async |channel, request| {
            wire::groups(channel).get_group(request).await
        })
        .await?;
    wire::need(answer.group, "group")
}

async fn whole_calendar(client: &Client, name: String) -> Result<WholeCalendar, Failure> {
    let answer = client
        .ask(Repeat::Safe, v1::GetCalendarRequest { name }, async |channel, request| {
            wire::calendars(channel).get_calendar(request).await
        })
        .await?;
    let v1::GetCalendarResponse { calendar, days, revisions } = answer;
    let calendar = wire::need(calendar, "calendar")?;
    let spec = wire::document("the definition", &calendar.spec_json)?;
    let revisions = revisions.into_iter().map(wire::calendar_revision).collect::<Result<_, _>>()?;
    Ok(WholeCalendar { calendar: wire::calendar(calendar), days, spec, revisions })
}

async fn whole_action(client: &Client, action: String) -> Result<WholeAction, Failure> {
    let answer = client
        .ask(Repeat::Safe, v1::GetActionRequest { action }, async |channel, request| {
            wire::actions(channel).get_action(request).await
        })
        .await?;
    let v1::GetActionResponse { action, bindings, runs, downstream, more_downstream } = answer;
    let mut action = wire::action(wire::need(action, "action")?);
    action.bindings = bindings.into_iter().map(wire::binding).collect();
    Ok(WholeAction {
        action,
        runs: runs.into_iter().map(wire::run).collect(),
        downstream: downstream.into_iter().map(wire::binding).collect(),
        more_downstream,
    })
}

/// Whether what attempts left in `$HERA_OUTPUT` is asked for, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outputs {
    Shown,
    LeftOut,
}

pub(super) async fn whole_run(
    client: &Client,
    run: String,
    outputs: Outputs,
) -> Result<WholeRun, Failure> {
    let request = v1::GetRunRequest { run, outputs: outputs == Outputs::Shown };
    let answer = client
        .ask(Repeat::Safe, request, async |channel, request| {
            wire::runs(channel).get_run(request).await
        })
        .await?;
    let v1::GetRunResponse { run, attempts } = answer;
    let run = wire::run(wire::need(run, "run")?);
    let attempts = attempts.into_iter().map(|attempt| wire::attempt(attempt, &run)).collect();
    Ok(WholeRun::new(run, attempts))
}
