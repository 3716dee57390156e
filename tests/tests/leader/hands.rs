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
        let reply = self.ask(input);
        let Reply::Applied(Ok(applied)) = reply else { panic!("{reply:?}") };
        applied
    }

    #[track_caller]
    fn refuses(&mut self, source: &str, jobs: &str, expected: &Expect) {
        let before = self.engine.catalog();
        let input = self.apply_from(source, jobs, false);
        let Reply::Applied(Err(refusals)) = self.ask(input) else { panic!("not refused") };
        assert!(refusals.iter().all(|refusal| refusal.kind == RefusalKind::Conflict));
        let told: Vec<String> =
            refusals.iter().map(|r| format!("{}|{}: {}\n", r.place, r.field, r.problem)).collect();
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
    desk.refuses("/srv/jobs", FIRST, &expect![[r#"
        jobs.yaml:4:5|jobs[0]: g/one was changed by anna at 2026-11-30T08:06:00Z, from `/home/bob/jobs/a.yaml`; this source, `/srv/jobs`, has not seen that change; it would become
            script changed
              - work harder
              + work
            urgency: 5 -> 3
            --overwrite does it all the same
    "#]]);
    // What it does not change concerns it not.
    assert_eq!(desk.applies("/srv/jobs", EDITED).unchanged, 2);
    desk.applies("/srv/jobs", FIRST);
    desk.refuses("/home/bob/jobs", EDITED, &expect![[r#"
        jobs.yaml:4:5|jobs[0]: g/one was changed by anna at 2026-11-30T08:06:00Z, from `/srv/jobs`; this source, `/home/bob/jobs`, has not seen that change; it would become
            script changed
              - work
              + work harder
            urgency: 3 -> 5
            --overwrite does it all the same
    "#]]);
}

#[test]
fn a_prune_does_not_delete_what_another_source_has_made() {
    let mut desk = Desk::new();
    desk.applies("/srv/jobs", FIRST);
    let one = FIRST.lines().nth(1).unwrap();
    desk.refuses("/home/bob/jobs", one, &expect![[r#"
        |: g/two was made by anna at 2026-11-30T08:05:00Z, from `/srv/jobs`; this source, `/home/bob/jobs`, has never applied it; it would be deleted
            --overwrite does it all the same
    "#]]);
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
    expect![[r#"
        overwritten: g/one was changed by anna at 2026-11-30T08:05:00Z, from `/srv/jobs`; this source, `ci`, has never applied it; it would become
            script changed
              - work harder
              + work
            urgency: 5 -> 3"#]].assert_eq(&applied.warnings.join("\n"));
    assert_eq!(desk.applies("ci", EDITED).changes.len(), 1);
}

#[test]
fn a_group_keeps_what_another_file_has_said_of_it() {
    let mut desk = Desk::new();
    let applies = |desk: &mut Desk, source: &str, text: &str, prune: bool| {
        let input = desk.apply_text(source, text, prune);
        let Reply::Applied(told) = desk.ask(input) else { panic!("no answer") };
        told.map_err(|refusals| {
            let told = refusals.iter().map(|r| format!("{} {}: {}", r.place, r.field, r.problem));
            told.collect::<Vec<_>>().join("\n")
        })
    };
    let urgency = |desk: &Desk| {
        let catalog = desk.engine.catalog();
        catalog.jobs[&desk.job("one")].spec.as_ref().unwrap().policy.urgency
    };
    let first = "group: g\ndefaults: { urgency: 5 }\njobs: [{ name: one, type: noop }]\n";
    applies(&mut desk, "/srv/a.yaml", first, false).unwrap();
    let other = "group: g\nowner: us\njobs: [{ name: two, type: noop }]\n";
    let told = applies(&mut desk, "/srv/b.yaml", other, false).unwrap();
    assert_eq!((told.warnings.len(), urgency(&desk)), (0, 5), "{told:?}");
    // Saying otherwise is another thing.
    let otherwise = other.replace("owner: us", "defaults: { urgency: 1 }");
    let refused = applies(&mut desk, "/srv/c.yaml", &otherwise, false).unwrap_err();
    expect![[r#"
        jobs.yaml:1:8 group: group g was changed by anna at 2026-11-30T08:05:00Z, from `/srv/b.yaml`; this source, `/srv/c.yaml`, has never applied it; it would become
            defaults.urgency: 5 -> 1
            --overwrite does it all the same
        jobs.yaml:3:8 jobs[0]: g/two was made by anna at 2026-11-30T08:05:00Z, from `/srv/b.yaml`; this source, `/srv/c.yaml`, has never applied it; it would become
            urgency: 5 -> 1
            --overwrite does it all the same"#]].assert_eq(&refused);
    // The file that has said it says it no longer.
    let nothing = first.replace("defaults: { urgency: 5 }\n", "");
    applies(&mut desk, "/srv/a.yaml", first, false).unwrap();
    let told = applies(&mut desk, "/srv/b.yaml", other, false).unwrap();
    assert_eq!(told.groups, []);
    let told = applies(&mut desk, "/srv/b.yaml", &other.replace("owner: us\n", ""), false).unwrap();
    expect!["group g keeps its owner and defaults, of which the files say nothing: --prune takes that away"].assert_eq(&told.warnings.join("\n"));
    applies(&mut desk, "/srv", &(nothing + "  # the whole\n"), true).unwrap();
    assert_eq!(urgency(&desk), 3);
}

#[test]
fn a_job_that_another_hand_closed_stays_closed() {
    let mut desk = Desk::new();
    desk.applies("/srv/jobs", FIRST);
    let closed = FIRST.replace("name: two,", "name: two, state: closed,");
    desk.applies("/srv/jobs", &closed);
    let open = FIRST.replace("name: two,", "name: two, state: open,");
    desk.refuses("ci", &open, &expect![[r#"
        jobs.yaml:5:5|jobs[1]: g/two was changed by anna at 2026-11-30T08:05:00Z, from `/srv/jobs`; this source, `ci`, has never applied it; it would become
            state: closed -> open
            --overwrite does it all the same
    "#]]);
    assert_eq!(desk.applies("ci", FIRST).unchanged, 2, "a file without the key changes nothing");
}
