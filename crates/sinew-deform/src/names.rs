//! Names in messages: what somebody may have meant.

/// The word of `known` that is most like `given`, where one is close.
pub fn closest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|k| (edit_distance(given, k), k))
        .filter(|(d, k)| *d <= (k.len().max(given.len()) / 3).max(1))
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// Names for a message; of many only the first, as each of many wrong links would repeat them all.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 20;
    let mut names = names.peekable();
    let shown: Vec<&str> = names.by_ref().take(SHOWN).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn edit_distance(a: &str, b: &str) -> usize {
    // Long words are never close; the bound keeps hostile documents cheap.
    if a.len().abs_diff(b.len()) > 8 || a.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// What to say about a name that is not known: the closest one, or what there is.
pub(crate) fn instead_of<'a>(given: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match closest(given, known.clone()) {
        Some(name) => format!("did you mean '{name}'?"),
        None => format!("there are {}", listed(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_words_are_found() {
        let known = ["skin", "smooth", "delta_mush"];
        assert_eq!(closest("delta_mash", known.into_iter()), Some("delta_mush"));
        assert_eq!(closest("zebra", known.into_iter()), None);
    }
}
