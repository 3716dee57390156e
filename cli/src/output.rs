//! What commands print: data to the standard output in four formats, all else to the standard error.
//! Knows the keys, and no messages of the wire.

pub(crate) mod keys;
mod list;
pub(crate) mod span;
pub(crate) mod style;
pub(crate) mod table;
mod tables;

use std::io::{self, IsTerminal as _, Write};

use clap::ValueEnum;
use hera_common::time::Wall;
use serde::Serialize;

use crate::exit::Failure;
pub(crate) use list::List;
pub(crate) use style::Style;
pub(crate) use table::{Cell, Table};
pub(crate) use tables::{WholeAction, WholeRun};

/// How data is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub(crate) enum Format {
    /// Columns for people.
    #[default]
    Table,
    /// One array of objects; one object where one thing was asked for.
    Json,
    /// The same in YAML.
    Yaml,
    /// One name a line, for `xargs`.
    Name,
}

/// What a table needs to know beside its rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub style: Style,
    /// For ages.
    pub now: Wall,
}

/// A thing that is printed in lists.
pub(crate) trait Listed: Serialize {
    /// The heads of its columns.
    const HEAD: &'static [&'static str];

    /// One cell for each head.
    fn row(&self, look: Look) -> Vec<Cell>;

    /// How commands take it as an argument.
    fn name(&self) -> String;
}

/// A thing of which all is told.
pub(crate) trait Described: Serialize {
    /// Lines for people, each with its end.
    fn text(&self, look: Look) -> String;

    /// How commands take it as an argument.
    fn name(&self) -> String;
}

/// Where a command prints.
pub(crate) struct Out {
    format: Format,
    look: Look,
    stdout: Box<dyn Write + Send>,
    stderr: Box<dyn Write + Send>,
}

impl Out {
    /// To this process's streams; colours only where a person looks and NO_COLOR is not set.
    pub(crate) fn standard(format: Format, now: Wall) -> Self {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let style = Style::new(!forbidden && io::stdout().is_terminal());
        Self {
            format,
            look: Look { style, now },
            stdout: Box::new(io::BufWriter::new(io::stdout())),
            stderr: Box::new(io::stderr()),
        }
    }

    #[cfg(test)]
    pub(crate) fn captured(format: Format, now: Wall, stdout: Box<dyn Write + Send>) -> Self {
        let look = Look { style: Style::new(false), now };
        Self { format, look, stdout, stderr: Box::new(io::sink()) }
    }

    /// How data is to be written.
    pub(crate) const fn format(&self) -> Format {
        self.format
    }

    /// How a table looks.
    pub(crate) const fn look(&self) -> Look {
        self.look
    }

    /// Begins a list; rows come in pages.
    pub(crate) fn list<T: Listed>(&mut self) -> List<'_, T> {
        List::new(self)
    }

    /// A list that is whole.
    ///
    /// # Errors
    /// Where the output cannot be written.
    pub(crate) fn all<T: Listed>(&mut self, rows: &[T]) -> Result<(), Failure> {
        let mut list = self.list();
        list.page(rows)?;
        list.end()
    }

    /// One thing.
    ///
    /// # Errors
    /// Where the output cannot be written.
    pub(crate) fn one<T: Described>(&mut self, thing: &T) -> Result<(), Failure> {
        match self.format {
            Format::Table => {
                let text = thing.text(self.look);
                self.stdout.write_all(text.as_bytes())?;
            }
            Format::Json => {
                serde_json::to_writer_pretty(&mut self.stdout, thing).map_err(io::Error::from)?;
                self.stdout.write_all(b"\n")?;
            }
            Format::Yaml => self.stdout.write_all(yaml(thing)?.as_bytes())?,
            Format::Name => writeln!(self.stdout, "{}", thing.name())?,
        }
        Ok(self.stdout.flush()?)
    }

    /// Bytes as they are, at once: logs and rendered scripts.
    ///
    /// # Errors
    /// Where the output cannot be written.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.stdout.write_all(bytes)?;
        Ok(self.stdout.flush()?)
    }

    /// A line for the person who asked, beside the data.
    pub(crate) fn note(&mut self, line: &str) {
        // A standard error that cannot be written leaves nobody to tell.
        drop(writeln!(self.stderr, "{line}"));
    }

    /// A line `error: …` for each thing that is wrong.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        for line in &failure.lines {
            self.note(&format!("error: {line}"));
        }
    }
}

/// `thing` as a YAML document, without a document's marks.
fn yaml<T: Serialize>(thing: &T) -> Result<String, Failure> {
    serde_saphyr::to_string(thing).map_err(|error| Failure::from(io::Error::other(error)))
}

/// Keeps what is printed.
#[cfg(test)]
#[derive(Clone, Default)]
pub(crate) struct Sink(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

#[cfg(test)]
impl Sink {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

#[cfg(test)]
impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
