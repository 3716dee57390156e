//! People: they apply job files, run, recover and cancel, at moments that nobody planned.

use std::collections::BTreeMap;

use hera_common::audit::Asked;
use hera_common::doc::{Contents, apply_set, read_file};
use hera_common::id::{ActionId, RunId};
use hera_common::time::Version;
use hera_engine::apply::{ApplySet, OthersChanges};
use hera_engine::input::{Input, Refusal, Reply};
use hera_store::Store as _;

use super::check::Check;
use super::event::{Caller, Event};
use super::world::{World, ready};

const DAY_MS: i64 = 24 * 3_600_000;
/// How near to the present the versions are that people act on, milliseconds.
const NEAR_MS: i64 = 400_000;

impl World {
    pub(super) fn person(&mut self) {
        if self.calm {
            return;
        }
        if !self.ledger.applied {
            self.apply(true);
            self.after(3_000, Event::Person);
            return;
        }
        if self.options.people {
            match self.dice.below(20) {
                0..3 => {
                    self.ledger.wanted = true;
                    let what = self.village.edit(&mut self.dice);
                    self.tell(format_args!("edit: {what}"));
                    self.tell_jobs();
                    self.apply(false);
                }
                // What the last apply left undone, perhaps since nobody led.
                3..8 if self.ledger.wanted => self.apply(false),
                8 => self.ask(Input::Queue),
                9 => self.ask(Input::Standing),
                10 => self.run_by_hand(),
                _ => self.verb(),
            }
        }
        let wait = self.dice.between(1_000, 20_000);
        self.after(wait, Event::Person);
    }

    /// A version that nobody planned, of the job that has no schedule.
    fn run_by_hand(&mut self) {
        let Some(master) = self.leader() else { return };
        let catalog = self.lead(master).map(|lead| lead.engine.catalog());
        let job = catalog.and_then(|catalog| {
            catalog.jobs.values().find(|job| job.by_hand()).map(|job| job.row.id)
        });
        if let Some(job) = job {
            self.tell(format_args!("run job {job} now"));
            self.ask(Input::RunNow { asked: asked("now"), job, set: BTreeMap::new() });
        }
    }

    /// The job file, in the history.
    fn tell_jobs(&mut self) {
        for line in self.village.file().lines() {
            self.tell(format_args!("    {line}"));
        }
    }

    fn ask(&mut self, input: Input) {
        if let Some(master) = self.leader() {
            self.put(master, Caller::Person, input);
        }
    }

    /// The master that leads by the store's row.
    pub(super) fn leader(&self) -> Option<usize> {
        let led = |own: &super::master::Master| own.up && own.lead.is_some();
        let leads = self.masters.iter().enumerate().filter(|(_, own)| led(own));
        leads.max_by_key(|(_, own)| own.lead.as_ref().map(|lead| lead.epoch)).map(|(n, _)| n)
    }

    pub(super) fn apply(&mut self, first: bool) {
        let Some(master) = self.leader() else { return };
        let text = self.village.file();
        let file = match read_file("jobs.yaml", &text) {
            Ok(file) => file,
            Err(errors) => {
                self.wrong(Check::World, format_args!("a job file is refused: {errors:?}\n{text}"));
                return;
            }
        };
        let Some(catalog) = self.lead(master).map(|lead| lead.engine.catalog()) else { return };
        let applied = match apply_set(&[file], &Contents::default(), &*catalog, true) {
            Ok(applied) => applied,
            Err(errors) => {
                self.tell(format_args!("the files are refused: {errors:?}"));
                return;
            }
        };
        let dealt = !self.village.jobs.is_empty();
        let back = first && dealt && self.village.jobs.len().is_multiple_of(2);
        let set = ApplySet {
            asked: asked("apply"),
            edition: catalog.edition,
            applied,
            source: "people".to_owned(),
            others: OthersChanges::Keep,
            dry_run: false,
            prune: true,
            since: back.then(|| Version::from_ms(self.wall().ms() - DAY_MS)),
            first_load_newest: back && self.village.jobs.len().is_multiple_of(4),
        };
        self.put(master, Caller::Person, Input::Apply(Box::new(set)));
    }

    /// Something is asked for an action that is near.
    fn verb(&mut self) {
        let now = self.wall().ms();
        let near: Vec<ActionId> = self.store.rows(|rows| {
            let near = |version: Version| (version.ms() - now).abs() < NEAR_MS;
            let near = rows.actions.values().filter(|action| near(action.version));
            near.map(|action| action.id).collect()
        });
        let (Some(master), Some(id)) = (self.leader(), self.dice.pick(&near)) else { return };
        let found = ready(self.store.another_link().action(id));
        let Some(Ok(Some(bound))) = found else { return };
        let (verb, action) = (self.dice.below(10), Box::new(bound));
        let label = format!("action {id} of job {} ({})", action.action.job, action.action.state);
        let input = match verb {
            0..2 => Input::Run { asked: asked("run"), action, set: BTreeMap::new() },
            2..7 => Input::Recover { asked: asked("recover"), action },
            _ => Input::Cancel { asked: asked("cancel"), action },
        };
        let word = if verb < 2 {
            "run"
        } else if verb < 7 {
            "recover"
        } else {
            "cancel"
        };
        self.tell(format_args!("{word} {label}"));
        self.put(master, Caller::Person, input);
    }

    /// Somebody cancels what a run is for.
    pub(super) fn cancel_run(&mut self, run: i64) {
        let id = RunId::from_raw(run);
        let action = self.store.rows(|rows| rows.runs.get(&id).map(|run| run.action));
        let found = action.and_then(|id| ready(self.store.another_link().action(id)));
        let Some(Ok(Some(bound))) = found else { return };
        self.tell(format_args!("cancel action {}", bound.action.id));
        self.ask(Input::Cancel { asked: asked("cancel"), action: Box::new(bound) });
    }

    /// The answer to a person, or to nobody.
    pub(super) fn told(&mut self, reply: Option<Reply>) {
        let Some(reply) = reply else { return };
        match reply {
            Reply::Applied(Ok(applied)) => {
                (self.ledger.applied, self.ledger.wanted) = (true, false);
                self.tell(format_args!("applied: {} changes", applied.changes.len()));
            }
            Reply::Applied(Err(refusals)) => {
                let problems: Vec<String> = refusals.iter().map(problem).collect();
                self.tell(format_args!("not applied: {}", problems.join("; ")));
            }
            Reply::RunMade(Err(refusal)) | Reply::Cancelled(Err(refusal)) => {
                self.tell(format_args!("refused: {}", problem(&refusal)));
            }
            Reply::RunMade(Ok(made)) => {
                self.tell(format_args!("made r{} ({})", made.run.id, made.run.trigger.label()));
            }
            Reply::Done
            | Reply::Deleted(_)
            | Reply::Cancelled(Ok(_))
            | Reply::Registered(_)
            | Reply::Granted(_)
            | Reply::Look(_)
            | Reply::Verdicts(_)
            | Reply::Queue(_)
            | Reply::Standing(_) => {}
        }
    }
}

fn asked(why: &str) -> Asked {
    Asked { actor: "person".to_owned(), why: why.to_owned() }
}

fn problem(refusal: &Refusal) -> String {
    format!("{} {}", refusal.field, refusal.problem)
}
