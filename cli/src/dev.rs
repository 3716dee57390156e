//! What `hera dev` needs beside messages: where its data lies, how others find it, what it tells.

pub(crate) mod announce;
pub(crate) mod lines;
pub(crate) mod place;
pub(crate) mod serve;
pub(crate) mod stops;
