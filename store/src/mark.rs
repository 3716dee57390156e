//! The marks that pages end with: text that callers hand back and do not read.

use hera_common::id::{ActionId, RunId};
use hera_common::time::Version;

use crate::StoreError;

/// After this action.
pub(crate) fn action(version: Version, id: ActionId) -> String {
    format!("{}.{id}", version.ms())
}

/// Reads what [`action`] wrote.
pub(crate) fn read_action(mark: &str) -> Result<(Version, ActionId), StoreError> {
    let read = || {
        let (version, id) = mark.split_once('.')?;
        Some((Version::from_ms(version.parse().ok()?), ActionId::from_raw(id.parse().ok()?)))
    };
    read().ok_or_else(|| StoreError::BadMark(mark.to_owned()))
}

/// After this run.
pub(crate) fn run(id: RunId) -> String {
    id.to_string()
}

/// Reads what [`run`] wrote.
pub(crate) fn read_run(mark: &str) -> Result<RunId, StoreError> {
    mark.parse().map(RunId::from_raw).map_err(|_no_number| StoreError::BadMark(mark.to_owned()))
}
