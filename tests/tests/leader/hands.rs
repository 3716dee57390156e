//! What another hand changed is not lost by an apply that has not seen it.

use expect_test::{Expect, expect};
use hera_engine::input::{Applied, RefusalKind, Reply};

use crate::desk::Desk;

const FIRST: &str = "
  - { name: one, schedule: { cron: '0 8 * * *' }, script: work }
  - { name: two, schedule: { cron: '0 9 * * *' }, script: work }
";
const EDITED: &str = "
  - { name: one, schedule: { cron: '0 8 * * *' }, script: work harder, urgency: 5 }
  - { name: two, schedule: { cron: '0 9 * * *' }, script: work }
";

impl Desk {
    #[track_caller]
    fn applies(&mut self, source: &str, jobs: &str) -> Applied {
        let input = self.apply_from(source, jobs, false);
        match self.ask(input) {
            Reply::Applied(Ok(applied)) => applied,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn refuses(&mut self, source: &str, jobs: &str, expected: &Expect) {
        let before = self.engine.catalog();
        let input = self.apply_from(source, jobs, false);
        let Reply::Applied(Err(refusals)) = self.ask(input) else { panic!("not refused") };
        assert!(refusals.iter().all(|refusal| refusal.kind == RefusalKind::Conflict));
        let told: Vec<String> =
            refusals.iter().map(|r| format!("{} {}: {}\n", r.place, r.field, r.problem)).collect();
        expected.assert_eq(&told.concat());
        assert_eq!(self.engine.catalog().edition, before.edition, "nothing was changed");
    }
}

#[test]
fn an_apply_does_not_lose_what_another_source_has_changed() {
    let mut desk = Desk::new();
    desk.applies("/srv/jobs", FIRST);
    // Another checkout of the same files: it brings what is there, and may edit it.
    assert_eq!(desk.applies("/home/bob/jobs", FIRST).unchanged, 2);
    desk.wait(60);
    desk.applies("/home/bob/jobs/a.yaml", EDITED);
    desk.refuses("/srv/jobs", FIRST, &expect![[r#""#]]);
    // What it does not change concerns it not.
    assert_eq!(desk.applies("/srv/jobs", EDITED).unchanged, 2);
    desk.applies("/srv/jobs", FIRST);
    desk.refuses("/home/bob/jobs", EDITED, &expect![[r#""#]]);
}

#[test]
fn a_prune_does_not_delete_what_another_source_has_made() {
    let mut desk = Desk::new();
    desk.applies("/srv/jobs", FIRST);
    let one = FIRST.lines().nth(1).unwrap();
    desk.refuses("/home/bob/jobs", one, &expect![[r#""#]]);
    desk.lead();
    let changes = desk.applies("/srv/jobs", one).changes;
    assert_eq!(changes.len(), 1, "{changes:?}");
}

#[test]
fn an_overwrite_tells_what_is_lost() {
    let mut desk = Desk::new();
    desk.applies("/srv/jobs", FIRST);
    desk.applies("/srv/jobs", EDITED);
    let input = desk.apply_from("ci", FIRST, true);
    let Reply::Applied(Ok(applied)) = desk.ask(input) else { panic!("refused") };
    expect![[r#""#]].assert_eq(&applied.warnings.join("\n"));
    assert_eq!(desk.applies("ci", EDITED).changes.len(), 1);
}

#[test]
fn a_job_that_another_hand_closed_stays_closed() {
    let mut desk = Desk::new();
    desk.applies("/srv/jobs", FIRST);
    let closed = FIRST.replace("name: two,", "name: two, state: closed,");
    desk.applies("/srv/jobs", &closed);
    let open = FIRST.replace("name: two,", "name: two, state: open,");
    desk.refuses("ci", &open, &expect![[r#""#]]);
    assert_eq!(desk.applies("ci", FIRST).unchanged, 2, "a file without the key changes nothing");
}
