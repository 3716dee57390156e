//! Date expressions: `zdt.addDay(-1).format("yyyyMMdd")`. Knows no script and no config.

use jiff::tz::TimeZone;

use super::calendar::{ByCountry, Calendar, Field, OutOfRange};
use super::pattern;

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Arg {
    Number(i32),
    /// A bare name: `MONTH`, `Calendar.MONTH`.
    Name(String),
    Text(String),
}

/// A call: `addDay(-1)`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    name: String,
    args: Vec<Arg>,
}

/// What comes of a call.
enum Value {
    Date(Calendar),
    Text(String),
}

/// Evaluates an expression, `zdt` at its front, at an instant in a zone.
///
/// # Errors
/// What is wrong, in words.
pub(super) fn evaluate(expression: &str, zone: &TimeZone, ms: i64) -> Result<String, String> {
    let calls = expression.strip_prefix("zdt").unwrap_or(expression);
    let today = Calendar::new(zone.clone(), ms).map_err(|OutOfRange| out_of_range())?;
    let mut value = Value::Date(today.clone());
    for call in parse(calls)? {
        let Value::Date(calendar) = value else {
            return Err(format!("`.{}` comes after the text is made", call.name));
        };
        value = apply(&call, calendar, &today)?;
    }
    match value {
        Value::Text(text) => Ok(text),
        Value::Date(_) => {
            Err("is a date and no text yet: end it with .format(\"yyyy-MM-dd\")".to_owned())
        }
    }
}

fn out_of_range() -> String {
    "leaves the years 1600 to 9999".to_owned()
}

fn apply(call: &Call, mut calendar: Calendar, today: &Calendar) -> Result<Value, String> {
    let moved = |result: Result<(), OutOfRange>| result.map_err(|OutOfRange| out_of_range());
    let text = |result: Result<String, OutOfRange>| {
        result.map(Value::Text).map_err(|OutOfRange| out_of_range())
    };
    match (call.name.as_str(), call.args.as_slice()) {
        ("addDay", [Arg::Number(days)]) => moved(calendar.add(Field::Day, *days))?,
        ("add", [field, Arg::Number(amount)]) => moved(calendar.add(field_of(field)?, *amount))?,
        ("set", [field, Arg::Number(value)]) => {
            calendar.set(field_of(field)?, *value).map_err(by_country)?;
        }
        ("get", [field]) => {
            let value = calendar.get(field_of(field)?).map_err(|OutOfRange| out_of_range())?;
            return Ok(Value::Text(value.map_err(by_country)?.to_string()));
        }
        ("getTime", []) => {
            return text(calendar.millis().map(|ms| ms.div_euclid(1_000).to_string()));
        }
        ("getMillis", []) => return text(calendar.millis().map(|ms| ms.to_string())),
        ("format", [Arg::Text(pattern)]) => return write(pattern, &calendar),
        // The version's own day, not the machine's: a rerun of an old version gives the same text.
        ("getToday", []) => return write("yyyy-MM-dd", today),
        ("getNowMillis", _) => {
            return Err("`getNowMillis` would give each attempt another text: getMillis() is the \
                        version's time, and `date` the machine's"
                .to_owned());
        }
        ("StringToDateStr" | "StringToDate", _) => {
            return Err(format!("`{}` is not built yet", call.name));
        }
        (name, _) => return Err(usage(name)),
    }
    Ok(Value::Date(calendar))
}

fn write(pattern: &str, calendar: &Calendar) -> Result<Value, String> {
    let (local, offset) = calendar.shown().map_err(|OutOfRange| out_of_range())?;
    pattern::format(pattern, local, offset).map(Value::Text)
}

/// How a method is called, or which there are.
fn usage(name: &str) -> String {
    let known = match name {
        "addDay" => "addDay(days)",
        "add" => "add(field, amount)",
        "set" => "set(field, value)",
        "get" => "get(field)",
        "format" => "format(\"pattern\")",
        "getTime" | "getMillis" | "getToday" => return format!("write {name}()"),
        _unknown => {
            return format!(
                "there is no `{name}`: addDay, add, set, get, format, getTime, getMillis and \
                 getToday are known"
            );
        }
    };
    format!("write {known}")
}

fn by_country(ByCountry: ByCountry) -> String {
    "weeks of a year or a month depend on the machine's country".to_owned()
}

fn field_of(arg: &Arg) -> Result<Field, String> {
    let found = match arg {
        Arg::Number(number) => Field::numbered(*number).ok_or_else(|| number.to_string()),
        Arg::Name(name) | Arg::Text(name) => {
            let short = name.strip_prefix("Calendar.").unwrap_or(name);
            Field::named(short).ok_or_else(|| name.clone())
        }
    };
    found.map_err(|field| {
        format!("`{field}` is no field: 1 is YEAR, 2 MONTH, 5 DATE, 11 HOUR_OF_DAY, 12 MINUTE")
    })
}

/// Reads `.name(args).name(args)…`.
fn parse(text: &str) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let dotted = rest.strip_prefix('.');
        let (name, after) = dotted.and_then(|rest| rest.split_once('(')).ok_or_else(|| {
            format!("`{rest}` is no call: write .method(arguments), such as .addDay(-1)")
        })?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{name}` is no name of a method"));
        }
        let (args, after) = arguments(after)?;
        calls.push(Call { name: name.to_owned(), args });
        rest = after;
    }
    Ok(calls)
}

/// Reads arguments up to the closing `)`, and what follows it.
fn arguments(text: &str) -> Result<(Vec<Arg>, &str), String> {
    let mut args = Vec::new();
    let mut rest = text.trim_start();
    if let Some(after) = rest.strip_prefix(')') {
        return Ok((args, after));
    }
    loop {
        let (arg, after) = argument(rest)?;
        args.push(arg);
        let after = after.trim_start();
        if let Some(after) = after.strip_prefix(')') {
            return Ok((args, after));
        }
        let more = after.strip_prefix(',');
        rest = more.ok_or_else(|| "a `)` is missing".to_owned())?.trim_start();
    }
}

fn argument(text: &str) -> Result<(Arg, &str), String> {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            let (inner, after) = inner.split_once(quote).ok_or_else(|| {
                format!("the text `{text}` is not closed (an expression cannot hold a brace)")
            })?;
            return Ok((Arg::Text(inner.to_owned()), after));
        }
    }
    let end = text.find([',', ')']).ok_or_else(|| "a `)` is missing".to_owned())?;
    let (bare, after) = text.split_at(end);
    let bare = bare.trim_end();
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '.';
    if bare.starts_with(letter) && bare.chars().all(|c| letter(c) || c.is_ascii_digit()) {
        return Ok((Arg::Name(bare.to_owned()), after));
    }
    let number = bare
        .parse()
        .map_err(|_other| format!("`{bare}` is neither a whole number nor a text in quotes"))?;
    Ok((Arg::Number(number), after))
}
