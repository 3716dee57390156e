//! Dates as text by the patterns of Java's `SimpleDateFormat`, in English. Knows no calendar: it is
//! given a local time and its offset.

use jiff::civil::DateTime;
use jiff::tz::Offset;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Letters in a row: more are a slip, and would make a script long.
const LETTERS_MAX: usize = 64;

/// Writes a date by a pattern.
///
/// # Errors
/// The letter that has no meaning, or one that depends on the machine.
pub(super) fn format(pattern: &str, local: DateTime, offset: Offset) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = quoted(rest, &mut out)?;
        } else if first.is_ascii_alphabetic() {
            let count = rest.len() - rest.trim_start_matches(first).len();
            if count > LETTERS_MAX {
                return Err(format!("`{first}` stands {count} times in a row"));
            }
            out.push_str(&letter(first, count, local, offset)?);
            rest = rest.trim_start_matches(first);
        } else {
            out.push(first);
            rest = rest.strip_prefix(first).unwrap_or_default();
        }
    }
    Ok(out)
}

/// Text between quotes, in which two quotes are one; two quotes outside are one too.
fn quoted<'p>(pattern: &'p str, out: &mut String) -> Result<&'p str, String> {
    let mut rest = pattern.strip_prefix('\'').unwrap_or(pattern);
    if let Some(after) = rest.strip_prefix('\'') {
        out.push('\'');
        return Ok(after);
    }
    loop {
        let Some((text, after)) = rest.split_once('\'') else {
            return Err(format!("the quote in `{pattern}` is not closed"));
        };
        out.push_str(text);
        let Some(more) = after.strip_prefix('\'') else { return Ok(after) };
        out.push('\'');
        rest = more;
    }
}

fn letter(letter: char, count: usize, local: DateTime, offset: Offset) -> Result<String, String> {
    let hour = i64::from(local.hour());
    let number = |value: i64| Ok(format!("{value:0count$}"));
    // 0 o'clock is shown as 24, or as 12.
    let from_one = |value: i64, zero: i64| number(if value == 0 { zero } else { value });
    match letter {
        'G' => Ok("AD".to_owned()),
        'y' if count == 2 => Ok(format!("{:02}", local.year() % 100)),
        'y' => number(i64::from(local.year())),
        'M' | 'L' if count >= 3 => Ok(name(&MONTHS, i64::from(local.month()) - 1, count)),
        'M' | 'L' => number(i64::from(local.month())),
        'd' => number(i64::from(local.day())),
        'D' => number(i64::from(local.day_of_year())),
        'E' => Ok(name(&DAYS, i64::from(local.weekday().to_monday_zero_offset()), count)),
        'u' => number(i64::from(local.weekday().to_monday_one_offset())),
        'a' => Ok(if hour < 12 { "AM" } else { "PM" }.to_owned()),
        'H' => number(hour),
        'k' => from_one(hour, 24),
        'K' => number(hour % 12),
        'h' => from_one(hour % 12, 12),
        'm' => number(i64::from(local.minute())),
        's' => number(i64::from(local.second())),
        'S' => number(i64::from(local.millisecond())),
        'Z' => Ok(zone(offset, "")),
        'X' if offset.seconds() == 0 && count <= 3 => Ok("Z".to_owned()),
        'X' => match count {
            1 => Ok(zone(offset, "").chars().take(3).collect()),
            2 => Ok(zone(offset, "")),
            3 => Ok(zone(offset, ":")),
            _more => Err("`X` stands at most three times in a row".to_owned()),
        },
        'Y' => Err("`Y` is the year of the week, which depends on the machine's country, and is \
                    another year round New Year: the calendar year is `y`"
            .to_owned()),
        'w' | 'W' => Err(format!(
            "`{letter}` counts weeks, and where a week begins depends on the machine's country"
        )),
        'F' => {
            Err("`F` is not the day of the week, as often believed: that is `u` or `E`".to_owned())
        }
        'z' => {
            Err("`z` is the zone's name, which differs between machines: `Z` and `XXX` are its \
                    offset"
                .to_owned())
        }
        other => {
            Err(format!("`{other}` means nothing in a pattern: put text between single quotes"))
        }
    }
}

fn name(names: &[&str], index: i64, count: usize) -> String {
    let name = usize::try_from(index).ok().and_then(|index| names.get(index)).copied();
    let name = name.unwrap_or_default();
    // The short names are the first three letters, in English.
    if count >= 4 { name.to_owned() } else { name.chars().take(3).collect() }
}

/// `+0800`, or with something between hours and minutes.
fn zone(offset: Offset, between: &str) -> String {
    let minutes = offset.seconds() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.abs();
    format!("{sign}{:02}{between}{:02}", minutes / 60, minutes % 60)
}
