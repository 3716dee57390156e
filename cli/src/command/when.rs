//! Instants as people type them: RFC 3339, or a day or a local time in a zone that is known later.

use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::exit::Failure;

/// An instant as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Instant(Timestamp),
    /// In a zone that something else says; a day is its first instant.
    Local(DateTime),
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self::Instant).or_else(|_no_offset| text.parse().map(Self::Local)).map_err(
            |_neither| {
                "write an instant as 2026-11-30T02:00:00Z, a local time as 2026-11-30T02:00, or a day \
                 as 2026-11-30"
                    .to_owned()
            },
        )
    }
}

impl When {
    /// Whether a zone is needed to know it.
    pub(super) const fn is_local(self) -> bool {
        matches!(self, Self::Local(_))
    }

    /// UTC milliseconds. A local time that does not exist is the first valid one after it; of one that
    /// comes twice the first is meant.
    pub(super) fn ms(self, zone: &str) -> Result<i64, Failure> {
        let instant = match self {
            Self::Instant(instant) => instant,
            Self::Local(local) => {
                let zone = self::zone(zone)?;
                let zoned = local.to_zoned_datetime(zone);
                zoned.map_err(|error| Failure::bad_input(format!("{local}: {error}")))?.timestamp()
            }
        };
        Ok(instant.as_millisecond())
    }
}

/// A zone by its IANA name.
pub(super) fn zone(name: &str) -> Result<TimeZone, Failure> {
    TimeZone::get(name).map_err(|_unknown| {
        Failure::bad_input(format!(
            "--zone {name}: nobody knows this zone; write an IANA name such as Europe/Berlin"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::When;
    use crate::exit::Exit;

    #[test]
    fn instants_are_read_in_their_zone() {
        let table = [
            ("2026-11-30T02:00:00Z", "Europe/Berlin", 1_796_004_000_000),
            ("2026-11-30T02:00:00+01:00", "UTC", 1_796_000_400_000),
            ("2026-11-30T02:00", "Europe/Berlin", 1_796_000_400_000),
            ("2026-11-30", "Europe/Berlin", 1_795_993_200_000),
            // 02:30 does not exist; 02:30 comes twice.
            ("2026-03-29T02:30", "Europe/Berlin", 1_774_747_800_000),
            ("2026-10-25T02:30", "Europe/Berlin", 1_792_888_200_000),
        ];
        for (text, zone, expected) in table {
            assert_eq!(text.parse::<When>().unwrap().ms(zone).unwrap(), expected, "{text}");
        }
        assert!("soon".parse::<When>().is_err());
        let local: When = "2026-11-30".parse().unwrap();
        assert_eq!(local.ms("Europe/Berlinn").unwrap_err().exit, Exit::BadInput);
    }
}
