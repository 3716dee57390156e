//! Runs for tests of this crate.

use std::collections::BTreeMap;
use std::time::Duration;

use hera_common::id::{ActionId, Fence, Incarnation, JobId, Revision, RunId, Seq, Token, WorkerId};
use hera_common::run::{Hold, QueuedWhy, Run, RunCounts, RunLimits, RunState, Trigger};
use hera_common::time::{Version, Wall};

/// A hold under a token made of one byte.
pub(crate) fn hold(token: u8) -> Hold {
    Hold {
        token: Token::from_bytes([token; 16]),
        fence: Fence::from_raw(i64::from(token)),
        worker: WorkerId::from_raw(1),
        incarnation: Incarnation::from_raw(1),
    }
}

/// A queued exclusive run: run `id` of job `job` for version `version`.
pub(crate) fn queued(id: i64, job: i64, version: i64) -> Run {
    Run {
        id: RunId::from_raw(id),
        action: ActionId::from_raw(id),
        job: JobId::from_raw(job),
        version: Version::from_ms(version),
        number: 1,
        trigger: Trigger::Schedule,
        actor: String::new(),
        why: String::new(),
        revision: Revision::from_raw(1),
        set: BTreeMap::new(),
        urgency: 3,
        exclusive: true,
        limits: RunLimits {
            lease: Duration::from_secs(30),
            retries: 1,
            restarts: 1,
            at_most_once: false,
            start_by: None,
        },
        state: RunState::Queued { not_before: Wall::from_ms(0), why: QueuedWhy::New },
        hb_seq: Seq::from_raw(5),
        counts: RunCounts { attempts: 1, starts: 1, failures: 0, losses: 0 },
        cancel: None,
        final_token: None,
        queued_at: Wall::from_ms(0),
        started_at: None,
        ended_at: None,
    }
}
