//! YAML as a tree whose every node knows its place. Knows no field of a job file.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{Location, MessageFormatter, Spanned, UserMessageFormatter};

use super::place::{Below, DocError, Place, Places};

/// Nodes and events of one file: room for as many jobs as one apply may hold.
const NODES_MAX: usize = 8_000_000;
/// Bytes of one file's scalars: 100,000 short scripts.
const SCALAR_BYTES_MAX: usize = 256 << 20;

/// Lists and mappings in one another: a job file needs seven. Each takes stack, of which a thread of the server has 2 MiB.
const DEPTH_MAX: usize = 16;
/// Nodes that come from aliases (`*x`): no more, or a short text could become gigabytes.
const REPLAYED_MAX: usize = 50_000;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

/// What a node holds. Numbers and booleans are kept as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Nothing,
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub place: Place,
    pub name: String,
}

/// Reads the one document of `text`; an empty text is a node that holds nothing.
pub(super) fn parse(file: &str, text: &str) -> Result<Node, DocError> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            max_events: NODES_MAX,
            max_nodes: NODES_MAX,
            max_total_scalar_bytes: SCALAR_BYTES_MAX,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: REPLAYED_MAX },
    };
    let raw: Spanned<Raw> =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let place = error.location().map_or(Place::START, place);
            let problem = UserMessageFormatter.format_message(error.without_snippet()).into_owned();
            DocError { file: file.to_owned(), place, field: String::new(), problem }
        })?;
    Ok(node(raw, text))
}

/// The places of a tree, without its values.
pub(super) fn places(node: &Node) -> Places {
    let below = match &node.value {
        Value::Nothing | Value::Scalar(_) => Below::Nothing,
        Value::List(items) => Below::Items(items.iter().map(places).collect()),
        Value::Map(entries) => Below::Keys(
            entries.iter().map(|(key, below)| (key.name.clone(), places(below))).collect(),
        ),
    };
    Places { place: node.place, below }
}

/// What the parser tells of a node, before its text is taken from the source.
enum Raw {
    Nothing,
    /// A number or a boolean: the parser gives its value, the source its spelling.
    Plain(String),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

fn node(raw: Spanned<Raw>, source: &str) -> Node {
    let Spanned { value, referenced, defined } = raw;
    let value = match value {
        Raw::Nothing => Value::Nothing,
        Raw::Plain(value) => Value::Scalar(spelling(defined, source).unwrap_or(value)),
        Raw::Text(text) => Value::Scalar(text),
        Raw::List(items) => Value::List(items.into_iter().map(|i| node(i, source)).collect()),
        Raw::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, below)| {
                    let key = Key { place: place(key.referenced), name: key.value };
                    (key, node(below, source))
                })
                .collect(),
        ),
    };
    Node { place: place(referenced), value }
}

/// `010` and `1.10` as written.
fn spelling(at: Location, source: &str) -> Option<String> {
    let start = usize::try_from(at.span().byte_offset()?).ok()?;
    let len = usize::try_from(at.span().byte_len()?).ok()?;
    let text = source.get(start..start.checked_add(len)?)?.trim();
    // A tag or quotes in front: the parser's value is meant.
    let plain = !text.is_empty() && !text.starts_with(['!', '&', '"', '\'']);
    plain.then(|| text.to_owned())
}

fn place(at: Location) -> Place {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).max(1);
    Place { line: number(at.line()), column: number(at.column()) }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Nothing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Plain(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Plain(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Plain(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Plain(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, Value, parse};
    use expect_test::expect;
    use std::fmt::Write as _;

    fn show(node: &Node, depth: usize, out: &mut String) {
        let _written = match &node.value {
            Value::Nothing => writeln!(out, "{} -", node.place),
            Value::Scalar(text) => writeln!(out, "{} {text:?}", node.place),
            Value::List(items) => {
                let _written = writeln!(out, "{} list", node.place);
                for item in items {
                    let _written = write!(out, "{}- ", "  ".repeat(depth + 1));
                    show(item, depth + 1, out);
                }
                Ok(())
            }
            Value::Map(entries) => {
                let _written = writeln!(out, "{} map", node.place);
                for (key, below) in entries {
                    let _written =
                        write!(out, "{}{} ({}): ", "  ".repeat(depth + 1), key.name, key.place);
                    show(below, depth + 1, out);
                }
                Ok(())
            }
        };
    }

    fn told(text: &str) -> String {
        let mut out = String::new();
        match parse("f.yaml", text) {
            Ok(node) => show(&node, 0, &mut out),
            Err(error) => out = format!("{error}\n"),
        }
        out
    }

    #[test]
    fn every_node_has_its_place_and_its_spelling() {
        let nodes = "a: 010\nb: [1.10, true, on, \"x\", ~]\nc:\n  - d: |\n      echo 1\n      echo 2\n  - \
                     é: 'q'\n    f:\ng: !!int \"7\"\nh: &x 007\ni: *x\n";
        let numbers =
            "a: 0x1F\nb: 1e3\nc: .inf\nd: 123456789012345678901234567890\ne: 2024-01-01\n";
        let merged = "x: &d {a: 1}\ny:\n  <<: *d\n  b: 2\n";
        let answer = [nodes, numbers, merged, "", "\ta: 1\n"].map(told).concat();
        expect![[r#"
            1:1 map
              a (1:1): 1:4 "010"
              b (2:1): 2:4 list
                - 2:5 "1.10"
                - 2:11 "true"
                - 2:17 "on"
                - 2:21 "x"
                - 2:26 -
              c (3:1): 4:3 list
                - 4:5 map
                  d (4:5): 5:7 "echo 1\necho 2\n"
                - 7:5 map
                  é (7:5): 7:8 "q"
                  f (8:5): 8:6 -
              g (9:1): 9:10 "7"
              h (10:1): 10:7 "007"
              i (11:1): 11:4 "007"
            1:1 map
              a (1:1): 1:4 "0x1F"
              b (2:1): 2:4 "1e3"
              c (3:1): 3:4 ".inf"
              d (4:1): 4:4 "123456789012345678901234567890"
              e (5:1): 5:4 "2024-01-01"
            1:1 map
              x (1:1): 1:7 map
                a (1:8): 1:11 "1"
              y (2:1): 3:3 map
                b (4:3): 4:6 "2"
                a (3:7): 3:7 "1"
            1:1 -
            1:2 map
              a (1:2): 1:5 "1"
        "#]]
        .assert_eq(&answer);
    }

    #[test]
    fn bad_yaml_has_a_place() {
        let bad = [
            "a: 1\nb: [1\nc: 2\n",
            "a: 1\na: 2\n",
            "a: 1\n---\nb: 2\n",
            "a: *x\n",
            "? [a]\n: b\n",
            "a: \"x\n",
            "a: b: c\n",
            "a: @x\n",
        ];
        expect![[r#"
            f.yaml:3:2: illegal placement of ':' indicator
            f.yaml:2:1: duplicate mapping key `a` is not allowed here
            f.yaml:3:1: only single YAML document expected but multiple found
            f.yaml:1:4: reference to unknown value
            f.yaml:1:3: expected string scalar
            f.yaml:1:4: unclosed quote
            f.yaml:1:5: mapping values are not allowed in this context
            f.yaml:1:4: unexpected character: `@'
        "#]]
        .assert_eq(&bad.map(told).concat());
    }

    #[test]
    fn a_bomb_of_aliases_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..12 {
            let below = format!("*a{}", i - 1);
            let _written = writeln!(text, "a{i}: &a{i} [{}]", vec![below; 10].join(", "));
        }
        assert!(parse("f.yaml", &text).is_err());
    }
}
