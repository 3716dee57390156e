//! The tables in memory, and what is looked up in them. Writes nothing but logs.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::action::{Action, ActionEnd, Binding, SkipReason};
use hera_common::attempt::Attempt;
use hera_common::audit::AuditRow;
use hera_common::calendar::CalendarRow;
use hera_common::id::{ActionId, Epoch, Fence, GroupId, JobId, Revision, RunId, Token, WorkerId};
use hera_common::job::{Cursor, Gap, GroupRow, JobRow, RevisionRow};
use hera_common::run::Run;
use hera_common::time::{Version, Wall};
use hera_common::unit::{Leadership, Marks};
use hera_common::worker::WorkerRow;

use super::unique::{Key, Taken};
use crate::StoreError;
use crate::admit::{Found, Needs, RunMark};
use crate::load::BoundAction;
use crate::read::{AttemptView, Dependent, LogRead, RunView};
use crate::store::Candidate;

/// All rows.
#[derive(Debug)]
pub(super) struct State {
    pub(super) store_id: String,
    pub(super) now: Wall,
    pub(super) leadership: Leadership,
    pub(super) marks: Marks,
    pub(super) groups: BTreeMap<GroupId, GroupRow>,
    pub(super) calendars: BTreeMap<(String, Revision), CalendarRow>,
    pub(super) jobs: BTreeMap<JobId, JobRow>,
    pub(super) revisions: BTreeMap<(JobId, Revision), RevisionRow>,
    pub(super) cursors: BTreeMap<JobId, Cursor>,
    pub(super) gaps: BTreeMap<(JobId, Version), Gap>,
    pub(super) actions: BTreeMap<ActionId, Action>,
    pub(super) bindings: BTreeMap<ActionId, Vec<Binding>>,
    /// Who is bound to an upstream version.
    pub(super) bound_to: BTreeSet<(JobId, Version, ActionId)>,
    pub(super) runs: BTreeMap<RunId, Run>,
    pub(super) attempts: BTreeMap<Fence, Attempt>,
    pub(super) outputs: BTreeMap<Fence, Vec<u8>>,
    pub(super) logs: BTreeMap<Fence, Vec<u8>>,
    pub(super) workers: BTreeMap<WorkerId, WorkerRow>,
    pub(super) audit: Vec<AuditRow>,
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
    pub(super) taken: Taken,
}

impl State {
    pub(super) fn new(store_id: &str) -> Self {
        Self {
            store_id: store_id.to_owned(),
            now: Wall::from_ms(0),
            leadership: Leadership {
                epoch: Epoch::from_raw(0),
                holder: None,
                address: String::new(),
                renew_seq: 0,
            },
            marks: Marks::default(),
            groups: BTreeMap::new(),
            calendars: BTreeMap::new(),
            jobs: BTreeMap::new(),
            revisions: BTreeMap::new(),
            cursors: BTreeMap::new(),
            gaps: BTreeMap::new(),
            actions: BTreeMap::new(),
            bindings: BTreeMap::new(),
            bound_to: BTreeSet::new(),
            runs: BTreeMap::new(),
            attempts: BTreeMap::new(),
            outputs: BTreeMap::new(),
            logs: BTreeMap::new(),
            workers: BTreeMap::new(),
            audit: Vec::new(),
            blobs: BTreeMap::new(),
            taken: Taken::new(),
        }
    }

    /// The row of leadership, if this candidate holds this epoch.
    pub(super) fn led_by(
        &mut self,
        epoch: Epoch,
        me: &Candidate,
    ) -> Result<&mut Leadership, StoreError> {
        let row = &mut self.leadership;
        let mine = row.epoch == epoch && row.holder.as_deref() == Some(me.name.as_str());
        if mine { Ok(row) } else { Err(StoreError::NotLeader) }
    }

    pub(super) fn found(&self, needs: &Needs) -> Found {
        fn some<K: Copy + Ord, R, M>(
            ids: &BTreeSet<K>,
            rows: &BTreeMap<K, R>,
            mark: impl Fn(&R) -> M,
        ) -> BTreeMap<K, M> {
            ids.iter().filter_map(|id| Some((*id, mark(rows.get(id)?)))).collect()
        }
        Found {
            marks: self.marks,
            jobs: some(&needs.jobs, &self.jobs, |row| row.seq),
            cursors: some(&needs.cursors, &self.cursors, |row| row.seq),
            actions: some(&needs.actions, &self.actions, |row| row.seq),
            runs: some(&needs.runs, &self.runs, RunMark::of),
            workers: some(&needs.workers, &self.workers, |row| row.seq),
        }
    }

    pub(super) fn bound(&self, action: &Action) -> BoundAction {
        let bindings = self.bindings.get(&action.id).cloned().unwrap_or_default();
        BoundAction { action: action.clone(), bindings }
    }

    pub(super) fn action_at(&self, (job, version): (JobId, Version)) -> Option<&Action> {
        let id = self.taken.get(&Key::Version(job, version))?;
        self.actions.get(&ActionId::from_raw(*id))
    }

    /// Of a version that lies in a gap, and has no row, skipped(late).
    pub(super) fn outcome(&self, at: (JobId, Version)) -> Option<ActionEnd> {
        if let Some(action) = self.action_at(at) {
            return action.outcome;
        }
        let (job, version) = at;
        let before = (job, Version::from_ms(i64::MIN))..=(job, version);
        let within = self.gaps.range(before).any(|(_, gap)| gap.to >= version);
        within.then_some(ActionEnd::Skipped(SkipReason::Late))
    }

    /// The actions of a job in `[from, to)`, by version.
    pub(super) fn versions(
        &self,
        job: JobId,
        from: Version,
        to: Version,
    ) -> impl DoubleEndedIterator<Item = &Action> {
        let to = to.max(from);
        let ids = self.taken.range(Key::Version(job, from)..Key::Version(job, to));
        ids.filter_map(|(_, id)| self.actions.get(&ActionId::from_raw(*id)))
    }

    pub(super) fn newest(&self, job: JobId, at: Version, decided: bool) -> Option<&Action> {
        let after = Version::from_ms(at.ms().saturating_add(1));
        self.versions(job, Version::from_ms(i64::MIN), after)
            .rfind(|action| !decided || !action.state.planned())
    }

    /// The actions that wait for a version, by id.
    pub(super) fn dependents(
        &self,
        job: JobId,
        version: Version,
    ) -> impl Iterator<Item = Dependent> {
        let from = (job, version, ActionId::from_raw(i64::MIN));
        let to = (job, version, ActionId::from_raw(i64::MAX));
        let own = move |binding: &&Binding| (binding.upstream, binding.version) == (job, version);
        self.bound_to.range(from..=to).filter_map(move |(_, _, id)| {
            let on = self.bindings.get(id)?.iter().find(own)?.on;
            let action = self.actions.get(id)?.clone();
            Some(Dependent { live: self.live_run(&action).cloned(), action, on })
        })
    }

    pub(super) fn run_view(&self, run: &Run) -> RunView {
        let worker = run.state.hold().and_then(|hold| self.workers.get(&hold.worker));
        let action = self.actions.get(&run.action);
        RunView {
            run: run.clone(),
            worker: worker.map(|w| w.name.clone()),
            zone: action.map_or_else(|| "UTC".to_owned(), |action| action.zone.clone()),
            counted: action.is_some_and(|action| action.counted_run == Some(run.id)),
        }
    }

    pub(super) fn attempt_of(&self, token: Token) -> Option<&Attempt> {
        let fence = self.taken.get(&Key::Token(token))?;
        self.attempts.get(&Fence::from_raw(*fence))
    }

    pub(super) fn attempt_view(&self, attempt: &Attempt) -> AttemptView {
        let worker = self.workers.get(&attempt.worker).map(|w| w.name.clone()).unwrap_or_default();
        let log_bytes = self.logs.get(&attempt.fence).map_or(0, |log| length(log));
        AttemptView { attempt: attempt.clone(), worker, log_bytes }
    }

    pub(super) fn append_log(&mut self, fence: Fence, offset: u64, bytes: &[u8]) -> u64 {
        let log = self.logs.entry(fence).or_default();
        let end = length(log);
        let known = end.checked_sub(offset).and_then(|n| usize::try_from(n).ok());
        if let Some(new) = known.and_then(|n| bytes.get(n..)) {
            log.extend_from_slice(new);
        }
        length(log)
    }

    pub(super) fn read_log(&self, fence: Fence, offset: u64, max: u32) -> LogRead {
        let Some(log) = self.logs.get(&fence) else { return LogRead::default() };
        let most = usize::try_from(max).unwrap_or(usize::MAX);
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(log.len());
        let bytes = log.iter().skip(from).take(most).copied().collect();
        LogRead { bytes, size: length(log) }
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
