//! Columns of text, as wide as their widest cell. Knows no thing that it shows.

use unicode_width::UnicodeWidthStr as _;

use super::style::{Style, Tone};

/// Between two columns.
const GAP: &str = "  ";

/// A text and its colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Without colour.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::toned(Tone::Plain, text)
    }

    /// In the colour of `tone`. Signs that would move the cursor are shown, not sent.
    pub(crate) fn toned(tone: Tone, text: impl Into<String>) -> Self {
        let text = text.into();
        let text = if text.chars().any(char::is_control) {
            text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
        } else {
            text
        };
        Self { text, tone }
    }
}

/// Rows under a head.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// With the heads of its columns.
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|text| Cell::toned(Tone::Head, *text)).collect()] }
    }

    /// Columns without a head.
    pub(crate) const fn headless() -> Self {
        Self { rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The whole as lines.
    pub(crate) fn text(&self, style: Style) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width()).max()
        };
        let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        self.rows.iter().map(|row| line(row, &widths, style)).collect()
    }
}

fn line(row: &[Cell], widths: &[usize], style: Style) -> String {
    let mut line = String::new();
    let mut padding = String::new();
    for (cell, width) in row.iter().zip(widths) {
        // Blanks are written only before something, so that no line ends with them.
        if !cell.text.is_empty() {
            line.push_str(&padding);
            line.push_str(&style.paint(cell.tone, &cell.text));
            padding.clear();
        }
        padding.push_str(&" ".repeat(width.saturating_sub(cell.text.width())));
        padding.push_str(GAP);
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{Cell, Table};
    use crate::output::style::{Style, Tone};

    fn table() -> Table {
        let mut table = Table::new(&["JOB", "STATE", "NOTE"]);
        table.push(vec![
            Cell::plain("仓库/订单"),
            Cell::toned(Tone::Bad, "failed(exit)"),
            Cell::plain(""),
        ]);
        table.push(vec![Cell::plain("a"), Cell::plain(""), Cell::plain("x\u{1b}[2Jy")]);
        table
    }

    #[test]
    fn columns_stand_under_each_other_and_no_line_ends_with_blanks() {
        expect![[r#"
            JOB        STATE         NOTE
            仓库/订单  failed(exit)
            a                        x�[2Jy
        "#]]
        .assert_eq(&table().text(Style::new(false)));
    }

    #[test]
    fn colours_do_not_move_columns() {
        let text = table().text(Style::new(true));
        assert!(text.contains("\x1b[31mfailed(exit)\x1b[0m\n"), "{text:?}");
        assert!(text.starts_with("\x1b[1mJOB\x1b[0m        \x1b[1mSTATE"), "{text:?}");
    }
}
