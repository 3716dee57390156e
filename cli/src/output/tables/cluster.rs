//! The cluster and its workers.

use crate::output::keys::{Cluster, Worker};
use crate::output::span::span;
use crate::output::style::Tone;
use crate::output::{Cell, Described, Listed, Look};

use super::Sheet;

impl Listed for Worker {
    const HEAD: &'static [&'static str] =
        &["WORKER", "STATE", "HELD", "CAPACITY", "HOST GROUPS", "LABELS", "PROGRAM", "HEARD"];

    fn row(&self, _look: Look) -> Vec<Cell> {
        let heard = self.heard_ms_ago.map_or_else(String::new, |ms| {
            format!("{} ago", span(i64::try_from(ms).unwrap_or(i64::MAX)))
        });
        vec![
            Cell::plain(&self.name),
            if self.takes_nothing.is_some() {
                Cell::toned(Tone::Bad, format!("{}, takes nothing", self.state))
            } else {
                Cell::toned(Tone::of_state(&self.state), &self.state)
            },
            Cell::plain(self.held.to_string()),
            Cell::plain(self.capacity.to_string()),
            Cell::plain(self.host_groups.join(",")),
            Cell::plain(self.labels.join(",")),
            Cell::plain(&self.program),
            Cell::plain(heard),
        ]
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl Described for Cluster {
    fn text(&self, look: Look) -> String {
        let mut sheet = Sheet::new();
        sheet.line("leader", format!("{} (epoch {}, {})", self.leader, self.epoch, self.program));
        sheet.line("store", format!("{} ({})", self.store, self.store_id));
        sheet.line("time", self.now.to_string());
        for (key, count) in [
            ("workers", self.workers),
            ("jobs", self.jobs),
            ("held", self.held),
            ("queued", self.queued),
            ("waiting", self.waiting),
            ("planned", self.planned),
        ] {
            sheet.line(key, count.to_string());
        }
        for warning in &self.warnings {
            sheet.cell("warning", Cell::toned(Tone::Bad, warning));
        }
        sheet.text(look)
    }

    fn name(&self) -> String {
        self.leader.clone()
    }
}
