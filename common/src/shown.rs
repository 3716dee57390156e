//! Text that people are shown as a name. It must not know whose.

/// The first character that would make a name look like another one, or a line like two: control characters, and those
/// that are not seen or turn the direction of what follows.
pub fn misleading(text: &str) -> Option<char> {
    text.chars().find(|&c| c.is_control() || is_unseen(c))
}

const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
    )
}

#[cfg(test)]
mod tests {
    use super::misleading;

    #[test]
    fn what_is_not_seen_is_found() {
        for plain in ["anna@host", "Müller, Jürgen", "小明", "דוד"] {
            assert_eq!(misleading(plain), None, "{plain}");
        }
        for odd in ["a\nb", "a\0", "\u{1b}[31m", "\u{202e}nimda", "a\u{200b}b", "a\u{2028}b"] {
            assert!(misleading(odd).is_some(), "{odd:?}");
        }
    }
}
