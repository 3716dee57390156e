//! Rows to write as one JSON document, an array of arrays: how they travel to SQLite.

use super::ask::Column;

/// Bytes that a row takes about, so that the text seldom moves while it grows.
const ROW_BYTES: usize = 300;

/// The document.
pub(crate) fn rows(columns: &[Column<'_>]) -> Result<String, serde_json::Error> {
    let length = columns.first().map_or(0, Column::len);
    let mut text = Vec::with_capacity(length * ROW_BYTES);
    text.push(b'[');
    for row in 0..length {
        text.extend_from_slice(if row == 0 { b"[" } else { b",[" });
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                text.push(b',');
            }
            cell(&mut text, column, row)?;
        }
        text.push(b']');
    }
    text.push(b']');
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

fn cell(text: &mut Vec<u8>, column: &Column<'_>, row: usize) -> Result<(), serde_json::Error> {
    match column {
        Column::Ints(list) => serde_json::to_writer(text, &list.get(row).copied().flatten()),
        Column::Texts(list) => serde_json::to_writer(text, &list.get(row)),
        Column::Flags(list) => serde_json::to_writer(text, &list.get(row)),
        Column::Bytes(list) => {
            text.push(b'"');
            list.get(row).copied().unwrap_or_default().iter().for_each(|byte| hex(text, *byte));
            text.push(b'"');
            Ok(())
        }
    }
}

fn hex(text: &mut Vec<u8>, byte: u8) {
    let digit = |n: u8| if n < 10 { b'0' + n } else { b'a' + n - 10 };
    text.extend([digit(byte >> 4), digit(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::{Column, rows};

    #[test]
    fn rows_are_arrays_of_values() {
        let columns = [
            Column::Ints(vec![Some(1), None]),
            Column::maybe_texts([Some("a\"\n\0"), None].into_iter()),
            Column::Flags(vec![true, false]),
            Column::Bytes(vec![b"\x00\xfe", b""]),
        ];
        let text = rows(&columns).unwrap();
        assert_eq!(text, "[[1,\"a\\\"\\n\u{fffd}\",true,\"00fe\"],[null,null,false,\"\"]]");
        assert_eq!(rows(&[]).unwrap(), "[]");
    }
}
