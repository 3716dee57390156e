//! Edges as written. Knows no other job: what an edge leaves open is filled in later.

use std::ops::RangeInclusive;

use super::fields::{Fields, Names, Problems, one};
use super::label::{BindWord, Label as _};
use super::value::{number, path, shift};
use super::yaml::{Node, Value};
use crate::path::Path;
use crate::shift::Shift;
use crate::spec::{Bind, Empty, On, Period};

pub(super) const EDGE: Names = Names {
    known: &[&["job", "bind", "of", "n", "from", "to", "offset", "on", "empty"]],
    later: &[],
};
/// How far back `previous` may look: years of days.
const BACK: RangeInclusive<u32> = 1..=1_000;

/// An edge as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdge {
    pub upstream: Path,
    /// None: by the rule of defaults.
    pub bind: Option<Bind>,
    pub offset: Shift,
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
            let offset = Shift::NONE;
            return Some(Self { upstream, bind: None, offset, on: On::Success, empty: None });
        }
        let fields = Fields::open(node, at, &EDGE, problems)?;
        if fields.node("job").is_none() {
            problems.add(node.place, at, "has no `job`: the name of an upstream job");
        }
        let upstream = fields.one("job", problems, |text| path(text, group));
        let bind = bind(&fields, problems);
        let offset = fields.one("offset", problems, shift).unwrap_or(Shift::NONE);
        let on = fields.word("on", problems).unwrap_or(On::Success);
        let empty = fields.word("empty", problems);
        Some(Self { upstream: upstream?, bind, offset, on, empty })
    }
}

/// The parts of a bind, apart: as they stand in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BindParts {
    pub word: BindWord,
    pub of: Option<Period>,
    pub n: Option<u32>,
    pub from: Option<Shift>,
    pub to: Option<Shift>,
}

impl BindParts {
    /// Takes a bind apart.
    pub(super) fn new(bind: Bind) -> Self {
        let only = |word| Self { word, of: None, n: None, from: None, to: None };
        match bind {
            Bind::Nearest => only(BindWord::Nearest),
            Bind::AtOrBefore => only(BindWord::AtOrBefore),
            Bind::Same => only(BindWord::Same),
            Bind::Data => only(BindWord::Data),
            Bind::Previous { n } => Self { n: Some(n), ..only(BindWord::Previous) },
            Bind::First { of } => Self { of: Some(of), ..only(BindWord::First) },
            Bind::Last { of } => Self { of: Some(of), ..only(BindWord::Last) },
            Bind::All { of } => Self { of: Some(of), ..only(BindWord::All) },
            Bind::Window { from, to } => {
                Self { from: Some(from), to: Some(to), ..only(BindWord::Window) }
            }
        }
    }

    /// Puts it together; on failure the part that is missing or bad, and why.
    pub(super) fn bind(self) -> Result<Bind, (&'static str, String)> {
        let word = self.word.word();
        let of =
            || self.of.ok_or_else(|| ("of", format!("`{word}` wants `of`: day, week or month")));
        match self.word {
            BindWord::Nearest => Ok(Bind::Nearest),
            BindWord::AtOrBefore => Ok(Bind::AtOrBefore),
            BindWord::Same => Ok(Bind::Same),
            BindWord::Data => Ok(Bind::Data),
            BindWord::Previous => {
                let n = self.n.unwrap_or(1);
                let inside = BACK.contains(&n).then_some(Bind::Previous { n });
                inside.ok_or_else(|| ("n", format!("{n} is not between 1 and {}", BACK.end())))
            }
            BindWord::First => Ok(Bind::First { of: of()? }),
            BindWord::Last => Ok(Bind::Last { of: of()? }),
            BindWord::All => Ok(Bind::All { of: of()? }),
            BindWord::Window => self.window(),
        }
    }

    fn window(self) -> Result<Bind, (&'static str, String)> {
        let wants = |field| {
            let problem = "`window` wants `from` and `to`, such as from: -1d, to: 0s";
            (field, problem.to_owned())
        };
        let from = self.from.ok_or_else(|| wants("from"))?;
        let to = self.to.ok_or_else(|| wants("to"))?;
        for (field, bound) in [("from", from), ("to", to)] {
            if matches!(bound, Shift::Slots { .. }) {
                return Err((
                    field,
                    "a window is of time: write s, min, h, d, bd or mo".to_owned(),
                ));
            }
        }
        if is_empty(from, to) {
            return Err(("to", format!("the window from {from} to {to} holds no instant")));
        }
        Ok(Bind::Window { from, to })
    }
}

/// Whether a window ends where it begins, or before; false where that depends on the calendar.
fn is_empty(from: Shift, to: Shift) -> bool {
    let sign = |shift| match shift {
        Shift::Elapsed { ms } => ms.signum(),
        Shift::Days { n }
        | Shift::BusinessDays { n }
        | Shift::Months { n }
        | Shift::Slots { n } => i64::from(n.signum()),
    };
    match (from, to) {
        (Shift::Elapsed { ms: from }, Shift::Elapsed { ms: to }) => from >= to,
        (Shift::Days { n: from }, Shift::Days { n: to })
        | (Shift::BusinessDays { n: from }, Shift::BusinessDays { n: to })
        | (Shift::Months { n: from }, Shift::Months { n: to }) => from >= to,
        _different_units => sign(from) >= sign(to) && (sign(from) == 0 || sign(to) != sign(from)),
    }
}

/// Reads `bind` and the parts that belong to it.
fn bind(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Bind> {
    let before = problems.found.len();
    let word = fields.word::<BindWord>("bind", problems);
    let of = fields.one("of", problems, |text| match Period::from_word("of", text) {
        Ok(Period::Hour) => Err("`of: hour` is too short: use day, week or month".to_owned()),
        Ok(Period::BusinessDay) => {
            Err("`of: business_day` is a period of data only: use day, week or month".to_owned())
        }
        other => other,
    });
    let n = fields.one("n", problems, |text| number(text, &BACK));
    let from = fields.one("from", problems, shift);
    let to = fields.one("to", problems, shift);
    // A bad part has told its own error, and a bad bind leaves open what belongs to it.
    if problems.found.len() > before {
        return None;
    }
    for (part, owners, binds) in [
        (
            "of",
            "`bind: first`, `last` or `all`",
            &[BindWord::First, BindWord::Last, BindWord::All][..],
        ),
        ("n", "`bind: previous`", &[BindWord::Previous]),
        ("from", "`bind: window`", &[BindWord::Window]),
        ("to", "`bind: window`", &[BindWord::Window]),
    ] {
        let belongs = word.is_some_and(|word| binds.contains(&word));
        if let (Some(node), false) = (fields.node(part), belongs) {
            problems.add(node.place, &fields.path(part), format!("belongs to {owners}"));
        }
    }
    let parts = BindParts { word: word?, of, n, from, to };
    parts
        .bind()
        .map_err(|(part, problem)| {
            let field = if fields.node(part).is_some() { part } else { "bind" };
            let place = fields.node(field).map(|node| node.place);
            problems.add(place.unwrap_or_default(), &fields.path(field), problem);
        })
        .ok()
}
