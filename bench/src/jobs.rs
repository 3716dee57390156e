//! The job files of the measurements.

use std::fmt::Write as _;

/// The group of all of them.
pub(crate) const GROUP: &str = "bench";

/// Begins a file; jobs run side by side, and a slow machine makes none of them late.
pub(crate) fn head() -> String {
    format!("group: {GROUP}\ndefaults: {{ zone: UTC, overlap: allow }}\njobs:\n")
}

/// A job that is due at one instant, and not again within the measurement.
pub(crate) fn at(file: &mut String, name: &str, at_ms: i64, body: &str) {
    let (second, minute, hour, day, month) = fields(at_ms);
    let cron = format!("{second} {minute} {hour} {day} {month} ?");
    writeln!(file, "  - {{ name: {name}, schedule: {{ cron: \"{cron}\" }}, {body} }}")
        .unwrap_or_default();
}

/// A job that waits for others.
pub(crate) fn after(file: &mut String, name: &str, upstream: &[String], body: &str) {
    writeln!(file, "  - {{ name: {name}, depends_on: [{}], {body} }}", upstream.join(", "))
        .unwrap_or_default();
}

/// The next full second that leaves time to apply `jobs` jobs.
pub(crate) fn soon(now_ms: i64, jobs: usize) -> i64 {
    let room = 5_000 + i64::try_from(jobs).unwrap_or(0) * 2;
    (now_ms + room) / 1_000 * 1_000
}

/// Second, minute, hour, day of the month and month of an instant, in UTC.
fn fields(at_ms: i64) -> (i64, i64, i64, i64, i64) {
    let seconds = at_ms.div_euclid(1_000);
    let days = seconds.div_euclid(86_400);
    let of_day = seconds.rem_euclid(86_400);
    let (day, month) = day_and_month(days);
    (of_day % 60, of_day / 60 % 60, of_day / 3_600, day, month)
}

/// The civil date of a count of days since 1970: years of 400 repeat, and begin in March.
fn day_and_month(days: i64) -> (i64, i64) {
    let days = days + 719_468;
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    (day, if march < 10 { march + 3 } else { march - 9 })
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn an_instant_has_the_fields_of_its_date() {
        assert_eq!(fields(1_709_209_445_000), (5, 24, 12, 29, 2));
        assert_eq!(fields(1_798_761_599_000), (59, 59, 23, 31, 12));
    }
}
