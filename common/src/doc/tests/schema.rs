//! The JSON schema that editors use knows the same fields and words as the reader.

use serde_json::Value;

use crate::calendar::WeekDay;
use crate::doc::label::{BackoffWord, BindWord, Label, StateWord, TakeoverWord};
use crate::doc::{calendar, edge, fields, file, schedule, settings};
use crate::schedule::{DstGap, DstOverlap, Roll};
use crate::spec::{CatchUp, Empty, Kind, On, Overlap, Period};

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/job-file.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[track_caller]
fn same(mut left: Vec<&str>, mut right: Vec<&str>) {
    left.sort_unstable();
    right.sort_unstable();
    assert_eq!(left, right);
}

/// The mapping at `pointer` has exactly these fields.
#[track_caller]
fn check_fields(schema: &Value, pointer: &str, names: &fields::Names) {
    let mapping = schema.pointer(pointer).unwrap();
    assert_eq!(mapping["additionalProperties"], false, "{pointer}");
    let properties = mapping["properties"].as_object().unwrap();
    let known = names.known.iter().copied().flatten().copied();
    same(properties.keys().map(String::as_str).collect(), known.collect());
}

/// The field at `pointer` takes exactly these words.
#[track_caller]
fn check_words<T: Label>(schema: &Value, pointer: &str) {
    let words = schema.pointer(pointer).unwrap()["enum"].as_array().unwrap();
    let known = T::WORDS.iter().map(|(word, _value)| *word);
    same(words.iter().map(|word| word.as_str().unwrap()).collect(), known.collect());
}

#[test]
fn the_schema_has_the_fields_of_the_reader() {
    let schema = schema();
    check_fields(&schema, "", &file::FILE);
    check_fields(&schema, "/$defs/job", &file::JOB);
    check_fields(&schema, "/$defs/defaults", &file::DEFAULTS);
    check_fields(&schema, "/$defs/schedule", &schedule::SCHEDULE);
    check_fields(&schema, "/$defs/namedCalendar", &calendar::CALENDARS);
    check_fields(&schema, "/$defs/dst", &schedule::DST);
    check_fields(&schema, "/$defs/calendar/anyOf/1", &schedule::CALENDAR);
    check_fields(&schema, "/$defs/job/properties/script/anyOf/1", &file::SCRIPT);
    check_fields(&schema, "/$defs/edge", &edge::EDGE);
    check_fields(&schema, "/$defs/data", &settings::DATA);
    check_fields(&schema, "/$defs/retries", &settings::RETRIES);
}

#[test]
fn the_schema_has_the_words_of_the_reader() {
    let schema = schema();
    let job = |field: &str| format!("/$defs/job/properties/{field}");
    check_words::<Kind>(&schema, &job("type"));
    check_words::<StateWord>(&schema, &job("state"));
    check_words::<TakeoverWord>(&schema, &job("takeover"));
    check_words::<CatchUp>(&schema, &job("catch_up"));
    check_words::<Overlap>(&schema, &job("overlap"));
    check_words::<BindWord>(&schema, "/$defs/edge/properties/bind");
    check_words::<On>(&schema, "/$defs/edge/properties/on");
    check_words::<Empty>(&schema, "/$defs/edge/properties/empty");
    check_words::<Period>(&schema, "/$defs/data/properties/period");
    check_words::<WeekDay>(&schema, "/$defs/namedCalendar/properties/weekly/items");
    check_words::<DstGap>(&schema, "/$defs/dst/properties/gap");
    check_words::<DstOverlap>(&schema, "/$defs/dst/properties/overlap");
    check_words::<Roll>(&schema, "/$defs/calendar/anyOf/1/properties/roll");
    check_words::<BackoffWord>(&schema, "/$defs/retries/properties/backoff");
    let defaults = schema.pointer("/$defs/defaults/properties").unwrap().as_object().unwrap();
    for (field, value) in defaults {
        if settings::DEFAULTS_ONLY.contains(&field.as_str()) {
            continue;
        }
        assert_eq!(Some(value), schema.pointer(&job(field)), "{field}");
    }
}
