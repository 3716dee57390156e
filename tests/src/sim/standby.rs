//! Who leads: a master that stands by looks at the row of leadership, and takes it when nobody has renewed it for a
//! leader's lease by its own boot clock; a leader that cannot renew gives up before that. As the real one, in small.

use hera_common::id::Epoch;
use hera_common::time::{Boot, Wall};
use hera_common::unit::Leadership;
use hera_store::{Store as _, StoreError};

use super::event::{Event, Machine, ToMaster, ToStore, Waits};
use super::world::{World, ready};

/// How long a leader is believed in that does not renew; with the drift of a clock on top.
const LEASE_MS: i64 = 5_000;
/// When a leader gives up that cannot renew.
const GIVE_UP_MS: i64 = 3_500;
/// How often a leader renews its term, and measures the store's clock.
const RENEW_MS: i64 = 1_000;
/// Between two looks of a standby.
const LOOK_MS: (i64, i64) = (400, 600);

/// The row of leadership, and when it was last seen to change.
#[derive(Debug, Clone)]
pub(super) struct Sighting {
    row: Leadership,
    at: Boot,
}

impl Sighting {
    /// Who leads, as far as the row says.
    pub(super) fn holder(&self) -> Option<&str> {
        self.row.holder.as_deref()
    }
}

impl World {
    /// Stands by: looks soon.
    pub(super) fn stand_by(&mut self, master: usize) {
        let wait = self.dice.between(LOOK_MS.0, LOOK_MS.1);
        self.tell_master(master, wait, ToMaster::Look);
    }

    pub(super) fn look_who_leads(&mut self, master: usize) {
        let Some(own) = self.masters.get_mut(master) else { return };
        if own.lead.is_some() {
            return;
        }
        own.looks += 1;
        let number = own.looks;
        self.ask_store(master, ToStore::Leadership(number));
        self.no_answer(master, Waits::Look(number));
    }

    pub(super) fn sighted(
        &mut self,
        master: usize,
        number: u64,
        row: Result<Leadership, StoreError>,
    ) {
        let now = self.boot_clock(master);
        let Some(own) = self.masters.get_mut(master) else { return };
        if own.lead.is_some() || own.looks != number {
            return;
        }
        own.looks += 1;
        let Ok(row) = row else { return self.stand_by(master) };
        let sighting = match own.sighting.take() {
            Some(old) if old.row == row => old,
            Some(_) | None => Sighting { row, at: now },
        };
        let longest = LEASE_MS + LEASE_MS / 100;
        let silent = now.ms() - sighting.at.ms();
        let free = sighting.row.holder.is_none() || silent >= longest;
        let (epoch, seq) = (sighting.row.epoch, sighting.row.renew_seq);
        own.sighting = Some(sighting);
        if free {
            self.ask_store(master, ToStore::Acquire(Some((epoch, seq))));
            self.no_answer(master, Waits::Acquire);
        } else {
            self.stand_by(master);
        }
    }

    /// Takes the row as it is, though its holder may live.
    pub(super) fn seize(&mut self, master: usize) {
        self.ask_store(master, ToStore::Acquire(None));
    }

    pub(super) fn renew(&mut self, master: usize) {
        let sent = self.boot_clock(master);
        let Some(lead) = self.lead(master) else { return };
        let silent = sent.ms() - lead.renewed.ms();
        if silent > GIVE_UP_MS {
            self.tell(format_args!("m{master} could not renew, and gives up"));
            self.step_down(master);
            return;
        }
        let epoch = lead.epoch;
        self.ask_store(master, ToStore::Renew { epoch, sent });
        self.tell_master(master, RENEW_MS, ToMaster::Renew);
    }

    pub(super) fn renewed(
        &mut self,
        master: usize,
        (epoch, sent): (Epoch, Boot),
        result: Result<Wall, StoreError>,
    ) {
        match result {
            Ok(store_now) => {
                self.measured(master, sent, store_now);
                if let Some(lead) = self.lead(master) {
                    lead.renewed = lead.renewed.max(sent);
                }
            }
            // It may have taken the next epoch itself meanwhile.
            Err(StoreError::NotLeader) if self.holds_the_row(master) => {
                self.tell(format_args!("m{master}'s renewal of epoch {epoch} came too late"));
            }
            Err(StoreError::NotLeader) => self.step_down(master),
            Err(_away) => {}
        }
    }

    fn holds_the_row(&self, master: usize) -> bool {
        let row = ready(self.store.another_link().leadership());
        let holder = row.and_then(Result::ok).and_then(|row| row.holder);
        holder.is_some_and(|holder| holder == format!("m{master}"))
    }

    /// The leader is asked to end: what is in flight ends first, then it gives the row back.
    pub(super) fn stop_master(&mut self, master: usize, back_in: i64) {
        let Some(lead) = self.lead(master) else { return };
        let epoch = lead.epoch;
        self.tell(format_args!("m{master} is asked to end"));
        self.ask_store(master, ToStore::Resign { epoch });
        self.kill_master(master);
        self.after(back_in, Event::Boot(Machine::Master(master)));
    }
}
