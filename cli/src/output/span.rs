//! Durations and instants as people read them. Reads no clock.

use hera_common::time::Wall;
use jiff::tz::TimeZone;

/// A duration in milliseconds: `340ms`, `1.2s`, `45s`, `12m`, `2h 5m`, `3d 4h`.
pub(crate) fn span(ms: i64) -> String {
    let ms = ms.max(0);
    let seconds = ms / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let two = |large: i64, unit: &str, small: i64, part: &str| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit} {small}{part}") }
    };
    match seconds {
        0 => format!("{ms}ms"),
        1..10 => format!("{seconds}.{}s", ms % 1_000 / 100),
        10..60 => format!("{seconds}s"),
        60..600 => two(minutes, "m", seconds % 60, "s"),
        600..3_600 => format!("{minutes}m"),
        3_600..86_400 => two(hours, "h", minutes % 60, "m"),
        _ => two(days, "d", hours % 24, "h"),
    }
}

/// From `from` to `to`; empty where there is no `from`.
pub(crate) fn between(from: Option<Wall>, to: Wall) -> String {
    from.map_or_else(String::new, |from| span(to.ms().saturating_sub(from.ms())))
}

/// `yyyy-MM-ddTHH:mm:ss+HH:MM` as `yyyy-MM-dd HH:mm +HH:MM`; seconds only where they are not zero.
pub(crate) fn local(written: &str) -> String {
    let Some((date, rest)) = written.split_once('T') else { return written.to_owned() };
    let Some(at) = rest.find(['+', '-', 'Z']) else { return written.to_owned() };
    let (time, offset) = rest.split_at(at);
    let time = time.strip_suffix(":00").filter(|short| short.len() == 5).unwrap_or(time);
    format!("{date} {time} {offset}")
}

/// An instant in a zone, as [`local`] writes it; in UTC where the zone is not known here.
pub(crate) fn at(instant: Wall, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let zoned = instant.timestamp().to_zoned_datetime(zone);
    let format = if instant.ms().rem_euclid(60_000) < 1_000 {
        "%Y-%m-%d %H:%M %:z"
    } else {
        "%Y-%m-%d %H:%M:%S %:z"
    };
    zoned.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::{at, local, span};
    use hera_common::time::Wall;

    #[test]
    fn durations_are_short() {
        let table = [
            (-5, "0ms"),
            (340, "340ms"),
            (1_240, "1.2s"),
            (45_999, "45s"),
            (300_000, "5m"),
            (330_000, "5m 30s"),
            (720_500, "12m"),
            (7_500_000, "2h 5m"),
            (273_600_000, "3d 4h"),
        ];
        for (ms, expected) in table {
            assert_eq!(span(ms), expected, "{ms}");
        }
    }

    #[test]
    fn local_times_lose_what_says_nothing() {
        assert_eq!(local("2026-11-30T03:00:00-05:00"), "2026-11-30 03:00 -05:00");
        assert_eq!(local("2026-11-30T03:00:07+01:00"), "2026-11-30 03:00:07 +01:00");
        assert_eq!(local("2026-11-30T03:00:00.250+01:00"), "2026-11-30 03:00:00.250 +01:00");
        assert_eq!(local("soon"), "soon");
        let instant = Wall::from_ms(1_774_746_000_000);
        assert_eq!(at(instant, "Europe/Berlin"), "2026-03-29 03:00 +02:00");
        assert_eq!(at(instant, "nowhere"), "2026-03-29 01:00 +00:00");
    }
}
