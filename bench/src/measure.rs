//! What is measured, one file each.

pub(crate) mod chain;
pub(crate) mod fan;
pub(crate) mod latency;
pub(crate) mod noop;

use anyhow::{Result, ensure};
use hera_proto::v1;

/// One figure with its unit.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
}

/// The middle value; of an even count the lower one of the two.
pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

/// The smallest value that at least this share of the values does not exceed.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(clippy::as_conversions, reason = "a place in a short list")]
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// A count or a span as a number to divide by.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "figures are shown with one decimal"
)]
pub(crate) fn number(of: impl TryInto<i64>) -> f64 {
    of.try_into().unwrap_or(i64::MAX) as f64
}

/// The span from an instant to the last end of all actions, milliseconds; refused where not all succeeded.
pub(crate) fn until_last(actions: &[v1::Action], expected: usize, from_ms: i64) -> Result<f64> {
    ensure!(actions.len() == expected, "{} of {expected} actions succeeded", actions.len());
    let last = actions.iter().filter_map(|action| action.ended_at_ms).max().unwrap_or(from_ms);
    Ok(number(last - from_ms))
}
