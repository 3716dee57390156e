//! A closed job has no rows ahead; what comes due meanwhile is told as skipped(closed).

use hera_common::action::{ActionEnd, ActionState, SkipReason};
use hera_engine::input::{Input, Reply};

use crate::desk::Desk;

const HOURLY: &str =
    "  - { name: one, schedule: { cron: '0 * * * *' }, script: work, state: STATE }\n";

fn hourly(state: &str) -> String {
    HOURLY.replace("STATE", state)
}

impl Desk {
    /// The rows of the job so far: minutes past eight, and the state.
    fn rows_of(&self, name: &str) -> Vec<(i64, ActionState)> {
        let job = self.job(name);
        let rows = self.store.rows(|rows| {
            let of = rows.actions.values().filter(|action| action.job == job);
            of.map(|action| (action.version, action.state)).collect::<Vec<_>>()
        });
        let eight = self.action_at(0);
        let mut rows: Vec<_> =
            rows.into_iter().map(|(v, state)| ((v.ms() - eight.ms()) / 60_000, state)).collect();
        rows.sort_unstable();
        rows
    }

    fn tick(&mut self) {
        assert!(matches!(self.ask(Input::Tick), Reply::Done));
    }
}

#[test]
fn closing_a_job_takes_its_planned_rows_away_and_opening_makes_them_again() {
    let mut desk = Desk::new();
    desk.apply(&hourly("open"));
    desk.register("w");
    let planned = |desk: &Desk| desk.rows_of("one").iter().filter(|r| r.1.planned()).count();
    assert_eq!(planned(&desk), 50);
    desk.apply(&hourly("closed"));
    assert_eq!(planned(&desk), 0, "a planned row promises nothing");
    desk.tick();
    // Nobody ticks at other times than the engine says.
    for _hour in 0..3 {
        let wake = desk.engine.wake_in(desk.now).unwrap();
        desk.wait(wake.as_secs() + 1);
        desk.tick();
    }
    // A new leader goes on from there.
    desk.lead();
    desk.tick();
    for _hour in 0..2 {
        desk.wait(3_600);
        desk.tick();
    }
    let skipped = ActionState::Ended(ActionEnd::Skipped(SkipReason::Closed));
    let rows = desk.rows_of("one");
    assert!(rows.len() > 4, "{rows:?}");
    let later: Vec<_> = rows.iter().filter(|row| row.0 > 0).collect();
    let hours: Vec<i64> = later.iter().map(|row| row.0 / 60).collect();
    assert_eq!(hours, (1..=i64::try_from(later.len()).unwrap()).collect::<Vec<_>>(), "{rows:?}");
    assert!(later.iter().all(|row| row.1 == skipped), "{rows:?}");

    desk.apply(&hourly("open"));
    assert_eq!(planned(&desk), 50);
    let rows = desk.rows_of("one");
    assert_eq!(rows.iter().filter(|row| row.1 == skipped).count(), later.len(), "{rows:?}");
    desk.wait(3_600);
    desk.tick();
    let active = desk.rows_of("one").iter().filter(|row| row.1 == ActionState::Active).count();
    assert!(active > 0, "open again, it runs");
}

#[test]
fn what_came_due_of_a_closed_job_while_nobody_led_is_told_too() {
    let mut desk = Desk::new();
    desk.apply(&hourly("open"));
    desk.apply(&hourly("closed"));
    desk.tick();
    // Four days: more than catch-up looks back.
    desk.wait(4 * 24 * 3_600);
    desk.lead();
    desk.tick();
    let skipped = ActionState::Ended(ActionEnd::Skipped(SkipReason::Closed));
    let told = desk.rows_of("one").iter().filter(|row| row.1 == skipped).count();
    let gaps: u64 = desk.store.rows(|rows| {
        let of = rows.gaps.values().map(|gap| {
            assert_eq!(gap.reason.label(), "closed", "{gap:?}");
            gap.count
        });
        of.sum()
    });
    assert_eq!(u64::try_from(told).unwrap() + gaps, 4 * 24, "each version has a row or a gap");
    assert!(gaps > 0);
}

#[test]
fn a_new_job_that_is_closed_has_no_rows() {
    let mut desk = Desk::new();
    desk.apply(&hourly("closed"));
    desk.tick();
    let rows = desk.rows_of("one");
    assert!(rows.iter().all(|row| row.0 <= 0), "{rows:?}");
}
