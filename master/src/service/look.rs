//! Verdicts on attempts that the engine does not hold: what the store says of them, proved by a commit in this term.

use std::collections::BTreeMap;

use hera_common::attempt::AttemptState;
use hera_common::id::{RunId, Token};
use hera_common::run::Run;
use hera_common::unit::{Batch, Unit, Write};
use hera_engine::input::{Finish, VerdictKind};
use hera_store::{AttemptView, StoreError};

use super::Service;
use super::fault::Fault;
use crate::desk::Unanswered;
use crate::role::Lead;

/// What was asked about the attempts.
#[derive(Debug)]
pub(crate) enum Question {
    /// Is it still held?
    Held,
    /// It has ended so; kept as a late report where the token is old.
    Ended(BTreeMap<Token, String>),
}

/// An end in one line, as a late report is kept.
pub(super) fn report(item: &Finish) -> String {
    let mut words = item.end.word().to_owned();
    if let Some(reason) = item.end.reason() {
        words = format!("{words}({reason})");
    }
    if let Some(code) = item.exit.code {
        words = format!("{words}, exit code {code}");
    }
    if let Some(signal) = item.exit.signal {
        words = format!("{words}, signal {signal}");
    }
    match &item.exit.detail {
        Some(detail) => format!("{words}: {detail}"),
        None => words,
    }
}

impl Service {
    /// Looks the attempts up. Nothing is said of one that the store still shows as held: the engine will know it soon.
    pub(super) async fn look(
        &self,
        lead: &Lead,
        items: &[(RunId, Token)],
        question: &Question,
    ) -> Result<Vec<((RunId, Token), VerdictKind)>, Fault> {
        let mut said = Vec::with_capacity(items.len());
        let mut reports = Batch::default();
        for (run, token) in items {
            let (row, attempt) = self.run_and_attempt(*run, *token).await?;
            let Some(kind) = judge(row.as_ref(), *token, question) else { continue };
            if let (Question::Ended(ends), Some(view), VerdictKind::Fenced) =
                (question, attempt, kind)
                && let Some(report) = ends.get(token)
                && may_report(&view)
            {
                let write = Write::LateReport(view.attempt.fence, report.clone());
                reports.units.push(Unit { writes: vec![write], ..Unit::default() });
            }
            said.push(((*run, *token), kind));
        }
        // Also where there is nothing to write: a verdict holds only if the store has just said that we lead.
        match self.store().commit(lead.epoch, &reports).await {
            Ok(_committed) => Ok(said),
            Err(StoreError::NotLeader) => Err(Unanswered::SteppedDown.into()),
            Err(error) => Err(error.into()),
        }
    }

    async fn run_and_attempt(
        &self,
        run: RunId,
        token: Token,
    ) -> Result<(Option<Run>, Option<AttemptView>), Fault> {
        let attempt = self.store().attempt_by_token(token).await?;
        let row = self.store().run(run).await?;
        let attempt = attempt.filter(|view| view.attempt.run == run);
        Ok((row.map(|view| view.run), attempt))
    }
}

/// None: nobody knows yet.
fn judge(row: Option<&Run>, token: Token, question: &Question) -> Option<VerdictKind> {
    if let Some(row) = row {
        if row.final_token == Some(token) {
            return Some(VerdictKind::Done);
        }
        if row.state.hold().is_some_and(|hold| hold.token == token) {
            return None;
        }
    }
    Some(match question {
        Question::Held => VerdictKind::Lost,
        Question::Ended(_) => VerdictKind::Fenced,
    })
}

/// A late report is set once, on an attempt that has ended.
fn may_report(view: &AttemptView) -> bool {
    let ended = matches!(view.attempt.state, AttemptState::Ended { .. });
    ended && view.attempt.late_report.is_none()
}
