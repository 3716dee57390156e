//! Edits: applied whole or not at all, and what they make of actions that wait.

use hera_common::time::Version;
use hera_engine::input::{Input, Reply};

use crate::desk::{Desk, asked};

const EVERY_SECOND: &str = "  - {name: tick, schedule: {cron: '* * * * * ?'}, type: noop}\n";

#[test]
fn an_edit_that_cannot_be_planned_is_refused_and_writes_nothing() {
    let mut desk = Desk::new();
    let window = "depends_on: [{job: tick, bind: window, from: -30d, to: 0s}]";
    let jobs = format!(
        "{EVERY_SECOND}  - {{name: month, schedule: {{cron: '0 0 9 * * ?'}}, type: noop, {window}}}\n"
    );
    for dry_run in [true, false] {
        let Input::Apply(mut set) = desk.apply_input(&jobs) else { unreachable!() };
        set.dry_run = dry_run;
        // Versions of thirty days ago are there.
        set.since = set.since.map(|since| Version::from_ms(since.ms() - 40 * 86_400_000));
        let step = desk.step(vec![Input::Apply(set)]);
        assert!(step.batch.units.is_empty(), "{:?}", step.batch.units);
        let Some(Reply::Applied(Err(refusals))) = step.answers.first().map(|a| &a.reply) else {
            panic!("{:?}", step.answers);
        };
        let told: Vec<String> =
            refusals.iter().map(|r| format!("{} {}: {}", r.place, r.field, r.problem)).collect();
        assert_eq!(
            told,
            [
                "jobs.yaml:4:77 jobs[1].depends_on[0]: it binds more than 10000 versions: take a shorter window, or a job with fewer versions"
            ]
        );
        assert!(desk.engine.catalog().jobs.is_empty());
    }
    // What was refused stands in nobody's way.
    desk.apply("  - {name: other, type: noop}\n");
    assert_eq!(desk.job("other").raw(), 1);
}

#[test]
fn a_job_whose_edge_goes_with_its_upstream_is_freed_by_that_edit() {
    let mut desk = Desk::new();
    let root = "  - {name: root, schedule: {cron: '0 8 * * *'}, type: noop}\n";
    let low = "  - {name: low, schedule: {cron: '0 8 * * *'}, type: noop";
    desk.apply(&format!(
        "{root}  - {{name: up, depends_on: [root], type: noop}}\n{low}, depends_on: [up]}}\n"
    ));
    let action = desk.bound("root", 0);
    desk.ask(Input::Cancel { asked: asked(), action });
    assert_eq!((desk.state("up", 0), desk.state("low", 0)), ("waiting".into(), "waiting".into()));
    desk.apply(&format!("{root}{low}}}\n"));
    assert_eq!(desk.state("low", 0), "active");
}
