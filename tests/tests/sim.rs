//! Histories of the simulator that every change must pass; `cargo xtask sim` tells more of them.

use hera_tests::sim::{Options, run};

/// Lines of a bad history that are shown.
const TAIL: usize = 150;

#[track_caller]
fn all_well(seeds: std::ops::Range<u64>, options: Options) {
    for seed in seeds {
        let history = run(seed, options);
        let wrong = history.wrong.as_ref();
        assert!(wrong.is_none(), "seed {seed}: {wrong:?}\n{}", history.tail(TAIL));
        assert!(history.counts.processes > 0, "seed {seed}: no job ever ran");
        assert!(history.counts.comparisons > 0, "seed {seed}: memory was never compared");
    }
}

#[test]
fn a_seed_tells_one_history() {
    let options = ALL;
    for seed in 0..3 {
        assert_eq!(run(seed, options), run(seed, options), "seed {seed}");
    }
}

#[test]
fn without_faults_and_people_everything_runs_through() {
    all_well(0..10, Options { faults: false, people: false, without: None });
}

#[test]
fn without_faults_people_break_nothing() {
    all_well(100..115, Options { faults: false, people: true, without: None });
}

const ALL: Options = Options { faults: true, people: true, without: None };

// In four parts, which run side by side.
#[test]
fn faults_and_people_break_nothing_1() {
    all_well(0..25, ALL);
}

#[test]
fn faults_and_people_break_nothing_2() {
    all_well(25..50, ALL);
}

#[test]
fn faults_and_people_break_nothing_3() {
    all_well(50..75, ALL);
}

#[test]
fn faults_and_people_break_nothing_4() {
    all_well(75..100, ALL);
}
