//! Templates: text in which facts of a bake are filled in, line by line.
//!
//! | in a template | becomes |
//! |---|---|
//! | `{{VALUE}}` | the value of that name |
//! | `{{?FLAG}}` at the start of a line | nothing; the line is left out unless the flag is set |
//! | `{{!FLAG}}` at the start of a line | nothing; the line is left out if the flag is set |
//! | `{{#FLAG}}` and `{{/FLAG}}`, lines of their own | nothing; the lines between them are left out unless the flag is set |
//! | `{{>MODE}}`, a line of its own | what the engine's folder has for the mode of the bake |
//! | `{{*CLIP}}`, `{{*TEXTURE}}`, `{{*ATTRIBUTE}}` at the start of a line | the line once for each of them, with values of its own |
//! | `{{*ATTRIBUTE}}` and `{{/ATTRIBUTE}}`, lines of their own | nothing; the lines between them once for each, with values and flags of its own |
//!
//! What nobody knows stays as it is; a test looks for that.

use super::facts::{Facts, Values};

/// The template with everything filled in; `section` is what stands for `{{>MODE}}`.
pub(super) fn expand(template: &str, section: &str, facts: &Facts) -> String {
    let text = template.replace("{{>MODE}}\n", section);
    let lines: Vec<_> = text.lines().collect();
    expand_lines(&lines, facts)
}

fn expand_lines(lines: &[&str], facts: &Facts) -> String {
    let mut out = String::new();
    let mut rest = lines;
    while let Some((line, behind)) = rest.split_first() {
        rest = behind;
        let Some((copies, name)) = copies(line, facts) else {
            out += &expand_line(line, facts);
            continue;
        };
        let end = behind.iter().position(|l| block(l, "{{/") == Some(name));
        let end = end.unwrap_or(behind.len());
        out.extend(
            copies
                .iter()
                .map(|facts| expand_lines(&behind[..end], facts)),
        );
        rest = behind.get(end + 1..).unwrap_or(&[]);
    }
    out
}

/// What a block is filled in from, once or more often or not at all, and its name; `None` where the line begins none.
fn copies<'a>(line: &'a str, facts: &'a Facts) -> Option<(Vec<&'a Facts>, &'a str)> {
    if let Some(name) = block(line, "{{#") {
        let once = facts.is_set(name).then_some(facts);
        return Some((once.into_iter().collect(), name));
    }
    let name = block(line, "{{*")?;
    Some((facts.items(name)?.iter().collect(), name))
}

/// Name in a line that is nothing but a marker of a block.
fn block<'a>(line: &'a str, opening: &str) -> Option<&'a str> {
    line.strip_prefix(opening)?.strip_suffix("}}")
}

fn expand_line(line: &str, facts: &Facts) -> String {
    let Some((kind, name, rest)) = marker(line) else {
        return fill(line, &facts.values) + "\n";
    };
    let flag = facts.flag(name);
    let items = facts.lists.iter().find(|l| l.0 == name).map(|l| &l.1);
    if let ('*', Some(items)) = (kind, facts.items(name)) {
        return items.iter().map(|item| expand_line(rest, item)).collect();
    }
    match (kind, flag, items) {
        ('?', Some(is_set), _) | ('!', Some(is_set), _) => match is_set == (kind == '?') {
            true => expand_line(rest, facts),
            false => String::new(),
        },
        ('*', _, Some(items)) => {
            let values = |item: &Values| [item.as_slice(), &facts.values].concat();
            let lines = items.iter().map(|item| fill(rest, &values(item)) + "\n");
            lines.collect()
        }
        _ => fill(line, &facts.values) + "\n",
    }
}

/// Kind and name of the marker that a line begins with, and what is behind it.
fn marker(line: &str) -> Option<(char, &str, &str)> {
    let inside = line.strip_prefix("{{")?;
    let kind = inside.chars().next().filter(|c| "?!*".contains(*c))?;
    let (name, rest) = inside[1..].split_once("}}")?;
    Some((kind, name, rest))
}

/// One pass from left to right, so that what is filled in is not looked at again.
fn fill(line: &str, values: &Values) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("{{") {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let known = values.iter().find_map(|(name, value)| {
            let behind = rest[2..].strip_prefix(name)?.strip_prefix("}}")?;
            Some((value, behind))
        });
        match known {
            Some((value, behind)) => {
                out.push_str(value);
                rest = behind;
            }
            None => {
                out.push_str("{{");
                rest = &rest[2..];
            }
        }
    }
    out + rest
}
