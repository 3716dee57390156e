//! Lists for people: the filters as conditions, in the database.

use hera_common::action::{Action, ActivePart};
use hera_common::id::JobId;
use hera_common::run::{Run, Trigger};
use hera_common::time::Wall;

use super::ask::{Ask, Bind, ListForm};
use super::catalog;
use super::cells::{Reader, Unreadable};
use super::row;
use crate::read::{
    ActionFilter, ActionPage, ActionStates, Page, RunFilter, RunPage, RunStates, RunView,
};
use crate::{StoreError, mark};

/// The statement of a page of actions. It asks for one row more than the page has, to know whether it goes on.
pub(crate) fn actions<'a>(
    filter: &'a ActionFilter,
    page: &Page,
    form: ListForm,
) -> Result<Ask<'a>, StoreError> {
    let ActionFilter { jobs, states, now, reasons, from, to, data_date, triggers } = filter;
    let mut ask = Ask::of(catalog::ACTION_LIST);
    if let Some(jobs) = jobs {
        ask.push_in(" AND a.job_id", of_jobs(jobs), form);
    }
    any_of(&mut ask, states, |ask, state| action_state(ask, state, *now));
    if !reasons.is_empty() {
        let words = reasons.iter().map(String::as_str).collect();
        ask.push_in(" AND a.reason", Bind::Texts(words), form);
    }
    if let Some(from) = from {
        ask.push_bind(" AND a.version >= ", Bind::Int(from.ms()));
    }
    if let Some(to) = to {
        ask.push_bind(" AND a.version < ", Bind::Int(to.ms()));
    }
    if let Some(date) = data_date {
        ask.push_bind(" AND a.data_date = ", text(date));
    }
    if !triggers.is_empty() {
        let some =
            " AND EXISTS (SELECT 1 FROM run t WHERE t.action_id = a.action_id AND t.trigger_kind";
        ask.push_in(some, of_triggers(triggers), form);
        ask.push(")");
    }
    if let Some(after) = &page.after {
        let (version, id) = mark::read_action(after)?;
        ask.push_bind(" AND (a.version, a.action_id) < (", Bind::Int(version.ms()));
        ask.push_bind(", ", Bind::Int(id.raw()));
        ask.push(")");
    }
    ask.push(" ORDER BY a.version DESC, a.action_id DESC");
    ask.push_bind(" LIMIT ", Bind::Int(i64::from(page.limit) + 1));
    Ok(ask)
}

/// Makes a page of the rows that [`actions`] asked for.
pub(crate) fn action_page(mut rows: Vec<(Action, Option<Run>)>, page: &Page) -> ActionPage {
    let more = cut(&mut rows, page);
    let last = rows.last().filter(|_| more);
    let next = last.map(|(action, _)| mark::action(action.version, action.id));
    ActionPage { actions: rows, next }
}

/// Reads an action with its live run.
pub(crate) fn action_and_run(reader: &mut Reader<'_>) -> Result<(Action, Option<Run>), Unreadable> {
    let action = row::action(reader)?;
    let live = reader.flag()?;
    Ok((action, if live { Some(row::run(reader)?) } else { None }))
}

/// The statement of a page of runs; as [`actions`] it asks for one row more.
pub(crate) fn runs<'a>(
    filter: &'a RunFilter,
    page: &Page,
    form: ListForm,
) -> Result<Ask<'a>, StoreError> {
    let RunFilter { jobs, action, states, reasons, triggers, from, to } = filter;
    let mut ask = Ask::of(catalog::RUN_LIST);
    if let Some(jobs) = jobs {
        ask.push_in(" AND r.job_id", of_jobs(jobs), form);
    }
    if let Some(action) = action {
        ask.push_bind(" AND r.action_id = ", Bind::Int(action.raw()));
    }
    any_of(&mut ask, states, run_state);
    if !reasons.is_empty() {
        let words = reasons.iter().map(String::as_str).collect();
        ask.push_in(" AND r.reason", Bind::Texts(words), form);
    }
    if let Some(from) = from {
        ask.push_bind(" AND r.version >= ", Bind::Int(from.ms()));
    }
    if let Some(to) = to {
        ask.push_bind(" AND r.version < ", Bind::Int(to.ms()));
    }
    if !triggers.is_empty() {
        ask.push_in(" AND r.trigger_kind", of_triggers(triggers), form);
    }
    if let Some(after) = &page.after {
        ask.push_bind(" AND r.run_id < ", Bind::Int(mark::read_run(after)?.raw()));
    }
    ask.push(" ORDER BY r.run_id DESC");
    ask.push_bind(" LIMIT ", Bind::Int(i64::from(page.limit) + 1));
    Ok(ask)
}

/// Makes a page of the rows that [`runs`] asked for.
pub(crate) fn run_page(mut runs: Vec<RunView>, page: &Page) -> RunPage {
    let more = cut(&mut runs, page);
    let next = runs.last().filter(|_| more).map(|view| mark::run(view.run.id));
    RunPage { runs, next }
}

/// Cuts the row that only tells that the list goes on; whether it does.
fn cut<T>(rows: &mut Vec<T>, page: &Page) -> bool {
    let most = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let more = rows.len() > most;
    rows.truncate(most);
    more
}

/// Reads a run with what its worker and its action say of it.
pub(crate) fn run_view(reader: &mut Reader<'_>) -> Result<RunView, Unreadable> {
    let run = row::run(reader)?;
    let (worker, zone) = (reader.maybe_owned()?, reader.owned()?);
    let counted = reader.maybe_int()? == Some(run.id.raw());
    Ok(RunView { run, worker, zone, counted })
}

fn of_jobs(jobs: &[JobId]) -> Bind<'static> {
    Bind::Ints(jobs.iter().map(|job| job.raw()).collect())
}

fn of_triggers(triggers: &[Trigger]) -> Bind<'static> {
    Bind::Texts(triggers.iter().map(|trigger| trigger.label()).collect())
}

fn text(value: &str) -> Bind<'_> {
    Bind::Text(value.into())
}

fn any_of<'a, S: Copy>(ask: &mut Ask<'a>, states: &[S], condition: impl Fn(&mut Ask<'a>, S)) {
    for (place, state) in states.iter().enumerate() {
        ask.push(if place == 0 { " AND (" } else { " OR " });
        condition(ask, *state);
    }
    if !states.is_empty() {
        ask.push(")");
    }
}

/// An active action's bracketed word is its live run's.
fn action_state(ask: &mut Ask<'_>, state: ActionStates, now: Wall) {
    ask.push_bind("(a.state = ", text(state.word()));
    match state {
        ActionStates::Active(Some(part)) => active_part(ask, part, now),
        ActionStates::Planned
        | ActionStates::Dropped
        | ActionStates::Waiting
        | ActionStates::Active(None)
        | ActionStates::Succeeded
        | ActionStates::Forced
        | ActionStates::Failed(_)
        | ActionStates::Cancelled
        | ActionStates::Skipped(_) => {
            if let Some(reason) = state.reason() {
                ask.push_bind(" AND a.reason = ", text(reason));
            }
        }
    }
    ask.push(")");
}

/// As [`ActivePart::of`].
fn active_part(ask: &mut Ask<'_>, part: ActivePart, now: Wall) {
    match part {
        ActivePart::Queued => {
            ask.push(" AND (r.state = 'leased' OR r.state = 'queued'");
            ask.push_bind(" AND (r.reason <> 'retry' OR r.not_before <= ", Bind::Int(now.ms()));
            ask.push("))");
        }
        ActivePart::Retry => {
            ask.push(" AND r.state = 'queued' AND r.reason = 'retry'");
            ask.push_bind(" AND r.not_before > ", Bind::Int(now.ms()));
        }
        ActivePart::Running => ask.push(" AND r.state = 'running'"),
    }
}

fn run_state(ask: &mut Ask<'_>, state: RunStates) {
    ask.push_bind("(r.state = ", text(state.word()));
    if let Some(reason) = state.reason() {
        ask.push_bind(" AND r.reason = ", text(reason));
    }
    ask.push(")");
}
