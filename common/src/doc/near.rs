//! The known name that is nearest to a misspelt one. Knows no field.

/// The name of `known` that `name` was probably meant to be.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong; in short names one.
    let most = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _candidate)| *distance <= most)
        .min()
        .map(|(_distance, candidate)| candidate)
}

/// How many letters must be put in, left out, changed or swapped with the next.
fn distance(left: &str, right: &str) -> usize {
    let letters = |text: &str| -> Vec<char> {
        text.to_lowercase().chars().map(|c| if c == '-' { '_' } else { c }).collect()
    };
    let (left, right) = (letters(left), letters(right));
    // Rows of the table of distances between all beginnings: the last two are enough.
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let change = at(&last, j) + usize::from(a != b);
            let mut best = change.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped =
                i > 0 && j > 0 && left.get(i - 1) == Some(b) && right.get(j - 1) == Some(a);
            if swapped {
                best = best.min(at(&before_last, j - 1) + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(left.len())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        let known = ["schedule", "script", "zone", "depends_on", "on"];
        let cases = [
            ("shedule", Some("schedule")),
            ("Script", Some("script")),
            ("depends-on", Some("depends_on")),
            ("dependson", Some("depends_on")),
            ("zoen", Some("zone")),
            ("one", Some("on")),
            ("colour", None),
            ("", None),
        ];
        for (written, meant) in cases {
            assert_eq!(nearest(written, known), meant, "{written}");
        }
    }
}
