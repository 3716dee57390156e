//! Measures commits on both databases, as durable as in production: heartbeats of a thousand runs, and the whole
//! life of a thousand no-op actions. `cargo run --release -p hera-store --example commit_speed [ROUNDS
//! [sqlite|postgres]]`.
#![expect(clippy::print_stdout, reason = "its numbers are its output")]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::time::{Duration, Instant};

use hera_common::action::{Action, ActionEnd, ActionState};
use hera_common::attempt::AttemptEnd;
use hera_common::id::{Epoch, Fence, Token};
use hera_common::run::{Hold, Run, RunEnd, RunState};
use hera_common::unit::{Batch, Guard, Marks, Outcome, Put, Unit, Write};
use hera_store::{Candidate, Options, Scope, Seen, SqlStore, Store, open_sql};
use hera_testkit::postgres::{Flavour, ThrowAwayPostgres};

#[path = "../tests/suite/rows.rs"]
#[expect(dead_code, reason = "the suite uses more of it")]
mod rows;

/// Units in one commit: as many as may queue while one is in flight.
const UNITS: i64 = 1_000;

struct Bench {
    store: SqlStore,
    epoch: Epoch,
}

impl Bench {
    async fn open(url: &str) -> Self {
        let options = Options { patience: Duration::from_secs(30), ..Options::default() };
        let store = open_sql(url, &options).await.unwrap();
        let row = store.leadership().await.unwrap();
        let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
        let me = Candidate { name: "bench".to_owned(), address: String::new() };
        let epoch = store.acquire(seen, &me).await.unwrap().unwrap();
        Self { store, epoch }
    }

    async fn commit(&self, units: Vec<Unit>) -> Duration {
        let batch = Batch { units, marks: Marks::default() };
        let began = Instant::now();
        let told = self.store.commit(self.epoch, &batch).await.unwrap();
        let took = began.elapsed();
        assert!(told.outcomes.iter().all(|outcome| *outcome == Outcome::Done));
        took
    }
}

fn guard(run: &Run) -> Guard {
    let token = run.state.hold().map(|hold| hold.token);
    Guard::Run { id: run.id, hb_seq: run.hb_seq, token }
}

fn unit(guards: Vec<Guard>, writes: Vec<Write>) -> Unit {
    Unit { guards, writes, after: Vec::new() }
}

/// The run, leased under a token of its own.
fn leased(run: &Run) -> Run {
    let mut next = rows::leased(run, 1);
    let id = run.id.raw();
    let token = Token::from_bytes(u128::try_from(id).unwrap().to_be_bytes());
    next.state = RunState::Leased(Hold { token, fence: Fence::from_raw(id), ..rows::hold(1) });
    next
}

/// The four commits in the life of a thousand actions, each of its own job.
async fn lives(bench: &Bench, round: i64) -> [Duration; 4] {
    let first = round * UNITS + 1;
    let actions: Vec<Action> =
        (first..first + UNITS).map(|id| rows::active(&rows::action(id, id, 1), id)).collect();
    let queued: Vec<Run> = actions.iter().map(|a| rows::run(a.id.raw(), a)).collect();
    let granted: Vec<Run> = queued.iter().map(leased).collect();
    let running: Vec<Run> = granted.iter().map(rows::running).collect();
    let put_run = |put, run: &Run| Write::Run(put, Box::new(run.clone()));
    let admit = actions.iter().zip(&queued).map(|(action, run)| {
        let action = Write::Action(Put::Insert, Box::new(action.clone()));
        unit(vec![], vec![action, put_run(Put::Insert, run)])
    });
    let grant = queued.iter().zip(&granted).map(|(old, new)| {
        let attempt = Write::Attempt(Put::Insert, Box::new(rows::attempt(new)));
        unit(vec![guard(old)], vec![put_run(Put::Update, new), attempt])
    });
    let start = granted.iter().zip(&running).map(|(old, new)| {
        let attempt = rows::started(&rows::attempt(old));
        let attempt = Write::Attempt(Put::Update, Box::new(attempt));
        unit(vec![guard(old)], vec![put_run(Put::Update, new), attempt])
    });
    let finish = running.iter().zip(&actions).map(|(old, action)| {
        let new = rows::ended(old, RunEnd::Succeeded);
        let attempt = rows::attempt_ended(&rows::attempt(old), AttemptEnd::Succeeded);
        let end = ActionState::Ended(ActionEnd::Succeeded { forced: false });
        let guards = vec![guard(old), Guard::Action { id: action.id, seq: action.seq }];
        let writes = vec![
            put_run(Put::Update, &new),
            Write::Attempt(Put::Update, Box::new(attempt)),
            Write::Action(Put::Update, Box::new(rows::with_state(action, end))),
        ];
        unit(guards, writes)
    });
    [
        bench.commit(admit.collect()).await,
        bench.commit(grant.collect()).await,
        bench.commit(start.collect()).await,
        bench.commit(finish.collect()).await,
    ]
}

/// Heartbeats of the same thousand runs: each unit guards its run, writes it, and its attempt.
async fn beats(bench: &Bench, rounds: i64) -> Vec<Duration> {
    let first = 1_000_000;
    let actions: Vec<Action> =
        (first..first + UNITS).map(|id| rows::active(&rows::action(id, id, 1), id)).collect();
    let mut runs: Vec<Run> =
        actions.iter().map(|a| rows::running(&leased(&rows::run(a.id.raw(), a)))).collect();
    let made = actions.iter().zip(&runs).map(|(action, run)| {
        let action = Write::Action(Put::Insert, Box::new(action.clone()));
        let attempt = Write::Attempt(Put::Insert, Box::new(rows::started(&rows::attempt(run))));
        unit(vec![], vec![action, Write::Run(Put::Insert, Box::new(run.clone())), attempt])
    });
    bench.commit(made.collect()).await;
    let mut took = Vec::new();
    for _round in 0..rounds {
        let next: Vec<Run> = runs.iter().map(rows::renewed).collect();
        let units = runs.iter().zip(&next).map(|(old, new)| {
            let attempt = rows::started(&rows::attempt(old));
            let attempt = Write::Attempt(Put::Update, Box::new(attempt));
            unit(vec![guard(old)], vec![Write::Run(Put::Update, Box::new(new.clone())), attempt])
        });
        took.push(bench.commit(units.collect()).await);
        runs = next;
    }
    took
}

/// Two hundred thousand planned actions, each bound to an upstream version, and a load of them all.
async fn loading(bench: &Bench) -> (Duration, usize) {
    const ACTIONS: i64 = 200_000;
    const PER_COMMIT: i64 = 5_000;
    const FIRST: i64 = 2_000_000;
    for from in (FIRST..FIRST + ACTIONS).step_by(usize::try_from(PER_COMMIT).unwrap()) {
        let units = (from..from + PER_COMMIT).map(|id| {
            let action = rows::action(id, id / 50, id % 50);
            let bindings = Write::Bindings(action.id, vec![rows::binding(id / 50 + 1, id % 50)]);
            unit(vec![], vec![Write::Action(Put::Insert, Box::new(action)), bindings])
        });
        bench.commit(units.collect()).await;
    }
    let began = Instant::now();
    let snapshot = bench.store.load(&Scope::All).await.unwrap();
    (began.elapsed(), snapshot.actions.len())
}

fn told(name: &str, what: &str, times: &[Duration]) {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |part: usize| *sorted.get((sorted.len() - 1) * part / 100).unwrap();
    let (median, high) = (at(50), at(95));
    println!("{name:9} {what:28} median {median:>9.1?}  p95 {high:>9.1?}");
}

async fn measure(name: &str, url: &str, rounds: i64) {
    let bench = Bench::open(url).await;
    let took = beats(&bench, rounds).await;
    told(name, "heartbeat of 1,000 + attempts", &took);
    let mut steps: [Vec<Duration>; 4] = Default::default();
    let began = Instant::now();
    for round in 0..rounds {
        let took = lives(&bench, round).await;
        steps.iter_mut().zip(took).for_each(|(step, took)| step.push(took));
    }
    let all = began.elapsed().as_secs_f64();
    for (step, what) in steps.iter().zip(["admit", "grant", "start", "finish"]) {
        told(name, &format!("{what} of 1,000"), step);
    }
    let total = f64::from(i32::try_from(rounds * UNITS).unwrap());
    println!("{name:9} whole lives                  {:.0} actions/s", total / all);
    let (took, actions) = loading(&bench).await;
    println!("{name:9} load of {actions} actions      {took:>9.1?}");
    bench.store.close().await;
}

#[tokio::main]
async fn main() {
    let rounds = std::env::args().nth(1).map_or(20, |text| text.parse().unwrap());
    let only = std::env::args().nth(2);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("sqlite") {
        let folder = hera_testkit::temp_dir().unwrap();
        measure("sqlite", &format!("sqlite:{}", folder.path().join("data").display()), rounds)
            .await;
    }
    if wanted("postgres") {
        let server = ThrowAwayPostgres::start(Flavour::Durable).unwrap();
        let database = server.fresh_database().unwrap();
        measure("postgres", &database.url(), rounds).await;
    }
}
