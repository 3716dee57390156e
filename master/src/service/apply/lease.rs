//! Which leases the timing of this cluster allows, and where one that it does not is written. It must not know jobs but by
//! their leases.

use std::time::Duration;

use hera_common::doc::{Applied as Checked, DocError, FieldError, FileDoc, Span};
use hera_common::worker::heartbeat;

use crate::config::WorkerTiming;

/// No timing needs a longer lease.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// What workers are told, as far as a lease must allow for it.
pub(super) struct Bound {
    pub(super) timing: WorkerTiming,
    pub(super) rho_ppm: u32,
}

impl Bound {
    /// A lease so short that a worker must end what it has started before it can renew. Told where it is written; where
    /// only a group that the files do not show has it, at the first job that gets it.
    pub(super) fn check(&self, docs: &[FileDoc], checked: &Checked) -> Vec<DocError> {
        let mut errors = Vec::new();
        let mut look = |doc: &FileDoc, lease: Option<Span>, field: String| {
            let problem = lease.and_then(|lease| self.problem(lease.get()));
            errors.extend(problem.map(|problem| doc.error(FieldError::new(field, problem))));
        };
        for doc in docs {
            look(doc, doc.own.defaults.lease, "defaults.lease".to_owned());
            for job in &doc.jobs {
                look(doc, job.settings.lease, format!("jobs[{}].lease", job.number));
            }
        }
        if errors.is_empty() {
            let inherited = checked.jobs.iter().find_map(|job| {
                let problem = self.problem(job.spec.policy.lease)?;
                Some(job.place.error(FieldError::new("lease", format!("inherited: {problem}"))))
            });
            errors.extend(inherited);
        }
        errors
    }

    fn problem(&self, lease: Duration) -> Option<String> {
        (!self.allows(lease)).then(|| {
            format!(
                "{} is too short: write at least {}, so that by the timing of this cluster three heartbeats, a call, TERM and KILL fit into it",
                Span::new(lease),
                self.least()
            )
        })
    }

    fn allows(&self, lease: Duration) -> bool {
        let WorkerTiming { heartbeat_min, heartbeat_max, rpc, term, kill, poll: _ } = self.timing;
        // A longer lease is renewed less often: what must fit into it grows with it, and more slowly.
        let heartbeat = heartbeat(lease, heartbeat_min..=heartbeat_max);
        let needed = heartbeat * 3 + rpc.min(heartbeat / 2) + term + kill;
        lease > needed + needed * self.rho_ppm / 1_000_000
    }

    /// The shortest that is allowed, in whole seconds.
    fn least(&self) -> Span {
        let (mut below, mut enough) = (0, LONGEST.as_secs());
        while enough - below > 1 {
            let between = u64::midpoint(below, enough);
            if self.allows(Duration::from_secs(between)) {
                enough = between;
            } else {
                below = between;
            }
        }
        Span::new(Duration::from_secs(enough))
    }
}

#[cfg(test)]
mod tests {
    use hera_common::doc::{Contents, Unknown, apply_set, read_file};

    use super::*;
    use crate::config::Timing;

    fn check(text: &str) -> Vec<String> {
        let timing = Timing::default();
        let bound = Bound { timing: timing.worker, rho_ppm: timing.rho_ppm };
        let docs = [read_file("a.yaml", text).unwrap()];
        let checked = apply_set(&docs, &Contents::default(), &Unknown, false).unwrap();
        let told = |error: DocError| format!("{}:{} {}", error.place, error.field, error.problem);
        bound.check(&docs, &checked).into_iter().map(told).collect()
    }

    #[test]
    fn the_hint_is_a_lease_that_is_allowed_and_one_second_less_is_not() {
        let usual = Timing::default();
        let quick = WorkerTiming {
            heartbeat_min: Duration::from_millis(500),
            heartbeat_max: Duration::from_millis(500),
            rpc: Duration::from_millis(250),
            term: Duration::from_millis(200),
            kill: Duration::from_millis(500),
            poll: Duration::from_secs(20),
        };
        let slow = WorkerTiming { term: Duration::from_secs(600), ..usual.worker };
        let mut told = Vec::new();
        for timing in [usual.worker, quick, slow] {
            let bound = Bound { timing, rho_ppm: 10_000 };
            let least = bound.least();
            assert!(bound.allows(least.get()), "{least}");
            assert!(!bound.allows(least.get() - Duration::from_secs(1)), "{least}");
            told.push(least.to_string());
        }
        assert_eq!(told, ["18s", "3s", "642s"]);
    }

    #[test]
    fn a_lease_is_refused_once_where_it_is_written() {
        let jobs = "jobs:\n  - {name: a, type: noop}\n  - {name: b, type: noop}\n  - {name: c, type: noop, lease: 3s}\n";
        let hint = "write at least 18s, so that by the timing of this cluster three heartbeats, a call, TERM and KILL fit into it";
        assert_eq!(
            check(&format!("group: g\ndefaults: {{lease: 10s}}\n{jobs}")),
            [
                format!("2:19:defaults.lease 10s is too short: {hint}"),
                format!("6:34:jobs[2].lease 3s is too short: {hint}"),
            ]
        );
        assert_eq!(
            check("group: g\ndefaults: {lease: 18s}\njobs:\n  - {name: a, type: noop}\n"),
            [""; 0]
        );
    }
}
