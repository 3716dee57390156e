//! What people look at: filters, pages, and views of runs, attempts and logs.

use hera_common::action::{Action, ActionEnd, ActionState, ActivePart, SkipReason};
use hera_common::attempt::Attempt;
use hera_common::audit::AuditRow;
use hera_common::id::{ActionId, JobId};
use hera_common::run::{CancelReason, FailReason, QueuedWhy, Run, RunState, Trigger};
use hera_common::spec::On;
use hera_common::time::{Version, Wall};

/// Which actions; an empty list is no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionFilter {
    /// None: all jobs. Some and empty: none.
    pub jobs: Option<Vec<JobId>>,
    pub states: Vec<ActionStates>,
    /// What tells [`ActivePart::Retry`] from a try that is due.
    pub now: Wall,
    /// Bracketed words of ended states.
    pub reasons: Vec<String>,
    /// Versions in `[from, to)`.
    pub from: Option<Version>,
    pub to: Option<Version>,
    /// The local date of the data interval's first day, `yyyy-MM-dd`.
    pub data_date: Option<String>,
    /// Actions that have a run with one of these triggers.
    pub triggers: Vec<Trigger>,
}

impl Default for ActionFilter {
    /// All actions, at the beginning of time.
    fn default() -> Self {
        Self {
            jobs: None,
            states: Vec::new(),
            now: Wall::from_ms(0),
            reasons: Vec::new(),
            from: None,
            to: None,
            data_date: None,
            triggers: Vec::new(),
        }
    }
}

/// States of actions to ask for; None in one: whatever its bracketed word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionStates {
    Planned,
    /// Planned, and no longer wanted by its job's definition.
    Dropped,
    Waiting,
    Active(Option<ActivePart>),
    Succeeded,
    Forced,
    Failed(Option<FailReason>),
    Cancelled,
    Skipped(Option<SkipReason>),
}

/// States of runs to ask for; None in one: whatever its bracketed word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStates {
    Queued(Option<QueuedWhy>),
    Leased,
    Running,
    Succeeded,
    Failed(Option<FailReason>),
    Cancelled(Option<CancelReason>),
}

impl ActionStates {
    /// Each that can be asked for, in the order of an action's life.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Planned, Self::Dropped, Self::Waiting, Self::Active(None)];
        all.extend(ActivePart::ALL.map(|part| Self::Active(Some(part))));
        all.extend([Self::Succeeded, Self::Forced, Self::Failed(None)]);
        all.extend(FailReason::ALL.map(|reason| Self::Failed(Some(reason))));
        all.extend([Self::Cancelled, Self::Skipped(None)]);
        all.extend(SkipReason::ALL.map(|reason| Self::Skipped(Some(reason))));
        all
    }

    /// The bare word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Planned | Self::Dropped => "planned",
            Self::Waiting => "waiting",
            Self::Active(_) => "active",
            Self::Succeeded | Self::Forced => "succeeded",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped(_) => "skipped",
        }
    }

    /// The bracketed word, where one is asked for.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Planned | Self::Waiting | Self::Succeeded | Self::Cancelled => None,
            Self::Dropped => ActionState::Planned { dropped: true }.reason(),
            Self::Active(part) => part.map(ActivePart::label),
            Self::Forced => ActionEnd::Succeeded { forced: true }.reason(),
            Self::Failed(reason) => reason.map(FailReason::label),
            Self::Skipped(reason) => reason.map(SkipReason::label),
        }
    }

    /// True for an action in this state whose live run stands so.
    pub(crate) fn take(self, state: ActionState, part: Option<ActivePart>) -> bool {
        let reason = match state {
            ActionState::Active => part.map(ActivePart::label),
            ActionState::Planned { .. } | ActionState::Waiting | ActionState::Ended(_) => {
                state.reason()
            }
        };
        self.word() == state.word() && (self.reason().is_none() || self.reason() == reason)
    }
}

impl RunStates {
    /// Each that can be asked for, in the order of a run's life.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Queued(None)];
        all.extend(QueuedWhy::ALL.map(|why| Self::Queued(Some(why))));
        all.extend([Self::Leased, Self::Running, Self::Succeeded, Self::Failed(None)]);
        all.extend(FailReason::ALL.map(|reason| Self::Failed(Some(reason))));
        all.push(Self::Cancelled(None));
        all.extend(CancelReason::ALL.map(|reason| Self::Cancelled(Some(reason))));
        all
    }

    /// The bare word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued(_) => "queued",
            Self::Leased => "leased",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed(_) => "failed",
            Self::Cancelled(_) => "cancelled",
        }
    }

    /// The bracketed word, where one is asked for.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Queued(why) => why.map(QueuedWhy::label),
            Self::Leased | Self::Running | Self::Succeeded => None,
            Self::Failed(reason) => reason.map(FailReason::label),
            Self::Cancelled(reason) => reason.map(CancelReason::label),
        }
    }

    /// True for a run in this state.
    pub(crate) fn take(self, state: RunState) -> bool {
        self.word() == state.word() && (self.reason().is_none() || self.reason() == state.reason())
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// At most this many rows.
    pub limit: u32,
    /// The mark that the page before ended with.
    pub after: Option<String>,
}

/// Actions, each with its live run's state where it has one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionPage {
    pub actions: Vec<(Action, Option<Run>)>,
    /// None: the list ends here.
    pub next: Option<String>,
}

/// An action that waits for an upstream version, by an edge of this kind, with its live run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependent {
    pub action: Action,
    pub live: Option<Run>,
    pub on: On,
}

/// Which runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    pub jobs: Option<Vec<JobId>>,
    pub action: Option<ActionId>,
    pub states: Vec<RunStates>,
    /// Bracketed words.
    pub reasons: Vec<String>,
    pub triggers: Vec<Trigger>,
    /// Of versions in `[from, to)`.
    pub from: Option<Version>,
    pub to: Option<Version>,
}

/// Runs, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunPage {
    pub runs: Vec<RunView>,
    /// None: the list ends here.
    pub next: Option<String>,
}

/// A run with what its worker and its action say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunView {
    pub run: Run,
    /// The name of the worker that holds it.
    pub worker: Option<String>,
    /// The zone in which its action's version is shown.
    pub zone: String,
    /// It is the run that its action counts.
    pub counted: bool,
}

/// An attempt with the name of its worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptView {
    pub attempt: Attempt,
    pub worker: String,
    /// Bytes of its log so far.
    pub log_bytes: u64,
}

/// Which rows of the audit; None is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// About this subject, or, where it is a job, about its actions (`subject@…`).
    pub subject: Option<String>,
    pub actor: Option<String>,
    /// Only rows with a lower number (the next page).
    pub before: Option<i64>,
}

/// A row of the audit with its number: a later row has a higher one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditView {
    pub number: i64,
    pub row: AuditRow,
}

/// A piece of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogRead {
    pub bytes: Vec<u8>,
    /// How many bytes the log has by now.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::{
        ActionEnd, ActionState, ActionStates, ActivePart, CancelReason, FailReason, QueuedWhy,
        RunState, RunStates, SkipReason, Wall,
    };

    #[test]
    fn what_is_asked_for_has_the_words_of_what_is_there() {
        let ends = FailReason::ALL.map(|r| (ActionEnd::Failed(r), ActionStates::Failed(Some(r))));
        let skips =
            SkipReason::ALL.map(|r| (ActionEnd::Skipped(r), ActionStates::Skipped(Some(r))));
        let plain = [
            (ActionEnd::Succeeded { forced: true }, ActionStates::Forced),
            (ActionEnd::Succeeded { forced: false }, ActionStates::Succeeded),
            (ActionEnd::Cancelled, ActionStates::Cancelled),
        ];
        for (end, asked) in ends.into_iter().chain(skips).chain(plain) {
            assert_eq!((asked.word(), asked.reason()), (end.word(), end.reason()));
            assert!(asked.take(ActionState::Ended(end), None), "{asked:?}");
        }
        for (state, asked) in [
            (ActionState::PLANNED, ActionStates::Planned),
            (ActionState::Planned { dropped: true }, ActionStates::Planned),
            (ActionState::Planned { dropped: true }, ActionStates::Dropped),
            (ActionState::Waiting, ActionStates::Waiting),
            (ActionState::Active, ActionStates::Active(None)),
        ] {
            assert_eq!(asked.word(), state.word());
            assert!(asked.take(state, None), "{asked:?}");
        }
        for why in QueuedWhy::ALL {
            let state = RunState::Queued { not_before: Wall::from_ms(0), why };
            assert!(
                RunStates::Queued(Some(why)).take(state) && RunStates::Queued(None).take(state)
            );
        }
        for reason in CancelReason::ALL {
            let state = RunState::Ended(hera_common::run::RunEnd::Cancelled(reason));
            let asked = RunStates::Cancelled(Some(reason));
            assert_eq!((asked.word(), asked.reason()), (state.word(), state.reason()));
        }
    }

    #[test]
    fn an_active_action_is_asked_for_by_its_live_run() {
        let retry = Some(ActivePart::Retry);
        assert!(!ActionStates::Dropped.take(ActionState::PLANNED, None));
        assert!(ActionStates::Active(None).take(ActionState::Active, retry));
        assert!(ActionStates::Active(retry).take(ActionState::Active, retry));
        assert!(!ActionStates::Active(retry).take(ActionState::Active, Some(ActivePart::Queued)));
        assert!(!ActionStates::Active(retry).take(ActionState::Waiting, retry));
        assert!(!ActionStates::Active(retry).take(ActionState::Active, None));
    }
}
