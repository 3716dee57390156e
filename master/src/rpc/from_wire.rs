//! Parts that many requests have, checked and turned into values of the domain.

use std::collections::{BTreeMap, HashMap};

use hera_common::audit::Asked;
use hera_common::id::Token;
use hera_common::limits::{ACTOR_BYTES_MAX, KEY_BYTES_MAX, PAGE_DEFAULT, PAGE_MAX, WHY_BYTES_MAX};
use hera_common::path::Path;
use hera_common::shown::misleading;
use hera_proto::v1;

use crate::service::fault::Fault;
use crate::service::filter::{ActionWanted, JobsWanted};
use crate::service::page::Wanted;

/// Bytes of the config that a person sets for one run: it is kept in the run's row.
const CONFIG_BYTES_MAX: usize = 64 << 10;

/// Who asks and why; every request that changes something has it.
pub(super) fn asked(wire: Option<v1::Asked>) -> Result<Asked, Fault> {
    let Some(v1::Asked { actor, why }) = wire else {
        return Err(Fault::invalid("asked", "must be set: who asks, and why"));
    };
    if actor.trim().is_empty() {
        return Err(Fault::invalid("asked.actor", "must not be empty"));
    }
    longest("asked.actor", actor.len(), ACTOR_BYTES_MAX)?;
    plain("asked.actor", &actor)?;
    longest("asked.why", why.len(), WHY_BYTES_MAX)?;
    Ok(Asked { actor, why })
}

/// A name that is shown as it is.
pub(super) fn plain(field: &str, text: &str) -> Result<(), Fault> {
    match misleading(text) {
        None => Ok(()),
        Some(odd) => {
            Err(Fault::invalid(field, format!("holds the character {odd:?}, which is not seen")))
        }
    }
}

/// A field of at most `max` bytes.
pub(super) fn longest(field: &str, bytes: usize, max: usize) -> Result<(), Fault> {
    if bytes <= max {
        return Ok(());
    }
    Err(Fault::invalid(field, format!("has {bytes} bytes, at most {max} are allowed")))
}

/// Which piece of a list.
pub(super) fn page(wire: Option<v1::PageRequest>) -> Result<Wanted, Fault> {
    let v1::PageRequest { limit, after } = wire.unwrap_or_default();
    if limit > PAGE_MAX {
        return Err(Fault::invalid("page.limit", format!("must be at most {PAGE_MAX}")));
    }
    let limit = if limit == 0 { PAGE_DEFAULT } else { limit };
    Ok(Wanted { limit, after: (!after.is_empty()).then_some(after) })
}

/// A token: 16 random bytes.
pub(super) fn token(field: &str, bytes: &[u8]) -> Result<Token, Fault> {
    let bad = |_length| Fault::invalid(field, "must be 16 bytes");
    bytes.try_into().map(Token::from_bytes).map_err(bad)
}

/// The path of a job or group.
pub(super) fn path(field: &str, text: &str) -> Result<Path, Fault> {
    Path::parse(text).map_err(|error| Fault::invalid(field, error.to_string()))
}

/// Which actions.
pub(super) fn actions(wire: Option<v1::ActionFilter>) -> ActionWanted {
    let v1::ActionFilter { job, group, states, reasons, day, data, owner, triggers } =
        wire.unwrap_or_default();
    let jobs = JobsWanted { job, group, owner };
    ActionWanted { jobs, states, reasons, day, data, triggers }
}

/// Config for one run: keys and values.
pub(super) fn config(
    field: &str,
    wire: HashMap<String, String>,
) -> Result<BTreeMap<String, String>, Fault> {
    let bytes = wire.iter().map(|(key, value)| key.len() + value.len()).sum();
    longest(field, bytes, CONFIG_BYTES_MAX)?;
    if wire.keys().any(|key| key.trim().is_empty()) {
        return Err(Fault::invalid(field, "has an empty key"));
    }
    if wire.keys().any(|key| key.len() > KEY_BYTES_MAX) {
        return Err(Fault::invalid(field, format!("has a key of more than {KEY_BYTES_MAX} bytes")));
    }
    Ok(wire.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use hera_proto::v1;

    use super::{asked, page, token};

    #[test]
    fn whoever_changes_something_has_a_name() {
        let who = |actor: &str, why: &str| {
            asked(Some(v1::Asked { actor: actor.to_owned(), why: why.to_owned() }))
                .map_err(|fault| fault.to_string())
        };
        assert_eq!(who("ann", "").unwrap().actor, "ann");
        assert_eq!(who(" ", "").unwrap_err(), "asked.actor: must not be empty");
        let long = who(&"a".repeat(201), "").unwrap_err();
        assert_eq!(long, "asked.actor: has 201 bytes, at most 200 are allowed");
        let long = who("ann", &"a".repeat(4_001)).unwrap_err();
        assert_eq!(long, "asked.why: has 4001 bytes, at most 4000 are allowed");
        assert_eq!(asked(None).unwrap_err().to_string(), "asked: must be set: who asks, and why");
    }

    #[test]
    fn a_page_has_a_limit_and_a_token_its_length() {
        assert_eq!(page(None).unwrap().limit, 100);
        let big = v1::PageRequest { limit: 1_001, after: String::new() };
        assert_eq!(page(Some(big)).unwrap_err().to_string(), "page.limit: must be at most 1000");
        assert_eq!(token("t", &[1; 15]).unwrap_err().to_string(), "t: must be 16 bytes");
        assert_eq!(token("t", &[1; 16]).unwrap().bytes(), [1; 16]);
    }
}
