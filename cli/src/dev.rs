//! What `hera dev` needs beside messages: where its data lies, how others find it, what it tells.

pub(crate) mod announce;
pub(crate) mod place;
