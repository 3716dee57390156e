//! Date expressions against values that java.util.Calendar and SimpleDateFormat gave.

use std::collections::BTreeMap;

use hera_common::time::Version;
use hera_engine::template::render;

/// Compares every row of a table; how many there are.
fn check(table: &str) -> usize {
    let path = format!("{}/../tests/oracle/{table}", env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(path).expect("the table");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let compare = |line: &str| {
        let mut columns = line.split('\t');
        let mut column = || columns.next().expect("four columns");
        let (ms, zone, expression, expected) = (column(), column(), column(), column());
        let version = Version::from_ms(ms.parse().expect("milliseconds"));
        let text = format!("${{{expression}}}");
        let rendered = render(&text, &BTreeMap::new(), version, zone);
        assert_eq!(rendered.as_deref(), Ok(expected), "{line}");
    };
    rows.map(compare).count()
}

#[test]
fn expressions_give_what_java_gives() {
    assert_eq!(check("zdt.tsv"), 300);
}

#[test]
fn expressions_round_clock_changes_give_what_java_gives() {
    assert_eq!(check("zdt_dst.tsv"), 400);
}
