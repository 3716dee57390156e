//! How each thing looks to people: its columns, and its lines when all of it is told.

mod action;
mod calendar;
mod cluster;
mod job;
mod run;

use super::{Cell, Look, Table};
pub(crate) use action::WholeAction;
pub(crate) use run::WholeRun;

/// `key  value` lines; a key without a value is left out.
struct Sheet {
    table: Table,
}

impl Sheet {
    const fn new() -> Self {
        Self { table: Table::headless() }
    }

    fn line(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.cell(key, Cell::plain(value));
        }
    }

    fn cell(&mut self, key: &str, value: Cell) {
        // A further value of the key above has none of its own.
        let key = if key.is_empty() { String::new() } else { format!("{key}:") };
        self.table.push(vec![Cell::plain(key), value]);
    }

    fn text(&self, look: Look) -> String {
        self.table.text(look.style)
    }
}

/// Each line two blanks further to the right.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn or_empty(value: Option<&str>) -> String {
    value.unwrap_or_default().to_owned()
}
