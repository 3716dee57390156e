//! Deciding versions whose instant has come: to wait, to run, or to be skipped with a reason. Never twice.

use std::collections::BTreeSet;

use hera_common::action::{ActionEnd, ActionState, SkipReason};
use hera_common::job::{Gap, GapReason};
use hera_common::limits::{CATCH_UP_AGE_MAX, CATCH_UP_ROWS_MAX, MISSED_AFTER};
use hera_common::spec::CatchUp;
use hera_common::time::{Version, Wall};
use hera_common::unit::Write;

use super::replan::Want;
use super::{Ctx, Handler, Note};
use crate::input::Change;

/// What is done with a version that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Take,
    Skip(SkipReason),
}

/// Slots of a job, told by their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: Version,
    /// The last of them.
    pub to: Version,
    /// See [`Gap::count`].
    pub count: u64,
}

impl Span {
    fn of(slots: &[Version]) -> Option<Self> {
        let (&from, &to) = (slots.first()?, slots.last()?);
        Some(Self { from, to, count: u64::try_from(slots.len()).unwrap_or(u64::MAX) })
    }
}

impl Handler {
    /// Event TimerFired: decides everything that is due, oldest first. `absent` are versions that are due and have no row (nobody
    /// led while they came near); what is not taken of them becomes one gap.
    pub fn on_due(&mut self, ctx: &mut Ctx<'_>, absent: Vec<Want>) {
        let now = Version::at(ctx.now.wall);
        let mut all: BTreeSet<Version> = self.planned.range(..=now).copied().collect();
        all.extend(absent.iter().map(|want| want.version));
        // None before an earlier one: what is held back holds back what comes after it.
        if let Some(&held) = all.iter().find(|version| ctx.job.fires_at(**version) > now) {
            all.retain(|version| *version < held);
        }
        let (absent, ahead): (Vec<Want>, Vec<Want>) =
            absent.into_iter().partition(|want| all.contains(&want.version));
        if ahead.is_empty() && all.is_empty() {
            return;
        }
        let unit = ctx.stage.unit(ctx.cause);
        ctx.stage.touch(unit, self.job);
        for want in ahead {
            self.insert_planned(ctx, unit, want);
        }
        let Some(&last) = all.last() else { return };
        let taken = taken(&all, ctx.now.wall.minus(ctx.job.jitter()), ctx.job.catch_up());
        let mut left_out = Vec::new();
        for want in absent {
            if taken.contains(&want.version) {
                self.insert_planned(ctx, unit, want);
            } else {
                left_out.push(want.version);
            }
        }
        if let Some(span) = Span::of(&left_out) {
            let rows = all.iter().filter(|version| left_out.binary_search(version).is_err());
            self.gap(ctx, unit, span, rows.copied().collect(), gap_reason(ctx));
        }
        for version in all {
            if self.planned.contains(&version) {
                let verdict = if self.is_dropped(version) {
                    Verdict::Skip(SkipReason::User)
                } else {
                    verdict(ctx, version, taken.contains(&version))
                };
                self.decide(ctx, unit, version, verdict);
            }
        }
        self.cursor.decided_to = self.cursor.decided_to.max(last);
        ctx.stage.update_cursor(unit, &mut self.cursor);
    }

    /// Slots that nobody looked at, from before catch-up looks back: one gap.
    pub fn on_missed_far(&mut self, ctx: &mut Ctx<'_>, span: Span) {
        let unit = ctx.stage.unit(ctx.cause);
        ctx.stage.touch(unit, self.job);
        self.gap(ctx, unit, span, BTreeSet::new(), gap_reason(ctx));
        self.cursor.decided_to = self.cursor.decided_to.max(span.to);
        ctx.stage.update_cursor(unit, &mut self.cursor);
    }

    fn is_dropped(&self, version: Version) -> bool {
        let dropped = ActionState::Planned { dropped: true };
        self.actions.get(&version).is_some_and(|entry| entry.action.state == dropped)
    }

    /// Decides a version to run, whatever its age.
    pub(super) fn decide_to_wait(&mut self, ctx: &mut Ctx<'_>, unit: usize, version: Version) {
        self.decide(ctx, unit, version, Verdict::Take);
    }

    fn decide(&mut self, ctx: &mut Ctx<'_>, unit: usize, version: Version, verdict: Verdict) {
        let Some(entry) = self.actions.get_mut(&version) else { return };
        if !entry.action.state.planned() {
            return;
        }
        self.planned.remove(&version);
        match verdict {
            Verdict::Skip(reason) => {
                self.end_action(ctx, unit, version, ActionEnd::Skipped(reason));
            }
            Verdict::Take => {
                entry.action.state = ActionState::Waiting;
                entry.action.decided_at = Some(ctx.now.wall);
                ctx.stage.update_action(unit, &mut entry.action);
                let action = entry.action.clone();
                self.settle(ctx, unit, version);
                let waits = self
                    .actions
                    .get(&version)
                    .is_some_and(|e| e.action.state == ActionState::Waiting);
                if waits {
                    ctx.stage.changed(unit, Change::Action(Box::new(action)));
                }
            }
        }
    }

    /// Writes slots that become no action: all in the span but `rows`, which have one.
    pub(super) fn gap(
        &mut self,
        ctx: &mut Ctx<'_>,
        unit: usize,
        Span { from, to, count }: Span,
        rows: BTreeSet<Version>,
        reason: GapReason,
    ) {
        let gap = Gap { job: self.job, from, to, count, reason, created_at: ctx.now.wall };
        ctx.stage.write(unit, Write::Gap(gap));
        let reason = reason.label();
        ctx.stage.changed(unit, Change::Gap { job: self.job, from, to, count, reason });
        ctx.notes.push(Note::Gap { job: self.job, from, to, rows, unit });
    }
}

fn gap_reason(ctx: &Ctx<'_>) -> GapReason {
    if ctx.job.row.open { GapReason::Late } else { GapReason::Closed }
}

fn verdict(ctx: &Ctx<'_>, version: Version, taken: bool) -> Verdict {
    let late = ctx.now.wall.minus(ctx.job.jitter()).since(version.due());
    if !ctx.job.row.open {
        Verdict::Skip(SkipReason::Closed)
    } else if !taken || ctx.job.max_lateness().is_some_and(|limit| late > limit) {
        Verdict::Skip(SkipReason::Late)
    } else {
        Verdict::Take
    }
}

/// Which of the due versions are to run: all that were not missed, and of the missed ones what catch-up takes. With jitter
/// `now` is earlier by all of it: none is late because another one was held back longer.
fn taken(due: &BTreeSet<Version>, now: Wall, catch_up: CatchUp) -> BTreeSet<Version> {
    let missed = |v: &&Version| now.since(v.due()) > MISSED_AFTER;
    let mut taken: BTreeSet<Version> = due.iter().filter(|v| !missed(v)).copied().collect();
    match catch_up {
        CatchUp::Skip => {}
        CatchUp::Last => taken.extend(due.iter().rfind(missed)),
        CatchUp::All => {
            let young = |v: &&Version| now.since(v.due()) <= CATCH_UP_AGE_MAX;
            let newest = due.iter().rev().filter(missed).filter(young).take(CATCH_UP_ROWS_MAX);
            taken.extend(newest);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hera_common::spec::CatchUp;
    use hera_common::time::{Version, Wall};

    use super::taken;

    fn minutes(of: impl IntoIterator<Item = i64>) -> BTreeSet<Version> {
        of.into_iter().map(|m| Version::from_ms(m * 60_000)).collect()
    }

    #[test]
    fn a_version_of_the_last_minute_was_not_missed() {
        let due = minutes([0, 60, 119, 120]);
        let now = Wall::from_ms(120 * 60_000 + 5_000);
        assert_eq!(taken(&due, now, CatchUp::Skip), minutes([120]));
        assert_eq!(taken(&due, now, CatchUp::Last), minutes([119, 120]));
        assert_eq!(taken(&due, now, CatchUp::All), minutes([0, 60, 119, 120]));
    }

    #[test]
    fn catching_up_with_all_takes_a_hundred_of_the_last_three_days() {
        let due = minutes(0..10 * 24 * 60);
        let now = Wall::from_ms(10 * 24 * 3_600_000 + 3_600_000);
        let all = taken(&due, now, CatchUp::All);
        assert_eq!(all.len(), 100);
        assert_eq!(all.last(), due.last());
        let old = minutes([0, 1]);
        assert!(taken(&old, now, CatchUp::All).is_empty());
    }
}
