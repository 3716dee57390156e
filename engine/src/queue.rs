//! The schedule queue: which queued runs may be granted now, and in which order. Knows no worker and no store.

use std::collections::{BTreeMap, BTreeSet};

use hera_common::id::{JobId, RunId};
use hera_common::run::{Run, RunState, Trigger};
use hera_common::time::{Version, Wall};

use crate::engine::{differ, maps};

/// A place in the queue: due work before asked work, the more urgent first, then the lowest version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// 0: schedule, event, recover. 1: manual, debug, rerun.
    class: u8,
    /// 0 is the most urgent.
    calm: u8,
    version: Version,
    pub run: RunId,
}

impl Place {
    /// Where `run` stands.
    pub fn of(run: &Run) -> Self {
        let class = match run.trigger {
            Trigger::Schedule | Trigger::Event | Trigger::Recover | Trigger::SuperRecover => 0,
            Trigger::Manual | Trigger::Debug | Trigger::Rerun => 1,
        };
        Self { class, calm: 5_u8.saturating_sub(run.urgency), version: run.version, run: run.id }
    }
}

/// The exclusive runs of one job: one at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Line {
    queued: BTreeSet<Place>,
    /// Held, or waiting for a retry: none of the others may be granted.
    busy: BTreeSet<RunId>,
    /// The one that stands in the ready list.
    head: Option<Place>,
    group: Option<String>,
}

/// How a run takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// May be granted when its turn comes.
    Ready(Place),
    /// Waits until the instant.
    Later(Wall),
    Held,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    job: JobId,
    exclusive: bool,
    part: Part,
    group: Option<String>,
}

/// All runs that are queued or held.
#[derive(Debug, Default)]
pub struct Queue {
    entries: BTreeMap<RunId, Entry>,
    lines: BTreeMap<JobId, Line>,
    /// Grantable now, by host group; `None` is "any worker".
    ready: BTreeMap<Option<String>, BTreeSet<Place>>,
    later: BTreeSet<(Wall, RunId)>,
}

impl Queue {
    /// Takes note of the run as it is now. `expired`: its lease has run out and it may be taken over.
    pub fn put(&mut self, run: &Run, group: Option<&str>, expired: bool, now: Wall) {
        self.remove(run.id);
        let part = match run.state {
            RunState::Queued { not_before, .. } if not_before > now => Part::Later(not_before),
            RunState::Queued { .. } => Part::Ready(Place::of(run)),
            RunState::Running(_) if expired => Part::Ready(Place::of(run)),
            RunState::Leased(_) | RunState::Running(_) => Part::Held,
            RunState::Ended(_) => return,
        };
        let group = group.map(str::to_owned);
        let entry = Entry { job: run.job, exclusive: run.exclusive, part, group: group.clone() };
        if let Part::Later(at) = part {
            self.later.insert((at, run.id));
        }
        if run.exclusive {
            let line = self.lines.entry(run.job).or_default();
            line.group = group;
            match part {
                // One that is to be taken over is the job's held one: it alone may be granted.
                Part::Ready(place) if expired => {
                    line.busy.insert(run.id);
                    self.ready.entry(entry.group.clone()).or_default().insert(place);
                }
                Part::Ready(place) => {
                    line.queued.insert(place);
                }
                Part::Later(_) | Part::Held => {
                    line.busy.insert(run.id);
                }
            }
            self.entries.insert(run.id, entry);
            self.advance(run.job);
        } else {
            if let Part::Ready(place) = part {
                self.ready.entry(entry.group.clone()).or_default().insert(place);
            }
            self.entries.insert(run.id, entry);
        }
    }

    /// Forgets the run.
    pub fn remove(&mut self, run: RunId) {
        let Some(entry) = self.entries.remove(&run) else { return };
        match entry.part {
            Part::Later(at) => {
                self.later.remove(&(at, run));
            }
            Part::Ready(place) => {
                if let Some(ready) = self.ready.get_mut(&entry.group) {
                    ready.remove(&place);
                }
                if let Some(line) = self.lines.get_mut(&entry.job) {
                    line.queued.remove(&place);
                    if line.head == Some(place) {
                        line.head = None;
                    }
                }
            }
            Part::Held => {}
        }
        if entry.exclusive {
            if let Some(line) = self.lines.get_mut(&entry.job) {
                line.busy.remove(&run);
            }
            self.advance(entry.job);
        }
    }

    /// Keeps exactly the right run of a job's line in the ready list.
    fn advance(&mut self, job: JobId) {
        let Some(line) = self.lines.get_mut(&job) else { return };
        let want = if line.busy.is_empty() { line.queued.first().copied() } else { None };
        if line.head != want {
            let ready = self.ready.entry(line.group.clone()).or_default();
            if let Some(head) = line.head {
                ready.remove(&head);
            }
            if let Some(want) = want {
                ready.insert(want);
            }
            line.head = want;
        }
        if line.queued.is_empty() && line.busy.is_empty() {
            self.lines.remove(&job);
        }
    }

    /// The runs whose delay is over; they stay until they are put again.
    pub fn due(&self, now: Wall) -> Vec<RunId> {
        let due = self.later.iter().take_while(|&&(at, _run)| at <= now);
        due.map(|&(_at, run)| run).collect()
    }

    /// When the next delay is over.
    pub fn next_due(&self) -> Option<Wall> {
        self.later.first().map(|&(at, _run)| at)
    }

    /// The host groups in which something may be granted, each with its first run; in order of the queue.
    pub fn heads(&self) -> Vec<(Option<&str>, Place)> {
        let mut heads: Vec<_> = self
            .ready
            .iter()
            .filter_map(|(group, ready)| Some((group.as_deref(), *ready.first()?)))
            .collect();
        heads.sort_by_key(|&(_group, place)| place);
        heads
    }

    /// Runs that may be granted now, in order.
    pub fn ready(&self) -> impl Iterator<Item = RunId> {
        let mut all: Vec<Place> = self.ready.values().flatten().copied().collect();
        all.sort_unstable();
        all.into_iter().map(|place| place.run)
    }

    /// The first difference from another queue.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let full = |of: &Self| -> BTreeMap<_, _> {
            let full = of.ready.iter().filter(|(_group, ready)| !ready.is_empty());
            full.map(|(group, ready)| (group.clone(), ready.clone())).collect()
        };
        maps("queued", &self.entries, &other.entries)
            .or_else(|| maps("line of job", &self.lines, &other.lines))
            .or_else(|| maps("ready for host group", &full(self), &full(other)))
            .or_else(|| differ("delays", &self.later, &other.later))
    }

    /// True where `run` could be granted if a worker asked.
    pub fn is_ready(&self, run: RunId) -> bool {
        self.entries.get(&run).is_some_and(|entry| match entry.part {
            Part::Ready(place) => self.ready.get(&entry.group).is_some_and(|r| r.contains(&place)),
            Part::Later(_) | Part::Held => false,
        })
    }

    /// True where `run` waits for a delay to end.
    pub fn is_later(&self, run: RunId) -> bool {
        self.entries.get(&run).is_some_and(|entry| matches!(entry.part, Part::Later(_)))
    }
}

#[cfg(test)]
mod tests;
