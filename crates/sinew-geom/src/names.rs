//! Suggestions of names for messages.

/// The name of `known` that is most similar to `given`, if one is close enough.
/// Close means an edit distance of at most a third of the longer name in bytes, and of 1 for short names. Case does not count. The first of
/// equally close names wins. A given name over 64 bytes is close to nothing.
pub fn closest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |known: &str| match known.eq_ignore_ascii_case(given) {
        true => 0,
        false => edit_distance(given, known),
    };
    known
        .map(|k| (distance(k), k))
        .filter(|(d, k)| *d <= (k.len().max(given.len()) / 3).max(1))
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// The names of `known` that are most similar to `given`, at most `most`, best first. Names that contain `given` or that `given`
/// contains come first, ignoring case. Then names with the longest common substring.
/// The shorter of two equally similar names comes first. Each name is listed once.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = given.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        let holds = !wanted.is_empty() && !name.is_empty();
        let is_part = holds && (name.contains(&wanted) || wanted.contains(&name));
        (is_part, longest_common(&wanted, &name))
    };
    let mut ranked: Vec<_> = known.map(|name| (likeness(name), name)).collect();
    // The shorter of two like names first.
    ranked.sort_by_key(|((is_part, common), name)| {
        (std::cmp::Reverse((*is_part, *common)), name.len(), *name)
    });
    // Several joints may be on one node.
    ranked.dedup();
    ranked
        .into_iter()
        .take(most)
        .map(|(_, name)| name)
        .collect()
}

/// Length of the longest common substring; 0 for long words, to bound the cost of hostile input.
fn longest_common(a: &str, b: &str) -> usize {
    if a.len() > 64 || b.len() > 256 {
        return 0;
    }
    let (b, mut longest) = (b.as_bytes(), 0);
    let mut row = vec![0; b.len() + 1];
    for ca in a.bytes() {
        for j in (0..b.len()).rev() {
            row[j + 1] = if ca == b[j] { row[j] + 1 } else { 0 };
            longest = longest.max(row[j + 1]);
        }
    }
    longest
}

/// What was expected instead of an unknown joint name: the most similar name, or some similar names and the number of joints.
pub fn expected_joint<'a>(
    name: &str,
    joints: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> String {
    const SHOWN: usize = 4;
    let count = joints.len();
    match closest(name, joints.clone()) {
        Some(word) => format!("the name of a joint (did you mean '{word}'?)"),
        None if count == 0 => "the name of a joint, but there are no joints".into(),
        None => format!(
            "the name of one of the {count} joints, such as '{}'",
            nearest(name, joints, SHOWN).join("', '")
        ),
    }
}

/// Names for a message. Lists only the first names of a long list, because many messages may repeat it.
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

/// Help for an unknown name: the most similar name, or a list of the known names.
pub fn instead_of<'a>(given: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match closest(given, known.clone()) {
        Some(name) => format!("did you mean '{name}'?"),
        None if known.clone().next().is_none() => "known: none".into(),
        None => format!("known: {}", listed(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_that_hold_the_word_come_first() {
        let joints = [
            "rat_tail01_JNT",
            "rat_Head_JNT",
            "rat_ear_JNT",
            "rat_head_end_JNT",
        ];
        let expected = expected_joint("head", joints.into_iter());
        assert_eq!(
            expected,
            "the name of one of the 4 joints, such as 'rat_Head_JNT', 'rat_head_end_JNT', 'rat_ear_JNT', 'rat_tail01_JNT'"
        );
        let twice = expected_joint("head", ["rat_head", "rat_head", "b"].into_iter());
        assert_eq!(
            twice,
            "the name of one of the 3 joints, such as 'rat_head', 'b'"
        );
        let one_letter = expected_joint("rat_ear_JMT", joints.into_iter());
        let expected = "the name of a joint (did you mean 'rat_ear_JNT'?)";
        assert_eq!(one_letter, expected);
        assert_eq!(
            expected_joint("head", [].into_iter()),
            "the name of a joint, but there are no joints"
        );
    }

    #[test]
    fn close_words_are_found() {
        let known = ["skin", "smooth", "delta_mush"];
        assert_eq!(closest("delta_mash", known.into_iter()), Some("delta_mush"));
        assert_eq!(closest("zebra", known.into_iter()), None);
    }

    #[test]
    fn without_a_close_word_all_are_listed() {
        let known = ["skin", "smooth"];
        assert_eq!(
            instead_of("zebra", known.into_iter()),
            "known: skin, smooth"
        );
        assert_eq!(instead_of("zebra", [].into_iter()), "known: none");
    }
}
