//! Actions and runs as people see them: with names in place of ids, local times, and the words of a live run. No IO.

use hera_common::action::{Action, ActionState, ActivePart};
use hera_common::attempt::Attempt;
use hera_common::id::{JobId, WorkerId};
use hera_common::run::Run;
use hera_common::spec::On;
use hera_common::time::{Version, Wall};
use hera_engine::catalog::Catalog;
use hera_engine::time::zone;
use hera_store::RunView;
use jiff::ZonedDateTime;
use jiff::tz::TimeZone;

use crate::role::{Known, Lead};

/// The bare word of a state and the bracketed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) word: &'static str,
    /// Empty: none.
    pub(crate) reason: &'static str,
}

/// An action as shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownAction {
    pub(crate) action: Action,
    pub(crate) job: String,
    pub(crate) state: Words,
    pub(crate) live_run: Option<ShownRun>,
    pub(crate) bindings: Vec<ShownBinding>,
}

/// A run as shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownRun {
    pub(crate) run: Run,
    pub(crate) job: String,
    pub(crate) zone: String,
    pub(crate) worker: Option<String>,
    /// It sets its action's state.
    pub(crate) counts: bool,
}

/// An attempt as shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownAttempt {
    pub(crate) attempt: Attempt,
    pub(crate) worker: String,
    pub(crate) log_bytes: u64,
    /// What it left in `$HERA_OUTPUT`, where that was asked for.
    pub(crate) output: Option<Vec<u8>>,
}

/// One end of a binding.
#[derive(Debug, Clone)]
pub(crate) struct ShownBinding {
    pub(crate) job: String,
    pub(crate) version: Version,
    pub(crate) state: Words,
    pub(crate) on: On,
}

/// Of a version without a row.
pub(crate) const NO_ROW: Words = Words { word: "none", reason: "" };

/// Gives names and words to rows, by what is known at one moment.
pub(crate) struct Shower<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) known: &'a Known,
    pub(crate) now: Wall,
}

impl<'a> Shower<'a> {
    pub(crate) fn new(lead: &'a Lead, catalog: &'a Catalog, now: Wall) -> Self {
        Self { catalog, known: &lead.known, now }
    }

    /// The job's path; of one that was deleted its number.
    pub(crate) fn job(&self, id: JobId) -> String {
        let job = self.catalog.jobs.get(&id);
        job.map_or_else(|| format!("deleted-job-{id}"), |job| job.row.path.to_string())
    }

    pub(crate) fn worker(&self, id: WorkerId) -> String {
        self.known.worker(id).map_or_else(|| format!("worker {id}"), |worker| worker.name)
    }

    pub(crate) fn action(&self, action: Action, live: Option<Run>) -> ShownAction {
        let state = self.words(&action, live.as_ref());
        let live_run = live.map(|run| self.run_of(run, &action));
        ShownAction { job: self.job(action.job), state, live_run, action, bindings: Vec::new() }
    }

    /// The state of an action; of an active one its live run has the bracketed word.
    pub(crate) fn words(&self, action: &Action, live: Option<&Run>) -> Words {
        let (word, reason) = (action.state.word(), action.state.reason());
        let part = live.map_or(ActivePart::Queued, |run| ActivePart::of(run.state, self.now));
        let active = action.state == ActionState::Active;
        let reason = if active { part.label() } else { reason.unwrap_or_default() };
        Words { word, reason }
    }

    /// A run whose action is not at hand: in the zone of its job as it is now.
    pub(crate) fn run(&self, run: Run) -> ShownRun {
        let job = self.catalog.jobs.get(&run.job);
        let zone = job.map_or_else(|| "UTC".to_owned(), |job| job.zone().to_owned());
        let counts = run.trigger.counts();
        self.run_in(run, zone, counts)
    }

    /// A run of this action.
    pub(crate) fn run_of(&self, run: Run, action: &Action) -> ShownRun {
        let counts = run.trigger.counts() || action.counted_run == Some(run.id);
        self.run_in(run, action.zone.clone(), counts)
    }

    /// A run with what was read beside it.
    pub(crate) fn run_view(&self, view: RunView) -> ShownRun {
        let RunView { run, worker, zone, counted } = view;
        let counts = run.trigger.counts() || counted;
        let shown = self.run_in(run, zone, counts);
        ShownRun { worker: worker.or(shown.worker), ..shown }
    }

    fn run_in(&self, run: Run, zone: String, counts: bool) -> ShownRun {
        let worker = run.state.hold().map(|hold| self.worker(hold.worker));
        ShownRun { job: self.job(run.job), zone, worker, counts, run }
    }
}

/// The state of a run; of a queued one why it is.
pub(crate) fn run_words(run: &Run) -> Words {
    Words { word: run.state.word(), reason: run.state.reason().unwrap_or_default() }
}

/// The version's local time; a zone that is unknown here reads as UTC.
pub(crate) fn local(version: Version, zone_name: &str) -> ZonedDateTime {
    let zone = zone::find(zone_name).unwrap_or(TimeZone::UTC);
    version.timestamp().to_zoned_datetime(zone)
}

/// `yyyy-MM-ddTHH:mm:ss+HH:MM`, with `.SSS` where it is no whole second.
pub(crate) fn local_text(version: Version, zone_name: &str) -> String {
    let form = if version.ms().rem_euclid(1000) == 0 { "%FT%T%:z" } else { "%FT%T%.3f%:z" };
    local(version, zone_name).strftime(form).to_string()
}

/// `yyyyMMddHHmmss`.
pub(crate) fn digits(version: Version, zone_name: &str) -> String {
    local(version, zone_name).strftime("%Y%m%d%H%M%S").to_string()
}

/// `group/job@version`, the version in UTC.
pub(crate) fn name(job: &str, version: Version) -> String {
    format!("{job}@{version}")
}

#[cfg(test)]
mod tests {
    use super::{Version, digits, local_text};

    #[test]
    fn a_version_is_shown_in_its_zone() {
        let version = Version::from_ms(1_774_746_000_000);
        assert_eq!(version.to_string(), "2026-03-29T01:00:00Z");
        assert_eq!(local_text(version, "Europe/Berlin"), "2026-03-29T03:00:00+02:00");
        assert_eq!(digits(version, "Europe/Berlin"), "20260329030000");
        assert_eq!(local_text(version, "No/Where"), "2026-03-29T01:00:00+00:00");
        let odd = Version::from_ms(1_774_746_000_250);
        assert_eq!(local_text(odd, "UTC"), "2026-03-29T01:00:00.250+00:00");
    }
}
