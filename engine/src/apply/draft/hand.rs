//! Whether another hand changed what an apply is about to change, and what would be lost.

use hera_common::doc::{AppliedJob, DocError, FieldError};
use hera_common::hand::{Hand, Hands};

use super::{Drafted, Drafting, refusal};
use crate::apply::OthersChanges;
use crate::apply::words::diff;
use crate::catalog::Job;
use crate::input::{Refusal, RefusalKind};

impl Drafting<'_> {
    /// Whose hand this apply is.
    pub(super) fn hand(&self) -> Hand {
        Hand { source: self.set.source.clone(), actor: self.set.asked.actor.clone(), at: self.now }
    }

    /// The source brings the job as it is: from now on it is no stranger to it.
    pub(super) fn seen(&mut self, job: &Job) {
        let mut row = job.row.clone();
        if !row.hands.see(&self.set.source) {
            return;
        }
        let id = row.id;
        self.draft.catalog.put(Job { row, ..job.clone() });
        self.draft.jobs.push(Drafted { id, new: false, revision: None, was: None, seen: true });
    }

    /// Refuses to change or (`after` is None) to delete a job that another hand has changed; told only, if it shall
    /// be overwritten.
    pub(super) fn other_hand(&mut self, job: &Job, after: Option<(&AppliedJob, &str)>) {
        let Some(who) = self.who(&job.row.hands) else { return };
        let path = &job.row.path;
        let (what, lost) = match after {
            None => ("would be deleted", Vec::new()),
            Some((_job, json)) => ("would become", diff(&job.spec_json, json)),
        };
        let mut lines = vec![format!("{path} {who}; it {what}")];
        if let Some((after, _json)) = after {
            let state = |open: bool| if open { "open" } else { "closed" };
            let open = after.open.unwrap_or(job.row.open);
            if open != job.row.open {
                let (from, to) = (state(job.row.open), state(open));
                lines.push(format!("state: {from} -> {to}"));
            }
        }
        lines.extend(lost);
        self.lost(&lines, |problem| {
            let place = after.map(|(job, _json)| &job.place);
            place.map(|place| place.error(FieldError::new("", problem.to_owned())))
        });
    }

    /// Who changed a definition after this source had last applied it, in words.
    pub(super) fn who(&self, hands: &Hands) -> Option<String> {
        let source = &self.set.source;
        let Hand { source: other, actor, at } = hands.another(source)?;
        let since =
            if hands.knows(source) { "has not seen that change" } else { "has never applied it" };
        let did = if hands.changes == 1 { "made" } else { "changed" };
        Some(format!(
            "was {did} by {actor} at {at}, from `{other}`; this source, `{source}`, {since}"
        ))
    }

    /// Refuses, or warns where the caller has said that it may be lost; `placed` knows where a file says so.
    pub(super) fn lost(&mut self, lines: &[String], placed: impl FnOnce(&str) -> Option<DocError>) {
        let text = lines.join("\n    ");
        if self.set.others == OthersChanges::Overwrite {
            self.draft.warnings.push(format!("overwritten: {text}"));
            return;
        }
        let problem = format!("{text}\n    --overwrite does it all the same");
        let kind = RefusalKind::Conflict;
        let told = placed(&problem).map(|told| refusal(told, kind));
        self.others.push(told.unwrap_or_else(|| Refusal::of(kind, "", problem)));
    }
}
