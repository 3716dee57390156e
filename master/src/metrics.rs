//! What a master counts of itself, in the text that Prometheus reads. It must not know why anything happened, and has
//! no label whose values are not a closed set.

use std::sync::Arc;
use std::time::Duration;

use hera_common::attempt::AttemptState;
use hera_common::unit::Outcome;
use hera_engine::input::{Change, Standing};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The type of the text.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Bounds of the histogram of commits: from 1 ms, twice as long each, to 16 s.
const COMMIT_FIRST_SECONDS: f64 = 0.001;
const COMMIT_BUCKETS: u16 = 15;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct To {
    outcome: &'static str,
}

/// All counts of a master. Copies share them.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct Counts {
    registry: Registry,
    leader: Gauge,
    epoch: Gauge,
    actions: Family<Of, Gauge>,
    runs: Family<Of, Gauge>,
    attempts: Gauge,
    workers: Family<Of, Gauge>,
    commits: Family<To, Counter>,
    commit_time: Histogram,
    units: Family<To, Counter>,
    polls: Counter,
    grants: Counter,
    attempts_ended: Family<To, Counter>,
    runs_ended: Family<To, Counter>,
}

impl Metrics {
    /// All at nothing.
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("hera");
        let buckets = exponential_buckets(COMMIT_FIRST_SECONDS, 2.0, COMMIT_BUCKETS);
        let commit_time = Histogram::new(buckets);
        let told = "From a batch that is decided to the store's answer";
        registry.register("commit_seconds", told, commit_time.clone());
        let counts = Counts {
            leader: put(&mut registry, "leader", "1 while this master leads"),
            epoch: put(
                &mut registry,
                "leader_epoch",
                "The term of this master; 0: it does not lead",
            ),
            actions: put(&mut registry, "actions", "Actions in the leader's memory"),
            runs: put(&mut registry, "runs", "Runs that have not ended"),
            attempts: put(&mut registry, "attempts_live", "Attempts that a worker holds"),
            workers: put(&mut registry, "workers", "Workers that are known"),
            commits: put(&mut registry, "commits", "Commits of the leader"),
            commit_time,
            units: put(&mut registry, "units", "Units of committed batches: written, or left out"),
            polls: put(&mut registry, "polls", "Polls of workers"),
            grants: put(&mut registry, "grants", "Attempts that were granted"),
            attempts_ended: put(&mut registry, "attempts_ended", "Ends of attempts"),
            runs_ended: put(&mut registry, "runs_ended", "Ends of runs"),
            registry,
        };
        // Known from the first look on, so that a rate begins at 0.
        for outcome in ["done", "failed"] {
            drop(counts.commits.get_or_create(&To { outcome }));
        }
        for outcome in ["done", "left_out"] {
            drop(counts.units.get_or_create(&To { outcome }));
        }
        Self { counts: Arc::new(counts) }
    }

    /// A commit was answered after `took`.
    pub(crate) fn committed(&self, took: Duration, outcomes: &[Outcome]) {
        self.commit("done", took);
        let left_out = outcomes.iter().filter(|outcome| **outcome == Outcome::LeftOut).count();
        for (outcome, count) in [("done", outcomes.len() - left_out), ("left_out", left_out)] {
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            self.counts.units.get_or_create(&To { outcome }).inc_by(count);
        }
    }

    /// A commit failed after `took`.
    pub(crate) fn commit_failed(&self, took: Duration) {
        self.commit("failed", took);
    }

    fn commit(&self, outcome: &'static str, took: Duration) {
        self.counts.commits.get_or_create(&To { outcome }).inc();
        self.counts.commit_time.observe(took.as_secs_f64());
    }

    /// A worker polls.
    pub(crate) fn polled(&self) {
        self.counts.polls.inc();
    }

    /// A change was committed.
    pub(crate) fn changed(&self, change: &Change) {
        let Change::Run { run, attempt } = change else { return };
        match attempt.as_ref().map(|attempt| &attempt.state) {
            Some(AttemptState::Leased) => {
                self.counts.grants.inc();
            }
            Some(AttemptState::Ended { end, .. }) => {
                self.counts.attempts_ended.get_or_create(&To { outcome: end.word() }).inc();
            }
            Some(AttemptState::Started) | None => {}
        }
        if run.state.ended() {
            self.counts.runs_ended.get_or_create(&To { outcome: run.state.word() }).inc();
        }
    }

    /// The text; `leads` is the term and what is in memory, where this master leads.
    pub(crate) fn text(&self, leads: Option<(i64, &Standing)>) -> String {
        let counts = &self.counts;
        counts.leader.set(i64::from(leads.is_some()));
        counts.epoch.set(leads.map_or(0, |(epoch, _standing)| epoch));
        let standing = leads.map(|(_epoch, standing)| standing);
        let of = |count: fn(&Standing) -> u32| standing.map_or(0, count).into();
        counts.attempts.set(of(|standing| standing.held));
        gauge(&counts.actions, "planned", of(|standing| standing.planned));
        gauge(&counts.actions, "waiting", of(|standing| standing.waiting));
        gauge(&counts.runs, "queued", of(|standing| standing.queued));
        gauge(&counts.runs, "held", of(|standing| standing.held));
        for state in ["online", "draining", "gone"] {
            let workers = standing.iter().flat_map(|standing| &standing.workers);
            let here = workers.filter(|worker| worker.state() == state);
            gauge(&counts.workers, state, i64::try_from(here.count()).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        encode(&mut text, &counts.registry).expect("a text takes all that is written to it");
        text
    }
}

fn gauge(family: &Family<Of, Gauge>, state: &'static str, value: i64) {
    family.get_or_create(&Of { state }).set(value);
}

/// Makes a metric and has it shown.
fn put<M>(registry: &mut Registry, name: &'static str, help: &'static str) -> M
where
    M: prometheus_client::registry::Metric + Clone + Default,
{
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hera_common::unit::Outcome;

    use super::Metrics;

    #[test]
    fn commits_and_what_they_left_out_are_counted() {
        let metrics = Metrics::new();
        metrics
            .committed(Duration::from_millis(3), &[Outcome::Done, Outcome::LeftOut, Outcome::Done]);
        metrics.commit_failed(Duration::from_secs(2));
        metrics.polled();
        let text = metrics.text(None);
        for line in [
            "hera_leader 0",
            "hera_commits_total{outcome=\"done\"} 1",
            "hera_commits_total{outcome=\"failed\"} 1",
            "hera_units_total{outcome=\"done\"} 2",
            "hera_units_total{outcome=\"left_out\"} 1",
            "hera_commit_seconds_count 2",
            "hera_commit_seconds_bucket{le=\"0.004\"} 1",
            "hera_polls_total 1",
            "hera_grants_total 0",
        ] {
            assert!(text.lines().any(|told| told == line), "{line} is not in\n{text}");
        }
    }
}
