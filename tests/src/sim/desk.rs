//! A master's doors: what workers ask becomes inputs, what the engine replies becomes answers; and the store's side of
//! what a master asks of it.

use std::collections::BTreeMap;

use hera_common::action::ActionEnd;
use hera_common::attempt::AttemptState;
use hera_common::id::{Epoch, JobId, RunId, Token};
use hera_common::time::Version;
use hera_common::unit::{Batch, Committed, Outcome as Became, Unit, Write};
use hera_engine::input::{Finish, Input, Release, Reply, Tag, Verdict, VerdictKind};
use hera_store::{Candidate, Scope, Seen, Store as _, StoreError};
use hera_worker::contract::Outcome;

use super::check::Check;
use super::event::{Answer, Caller, Event, Request, Said, ToMaster, ToStore, ToWorker, Way};
use super::master::unavailable;
use super::mutation::Mutation;
use super::world::{World, ready};

impl World {
    /// A worker's request has arrived.
    pub(super) fn request(&mut self, master: usize, from: Caller, request: Request) {
        let request = self.let_in(request);
        let Some(lead) = self.lead(master) else {
            let leader = self.leader_in_row(master);
            self.reply(master, from, &Answer::NotLeading(leader));
            return;
        };
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
            Some(Reply::Look(_tokens)) => Answer::Look,
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
                self.wrong(Check::World, "a worker got a person's answer");
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

    /// Who leads, as a standby has last seen it.
    fn leader_in_row(&self, master: usize) -> Option<usize> {
        let name = self.masters.get(master)?.sighting.as_ref()?.holder()?;
        name.strip_prefix('m').and_then(|number| number.parse().ok())
    }

    /// Whoever polled listens no more.
    pub(super) fn poll_gone(&mut self, master: usize, caller: Caller) {
        let Some(lead) = self.lead(master) else { return };
        let tag = lead.callers.iter().find(|(_, of)| **of == caller).map(|(tag, _)| *tag);
        if let Some(tag) = tag {
            self.put(master, Caller::Nobody, Input::PollGone { poll: tag });
        }
    }

    /// Sends an answer on its way.
    pub(super) fn reply(&mut self, master: usize, caller: Caller, answer: &Answer) {
        // What a standby says is of no term.
        let epoch = self.lead(master).map_or(Epoch::from_raw(0), |lead| lead.epoch);
        self.reply_of((master, epoch), caller, answer);
    }

    pub(super) fn reply_of(
        &mut self,
        (master, epoch): (usize, Epoch),
        caller: Caller,
        answer: &Answer,
    ) {
        let Caller::Worker { worker, life, call, .. } = caller else { return };
        for _copy in 0..self.copies(worker, master, Way::Back) {
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
        let mut wait = self.travel();
        if matches!(what, ToStore::Commit { .. }) {
            wait += self.net.slow_commit.take().unwrap_or_default();
        }
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
        if self.net.store_locked > self.now {
            // A lock: everything waits for it, in its order, and is then carried out.
            let wait = self.net.store_locked - self.now;
            self.after(wait, Event::Store { master, life, what: Box::new(what) });
            return;
        }
        let wall = self.wall();
        self.store.set_now(wall);
        self.store.set_reachable(!self.net.store_down);
        let answer = match what {
            ToStore::Leadership(number) => {
                let row = ready(self.store.leadership()).unwrap_or(Err(unavailable()));
                ToMaster::Sighted { number, row }
            }
            ToStore::Acquire(seen) => {
                let result = self.acquire(master, seen);
                ToMaster::Acquired(result)
            }
            ToStore::Resign { epoch } => {
                if ready(self.store.resign(epoch, &candidate(master))).is_some_and(|r| r.is_ok()) {
                    self.tell(format_args!("m{master} resigns"));
                }
                return;
            }
            ToStore::Load => {
                ToMaster::Loaded(ready(self.store.load(&Scope::All)).unwrap_or(Err(unavailable())))
            }
            ToStore::Advance { number, epoch } => {
                let result = self.advance(master, epoch);
                ToMaster::Advanced { number, result }
            }
            ToStore::ReadAgain { number, scope } => {
                let result = ready(self.store.load(&scope)).unwrap_or(Err(unavailable()));
                ToMaster::ReadAgain { number, result }
            }
            ToStore::Commit { number, epoch, batch } => {
                let result = self.commit(master, epoch, &batch);
                ToMaster::Committed { number, result }
            }
            ToStore::Renew { epoch, sent } => {
                let me = candidate(master);
                let result = ready(self.store.renew(epoch, &me)).unwrap_or(Err(unavailable()));
                ToMaster::Renewed { epoch, sent, result }
            }
            ToStore::Outcomes(asked) => {
                let ends = ready(self.store.outcomes(&asked)).and_then(Result::ok);
                ToMaster::Outcomes { asked, ends }
            }
            ToStore::Look { epoch, caller, items, finish } => {
                let said = self.look((master, epoch), items, finish);
                ToMaster::Looked { caller, said }
            }
        };
        if self.wrong.is_some() {
            return;
        }
        let lost = self.net.store_cut.contains(&master)
            || self.net.store_deaf.contains(&master)
            || self.dice.permille(self.net.loss / 4);
        let repeated = matches!(answer, ToMaster::Outcomes { .. } | ToMaster::Looked { .. });
        if !lost || repeated {
            let wait = self.travel();
            self.after(wait, Event::Master { master, life, what: Box::new(answer) });
        }
    }

    fn advance(&mut self, master: usize, epoch: Epoch) -> Result<Epoch, StoreError> {
        let me = candidate(master);
        let next = ready(self.store.advance(epoch, &me)).unwrap_or(Err(unavailable()))?;
        if self.ledger.epoch != Some(next) {
            self.check_epoch(master, next);
        }
        Ok(next)
    }

    fn acquire(
        &mut self,
        master: usize,
        seen: Option<(Epoch, i64)>,
    ) -> Result<Option<Epoch>, StoreError> {
        let row = ready(self.store.leadership()).unwrap_or(Err(unavailable()))?;
        let (epoch, renew_seq) = seen.unwrap_or((row.epoch, row.renew_seq));
        let seen = Seen { epoch, renew_seq };
        let mut me = candidate(master);
        let mut taken = ready(self.store.acquire(seen, &me)).unwrap_or(Err(unavailable()))?;
        if self.without(Mutation::EpochSkipped)
            && let Some(epoch) = taken
        {
            let renew_seq = renew_seq + 1;
            me.name.push('!');
            let again = Seen { epoch, renew_seq };
            taken = ready(self.store.acquire(again, &me)).unwrap_or(Err(unavailable()))?;
        }
        if let Some(epoch) = taken {
            self.check_epoch(master, epoch);
        }
        Ok(taken)
    }

    fn commit(
        &mut self,
        master: usize,
        epoch: Epoch,
        batch: &Batch,
    ) -> Result<Committed, StoreError> {
        let unlucky = self.net.loss > 0 && self.dice.permille(8);
        if unlucky && self.dice.permille(500) {
            return Err(unavailable());
        }
        let result = self.write(master, epoch, batch);
        let result = match result {
            Err(StoreError::Corrupt { .. }) => self.write_apart(master, epoch, batch),
            other => other,
        };
        if unlucky && result.is_ok() {
            self.tell(format_args!("  nobody hears what became of {} units", batch.units.len()));
            return Err(unavailable());
        }
        result
    }

    fn write(
        &mut self,
        master: usize,
        epoch: Epoch,
        batch: &Batch,
    ) -> Result<Committed, StoreError> {
        let (term, stored) = self.as_stored(epoch, batch);
        let result = ready(self.store.commit(term, &stored)).unwrap_or(Err(unavailable()));
        match &result {
            Ok(committed) => {
                self.check_term(master, epoch);
                self.check_taken(master, batch, &committed.outcomes);
                self.written(master, &stored, &committed.outcomes);
            }
            Err(StoreError::Unavailable(_) | StoreError::NotLeader) => {}
            Err(fault) if self.excused(&fault.to_string()) => {
                self.tell(format_args!("  a batch is refused: {fault}"));
            }
            Err(fault) => {
                self.tell_batch(&stored);
                let twice = fault.to_string().contains("Token(");
                let check = if twice { Check::I6 } else { Check::Refused };
                self.wrong(check, format_args!("the store refuses a batch: {fault}"));
            }
        }
        result
    }

    /// One unit at a time, so that the fault of one job does not stop the others.
    fn write_apart(
        &mut self,
        master: usize,
        epoch: Epoch,
        batch: &Batch,
    ) -> Result<Committed, StoreError> {
        let mut outcomes: Vec<Became> = Vec::new();
        for unit in &batch.units {
            if !unit.after.iter().all(|place| outcomes.get(*place) == Some(&Became::Done)) {
                outcomes.push(Became::LeftOut);
                continue;
            }
            let marks = unit.made();
            let alone = Unit { after: Vec::new(), ..unit.clone() };
            let alone = Batch { units: vec![alone], marks };
            match self.write(master, epoch, &alone) {
                Ok(committed) => outcomes.extend(committed.outcomes),
                Err(StoreError::Corrupt { .. }) => outcomes.push(Became::LeftOut),
                Err(other) => return Err(other),
            }
        }
        let rest = Batch { units: Vec::new(), marks: batch.marks };
        let store_now = self.write(master, epoch, &rest)?.store_now;
        Ok(Committed { outcomes, store_now })
    }

    /// A token may have left its row before the leader began, which then reads again what that was about.
    fn excused(&self, fault: &str) -> bool {
        fault.contains("Token(") && !self.without(Mutation::PollWithoutKey)
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
                    | Write::Calendar(_)
                    | Write::Group(..)
                    | Write::Worker(..)
                    | Write::Audit(_)) => format!("{other:?}").chars().take(120).collect(),
                };
                self.tell(format_args!("    {text}"));
            }
        }
    }

    /// What the store says of attempts that the engine does not hold; None: nobody knows. An end that comes too late is
    /// kept beside the attempt.
    fn look(
        &mut self,
        (master, epoch): (usize, Epoch),
        items: Vec<Said>,
        finish: bool,
    ) -> Option<Vec<Said>> {
        let (mut said, mut batch) = (Vec::new(), Batch::default());
        for (run, token, kind) in items {
            let looked = kind.is_none();
            let kind = match kind {
                Some(kind) => Some(kind),
                None => self.look_at(run, token, finish)?,
            };
            if looked && kind == Some(VerdictKind::Fenced) {
                batch.units.extend(self.late_report(token));
            }
            said.push((run, token, kind));
        }
        self.write(master, epoch, &batch).ok().map(|_committed| said)
    }

    fn late_report(&self, token: Token) -> Option<Unit> {
        let Some(Outcome::Finish { end, .. }) = self.ledger.reported.get(&token) else {
            return None;
        };
        let attempt = ready(self.store.attempts_by_token(&[token]))?.ok()?.pop()?;
        let ended = matches!(attempt.state, AttemptState::Ended { .. });
        let write = Write::LateReport(attempt.fence, end.word().to_owned());
        let new = ended && attempt.late_report.is_none();
        new.then(|| Unit { writes: vec![write], ..Unit::default() })
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
            let takes_nothing = String::new();
            Input::Poll { worker, incarnation, tokens, takes_nothing }
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
