//! Reads an expression field by field: which values, which days, and whether it fires at every real
//! instant. Knows nothing of how they are searched.

use std::collections::BTreeSet;

use super::bits::Bits;
use super::days::{Days, MonthDays, WeekDays};
use super::item::{Item, Word, words};
use super::{Cron, CronError, CronFault, CronField, CronForm};

pub(super) fn parse(text: &str) -> Result<Cron, CronError> {
    let whole = |position, fault| CronError { field: None, position, fault };
    if let Some((position, found)) = text.char_indices().find(|(_, c)| !c.is_ascii()) {
        let expected = "plain ASCII characters and spaces";
        return Err(whole(position, CronFault::Unexpected { found, expected }));
    }
    read(text.trim_ascii(), &text.to_ascii_uppercase()).map_err(|refused| as_written(text, refused))
}

/// Shows what stands in the text as it was given, not in upper case.
fn as_written(text: &str, refused: CronError) -> CronError {
    let there = text.get(refused.position..).unwrap_or("");
    let fault = match (refused.fault, there.chars().next()) {
        (CronFault::Unexpected { expected, .. }, Some(found)) => {
            CronFault::Unexpected { found, expected }
        }
        (CronFault::UnknownName { name, names }, Some(_)) => {
            CronFault::UnknownName { name: there.chars().take(name.len()).collect(), names }
        }
        (fault, _) => fault,
    };
    CronError { fault, ..refused }
}

fn read(text: &str, upper: &str) -> Result<Cron, CronError> {
    let whole = |position, fault| CronError { field: None, position, fault };
    let written = words(upper);
    // A Unix expression fires at second 0; a year that is left out is every year.
    let zero = (0, "0");
    let every = (0, "*");
    let (form, fields) = match *written.as_slice() {
        [minute, hour, day, month, weekday] => {
            (CronForm::Unix, [zero, minute, hour, day, month, weekday, every])
        }
        [second, minute, hour, day, month, weekday] => {
            (CronForm::Quartz, [second, minute, hour, day, month, weekday, every])
        }
        [second, minute, hour, day, month, weekday, year] => {
            (CronForm::Quartz, [second, minute, hour, day, month, weekday, year])
        }
        _ => {
            let position = written.get(7).map_or(0, |(position, _)| *position);
            return Err(whole(position, CronFault::FieldCount { found: written.len() }));
        }
    };
    let word = |field, (at, text)| Word { field, form, text, at };
    let [second, minute, hour, day, month, weekday, year] = fields;
    Ok(Cron {
        text: text.into(),
        form,
        seconds: small_set(word(CronField::Second, second))?,
        minutes: small_set(word(CronField::Minute, minute))?,
        hours: small_set(word(CronField::Hour, hour))?,
        months: small_set(word(CronField::Month, month))?,
        days: days(word(CronField::DayOfMonth, day), word(CronField::DayOfWeek, weekday))?,
        years: years(word(CronField::Year, year))?,
        every_instant: is_wild(minute.1) || is_wild(hour.1),
    })
}

/// Whether a field starts with `*` or is `0/n` (Quartz also takes `/n`).
fn is_wild(field: &str) -> bool {
    let from_zero = |start: &str| start.parse() == Ok(0u8);
    field.starts_with(['*', '/'])
        || field
            .split_once('/')
            .is_some_and(|(start, step)| from_zero(start) && !step.contains(','))
}

fn small_set(word: Word<'_>) -> Result<Bits, CronError> {
    let mut set = Bits::EMPTY;
    for item in word.items() {
        item.range()?.each(|value| set.insert(small(value)));
    }
    Ok(set)
}

fn small(value: u16) -> u8 {
    u8::try_from(value).expect("every field but the year ends below 60")
}

fn years(word: Word<'_>) -> Result<Option<BTreeSet<i16>>, CronError> {
    if word.text == "*" {
        return Ok(None);
    }
    let mut years = BTreeSet::new();
    for item in word.items() {
        item.range()?.each(|value| {
            years.insert(value.cast_signed());
        });
    }
    Ok(Some(years))
}

fn days(by_month: Word<'_>, by_week: Word<'_>) -> Result<Days, CronError> {
    let month_days = month_days(by_month)?;
    let week_days = week_days(by_week)?;
    // `*` and `?` say nothing in the Unix form; what starts with `*` narrows the other field.
    let silent = |word: Word<'_>| matches!(word.text, "*" | "?");
    let narrows = |word: Word<'_>| word.text.starts_with(['*', '/', '?']);
    match by_month.form {
        CronForm::Unix if silent(by_week) => Ok(Days::Month(month_days)),
        CronForm::Unix if silent(by_month) => Ok(Days::Week(week_days)),
        CronForm::Unix if narrows(by_month) || narrows(by_week) => {
            Ok(Days::Both(month_days, week_days))
        }
        CronForm::Unix => Ok(Days::Either(month_days, week_days)),
        CronForm::Quartz => match (by_month.text == "?", by_week.text == "?") {
            (false, true) => Ok(Days::Month(month_days)),
            (true, false) => Ok(Days::Week(week_days)),
            (true, true) => Err(by_week.fault(CronFault::NoDays)),
            (false, false) => Err(by_week.fault(CronFault::BothDays)),
        },
    }
}

const MONTH_DAYS: &str = "days such as 1,15 or 10-20, or one of L, L-3, LW, L-3W, 15W, `?`";
const WEEK_DAYS: &str = "days such as MON-FRI, or one of L, 6L, FRIL, 6#3, FRI#3, `?`";

fn month_days(word: Word<'_>) -> Result<MonthDays, CronError> {
    if word.text == "?" {
        return Ok(MonthDays::Listed(Bits::span(1, 31)));
    }
    if !word.text.contains(['L', 'W', '?']) {
        return small_set(word).map(MonthDays::Listed);
    }
    let mut item = word.alone(&['L', 'W', '?'])?;
    if item.eat('L') {
        let before = if item.eat('-') { last_day_offset(&mut item)? } else { 0 };
        let working = item.eat('W');
        item.end(MONTH_DAYS)?;
        return Ok(match working {
            true => MonthDays::LastWeekday { before },
            false => MonthDays::Last { before },
        });
    }
    let day = item.value(MONTH_DAYS)?;
    if !item.eat('W') {
        return Err(item.unexpected(MONTH_DAYS));
    }
    item.end(MONTH_DAYS)?;
    Ok(MonthDays::NearestWeekday(small(day.number)))
}

fn last_day_offset(item: &mut Item<'_>) -> Result<u8, CronError> {
    let at = item.position();
    let back = item.number("a number of days, as in L-3")?;
    match u8::try_from(back) {
        Ok(back) if back <= 30 => Ok(back),
        _ => Err(item.fault_at(at, CronFault::LastTooFarBack { back })),
    }
}

fn week_days(word: Word<'_>) -> Result<WeekDays, CronError> {
    if word.text == "?" {
        return Ok(WeekDays::Listed(Bits::span(0, 6)));
    }
    if !word.text.contains(['L', '#', '?']) {
        let mut set = Bits::EMPTY;
        for item in word.items() {
            item.range()?.each(|value| set.insert(from_sunday(value, word.form)));
        }
        return Ok(WeekDays::Listed(set));
    }
    let mut item = word.alone(&['L', '#', '?'])?;
    if item.eat('L') {
        // Quartz: the week's last day, every week.
        item.end(WEEK_DAYS)?;
        return Ok(WeekDays::Listed(Bits::span(6, 6)));
    }
    let weekday = from_sunday(item.value(WEEK_DAYS)?.number, word.form);
    if item.eat('L') {
        item.end(WEEK_DAYS)?;
        return Ok(WeekDays::Last { weekday });
    }
    if !item.eat('#') {
        return Err(item.unexpected(WEEK_DAYS));
    }
    let at = item.position();
    let nth = item.number("a number from 1 to 5, as in 6#3")?;
    item.end(WEEK_DAYS)?;
    match u8::try_from(nth) {
        Ok(nth) if (1..=5).contains(&nth) => Ok(WeekDays::Nth { weekday, nth }),
        _ => Err(item.fault_at(at, CronFault::NthOutOfRange { nth })),
    }
}

/// Sunday is 0 or 7 in the Unix form, 1 in the Quartz form.
fn from_sunday(value: u16, form: CronForm) -> u8 {
    small(match form {
        CronForm::Unix => value % 7,
        CronForm::Quartz => value - 1,
    })
}
