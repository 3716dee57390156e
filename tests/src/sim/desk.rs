//! A master's doors: what workers ask becomes inputs, what the engine replies becomes answers; and the store's side of
//! what a master asks of it.

use std::collections::BTreeMap;

use hera_common::action::ActionEnd;
use hera_common::id::{Epoch, JobId, RunId, Token};
use hera_common::time::Version;
use hera_common::unit::{Batch, Committed, Write};
use hera_engine::input::{Finish, Input, Release, Reply, Tag, Verdict, VerdictKind};
use hera_store::{Candidate, CommitFault, Scope, Seen, Store as _, StoreError};

use super::event::{Answer, Caller, Event, Request, Said, ToMaster, ToStore, ToWorker};
use super::master::unavailable;
use super::world::{World, ready};

impl World {
    /// A worker's request has arrived.
    pub(super) fn request(&mut self, master: usize, from: Caller, request: Request) {
        let Some(lead) = self.lead(master) else { return };
        let stale = match &request {
            Request::Poll { worker, incarnation, .. }
            | Request::Deregister { worker, incarnation, .. } => {
                lead.known.get(worker) != Some(incarnation)
            }
            Request::Register(_)
            | Request::Start(_)
            | Request::Heartbeat { .. }
            | Request::Finish { .. }
            | Request::Release { .. } => false,
        };
        if stale {
            self.reply(master, from, &Answer::Stale);
            return;
        }
        if !self.put(master, from, input(request)) {
            self.reply(master, from, &Answer::Unknown);
        }
    }

    /// Tells a caller what became of its input; None: nobody knows.
    pub(super) fn answer(&mut self, master: usize, tag: Tag, reply: Option<Reply>) {
        let Some(caller) = self.lead(master).and_then(|lead| lead.callers.remove(&tag)) else {
            return;
        };
        let Caller::Worker { worker, .. } = caller else {
            self.told(reply);
            return;
        };
        let answer = match reply {
            None => Answer::Unknown,
            Some(Reply::Done) => Answer::Done,
            Some(Reply::Registered(Ok(registered))) => {
                if let Some(lead) = self.lead(master) {
                    lead.known.insert(registered.worker, registered.incarnation);
                }
                Answer::Registered(Some(registered))
            }
            Some(Reply::Registered(Err(refusal))) => {
                self.tell(format_args!("w{worker} may not register: {}", refusal.problem));
                Answer::Registered(None)
            }
            Some(Reply::Granted(grants)) => Answer::Granted(grants),
            Some(Reply::Verdicts(verdicts)) => {
                self.verdicts(master, caller, &verdicts);
                return;
            }
            Some(
                Reply::Applied(_)
                | Reply::Deleted(_)
                | Reply::RunMade(_)
                | Reply::Cancelled(_)
                | Reply::Queue(_)
                | Reply::Standing(_),
            ) => {
                self.wrong("a worker got a person's answer");
                return;
            }
        };
        self.reply(master, caller, &answer);
    }

    /// Verdicts of the engine; what it does not hold is looked up first.
    fn verdicts(&mut self, master: usize, caller: Caller, verdicts: &[Verdict]) {
        let said: Vec<Said> = verdicts
            .iter()
            .map(|v| (v.run, v.token, (v.kind != VerdictKind::Look).then_some(v.kind)))
            .collect();
        let look = verdicts.iter().any(|verdict| verdict.kind == VerdictKind::Look);
        let Some(epoch) = self.lead(master).map(|lead| lead.epoch) else { return };
        if look {
            let finish = matches!(caller, Caller::Worker { finish: true, .. });
            self.ask_store(master, ToStore::Look { epoch, caller, items: said, finish });
        } else {
            self.reply(master, caller, &Answer::Verdicts(said));
        }
    }

    pub(super) fn looked(&mut self, master: usize, caller: Caller, said: Option<Vec<Said>>) {
        let answer = said.map_or(Answer::Unknown, Answer::Verdicts);
        self.reply(master, caller, &answer);
    }

    /// Sends an answer on its way.
    fn reply(&mut self, master: usize, caller: Caller, answer: &Answer) {
        let Caller::Worker { worker, life, call, .. } = caller else { return };
        let Some(epoch) = self.lead(master).map(|lead| lead.epoch) else { return };
        for _copy in 0..self.copies(worker, master) {
            let wait = self.travel();
            let what = ToWorker::Answer { call, epoch, answer: answer.clone() };
            self.after(wait, Event::Worker { worker, life, what });
        }
    }

    pub(super) fn outcomes(
        &mut self,
        master: usize,
        asked: Vec<(JobId, Version)>,
        ends: Option<BTreeMap<(JobId, Version), ActionEnd>>,
    ) {
        match ends {
            None => self.ask_store(master, ToStore::Outcomes(asked)),
            Some(ends) => {
                let input = Input::Resolved { asked: asked.clone(), ends: ends.clone() };
                if !self.put(master, Caller::Nobody, input) {
                    // The leader is reading: it takes the answer when it is back.
                    let what = ToMaster::Outcomes { asked, ends: Some(ends) };
                    self.tell_master(master, 50, what);
                }
            }
        }
    }

    /// A question to the store is on its way.
    pub(super) fn ask_store(&mut self, master: usize, what: ToStore) {
        let Some(life) = self.masters.get(master).map(|own| own.life) else { return };
        let cut = self.net.store_cut.contains(&master) || self.dice.permille(self.net.loss / 4);
        let wait = self.travel();
        if !cut {
            self.after(wait, Event::Store { master, life, what: Box::new(what) });
        } else if let ToStore::Outcomes(asked) = what {
            // This question is repeated for ever, not given up.
            self.tell_master(master, wait + 500, ToMaster::Outcomes { asked, ends: None });
        } else if let ToStore::Look { caller, .. } = what {
            self.tell_master(master, wait + 500, ToMaster::Looked { caller, said: None });
        }
    }

    /// A question reaches the store, and its answer goes back.
    pub(super) fn store_event(&mut self, master: usize, life: u32, what: ToStore) {
        let wall = self.wall();
        self.store.set_now(wall);
        self.store.set_reachable(!self.net.store_down);
        let answer = match what {
            ToStore::Acquire => {
                let result = self.acquire(master);
                ToMaster::Acquired(result)
            }
            ToStore::Load => {
                ToMaster::Loaded(ready(self.store.load(&Scope::All)).unwrap_or(Err(unavailable())))
            }
            ToStore::ReadAgain { number, scope } => {
                let result = ready(self.store.load(&scope)).unwrap_or(Err(unavailable()));
                ToMaster::ReadAgain { number, result }
            }
            ToStore::Commit { number, epoch, batch } => {
                let result = self.commit(epoch, &batch);
                if result.is_ok() {
                    self.note_late(master, life, number);
                }
                ToMaster::Committed { number, result }
            }
            ToStore::Renew { epoch, sent } => {
                let me = candidate(master);
                let result = ready(self.store.renew(epoch, &me)).unwrap_or(Err(unavailable()));
                ToMaster::Renewed { sent, result }
            }
            ToStore::Outcomes(asked) => {
                let ends = ready(self.store.outcomes(&asked)).and_then(Result::ok);
                ToMaster::Outcomes { asked, ends }
            }
            ToStore::Look { epoch, caller, items, finish } => {
                let said = self.look(epoch, items, finish);
                ToMaster::Looked { caller, said }
            }
        };
        if self.wrong.is_some() {
            return;
        }
        let lost = self.net.store_cut.contains(&master) || self.dice.permille(self.net.loss / 4);
        let repeated = matches!(answer, ToMaster::Outcomes { .. } | ToMaster::Looked { .. });
        if !lost || repeated {
            let wait = self.travel();
            self.after(wait, Event::Master { master, life, what: Box::new(answer) });
        }
    }

    /// A commit that its master has given up, and that is carried out all the same.
    fn note_late(&mut self, master: usize, life: u32, number: u64) {
        let Some(own) = self.masters.get(master).filter(|own| own.life == life) else { return };
        if own.lead.as_ref().is_some_and(|lead| !lead.awaits(number)) {
            self.tell("  a commit was carried out late");
            self.late_commit();
        }
    }

    fn acquire(&mut self, master: usize) -> Result<Option<Epoch>, StoreError> {
        let row = ready(self.store.leadership()).unwrap_or(Err(unavailable()))?;
        let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
        ready(self.store.acquire(seen, &candidate(master))).unwrap_or(Err(unavailable()))
    }

    fn commit(&mut self, epoch: Epoch, batch: &Batch) -> Result<Committed, StoreError> {
        if self.net.loss > 0 && self.dice.permille(8) {
            let before = self.dice.permille(500);
            self.store.fail_next_commit(if before {
                CommitFault::Before
            } else {
                CommitFault::After
            });
        }
        let result = ready(self.store.commit(epoch, batch)).unwrap_or(Err(unavailable()));
        match &result {
            Ok(committed) => self.written(batch, &committed.outcomes),
            Err(StoreError::Unavailable(_)) => self.maybe_written(batch),
            Err(StoreError::NotLeader) => {}
            Err(fault) if self.excused(&fault.to_string()) => {
                self.tell(format_args!("  a batch is refused: {fault}"));
            }
            Err(fault) => {
                self.tell_batch(batch);
                self.wrong(format_args!("the store refuses a batch: {fault}"));
            }
        }
        result
    }

    /// A leader may take a name twice while it does not know of a commit that came late, and a token that an earlier
    /// leader had given up. Either way one batch fails, and what it was about is read again.
    fn excused(&self, fault: &str) -> bool {
        let named = fault.contains("Path(") || fault.contains("WorkerName(");
        fault.contains("Token(") || (self.lags() && named)
    }

    /// A batch that cannot be carried out, for whoever looks for the reason.
    fn tell_batch(&mut self, batch: &Batch) {
        for (number, unit) in batch.units.iter().enumerate() {
            self.tell(format_args!("  unit {number} after {:?}: {:?}", unit.after, unit.guards));
            for write in &unit.writes {
                let text = match write {
                    Write::Run(put, row) => format!(
                        "{put:?} run r{} of action {} job {} @{} {} seq {}",
                        row.id, row.action, row.job, row.version, row.state, row.hb_seq
                    ),
                    Write::Action(put, row) => format!(
                        "{put:?} action {} of job {} @{} {} seq {}",
                        row.id, row.job, row.version, row.state, row.seq
                    ),
                    other @ (Write::DropPlanned(_)
                    | Write::Bindings(..)
                    | Write::Attempt(..)
                    | Write::LateReport(..)
                    | Write::Output(..)
                    | Write::Gap(_)
                    | Write::Job(..)
                    | Write::Cursor(..)
                    | Write::Revision(_)
                    | Write::Group(..)
                    | Write::Worker(..)
                    | Write::Audit(_)) => format!("{other:?}").chars().take(120).collect(),
                };
                self.tell(format_args!("    {text}"));
            }
        }
    }

    /// What the store says of attempts that the engine does not hold; None: nobody knows.
    fn look(&mut self, epoch: Epoch, items: Vec<Said>, finish: bool) -> Option<Vec<Said>> {
        let mut said = Vec::new();
        for (run, token, kind) in items {
            let kind = match kind {
                Some(kind) => Some(kind),
                None => self.look_at(run, token, finish)?,
            };
            said.push((run, token, kind));
        }
        let proof = ready(self.store.commit(epoch, &Batch::default()))?;
        proof.is_ok().then_some(said)
    }

    fn look_at(&self, run: RunId, token: Token, finish: bool) -> Option<Option<VerdictKind>> {
        let row = ready(self.store.run(run))?.ok()?.map(|view| view.run);
        let ends = row.as_ref().is_some_and(|row| row.final_token == Some(token));
        let holds = row.and_then(|row| row.state.hold()).is_some_and(|hold| hold.token == token);
        Some(match (ends, holds, finish) {
            (true, _, _) => Some(VerdictKind::Done),
            // The engine will know it soon.
            (false, true, _) => None,
            (false, false, false) => Some(VerdictKind::Lost),
            (false, false, true) => Some(VerdictKind::Fenced),
        })
    }
}

fn candidate(master: usize) -> Candidate {
    Candidate { name: format!("m{master}"), address: String::new() }
}

fn input(request: Request) -> Input {
    match request {
        Request::Register(registration) => Input::Register(registration),
        Request::Poll { worker, incarnation, tokens } => {
            Input::Poll { worker, incarnation, tokens }
        }
        Request::Start(items) => Input::Start { items },
        Request::Heartbeat { items, kill_failed } => Input::Heartbeat { items, kill_failed },
        Request::Finish { run, token, end, exit } => {
            let output = Vec::new();
            Input::Finish { items: vec![Finish { run, token, end, exit, output }] }
        }
        Request::Release { run, token, cause, detail } => {
            Input::Release { items: vec![Release { run, token, cause, detail }] }
        }
        Request::Deregister { worker, incarnation, gone } => {
            Input::Deregister { worker, incarnation, gone }
        }
    }
}
