//! Verdicts on attempts that the engine does not hold: what the store says of them, proved by a commit in this term.

use std::collections::BTreeMap;

use hera_common::attempt::{Attempt, AttemptState};
use hera_common::id::{RunId, Token};
use hera_common::run::Run;
use hera_common::unit::{Batch, Unit, Write};
use hera_engine::input::{Finish, VerdictKind};
use hera_store::StoreError;

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
        let attempts = self.attempts(items, question).await?;
        let ids: Vec<RunId> = items.iter().map(|(run, _token)| *run).collect();
        let rows = self.store().runs(&ids).await?;
        let rows: BTreeMap<RunId, &Run> = rows.iter().map(|row| (row.id, row)).collect();
        for (run, token) in items {
            let row = rows.get(run).copied();
            let Some(kind) = judge(row, *token, question) else { continue };
            let attempt = attempts.get(token).filter(|attempt| attempt.run == *run);
            if let (Question::Ended(ends), Some(attempt), VerdictKind::Fenced) =
                (question, attempt, kind)
                && let Some(report) = ends.get(token)
                && may_report(attempt)
            {
                let write = Write::LateReport(attempt.fence, report.clone());
                reports.units.push(Unit { writes: vec![write], ..Unit::default() });
            }
            said.push(((*run, *token), kind));
        }
        // Also where there is nothing to write: a verdict holds only if the store has just said that we lead.
        match self.store().commit(lead.epoch.get(), &reports).await {
            Ok(_committed) => Ok(said),
            Err(StoreError::NotLeader) => Err(Unanswered::SteppedDown.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// The attempts to which a late report may belong: only an end that is told makes one.
    async fn attempts(
        &self,
        items: &[(RunId, Token)],
        question: &Question,
    ) -> Result<BTreeMap<Token, Attempt>, Fault> {
        if let Question::Held = question {
            return Ok(BTreeMap::new());
        }
        let tokens: Vec<Token> = items.iter().map(|(_run, token)| *token).collect();
        let found = self.store().attempts_by_token(&tokens).await?;
        Ok(found.into_iter().map(|attempt| (attempt.token, attempt)).collect())
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
fn may_report(attempt: &Attempt) -> bool {
    let ended = matches!(attempt.state, AttemptState::Ended { .. });
    ended && attempt.late_report.is_none()
}
