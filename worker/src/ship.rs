//! Sends an attempt's log to the leader while it grows, from the file that the job itself appends to.
//! Looks at no byte of it.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hera_common::chain::Chain;
use hera_common::id::Token;
use hera_common::limits::LOG_CHUNK_BYTES_MAX;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::link::Link;
use crate::pause::Backoff;
use crate::plain_file;

/// Between two looks at a log. The first finds what a job writes when it starts; one that is silent is
/// looked at less often, and one that speaks at most five times a second.
const LOOK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// After a piece that the leader did not take.
const PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// How often a piece may be refused before the rest is given up.
const REFUSALS_MAX: u32 = 20;

/// One log on its way.
pub(crate) struct Shipment {
    pub(crate) link: Arc<Link>,
    pub(crate) token: Token,
    pub(crate) path: PathBuf,
}

impl Shipment {
    /// Sends until `ended` is cancelled and nothing is left. Dropping it loses nothing: the leader
    /// knows how much it has.
    pub(crate) async fn run(self, ended: CancellationToken) {
        let mut offset = 0;
        let mut look = Backoff::new(LOOK);
        let mut backoff = Backoff::new(PAUSE);
        let mut refusals = 0;
        loop {
            // Asked before the look: what was written before the end is seen by the look after it.
            let last = ended.is_cancelled();
            let piece = match self.piece(offset).await {
                Ok(piece) => piece,
                Err(error) => {
                    warn!(error = %Chain(&error), "the log {} cannot be read", self.path.display());
                    return;
                }
            };
            if piece.is_empty() {
                if last {
                    return;
                }
                pause(look.next(), &ended).await;
                continue;
            }
            let whole = piece.len() == LOG_CHUNK_BYTES_MAX;
            match self.link.append_log(self.token, offset, piece).await {
                Ok(size) => {
                    refusals = if size == offset { refusals + 1 } else { 0 };
                    offset = size;
                    backoff.reset();
                    look.reset();
                    if !whole {
                        pause(look.next(), &ended).await;
                    }
                }
                Err(error) if error.not_found() => {
                    warn!("the leader keeps no log for an attempt that it does not know");
                    return;
                }
                Err(error) => {
                    if !error.moved() {
                        refusals += u32::from(error.refused());
                        tokio::time::sleep(backoff.next()).await;
                    }
                }
            }
            if refusals > REFUSALS_MAX {
                warn!("the leader does not take a piece of a log: gives up the rest");
                return;
            }
        }
    }

    /// The next bytes; none where there are none yet.
    async fn piece(&self, offset: u64) -> io::Result<Bytes> {
        // A look at a file's length does not block for long; reading it may.
        if length(&self.path)? <= offset {
            return Ok(Bytes::new());
        }
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || read(&path, offset));
        read.await.map_err(io::Error::other)?
    }
}

async fn pause(span: Duration, ended: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(span) => {}
        () = ended.cancelled() => {}
    }
}

/// How long a log is; 0 where there is none, or something else in its place.
pub(crate) fn length(path: &Path) -> io::Result<u64> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(if metadata.is_file() { metadata.len() } else { 0 }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

fn read(path: &Path, offset: u64) -> io::Result<Bytes> {
    let file = plain_file::open(path)?;
    let left = file.metadata()?.len().saturating_sub(offset);
    let size = usize::try_from(left).unwrap_or(LOG_CHUNK_BYTES_MAX).min(LOG_CHUNK_BYTES_MAX);
    let mut buffer = vec![0; size];
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let at = offset.saturating_add(u64::try_from(filled).unwrap_or(u64::MAX));
        match file.read_at(rest, at) {
            // Somebody cut it short meanwhile.
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok(buffer.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_in_pieces_of_a_limited_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut written = vec![b'a'; LOG_CHUNK_BYTES_MAX];
        written.extend(b"\xffrest");
        fs::write(file.path(), &written).unwrap();
        let first = read(file.path(), 0).unwrap();
        assert_eq!(first.len(), LOG_CHUNK_BYTES_MAX);
        let next = u64::try_from(first.len()).unwrap();
        assert_eq!(read(file.path(), next).unwrap().as_ref(), b"\xffrest");
        assert!(read(file.path(), next + 5).unwrap().is_empty());
        assert_eq!(length(Path::new("/no/such/log")).unwrap(), 0);
    }
}
