//! Job files as documents: read with places, checked, filled in from groups, and kept as JSON.
//! Knows nothing of stores, of what exists already, or of slots.
//!
//! [`read_file`] reads one file, [`wanted_files`] says what must be read beside it, [`apply_set`]
//! checks all files of an apply as one. What comes out is a [`JobDoc`] for each job, whose text is
//! stored in a revision and read back by [`spec_from_json`].

mod applied;
mod attach;
mod calendar;
mod edge;
mod fields;
mod file;
mod group;
mod job;
mod label;
mod near;
mod place;
mod resolve;
mod schedule;
mod settings;
mod value;
mod yaml;

pub use applied::{
    Applied, AppliedGroup, AppliedJob, JobPlace, Known, KnownCalendar, Unknown, apply_set,
};
pub use attach::{Content, Contents, Wanted, beside, digest, wanted_files};
pub use calendar::{CalendarDoc, FileCalendar, LastDay};
pub use edge::FileEdge;
pub use file::{FileDoc, FileJob, Script, read_file};
pub use group::GroupDoc;
pub use job::{EdgeDoc, FileRef, JobDoc, OwnDoc, OwnEdge, SpecError, spec_from_json};
pub use label::{BackoffWord, BindWord};
pub use place::{DocError, FieldError, Place, Places};
pub use resolve::{Around, CalendarThere, Upstream, resolve_again};
pub use schedule::{CalendarChoice, CalendarUseDoc, DstDoc, NoCalendar, ScheduleDoc};
pub use settings::{DataDoc, RetriesDoc, Settings};
pub use value::{Limit, SPAN_MAX, Span};

#[cfg(test)]
mod tests;
