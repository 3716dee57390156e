//! Edges as written. Knows no other job: what an edge leaves open is filled in later.

use super::fields::{Fields, Names, Problems, one};
use super::label::BindWord;
use super::value::{number, path};
use super::yaml::{Node, Value};
use crate::path::Path;
use crate::spec::{Empty, On};

const EDGE: Names = Names {
    known: &[&["job", "bind", "n", "on", "empty"]],
    later: &[&["of", "from", "to", "offset"]],
};
/// How far back `previous` may look: years of days.
pub(super) const BACK_MAX: u32 = 1_000;

/// An edge as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdge {
    pub upstream: Path,
    /// None: by the rule of defaults.
    pub bind: Option<BindWord>,
    /// How many slots back; with `previous` only, and always there.
    pub n: Option<u32>,
    pub on: On,
    /// None: by the rule of defaults.
    pub empty: Option<Empty>,
}

impl FileEdge {
    /// Reads a name, or a mapping with `job`; relative names are in `group`.
    pub(super) fn read(
        node: &Node,
        at: &str,
        group: &Path,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        if matches!(node.value, Value::Scalar(_)) {
            let upstream = one(node, at, problems, |text| path(text, group))?;
            return Some(Self { upstream, bind: None, n: None, on: On::Success, empty: None });
        }
        let fields = Fields::open(node, at, &EDGE, problems)?;
        if fields.node("job").is_none() {
            problems.add(node.place, at, "has no `job`: the name of an upstream job");
        }
        let upstream = fields.one("job", problems, |text| path(text, group));
        let bind = fields.word::<BindWord>("bind", problems);
        let n = fields.one("n", problems, |text| number(text, &(1..=BACK_MAX)));
        match (bind, fields.node("n")) {
            (Some(BindWord::Previous), None) => {
                let place = fields.node("bind").map_or(node.place, |bind| bind.place);
                let problem = "`previous` wants `n`, how many slots back: 1 is the last one before";
                problems.add(place, &fields.path("bind"), problem);
            }
            (Some(BindWord::Previous), Some(_)) => {}
            (Some(BindWord::Nearest | BindWord::AtOrBefore | BindWord::Same) | None, Some(n)) => {
                // A bind that could not be read has its own error.
                if bind.is_some() || fields.node("bind").is_none() {
                    let problem = "belongs to `bind: previous`, and to nothing else";
                    problems.add(n.place, &fields.path("n"), problem);
                }
            }
            (Some(BindWord::Nearest | BindWord::AtOrBefore | BindWord::Same) | None, None) => {}
        }
        let on = fields.word::<On>("on", problems).unwrap_or(On::Success);
        let empty = fields.word::<Empty>("empty", problems);
        Some(Self { upstream: upstream?, bind, n, on, empty })
    }
}
