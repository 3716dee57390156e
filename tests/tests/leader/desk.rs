//! One leader and its store, without clocks and messages: each input is decided and committed at once, and memory is then
//! held against what a new leader would read.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hera_common::action::Action;
use hera_common::audit::Asked;
use hera_common::doc::{Contents, apply_set, read_file};
use hera_common::id::{Epoch, JobId, RunId, Token};
use hera_common::path::Path;
use hera_common::run::Run;
use hera_common::snapshot::BoundAction;
use hera_common::time::{Boot, Now, Version, Wall};
use hera_common::unit::{Committed, Outcome};
use hera_engine::apply::{ApplySet, OthersChanges};
use hera_engine::input::{
    Effect, Grant, Input, Registered, Registration, Reply, Step, Tag, Tagged, VerdictKind,
};
use hera_engine::{Chance, Engine, Settings};
use hera_store::{Candidate, MemoryStore, Scope, Seen, Store as _, StoreError};

/// No chance at all.
struct Still;

impl Chance for Still {
    fn bits(&mut self) -> u64 {
        0
    }
}

/// 30 November 2026, 08:00:00 UTC.
pub(crate) const BEGIN_MS: i64 = 1_796_025_600_000;

pub(crate) struct Desk {
    pub(crate) store: MemoryStore,
    pub(crate) engine: Engine,
    pub(crate) now: Now,
    tag: u64,
}

/// The answer of a store that keeps nobody waiting.
pub(crate) fn ready<F: Future>(asked: F) -> F::Output {
    match pin!(asked).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a store in memory answers at once"),
    }
}

impl Desk {
    /// Five past eight, before anything was applied.
    pub(crate) fn new() -> Self {
        let store = MemoryStore::new("00000000000000000000000000000001");
        let now = Now { wall: Wall::from_ms(BEGIN_MS), boot: Boot::from_ms(1_000_000) };
        let engine = Engine::new(Settings::default(), Epoch::from_raw(1));
        let mut desk = Self { store, engine, now, tag: 0 };
        desk.wait(300);
        desk.lead();
        desk
    }

    /// A new leader reads everything.
    pub(crate) fn lead(&mut self) {
        let row = ready(self.store.leadership()).unwrap();
        let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
        let me = Candidate { name: "m".to_owned(), address: String::new() };
        let epoch = ready(self.store.acquire(seen, &me)).unwrap().unwrap();
        self.engine = Engine::new(Settings::default(), epoch);
        let snapshot = ready(self.store.load(&Scope::All)).unwrap();
        self.engine.load(snapshot, self.now);
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        let span = Duration::from_secs(seconds);
        self.now = Now { wall: self.now.wall.plus(span), boot: self.now.boot.plus(span) };
        self.store.set_now(self.now.wall);
    }

    /// Decides, and commits nothing.
    pub(crate) fn step(&mut self, inputs: Vec<Input>) -> Step {
        let inputs = inputs
            .into_iter()
            .map(|input| {
                self.tag += 1;
                Tagged { tag: Tag(self.tag), input }
            })
            .collect();
        self.engine.step(self.now, &mut Still, inputs)
    }

    pub(crate) fn commit(&mut self, step: &Step) -> Result<Committed, StoreError> {
        ready(self.store.commit(self.engine.epoch(), &step.batch))
    }

    /// One batch, committed; what the engine asks the store for is answered; memory is then what the store holds.
    pub(crate) fn turn(&mut self, inputs: Vec<Input>) -> Vec<Reply> {
        let step = self.step(inputs);
        let committed = self.commit(&step).unwrap();
        assert!(committed.outcomes.iter().all(|outcome| *outcome == Outcome::Done));
        // As its shell does after each commit, which begins the windows of holds.
        self.engine.wake_in(self.now);
        let mut asked = Vec::new();
        for effect in step.effects {
            if let Effect::Resolve(versions) = effect {
                asked.push(versions);
            }
        }
        for asked in asked {
            let ends = ready(self.store.outcomes(&asked)).unwrap();
            self.turn(vec![Input::Resolved { asked, ends }]);
        }
        self.compare();
        step.answers.into_iter().map(|answer| answer.reply).collect()
    }

    pub(crate) fn ask(&mut self, input: Input) -> Reply {
        self.turn(vec![input]).pop().expect("an input is answered")
    }

    /// Reads what a step touched, as after a commit that failed.
    pub(crate) fn read_again(&mut self, step: &Step) {
        let mut jobs: Vec<JobId> = step.touched.iter().flatten().copied().collect();
        jobs.sort_unstable();
        jobs.dedup();
        let snapshot = ready(self.store.load(&Scope::Jobs(jobs.clone()))).unwrap();
        self.engine.reload(&jobs, snapshot, self.now);
    }

    #[track_caller]
    pub(crate) fn compare(&self) {
        let mut fresh = Engine::new(Settings::default(), self.engine.epoch());
        fresh.load(ready(self.store.load(&Scope::All)).unwrap(), self.now);
        assert_eq!(self.engine.difference(fresh, self.now), None);
    }

    pub(crate) fn apply_input(&self, jobs: &str) -> Input {
        self.apply_from("people", jobs, false)
    }

    /// Jobs of the group `g`, as a source brings them.
    pub(crate) fn apply_from(&self, source: &str, jobs: &str, overwrite: bool) -> Input {
        self.to_apply(source, &format!("group: g\njobs:\n{jobs}"), (true, overwrite))
    }

    /// A job file.
    pub(crate) fn apply_text(&self, source: &str, text: &str, prune: bool) -> Input {
        self.to_apply(source, text, (prune, false))
    }

    fn to_apply(&self, source: &str, text: &str, (prune, overwrite): (bool, bool)) -> Input {
        let file = read_file("jobs.yaml", text).unwrap();
        let catalog = self.engine.catalog();
        let applied = apply_set(&[file], &Contents::default(), &*catalog, prune).unwrap();
        Input::Apply(Box::new(ApplySet {
            asked: asked(),
            source: source.to_owned(),
            others: if overwrite { OthersChanges::Overwrite } else { OthersChanges::Keep },
            edition: catalog.edition,
            applied,
            dry_run: false,
            prune,
            since: Some(Version::from_ms(BEGIN_MS)),
            first_load_newest: false,
        }))
    }

    /// Jobs as the group `g` shall have them, from eight o'clock on.
    #[track_caller]
    pub(crate) fn apply(&mut self, jobs: &str) {
        let input = self.apply_input(jobs);
        let reply = self.ask(input);
        assert!(matches!(reply, Reply::Applied(Ok(_))), "{reply:?}");
    }

    pub(crate) fn job(&self, name: &str) -> JobId {
        let path = Path::parse(&format!("g/{name}")).unwrap();
        self.engine.catalog().by_path[&path]
    }

    /// The action of a job, so many minutes past eight.
    #[track_caller]
    pub(crate) fn action(&self, name: &str, minutes: i64) -> Action {
        let version = Version::from_ms(BEGIN_MS + minutes * 60_000);
        let job = self.job(name);
        let of = |a: &&Action| (a.job, a.version) == (job, version);
        self.store.rows(|rows| rows.actions.values().find(of).cloned()).unwrap()
    }

    /// So many minutes past eight.
    pub(crate) const fn action_at(&self, minutes: i64) -> Version {
        Version::from_ms(BEGIN_MS + minutes * 60_000)
    }

    pub(crate) fn bound(&self, name: &str, minutes: i64) -> Box<BoundAction> {
        let id = self.action(name, minutes).id;
        Box::new(ready(self.store.action(id)).unwrap().unwrap())
    }

    pub(crate) fn state(&self, name: &str, minutes: i64) -> String {
        self.action(name, minutes).state.to_string()
    }

    pub(crate) fn run(&self, run: RunId) -> Run {
        self.store.rows(|rows| rows.runs[&run].clone())
    }

    pub(crate) fn register(&mut self, instance: &str) -> Registered {
        let reply = self.ask(Input::Register(registration(instance)));
        let Reply::Registered(Ok(registered)) = reply else { panic!("{reply:?}") };
        registered
    }

    /// A poll with these tokens, and what it is granted at once.
    pub(crate) fn poll(&mut self, of: Registered, tokens: &[u8]) -> Vec<Grant> {
        let replies = self.turn(vec![poll(of, tokens)]);
        let mut granted = Vec::new();
        for reply in replies {
            if let Reply::Granted(grants) = reply {
                granted.extend(grants);
            }
        }
        granted
    }

    pub(crate) fn start(&mut self, grant: &Grant) -> VerdictKind {
        let reply = self.ask(Input::Start { items: vec![(grant.run, grant.token)] });
        let Reply::Verdicts(verdicts) = reply else { panic!("{reply:?}") };
        verdicts[0].kind
    }
}

/// A poll with these tokens; without any it only listens.
pub(crate) fn poll(of: Registered, tokens: &[u8]) -> Input {
    let tokens = tokens.iter().map(|byte| token(*byte)).collect();
    let Registered { worker, incarnation } = of;
    Input::Poll { worker, incarnation, tokens, takes_nothing: String::new() }
}

pub(crate) fn asked() -> Asked {
    Asked { actor: "anna".to_owned(), why: String::new() }
}

pub(crate) fn token(byte: u8) -> Token {
    Token::from_bytes([byte; 16])
}

pub(crate) fn registration(instance: &str) -> Registration {
    Registration {
        name: "w".to_owned(),
        state_id: "state".to_owned(),
        instance_id: instance.to_owned(),
        keep: Vec::new(),
        groups: Vec::new(),
        labels: Vec::new(),
        capacity: 4,
        program: "test".to_owned(),
    }
}

pub(crate) fn manual(bound: Box<BoundAction>) -> Input {
    Input::Run { asked: asked(), action: bound, set: BTreeMap::new() }
}
