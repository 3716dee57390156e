//! Whose hands were on a definition, as one document in a column. Knows no table.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hera_common::hand::{Hand, Hands};
use hera_common::time::Wall;
use serde::{Deserialize, Serialize};

use crate::sql::cells::{Reader, Unreadable};

/// As stored; what is not there is nothing.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Stored<'a> {
    changes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<StoredHand<'a>>,
    seen: BTreeMap<Cow<'a, str>, u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredHand<'a> {
    source: Cow<'a, str>,
    actor: Cow<'a, str>,
    at: i64,
}

/// Writes the document; a NUL, which no database keeps, travels escaped.
pub(super) fn hands_text(hands: &Hands) -> Cow<'static, str> {
    let Hands { changes, last, seen } = hands;
    let stored = Stored {
        changes: *changes,
        last: last.as_ref().map(|Hand { source, actor, at }| StoredHand {
            source: source.into(),
            actor: actor.into(),
            at: at.ms(),
        }),
        seen: seen.iter().map(|(source, change)| (source.into(), *change)).collect(),
    };
    Cow::Owned(serde_json::to_string(&stored).expect("keys are texts and numbers are whole"))
}

/// Reads what [`hands_text`] wrote.
pub(super) fn hands(reader: &mut Reader<'_>) -> Result<Hands, Unreadable> {
    let text = reader.text()?;
    let stored: Stored<'_> = serde_json::from_str(text)
        .map_err(|error| Unreadable(format!("`hands` is `{text}`: {error}")))?;
    let Stored { changes, last, seen } = stored;
    Ok(Hands {
        changes,
        last: last.map(|StoredHand { source, actor, at }| Hand {
            source: source.into_owned(),
            actor: actor.into_owned(),
            at: Wall::from_ms(at),
        }),
        seen: seen.into_iter().map(|(source, change)| (source.into_owned(), change)).collect(),
    })
}
