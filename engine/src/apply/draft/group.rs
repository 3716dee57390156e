//! What a set makes of the groups that it names.

use hera_common::doc::{Applied, AppliedGroup};
use hera_common::hand::Hands;
use hera_common::id::Seq;
use hera_common::job::GroupRow;
use hera_common::path::Path;

use super::{DraftedGroup, Drafting};
use crate::apply::words::differences;
use crate::catalog::Group;
use crate::input::GroupChange;

impl Drafting<'_> {
    pub(super) fn groups(&mut self, applied: &Applied) {
        for (path, named) in &applied.groups {
            match self.before.groups.get(path) {
                Some(group) if group.doc == named.doc => self.seen_group(group, named),
                Some(group) => self.changed_group(group, named),
                None => self.new_group(path, named),
            }
        }
    }

    fn new_group(&mut self, path: &Path, named: &AppliedGroup) {
        self.draft.marks.group = self.draft.marks.group.next();
        let row = GroupRow {
            id: self.draft.marks.group,
            path: path.clone(),
            spec: named.doc.to_json(),
            seq: Seq::FIRST,
            hands: Hands::first(self.hand()),
            created_at: self.now,
        };
        self.group_change(path, true, Vec::new());
        self.put_group(row, named, (true, false));
    }

    fn changed_group(&mut self, group: &Group, named: &AppliedGroup) {
        let path = &group.row.path;
        self.tell_kept(group, named);
        // Nothing is lost by saying what nobody has said.
        let lost = group.doc.lost(&named.doc);
        if let Some(who) = self.who(&group.row.hands)
            && !lost.is_empty()
        {
            let mut lines = vec![format!("group {path} {who}; it would become")];
            lines.extend(lost);
            self.lost(&lines, |problem| Some(named.error(problem.to_owned())));
        }
        let mut row = group.row.clone();
        row.spec = named.doc.to_json();
        row.seq = row.seq.next();
        row.hands.change(self.hand());
        self.group_change(path, false, differences(&group.row.spec, &row.spec));
        self.put_group(row, named, (false, false));
    }

    fn seen_group(&mut self, group: &Group, named: &AppliedGroup) {
        self.tell_kept(group, named);
        let mut row = group.row.clone();
        if row.hands.see(&self.set.source) {
            row.seq = row.seq.next();
            self.put_group(row, named, (false, true));
        }
    }

    /// What this very source has said before and does not say any more looks as if it were taken away.
    fn tell_kept(&mut self, group: &Group, named: &AppliedGroup) {
        let last = group.row.hands.last.as_ref();
        if named.kept.is_empty() || last.is_none_or(|hand| hand.source != self.set.source) {
            return;
        }
        let (path, kept) = (&group.row.path, named.kept.join(" and "));
        self.draft.warnings.push(format!(
            "group {path} keeps its {kept}, of which the files say nothing: --prune takes that away"
        ));
    }

    fn group_change(&mut self, path: &Path, created: bool, details: Vec<String>) {
        self.draft.group_changes.push(GroupChange { group: path.to_string(), created, details });
    }

    fn put_group(&mut self, row: GroupRow, named: &AppliedGroup, (new, seen): (bool, bool)) {
        let group = Group { row: row.clone(), doc: named.doc.clone() };
        self.draft.catalog.groups.insert(row.path.clone(), group);
        self.draft.groups.push(DraftedGroup { row, new, seen });
    }
}
