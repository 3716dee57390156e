//! Actions, their bindings, and why they are where they are.

use crate::output::keys::{self, Action, BesideAction, Binding, Why, action_name, shown};
use crate::output::span::{at, local, span};
use crate::output::style::Tone;
use crate::output::{Cell, Described, Listed, Look, Table};

use super::{Sheet, or_empty};

/// An action with what else `describe` tells people.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WholeAction {
    #[serde(flatten)]
    pub action: Action,
    #[serde(skip)]
    pub runs: Vec<keys::Run>,
    #[serde(skip)]
    pub downstream: Vec<Binding>,
    /// More wait for it than are told.
    #[serde(skip)]
    pub more_downstream: bool,
}

/// `active(running 12m)`: the state with what time adds to it.
pub(super) fn state(action: &Action, look: Look) -> Cell {
    let BesideAction { since, not_before, .. } = &action.beside;
    let now = look.now.ms();
    let reason = match (action.reason.as_deref(), since, not_before) {
        (Some("running"), Some(since), _) => {
            Some(format!("running {}", span(now.saturating_sub(since.0.ms()))))
        }
        (Some("retry"), _, Some(next)) if next.0.ms() > now => {
            Some(format!("retry in {}", span(next.0.ms().saturating_sub(now))))
        }
        (reason, ..) => reason.map(str::to_owned),
    };
    Cell::toned(Tone::of_state(&action.state), shown(&action.state, reason.as_deref()))
}

impl Listed for Action {
    const HEAD: &'static [&'static str] =
        &["ID", "JOB", "VERSION", "DATA", "STATE", "RUNS", "REVISION", "HELD BY"];

    fn row(&self, look: Look) -> Vec<Cell> {
        vec![
            Cell::plain(self.id.to_string()),
            Cell::plain(&self.job),
            Cell::plain(local(&self.local)),
            Cell::plain(&self.data_date),
            state(self, look),
            Cell::plain(self.runs.to_string()),
            Cell::plain(self.revision.to_string()),
            Cell::plain(or_empty(self.held_by.as_deref())),
        ]
    }

    fn name(&self) -> String {
        action_name(&self.job, self.version)
    }
}

impl Described for WholeAction {
    fn text(&self, look: Look) -> String {
        let action = &self.action;
        let BesideAction { zone, worker, outcome, data, ended_at, .. } = &action.beside;
        let mut sheet = Sheet::new();
        sheet.line("action", action.id.to_string());
        sheet.line("job", &action.job);
        sheet.line("version", format!("{} ({}, {zone})", local(&action.local), action.version));
        let interval = data.as_ref().map_or_else(String::new, |(from, to)| {
            format!(" ({} to {})", at(from.0, zone), at(to.0, zone))
        });
        sheet.line("data", format!("{}{interval}", action.data_date));
        sheet.cell("state", state(action, look));
        sheet.line("outcome", or_empty(outcome.as_deref()));
        sheet.line("worker", or_empty(worker.as_deref()));
        sheet.line("held by", or_empty(action.held_by.as_deref()));
        sheet.line("revision", action.revision.to_string());
        sheet.line("ended", ended_at.map_or_else(String::new, |ended| at(ended.0, zone)));
        let mut text = sheet.text(look);
        text.push_str(&bindings("waits for", &action.bindings, zone, look));
        text.push_str(&bindings("is waited for by", &self.downstream, zone, look));
        if self.more_downstream {
            text.push_str("and more\n");
        }
        if !self.runs.is_empty() {
            let mut table = Table::new(keys::Run::HEAD);
            self.runs.iter().for_each(|run| table.push(run.row(look)));
            text.push_str("\nruns\n");
            text.push_str(&table.text(look.style));
        }
        text
    }

    fn name(&self) -> String {
        self.action.name()
    }
}

/// Bindings under a head; nothing where there are none.
fn bindings(head: &str, bindings: &[Binding], zone: &str, look: Look) -> String {
    if bindings.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["JOB", "VERSION", "STATE"]);
    for binding in bindings {
        table.push(vec![
            Cell::plain(&binding.job),
            Cell::plain(at(binding.version.0, zone)),
            Cell::toned(
                Tone::of_state(&binding.state),
                shown(&binding.state, binding.reason.as_deref()),
            ),
        ]);
    }
    format!("\n{head}\n{}", table.text(look.style))
}

impl Described for Why {
    fn text(&self, look: Look) -> String {
        let word = self.state.split('(').next().unwrap_or(&self.state);
        let mut sheet = Sheet::new();
        sheet.line("action", &self.action);
        sheet.cell("state", Cell::toned(Tone::of_state(word), &self.state));
        sheet.line("code", &self.code);
        sheet.line("why", &self.text);
        if self.root != self.action {
            sheet.line("root", &self.root);
        }
        if let Some(start) = self.expected_start {
            let wait = start.0.ms().saturating_sub(look.now.ms());
            let wait = if wait > 0 { format!(" (in {})", span(wait)) } else { String::new() };
            sheet.line("expected", format!("{}{wait}", at(start.0, &self.zone)));
        }
        let mut text = sheet.text(look);
        if self.path.len() > 1 {
            text.push_str("\npath to the root\n");
            self.path.iter().for_each(|step| {
                text.push_str("  ");
                text.push_str(step);
                text.push('\n');
            });
        }
        text
    }

    fn name(&self) -> String {
        self.action.clone()
    }
}
