//! A term begins: the leader reads what is active, and every hold gets a full window from then on.

use std::collections::BTreeMap;
use std::time::Duration;

use hera_common::id::Epoch;
use hera_common::time::{Now, Wall};
use hera_engine::Engine;
use hera_store::StoreError;

use super::check::Observed;
use super::event::{ToMaster, ToStore, Waits};
use super::master::{At, Lead, settings};
use super::world::World;

impl World {
    pub(super) fn begin_term(&mut self, master: usize, epoch: Epoch) {
        let boot = self.boot_clock(master);
        let Some(own) = self.masters.get_mut(master) else { return };
        if own.lead.is_some() {
            return;
        }
        own.lead = Some(Lead {
            engine: Engine::new(settings(), epoch),
            epoch,
            offset: 0,
            inbox: Vec::new(),
            callers: BTreeMap::new(),
            next_tag: 1,
            at: At::Loading,
            number: 0,
            wakes: 0,
            known: BTreeMap::new(),
            stepped: Now { wall: Wall::from_ms(0), boot },
            settled: false,
            renewed: boot.minus(Duration::from_secs(1)),
            observed: Observed::default(),
        });
        self.tell(format_args!("m{master} leads, epoch {epoch}"));
        self.ask_store(master, ToStore::Load);
        self.no_answer(master, Waits::Load);
        self.tell_master(master, 0, ToMaster::Renew);
    }

    pub(super) fn loaded(
        &mut self,
        master: usize,
        result: Result<hera_store::Snapshot, StoreError>,
    ) {
        let boot = self.boot_clock(master);
        let now = |snapshot: &hera_store::Snapshot| Now { wall: snapshot.store_now, boot };
        let judged = result.as_ref().ok().map(|snapshot| self.judged_by(now(snapshot)));
        let begun = result.as_ref().ok().map(|snapshot| self.windows_from(now(snapshot)));
        let Some(lead) = self.lead(master).filter(|lead| matches!(lead.at, At::Loading)) else {
            return;
        };
        let (Ok(snapshot), Some(judged), Some(begun)) = (result, judged, begun) else {
            // As the real one: asked again until it answers, or until the term is over.
            self.ask_store(master, ToStore::Load);
            self.no_answer(master, Waits::Load);
            return;
        };
        lead.offset = snapshot.store_now.ms() - boot.ms();
        lead.known = snapshot.workers.iter().map(|row| (row.id, row.incarnation)).collect();
        lead.observed.read(&snapshot, boot);
        lead.engine.load(snapshot, judged);
        lead.engine.wake_in(begun);
        (lead.at, lead.stepped, lead.settled) = (At::Idle, judged, true);
        self.turn(master);
    }
}
