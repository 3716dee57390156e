//! A list that comes in pages: JSON, YAML and names go out as they come, a table waits for its widths.

use std::io::{self, Write as _};
use std::marker::PhantomData;

use super::{Format, Listed, Out, Table, yaml};
use crate::exit::Failure;

/// A list that has been begun. Ends with [`List::end`].
pub(crate) struct List<'a, T> {
    out: &'a mut Out,
    table: Table,
    rows: usize,
    of: PhantomData<T>,
}

impl<'a, T: Listed> List<'a, T> {
    pub(super) fn new(out: &'a mut Out) -> Self {
        Self { out, table: Table::new(T::HEAD), rows: 0, of: PhantomData }
    }

    /// Adds rows.
    ///
    /// # Errors
    /// Where the output cannot be written.
    pub(crate) fn page(&mut self, rows: &[T]) -> Result<(), Failure> {
        let first = self.rows == 0;
        self.rows += rows.len();
        let look = self.out.look;
        let stdout = &mut self.out.stdout;
        match self.out.format {
            Format::Table => rows.iter().for_each(|row| self.table.push(row.row(look))),
            Format::Name => {
                for row in rows {
                    writeln!(stdout, "{}", row.name())?;
                }
            }
            Format::Yaml if !rows.is_empty() => stdout.write_all(yaml(&rows)?.as_bytes())?,
            Format::Yaml => {}
            Format::Json => {
                let mut before = if first { "[\n" } else { ",\n" };
                for row in rows {
                    stdout.write_all(before.as_bytes())?;
                    serde_json::to_writer(&mut *stdout, row).map_err(io::Error::from)?;
                    before = ",\n";
                }
            }
        }
        Ok(())
    }

    /// How many rows there are so far.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Ends the list.
    ///
    /// # Errors
    /// Where the output cannot be written.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let empty = self.rows == 0;
        let style = self.out.look.style;
        match self.out.format {
            Format::Table if empty => {
                self.out.note("nothing matches");
                return Ok(());
            }
            Format::Table => self.out.stdout.write_all(self.table.text(style).as_bytes())?,
            Format::Json => self.out.stdout.write_all(if empty { b"[]\n" } else { b"\n]\n" })?,
            Format::Yaml if empty => self.out.stdout.write_all(b"[]\n")?,
            Format::Yaml | Format::Name => {}
        }
        Ok(self.out.stdout.flush()?)
    }
}
