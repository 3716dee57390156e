//! The one place of the command line that reads a clock: ages in tables, and the pace of `hera dev`.

use hera_common::time::Wall;

/// This machine's wall clock.
#[expect(clippy::disallowed_methods, reason = "the clock's own file")]
pub(crate) fn wall() -> Wall {
    Wall::from_ms(jiff::Timestamp::now().as_millisecond())
}
